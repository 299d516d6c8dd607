import { stringsAt } from '../json-schema.ts';
import type { JsonSchema } from '../schema.ts';
import { charge } from './budget.ts';
import { keyOf } from './collections.ts';
import { escapeName } from './names.ts';
import { CelObject, isMap, jsonOf } from './objects.ts';

/**
 * Lists of type `set` and `map` inside rules: their order does not count when they are compared, and what is added to one
 * is merged into it (k8s.io/apiserver/pkg/cel/common/values.go).
 */
export interface Associative {
  /** What tells items apart. */
  readonly identity: (item: unknown) => string;
  /** Whether items of equal identity can differ. */
  readonly keyed: boolean;
}

const known = new WeakMap<readonly unknown[], Associative>();

/** How lists of `schema` are merged; undefined for those that are plain lists. */
export function associativeOf(schema: JsonSchema): Associative | undefined {
  if (schema['x-kubernetes-list-type'] === 'set') return { identity: keyOf, keyed: false };
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
  const keys = stringsAt(schema, 'x-kubernetes-list-map-keys').map((key) => [key, escapeName(key) ?? key] as const);
  const identity = (item: unknown): string =>
    keys.map(([key, escaped]) => keyOf(item instanceof CelObject ? jsonOf(item)[key] : valueAt(item, escaped))).join();
  return { identity, keyed: true };
}

function valueAt(item: unknown, key: string): unknown {
  return isMap(item) && Object.hasOwn(item, key) ? item[key] : undefined;
}

/** A list of its own, for what a value is known by must not reach the JSON it was made of. */
export function asAssociative(list: unknown[], associative: Associative): unknown[] {
  known.set(list, associative);
  return list;
}

export function associativeList(list: unknown): Associative | undefined {
  return Array.isArray(list) ? known.get(list) : undefined;
}

/** `left + right`: the places of `left` are kept, the values of a map are those of `right`, what is new follows. */
export function merged(left: readonly unknown[], right: readonly unknown[], associative: Associative): unknown[] {
  charge(left.length + right.length);
  const made = [...left];
  const places = new Map(left.map((item, index) => [associative.identity(item), index]));
  for (const item of right) {
    const identity = associative.identity(item);
    const place = places.get(identity);
    if (place === undefined) {
      places.set(identity, made.length);
      made.push(item);
    } else if (associative.keyed) made[place] = item;
  }
  return asAssociative(made, associative);
}
