import { itemTypeOf } from './claim.ts';
import { type FieldSet, isLeafNode, isMember } from './field-set.ts';
import { type FieldType, type MapType, typeOfKey } from './field-type.ts';
import { type ListType, listElements } from './list-items.ts';
import { isObject, type JsonObject, setOwn } from './object.ts';

/**
 * `value` without what an applier owned (`last`) and nobody owns now (`owned`). A map key or list item goes with all it
 * holds once its own path is unowned; a declared field goes once nothing below it is owned either. Paths that were never
 * the applier's stay. Shares what it keeps; `value` itself where nothing goes.
 */
export function pruneValue(value: unknown, last: FieldSet, owned: FieldSet | undefined, type: FieldType): unknown {
  if (isLeafNode(last)) return value;
  if (type.shape === 'map' && isObject(value)) return pruneMap(value, last, owned, type);
  if ((type.shape === 'listMap' || type.shape === 'set') && Array.isArray(value))
    return pruneList(value, last, owned, type);
  return value;
}

function pruneMap(map: JsonObject, last: FieldSet, owned: FieldSet | undefined, type: MapType): JsonObject {
  let result: JsonObject | undefined;
  for (const element in last) {
    const key = element.slice(2);
    if (!element.startsWith('f:') || !Object.hasOwn(map, key)) continue;
    const fieldType = typeOfKey(type, key);
    if (fieldType.shape === 'untracked') continue;
    const before = last[element] as FieldSet;
    const now = owned?.[element];
    if (isGivenUp(before, now, type.fields.has(key))) {
      result ??= { ...map };
      delete result[key];
      continue;
    }
    const kept = pruneValue(map[key], before, now, fieldType);
    if (kept === map[key]) continue;
    result ??= { ...map };
    if (isEmptied(kept) && (now === undefined || !isMember(now))) delete result[key];
    else setOwn(result, key, kept);
  }
  return result ?? map;
}

function pruneList(items: unknown[], last: FieldSet, owned: FieldSet | undefined, type: ListType): unknown[] {
  const elements = listElements(items, type);
  if (elements === undefined) return items;
  let changed = false;
  const kept: unknown[] = [];
  items.forEach((item, index) => {
    const element = elements[index] as string;
    const before = last[element];
    if (before !== undefined && isGivenUp(before, owned?.[element], false)) {
      changed = true;
      return;
    }
    const left = before === undefined ? item : pruneValue(item, before, owned?.[element], itemTypeOf(type));
    if (left !== item) changed = true;
    kept.push(left);
  });
  return changed ? kept : items;
}

function isEmptied(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

/** A declared field counts as held by whoever holds anything below it; a map key or an item only by its own path. */
function isGivenUp(before: FieldSet, now: FieldSet | undefined, declared: boolean): boolean {
  if (declared) return now === undefined;
  return isMember(before) && (now === undefined || !isMember(now));
}
