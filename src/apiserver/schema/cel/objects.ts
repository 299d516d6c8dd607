import { isObject } from '../json-schema.ts';
import { charge } from './budget.ts';

const json = Symbol('json');
const converted = Symbol('converted');
const names = Symbol('names');

/** An object of a schema with properties, as a rule sees it. Symbols, because any name can be a property's. */
export abstract class CelObject {
  readonly [json]: Record<string, unknown>;
  /** What was converted already: a rule may read one long list as often as it has items. */
  [converted]: Map<string, unknown> | undefined;

  constructor(value: Record<string, unknown>) {
    this[json] = value;
    this[converted] = undefined;
  }

  /** The name a rule uses for each property that rules can see. */
  abstract readonly [names]: ReadonlyMap<string, string>;
}

/** A class for the objects of one schema; a field is converted when it is first read. */
export function objectClass(
  fields: readonly {
    name: string;
    selectors: readonly string[];
    wrap: ((value: unknown) => unknown) | undefined;
  }[],
): new (
  value: Record<string, unknown>,
) => CelObject {
  const known: ReadonlyMap<string, string> = new Map(fields.map(({ name, selectors }) => [name, selectors[0]!]));
  const Made = class extends CelObject {
    get [names]() {
      return known;
    }
  };
  for (const { name, selectors, wrap } of fields) {
    for (const selector of selectors) {
      Object.defineProperty(Made.prototype, selector, {
        get(this: CelObject) {
          return fieldOf(this, name, wrap);
        },
      });
    }
  }
  return Made;
}

function fieldOf(object: CelObject, name: string, wrap: ((value: unknown) => unknown) | undefined): unknown {
  // Plain JSON: only names that every object inherits need the slower, own-only read.
  const value =
    name in Object.prototype && !Object.hasOwn(object[json], name) ? undefined : (object[json][name] ?? undefined);
  if (wrap === undefined || value === undefined) return value;
  const already = object[converted]?.get(name);
  if (already !== undefined) return already;
  const made = wrap(value);
  object[converted] ??= new Map();
  object[converted].set(name, made);
  return made;
}

export function jsonOf(object: CelObject): Record<string, unknown> {
  return object[json];
}

export function namesOf(object: CelObject): ReadonlyMap<string, string> {
  return object[names];
}

const keysOfMaps = new WeakMap<object, readonly string[]>();

/** The keys of a map; those of one map are gathered, and charged for, once. */
export function keysOf(map: object): readonly string[] {
  let keys = keysOfMaps.get(map);
  if (keys === undefined) {
    keys = Object.keys(map);
    keysOfMaps.set(map, keys);
    charge(keys.length);
  }
  return keys;
}

/** Whether a value inside a rule is a map, and no object of a schema or a library. */
export function isMap(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
