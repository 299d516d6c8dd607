import { itemTypeOf } from './claim.ts';
import { printElement } from './field-set.ts';
import { type FieldType, leafType, type MapType } from './field-type.ts';
import { type ListType, listElement } from './list-items.ts';
import { isObject, type JsonObject } from './object.ts';

/**
 * Why an applied value cannot be merged: a field no schema declares, an item without its keys, or two with the same. One
 * sentence that begins with the path below `value`, or undefined where all is well.
 */
export function problemInApplied(value: unknown, type: FieldType): string | undefined {
  if (type.shape === 'map' && isObject(value)) return problemInMap(value, type);
  if ((type.shape === 'listMap' || type.shape === 'set') && Array.isArray(value)) return problemInList(value, type);
  return undefined;
}

function problemInMap(map: JsonObject, type: MapType): string | undefined {
  for (const key of Object.keys(map)) {
    const child = type.fields.get(key)?.type ?? type.element;
    if (child === undefined) return `.${key}: field not declared in schema`;
    if (child === leafType || child.shape === 'untracked') continue;
    const problem = problemInApplied(map[key], child);
    if (problem !== undefined) return `.${key}${problem}`;
  }
  return undefined;
}

function problemInList(items: readonly unknown[], type: ListType): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < items.length; index++) {
    const element = listElement(items[index], type);
    if (element === undefined) return `: element ${index}: ${missingKeys(items[index], type)}`;
    if (seen.has(element)) return `: duplicate entries for key ${printElement(element)}`;
    seen.add(element);
    const problem = problemInApplied(items[index], itemTypeOf(type));
    if (problem !== undefined) return `${printElement(element)}${problem}`;
  }
  return undefined;
}

function missingKeys(item: unknown, type: ListType): string {
  if (type.shape === 'set') return "associative list without keys has an element that's an explicit null";
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isObject(item)) return 'associative list with keys may not have non-map elements';
  const keys = type.keys.map((key) => JSON.stringify(key)).join(' ');
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}
