import { decode, labelsOf } from '../codec.ts';
import { badRequest } from '../errors.ts';
import { type FieldRequirement, parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import type { Served } from '../served.ts';
import type { StorageKey } from '../storage/storage.ts';

export interface Selection {
  /** Undefined where everything in the range is selected. */
  readonly matches: ((key: StorageKey, value: Uint8Array) => boolean) | undefined;
  /** The one name that can match. */
  readonly name: string | undefined;
}

/** The request's labelSelector and fieldSelector. Throws 400. */
export function selectionOf(served: Served, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  let name: string | undefined;
  const tests: ((key: StorageKey, value: Uint8Array) => boolean)[] = [];
  for (const requirement of fields) {
    if (requirement.field === 'metadata.name' && requirement.equals) name = requirement.value;
    tests.push(fieldTest(served, requirement));
  }
  if (labels !== undefined) tests.push((_, value) => labels(labelsOf(value)));
  if (tests.length === 0) return { matches: undefined, name };
  if (tests.length === 1) return { matches: tests[0]!, name };
  return { matches: (key, value) => tests.every((test) => test(key, value)), name };
}

function fieldTest(served: Served, requirement: FieldRequirement): (key: StorageKey, value: Uint8Array) => boolean {
  const { field, equals, value: wanted } = requirement;
  if (field === 'metadata.name') return (key) => (key.name === wanted) === equals;
  if (field === 'metadata.namespace' && served.resource.namespaced) {
    return (key) => (key.namespace === wanted) === equals;
  }
  const fields = served.strategy.fields;
  if (fields === undefined || !Object.hasOwn(fields, field)) throw badRequest(`field label not supported: ${field}`);
  const read = fields[field]!;
  // Remembered per buffer, so that watchers with the same selector parse an event once.
  const seen = fieldCache(read);
  return (_, value) => {
    let found = seen.get(value);
    if (found === undefined) {
      found = read(decode(served, value, Number.MAX_SAFE_INTEGER));
      seen.set(value, found);
    }
    return (found === wanted) === equals;
  };
}

const caches = new WeakMap<object, WeakMap<Uint8Array, string>>();

function fieldCache(read: object): WeakMap<Uint8Array, string> {
  let cache = caches.get(read);
  if (cache === undefined) {
    cache = new WeakMap();
    caches.set(read, cache);
  }
  return cache;
}
