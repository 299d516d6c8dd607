import { jsonEqual } from '../../meta/index.ts';
import { itemTypeOf } from './claim.ts';
import { type FieldType, type MapType, typeOfKey } from './field-type.ts';
import { groupItems, type ListType, listElements } from './list-items.ts';
import { isObject, type JsonObject, ownValue, setOwn } from './object.ts';

/**
 * `live` with everything in `applied` laid over it. Neither is changed, and the answer is `live` itself where nothing
 * differs. Untracked fields stay as they are.
 */
export function mergeValues(live: unknown, applied: unknown, type: FieldType): unknown {
  if (applied === undefined || live === applied || type.shape === 'untracked') return live;
  if (live === undefined) return applied;
  if (type.shape === 'map' && isObject(live) && isObject(applied)) return mergeMaps(live, applied, type);
  if ((type.shape === 'listMap' || type.shape === 'set') && Array.isArray(live) && Array.isArray(applied)) {
    return mergeLists(live, applied, type);
  }
  return jsonEqual(live, applied) ? live : applied;
}

function mergeMaps(live: JsonObject, applied: JsonObject, type: MapType): JsonObject {
  let result: JsonObject | undefined;
  for (const key of Object.keys(applied)) {
    const before = ownValue(live, key);
    const after = mergeValues(before, applied[key], typeOfKey(type, key));
    if (after === before) continue;
    result ??= { ...live };
    setOwn(result, key, after);
  }
  return result ?? live;
}

/**
 * Shared items take the order of `applied`; items of only one side keep their place relative to the shared ones around
 * them, the live side's first. Live duplicates of an applied item are replaced by it.
 */
function mergeLists(live: unknown[], applied: unknown[], type: ListType): unknown[] {
  const liveElements = listElements(live, type);
  const appliedElements = listElements(applied, type);
  if (liveElements === undefined || appliedElements === undefined) return jsonEqual(live, applied) ? live : applied;
  const liveItems = groupItems(live, liveElements);
  const appliedSet = new Set(appliedElements);
  const itemType = itemTypeOf(type);
  const merged: unknown[] = [];
  let next = 0;
  let expected = nextShared(appliedElements, liveItems, 0);

  const take = (end: number): void => {
    for (; next < end; next++) {
      const items = liveItems.get(appliedElements[next] as string);
      merged.push(mergeValues(items?.length === 1 ? items[0] : undefined, applied[next], itemType));
    }
  };
  for (let index = 0; index < live.length; index++) {
    const element = liveElements[index] as string;
    if (!appliedSet.has(element)) {
      merged.push(live[index]);
    } else if (element === appliedElements[expected]) {
      take(expected + 1);
      expected = nextShared(appliedElements, liveItems, next);
    }
  }
  take(applied.length);
  return merged.length === live.length && merged.every((item, index) => item === live[index]) ? live : merged;
}

function nextShared(elements: readonly string[], live: ReadonlyMap<string, unknown>, from: number): number {
  let index = from;
  while (index < elements.length && !live.has(elements[index] as string)) index++;
  return index;
}
