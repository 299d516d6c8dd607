import { deepFreeze, intern, type KubeObject, type Stored } from '../../meta/index.ts';

/** `object`, which nobody else holds, deep-frozen and without managedFields: a quarter of its memory, read by nobody. */
export function freezeOwn<T extends KubeObject>(object: Stored<T>): Stored<T> {
  return deepFreeze(withoutManagedFields(object));
}

/** A copy as `freezeOwn` makes it, for an object that someone else may go on changing. What is frozen needs no copy. */
export function frozenCopy<T extends KubeObject>(object: Stored<T>): Stored<T> {
  if (Object.isFrozen(object)) return freezeOwn(object);
  return copy(withoutManagedFields(object)) as Stored<T>;
}

/** By copying: an object with a property deleted takes more memory than before. */
function withoutManagedFields<T extends KubeObject>(object: Stored<T>): Stored<T> {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function copy(value: unknown): unknown {
  if (typeof value === 'string') return intern(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = copy((value as Record<string, unknown>)[key]);
    // Assigning to `__proto__` would set the prototype instead.
    if (key === '__proto__') Object.defineProperty(result, key, { value: item, enumerable: true });
    else result[key] = item;
  }
  return Object.freeze(result);
}
