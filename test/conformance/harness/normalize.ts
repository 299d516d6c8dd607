import type { Entry, Json } from './session.ts';

/**
 * Writes a transcript so that what must differ between two servers reads the same and how it hangs together stays: an
 * object's uid by its name, its versions by their order, a list's version by whether it covers its items, a time as one.
 */

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const age = /^(\d+[dhms]){1,2}$/;

/** Transcripts are changed in copies. */
export function normalize(entries: readonly Entry[]): Entry[] {
  const bodies = entries.map(({ answer }) => structuredClone(answer.body));
  const known = new Known();
  for (const body of bodies) walk(body, (object) => known.gather(object));
  const words = new Words(known);
  return entries.map((entry, index) => ({
    title: titleOf(entry.title),
    view: undefined,
    answer: {
      status: entry.answer.status,
      headers: words.rewrite(entry.answer.headers) as Entry['answer']['headers'],
      body: words.rewrite(seen(entry, bodies[index])),
    },
  }));
}

/** Without the versions and continue tokens that each server gave itself. */
function titleOf(title: string): string {
  return title
    .replace(/resourceVersion=\d{2,}/, 'resourceVersion=<version>')
    .replace(/continue=[\w-]{12,}(%3D)*/, 'continue=<token>');
}

/** What a view cannot be made of is compared whole. */
function seen({ view }: Entry, body: Json): Json {
  try {
    return view === undefined ? body : view(body);
  } catch {
    return body;
  }
}

function walk(value: Json, visit: (object: Record<string, Json>) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value);
  for (const child of Object.values(value)) walk(child, visit);
}

/** The objects of a transcript. */
class Known {
  /** Versions of one object, by uid. */
  readonly versions = new Map<string, Set<number>>();
  /** Names by uid; the second object of a name is told apart. */
  readonly uids = new Map<string, string>();
  readonly generated = new Map<string, string>();

  gather({ metadata, kind }: Record<string, Json>): void {
    const { uid, resourceVersion, generateName, name, namespace } = metadata ?? {};
    if (typeof generateName === 'string' && typeof name === 'string' && name !== generateName) {
      if (!this.generated.has(name))
        this.generated.set(name, `<generated ${this.generated.size + 1} of ${name.length}>`);
    }
    if (typeof uid !== 'string') return;
    const what = `${kind === 'Namespace' ? '' : (namespace ?? '')}/${this.generated.get(name) ?? name}`;
    if (!this.uids.has(uid)) {
      const before = [...this.uids.values()].filter((label) => label.startsWith(`<uid of ${what}`)).length;
      this.uids.set(uid, `<uid of ${what}${before === 0 ? '' : ` ${before + 1}`}>`);
    }
    if (!/^\d+$/.test(resourceVersion ?? '')) return;
    const versions = this.versions.get(uid) ?? new Set();
    this.versions.set(uid, versions.add(Number(resourceVersion)));
  }

  /** How many versions of the object are known that are not newer. */
  rank(uid: string, version: number): number {
    return [...(this.versions.get(uid) ?? [])].filter((one) => one <= version).length;
  }
}

class Words {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  rewrite(value: Json, key = ''): Json {
    if (typeof value === 'string') return this.#text(value, key);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.rewrite(item));
    const result: Record<string, Json> = {};
    for (const [name, child] of Object.entries(value)) result[this.#text(name, '')] = this.rewrite(child, name);
    if (result.reason === 'Invalid' && result.details?.causes?.length > 1) sortCauses(result);
    if (/^[1-9]\d*$/.test(value.resourceVersion ?? '')) result.resourceVersion = this.#versionOf(value);
    else if (/^[1-9]\d*$/.test(value.metadata?.resourceVersion ?? '') && value.metadata.uid === undefined) {
      result.metadata.resourceVersion = covers(value) ? '<version>' : '<version older than its items>';
    }
    return result;
  }

  #versionOf({ uid, resourceVersion }: Record<string, Json>): string {
    if (typeof uid !== 'string') return '<version>';
    return `<version ${this.#known.rank(uid, Number(resourceVersion))}>`;
  }

  #text(value: string, key: string): string {
    if (key === 'continue' && value !== '') return '<continue>';
    let text = value;
    for (const [name, instead] of this.#known.generated) text = text.replaceAll(name, instead);
    text = text.replace(uidPattern, (found) => this.#known.uids.get(found) ?? '<uid>');
    text = text.replace(time, (_, fraction?: string) => (fraction === undefined ? '<time>' : '<microtime>'));
    if (age.test(text)) return '<age>';
    text = text
      .replace(/(resource version: )\d{2,}/, '$1<version>')
      .replace(/(current: |in record \(|ResourceVersion in the precondition \()\d+/g, '$1<version>');
    return text.replace(/("resourceVersion":")\d+/g, '$1<version>');
  }
}

/** Causes in an order of their own: Go's comes from walking maps. The message lists them as it did. */
function sortCauses(status: Record<string, Json>): void {
  const texts = [...new Set<string>(status.details.causes.map((one: Json) => `${one.field}: ${one.message}`))];
  if (status.message.endsWith(`[${texts.join(', ')}]`)) {
    const start = status.message.slice(0, status.message.length - texts.join(', ').length - 1);
    status.message = `${start}${[...texts].sort().join(', ')}]`;
  }
  const key = (one: Json): string => `${one.field}: ${one.message}`;
  status.details.causes.sort((a: Json, b: Json) => (key(a) < key(b) ? -1 : 1));
}

/** Whether a list's version is no older than those of what it lists. */
function covers({ metadata, items, rows }: Record<string, Json>): boolean {
  const listed: Json[] = items ?? rows?.map((row: Json) => row.object) ?? [];
  return listed.every((item) => Number(item?.metadata?.resourceVersion ?? 0) <= Number(metadata.resourceVersion));
}
