/** The annotations by which networks are asked for, as the Network Plumbing Working Group's specification (1.2) has them. */

/** `<namespace>/<name>` of a definition. */
export type Entry = string;

/** An existing list with `entries` added that are not in it yet, in the form it has: JSON, or text with commas. */
export function mergeNetworks(existing: string | undefined, entries: readonly Entry[], podNamespace: string): string {
  const list = existing?.trim() ?? '';
  if (list.startsWith('[')) return mergeJson(list, entries, podNamespace);
  const held = list === '' ? [] : list.split(',').map((item) => item.trim());
  const named = new Set(held.map((item) => entryOfText(item, podNamespace)));
  return [...held, ...entries.filter((entry) => !named.has(entry))].join(',');
}

function mergeJson(list: string, entries: readonly Entry[], podNamespace: string): string {
  let held: unknown;
  try {
    held = JSON.parse(list);
  } catch {
    held = [];
  }
  // A list nobody can read asks for nothing; the interfaces are asked for all the same.
  const items: unknown[] = Array.isArray(held) ? held : [];
  const named = new Set(items.map((item) => entryOfObject(item, podNamespace)));
  const added = entries.filter((entry) => !named.has(entry)).map(objectOf);
  return JSON.stringify([...items, ...added]);
}

/** `[namespace/]name[@device]`. */
function entryOfText(text: string, podNamespace: string): Entry {
  const name = text.split('@', 1)[0] ?? '';
  return name.includes('/') ? name : `${podNamespace}/${name}`;
}

function entryOfObject(item: unknown, podNamespace: string): Entry {
  if (typeof item !== 'object' || item === null) return '';
  const { name, namespace } = item as { name?: unknown; namespace?: unknown };
  return `${typeof namespace === 'string' ? namespace : podNamespace}/${String(name)}`;
}

function objectOf(entry: Entry): { name: string; namespace: string } {
  const [namespace = '', name = ''] = entry.split('/');
  return { name, namespace };
}
