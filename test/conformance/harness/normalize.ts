import type { Entry, Json } from './session.ts';

/**
 * Writes a transcript so that what must differ between two servers reads the same and how it hangs together stays:
 * the n-th uid, the n-th version by age, a time.
 */

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const age = /^(\d+[dhms]){1,2}$/;

/** Transcripts are changed in copies. */
export function normalize(entries: readonly Entry[]): Entry[] {
  const bodies = entries.map(({ answer }) => structuredClone(answer.body));
  const versions = new Set<number>();
  const names = new Map<string, string>();
  for (const body of bodies) {
    walk(body, (value) => {
      gatherVersion(value, versions);
      gatherName(value, names);
    });
  }
  const words = new Words(
    [...versions].sort((a, b) => a - b),
    names,
  );
  return entries.map((entry, index) => ({
    title: entry.title,
    view: undefined,
    answer: {
      status: entry.answer.status,
      headers: words.rewrite(entry.answer.headers) as Entry['answer']['headers'],
      body: words.rewrite(seen(entry, bodies[index])),
    },
  }));
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

/** Versions of objects: they have a uid. A list's own version may be that of something else altogether. */
function gatherVersion({ metadata }: Record<string, Json>, versions: Set<number>): void {
  if (typeof metadata?.uid === 'string' && /^\d+$/.test(metadata.resourceVersion ?? '')) {
    versions.add(Number(metadata.resourceVersion));
  }
}

function gatherName({ metadata }: Record<string, Json>, names: Map<string, string>): void {
  const { generateName, name } = metadata ?? {};
  if (typeof generateName !== 'string' || typeof name !== 'string' || name === generateName) return;
  if (!names.has(name)) names.set(name, `<generated ${names.size + 1} of ${name.length}>`);
}

class Words {
  readonly #versions: readonly number[];
  readonly #names: ReadonlyMap<string, string>;
  readonly #uids = new Map<string, string>();

  constructor(versions: readonly number[], names: ReadonlyMap<string, string>) {
    this.#versions = versions;
    this.#names = names;
  }

  rewrite(value: Json, key = ''): Json {
    if (typeof value === 'string') return this.#text(value, key);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.rewrite(item));
    const result: Record<string, Json> = {};
    for (const [name, child] of Object.entries(value)) result[this.#text(name, '')] = this.rewrite(child, name);
    if (typeof result.resourceVersion === 'string' && value.uid === undefined) {
      result.resourceVersion = this.#notBefore(value.resourceVersion);
    }
    return result;
  }

  #text(value: string, key: string): string {
    if (key === 'continue' && value !== '') return '<continue>';
    if (key === 'resourceVersion' && /^\d+$/.test(value)) return this.#version(value);
    let text = value;
    for (const [name, instead] of this.#names) text = text.replaceAll(name, instead);
    text = text.replace(uid, (found) => {
      const known = this.#uids.get(found) ?? `<uid ${this.#uids.size + 1}>`;
      this.#uids.set(found, known);
      return known;
    });
    text = text.replace(time, (_, fraction?: string) => (fraction === undefined ? '<time>' : '<microtime>'));
    if (age.test(text)) return '<age>';
    return text.replace(/(?<![\w.])\d+(?![\w.])/g, (digits) => {
      const rank = digits.length < 2 ? -1 : this.#versions.indexOf(Number(digits));
      return rank < 0 || this.#versions.length === 0 ? digits : `<version ${rank + 1}>`;
    });
  }

  #version(value: string): string {
    const rank = this.#versions.indexOf(Number(value));
    return rank < 0 ? this.#notBefore(value) : `<version ${rank + 1}>`;
  }

  /** The newest object version that is not newer. */
  #notBefore(value: string): string {
    if (!/^\d+$/.test(value) || value === '0') return value;
    const older = this.#versions.filter((version) => version <= Number(value)).length;
    return `<not before version ${older}>`;
  }
}
