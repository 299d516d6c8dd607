import type { StorageKey } from './storage.ts';

/**
 * How keys are compared and turned into text. Joined, not concatenated: texts are kept as keys of maps, and a concatenation
 * keeps the parts it was made of beside the whole.
 */

/** NUL sorts before everything else, so that `namespace NUL name` orders as (namespace, name). */
export function nameOf(key: { namespace: string; name: string }): string {
  return [key.namespace, key.name].join('\0');
}

export function collectionOf(key: { plane: string; resource: string }): string {
  return `${key.plane}\0${key.resource}`;
}

export function wholeKey(key: StorageKey): string {
  return [key.plane, key.resource, key.namespace, key.name].join('\0');
}

const refused = /[\0\ud800-\udfff]/;

/**
 * Throws a TypeError for a part with NUL in it (it separates the parts), or with characters beyond U+FFFF: code units,
 * which is how keys are ordered, and UTF-8, which is how SQLite orders them, disagree about those.
 */
export function checkKey(key: StorageKey): void {
  checkPart('plane', key.plane);
  checkPart('resource', key.resource);
  checkPart('namespace', key.namespace);
  checkPart('name', key.name);
}

/** `checkKey`, and a TypeError for a value that is not bytes: found here, it harms no other commit of the transaction. */
export function checkRow(key: StorageKey, value: Uint8Array): void {
  checkKey(key);
  if (!(value instanceof Uint8Array)) throw new TypeError(`the value of ${key.namespace}/${key.name} must be bytes`);
}

function checkPart(part: string, text: string): void {
  if (typeof text !== 'string') throw new TypeError(`${part} of a storage key must be text, got ${typeof text}`);
  if (refused.test(text)) {
    throw new TypeError(`${part} of a storage key has NUL or a character beyond U+FFFF: ${JSON.stringify(text)}`);
  }
}

/** The range of `nameOf` texts that a query covers: from (included), to (excluded; absent: to the end). */
export function rangeOf(query: { namespace?: string; after?: { namespace: string; name: string } }): {
  from: string;
  to?: string;
} {
  const start = query.namespace === undefined ? '' : `${query.namespace}\0`;
  const after = query.after === undefined ? '' : `${nameOf(query.after)}\0`;
  let from = start;
  if (after > from) from = after;
  return query.namespace === undefined ? { from } : { from, to: `${query.namespace}\x01` };
}
