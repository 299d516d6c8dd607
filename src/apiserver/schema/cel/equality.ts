import { Optional } from '@marcbachmann/cel-js';
import { jsonEqual } from '../../../meta/index.ts';
import { associativeList } from './associative.ts';
import { charge } from './budget.ts';
import { CelObject, isMap, jsonOf, keysOf, namesOf } from './objects.ts';

/** Whether two values are equal that are no list, map, optional or object of a schema. */
export type LeavesEqual = (a: unknown, b: unknown) => boolean;

/** Whether `equal` knows what the parts of a value are. */
export function hasParts(value: unknown): boolean {
  return Array.isArray(value) || value instanceof CelObject || value instanceof Optional || isMap(value);
}

/**
 * CEL's equality, charged by what it looks at: cel-js's own would walk the parts of any two values for the price of one,
 * and knows no lists whose order does not count.
 */
export function equal(a: unknown, b: unknown, leaves: LeavesEqual): boolean {
  charge(1);
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b, leaves);
  if (a instanceof CelObject) return b instanceof CelObject && equalObjects(a, b, leaves);
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b, leaves);
  if (isMap(a)) return isMap(b) && equalMaps(a, b, leaves);
  if (typeof a === 'string') {
    if (typeof b !== 'string' || a.length !== b.length) return false;
    charge(a.length / 10);
    return false;
  }
  if (hasParts(b)) return false;
  if (a instanceof Uint8Array) charge(a.length / 10);
  return leaves(a, b);
}

function equalLists(a: readonly unknown[], b: readonly unknown[], leaves: LeavesEqual): boolean {
  if (a.length !== b.length) return false;
  const associative = associativeList(a);
  if (associative === undefined) return a.every((item, index) => equal(item, b[index], leaves));
  charge(a.length);
  const mine = new Map(a.map((item) => [associative.identity(item), item]));
  return b.every((item) => {
    const identity = associative.identity(item);
    return mine.has(identity) && (!associative.keyed || equal(mine.get(identity), item, leaves));
  });
}

function equalOptionals(a: Optional, b: Optional, leaves: LeavesEqual): boolean {
  if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue();
  return equal(a.value(), b.value(), leaves);
}

function equalMaps(a: Record<string, unknown>, b: Record<string, unknown>, leaves: LeavesEqual): boolean {
  const keys = keysOf(a);
  if (keys.length !== keysOf(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], leaves));
}

/** What rules cannot see of an object counts too. */
function equalObjects(a: CelObject, b: CelObject, leaves: LeavesEqual): boolean {
  const [left, right] = [jsonOf(a), jsonOf(b)];
  const keys = keysOf(left);
  if (keys.length !== keysOf(right).length) return false;
  const names = namesOf(a);
  return keys.every((key) => {
    if (!Object.hasOwn(right, key)) return false;
    const [mine, its] = [left[key], right[key]];
    const name = names.get(key);
    if (name !== undefined && mine !== null && its !== null) {
      return equal((a as never)[name], (b as never)[name], leaves);
    }
    return mine === its || equalUnseen(mine, its);
  });
}

/** Charged for before it is walked: what is not visible to rules has no other limit than that of a request. */
function equalUnseen(a: unknown, b: unknown): boolean {
  charge(partsOf(a));
  return jsonEqual(a, b);
}

function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let sum = 1;
  for (const item of Object.values(value)) sum += partsOf(item);
  return sum;
}
