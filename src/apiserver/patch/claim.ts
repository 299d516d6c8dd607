import { type FieldSet, leafNode, type MutableFieldSet, withSelf } from './field-set.ts';
import { type FieldType, leafType, type MapType, typeOfKey } from './field-type.ts';
import { groupItems, type ListType, listElements } from './list-items.ts';
import { isObject, type JsonObject } from './object.ts';

/**
 * The paths an applier claims with `value`: leaves, map keys and list items; a declared field that only holds others is
 * not claimed itself, so that two appliers can fill it together.
 */
export function claimedPaths(value: unknown, type: FieldType): FieldSet | undefined {
  return claimBelow(value, type);
}

function claimBelow(value: unknown, type: FieldType): MutableFieldSet | undefined {
  if (type.shape === 'map' && isObject(value)) return claimMap(value, type);
  if ((type.shape === 'listMap' || type.shape === 'set') && Array.isArray(value)) return claimList(value, type);
  return undefined;
}

function claimMap(map: JsonObject, type: MapType): MutableFieldSet | undefined {
  let claimed: MutableFieldSet | undefined;
  for (const key of Object.keys(map)) {
    const value = map[key];
    const field = type.fields.get(key);
    const childType = field?.type ?? typeOfKey(type, key);
    if (value === undefined || childType.shape === 'untracked') continue;
    const node = claimKey(value, childType, field !== undefined);
    if (node === undefined) continue;
    claimed ??= {};
    claimed[field?.element ?? `f:${key}`] = node;
  }
  return claimed;
}

function claimKey(value: unknown, type: FieldType, declared: boolean): FieldSet | undefined {
  if (isWhole(value, type)) return leafNode;
  const below = claimBelow(value, type);
  return declared ? below : withSelf(below);
}

function claimList(items: readonly unknown[], type: ListType): MutableFieldSet | undefined {
  const elements = listElements(items, type);
  if (elements === undefined || elements.length === 0) return undefined;
  const itemType = itemTypeOf(type);
  const claimed: MutableFieldSet = {};
  for (let index = 0; index < items.length; index++) {
    claimed[elements[index] as string] = withSelf(claimBelow(items[index], itemType));
  }
  return claimed;
}

export function itemTypeOf(type: ListType): FieldType {
  return type.shape === 'listMap' ? type.item : leafType;
}

/** Whether a value is owned as one: a leaf by type or by form, null, or an empty map. */
function isWhole(value: unknown, type: FieldType): boolean {
  if (type.shape === 'map') return !isObject(value) || isEmptyObject(value);
  if (type.shape === 'listMap' || type.shape === 'set') {
    return !Array.isArray(value) || listElements(value, type) === undefined;
  }
  return true;
}

function isEmptyObject(value: JsonObject): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

/**
 * The paths that come into being, or cease, with the whole of `value`: unlike claimed ones, every map and list on the way
 * is among them.
 */
export function wholePaths(value: unknown, type: FieldType): FieldSet {
  if (type.shape === 'map' && isObject(value)) {
    let node: MutableFieldSet | undefined;
    for (const key of Object.keys(value)) {
      const field = type.fields.get(key);
      const childType = field?.type ?? typeOfKey(type, key);
      if (value[key] === undefined || childType.shape === 'untracked') continue;
      node ??= {};
      node[field?.element ?? `f:${key}`] = wholePaths(value[key], childType);
    }
    return withSelf(node);
  }
  if ((type.shape === 'listMap' || type.shape === 'set') && Array.isArray(value)) {
    const elements = listElements(value, type);
    if (elements === undefined) return leafNode;
    const node: MutableFieldSet = {};
    for (const [element, items] of groupItems(value, elements)) {
      node[element] = items.length === 1 ? wholePaths(items[0], itemTypeOf(type)) : leafNode;
    }
    return withSelf(node);
  }
  return leafNode;
}
