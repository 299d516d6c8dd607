import { intern } from './intern.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Freezes a JSON value all the way down and returns it: what is shared between controllers cannot be changed by one. What is
 * shared is kept, too: equal strings in it become one (`intern`).
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const parts = value as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = parts[key];
    if (typeof part === 'object') deepFreeze(part);
    else if (typeof part === 'string' && key !== '__proto__') parts[key] = intern(part);
  }
  return Object.freeze(value);
}

/** Whether two JSON values are equal: objects by their keys in any order, absent and `undefined` alike. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let more = 0;
  for (const key of Object.keys(left)) {
    const value = left[key];
    if (value === undefined) continue;
    // What an object inherits is no JSON and equals none, but for the one that is an object without keys of its own.
    if (key === '__proto__' && !Object.hasOwn(right, key)) return false;
    if (!jsonEqual(value, right[key])) return false;
    more++;
  }
  for (const key of Object.keys(right)) if (right[key] !== undefined) more--;
  return more === 0;
}
