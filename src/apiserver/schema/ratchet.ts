import { jsonEqual } from '../../meta/index.ts';
import type { Failure } from './failure.ts';
import { isObject, schemaAt, stringsAt } from './json-schema.ts';
import type { JsonSchema } from './schema.ts';
import { canonical } from './unique.ts';

/**
 * Whether an update is excused from a failure because the value it is about is what was stored before (KEP-4008,
 * validation ratcheting): an object that became invalid when its schema was tightened can still be changed elsewhere.
 */
export function isUnchanged(found: Failure, schema: JsonSchema, object: unknown, old: unknown): boolean {
  if (!found.ratchets) return false;
  const path = found.segments.slice(found.ownerDepth).reverse();
  let at: { schema: JsonSchema | undefined; value: unknown; old: unknown } = { schema, value: object, old };
  if (jsonEqual(at.value, at.old)) return true;
  for (const segment of path) {
    at = step(at, segment);
    if (at.old === undefined) return false;
    if (jsonEqual(at.value, at.old)) return true;
  }
  return false;
}

function step(at: { schema: JsonSchema | undefined; value: unknown; old: unknown }, segment: string) {
  if (segment.startsWith('.')) {
    const name = segment.slice(1);
    const properties = at.schema === undefined ? undefined : schemaAt(at.schema, 'properties');
    const named = properties !== undefined && Object.hasOwn(properties, name) ? schemaAt(properties, name) : undefined;
    return {
      schema: named ?? (at.schema === undefined ? undefined : schemaAt(at.schema, 'additionalProperties')),
      value: propertyOf(at.value, name),
      old: propertyOf(at.old, name),
    };
  }
  const index = Number(segment.slice(1, -1));
  const value = Array.isArray(at.value) ? at.value[index] : undefined;
  return {
    schema: at.schema === undefined ? undefined : schemaAt(at.schema, 'items'),
    value,
    old: at.schema === undefined ? undefined : correlate(at.schema, value, at.old),
  };
}

function propertyOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The item of `oldList` with the same identity as `item`; only lists of type map have identities. */
function correlate(listSchema: JsonSchema, item: unknown, oldList: unknown): unknown {
  if (listSchema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(oldList) || !isObject(item)) return undefined;
  const keys = stringsAt(listSchema, 'x-kubernetes-list-map-keys');
  return oldList.find((old) => isObject(old) && keys.every((key) => jsonEqual(old[key], item[key])));
}

/** `correlate` for all the items of a list: by an index, for a search for each would take the square of their number. */
export function correlator(listSchema: JsonSchema, oldList: unknown): (item: unknown) => unknown {
  if (listSchema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(oldList)) return () => undefined;
  const keys = stringsAt(listSchema, 'x-kubernetes-list-map-keys');
  const identity = (item: Record<string, unknown>) => canonical(keys.map((key) => item[key]));
  const index = new Map<string, unknown>();
  // Of equal ones the first, as a search finds it.
  for (const old of oldList.toReversed()) if (isObject(old)) index.set(identity(old), old);
  return (item) => (isObject(item) ? index.get(identity(item)) : undefined);
}
