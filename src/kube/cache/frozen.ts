import { deepFreeze, type KubeObject, type Stored } from '../../meta/index.ts';

/** `object` itself, without managedFields (a quarter of an object's memory that no controller reads), deep-frozen. */
export function freezeOwn<T extends KubeObject>(object: Stored<T>): Stored<T> {
  delete object.metadata.managedFields;
  return deepFreeze(object);
}

/** A copy as `freezeOwn` makes it, for an object that someone else may go on changing. */
export function frozenCopy<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  return copy({ ...object, metadata }) as Stored<T>;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    // Assigning to `__proto__` would set the prototype instead.
    if (key === '__proto__') Object.defineProperty(result, key, { value: copy(item), enumerable: true });
    else result[key] = copy(item);
  }
  return Object.freeze(result);
}
