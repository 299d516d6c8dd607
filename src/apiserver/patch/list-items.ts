import type { ListMapType, SetType } from './field-type.ts';
import { canonicalJson, isObject, type JsonObject } from './object.ts';

export type ListType = ListMapType | SetType;

/** The path element (`k:{…}` or `v:…`) by which an item of an associative list is known; undefined where it has none. */
export function listElement(item: unknown, type: ListType): string | undefined {
  if (type.shape === 'set') return item === null || item === undefined ? undefined : `v:${canonicalJson(item)}`;
  if (!isObject(item)) return undefined;
  const first = type.keys[0] as string;
  if (type.keys.length === 1) {
    const value = keyValue(item, first, type);
    return value === undefined ? undefined : `k:{${JSON.stringify(first)}:${canonicalJson(value)}}`;
  }
  const members: string[] = [];
  for (const key of type.keys) {
    const value = keyValue(item, key, type);
    if (value !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(value)}`);
  }
  return members.length === 0 ? undefined : `k:{${members.join(',')}}`;
}

function keyValue(item: JsonObject, key: string, type: ListMapType): unknown {
  return Object.hasOwn(item, key) && item[key] !== undefined ? item[key] : type.defaults.get(key);
}

/** The path elements of all items, in order; undefined where an item has none, so that the list is a leaf. */
export function listElements(items: readonly unknown[], type: ListType): string[] | undefined {
  const elements: string[] = [];
  for (const item of items) {
    const element = listElement(item, type);
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return elements;
}

/** Items by path element, in order of first appearance. More than one under an element are duplicates. */
export function groupItems(items: readonly unknown[], elements: readonly string[]): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>();
  elements.forEach((element, index) => {
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [items[index]]);
    else group.push(items[index]);
  });
  return groups;
}
