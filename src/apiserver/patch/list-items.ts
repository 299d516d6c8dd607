import type { ListMapType, SetType } from './field-type.ts';
import { canonicalJson, isObject, type JsonObject } from './object.ts';

export type ListType = ListMapType | SetType;

/** The path element (`k:{…}` or `v:…`) by which an item of an associative list is known; undefined where it has none. */
export function listElement(item: unknown, type: ListType): string | undefined {
  if (type.shape === 'set') return item === null || item === undefined ? undefined : `v:${canonicalJson(item)}`;
  if (!isObject(item)) return undefined;
  let members = '';
  for (let index = 0; index < type.keys.length; index++) {
    const value = keyValue(item, type.keys[index] as string, type);
    if (value === undefined) continue;
    members += `${members === '' ? '' : ','}${type.labels[index]}${canonicalJson(value)}`;
  }
  return members === '' ? undefined : `k:{${members}}`;
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
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index] as string;
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [items[index]]);
    else group.push(items[index]);
  }
  return groups;
}
