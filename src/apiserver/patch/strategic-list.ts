import { ApiError } from '../../meta/index.ts';
import { isObject, type JsonObject, ownValue } from './object.ts';
import type { StrategicType } from './strategic-kinds.ts';

/** Plain values of both lists, each once: those of the patch in its order, the others around them in theirs. */
export function mergePrimitiveList(list: readonly unknown[], patch: readonly unknown[], name: string): unknown[] {
  if (patch.some((item) => typeof item === 'object')) {
    throw ApiError.of('BadRequest', `invalid patch format of primitive list: ${name} must hold plain values`);
  }
  return interleave([...new Set(list)], [...new Set(patch)], (item) => item);
}

/**
 * Objects merged by key, each by `merge`. An item `{$patch: delete, <key>: x}` removes x, an item `{$patch: replace}` anywhere makes the rest
 * of the patch the whole list.
 */
export function mergeObjectList(
  list: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
  name: string,
  merge: (target: JsonObject, patch: JsonObject) => JsonObject,
): unknown[] {
  const keyOf = (item: unknown): unknown => (isObject(item) ? ownValue(item, mergeKey) : undefined);
  const deleted = new Set<unknown>();
  const items: JsonObject[] = [];
  let replaces = false;
  for (const item of patch) {
    if (!isObject(item))
      throw ApiError.of('BadRequest', `invalid JSON document: every item of ${name} must be an object`);
    const { $patch: strategy, ...rest } = item;
    if (strategy === 'replace' && Object.keys(rest).length === 0) {
      replaces = true;
      continue;
    }
    if (strategy === 'merge' && Object.keys(rest).length === 0) continue;
    const key = keyOf(item);
    if (key === undefined) {
      throw ApiError.of('BadRequest', `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
    }
    if (strategy === 'delete') deleted.add(key);
    else items.push(item);
  }
  if (replaces) return items.map((item) => merge({}, item));
  const left = list.filter((item) => !deleted.has(keyOf(item)));
  const merged = new Map<unknown, JsonObject>();
  for (const item of items) {
    const key = keyOf(item);
    const before = merged.get(key) ?? left.find((candidate) => keyOf(candidate) === key);
    merged.set(key, merge(isObject(before) ? before : {}, item));
  }
  return interleave(left, [...merged.values()], keyOf);
}

/** `list` in the order `order` gives for the items it names; the others keep their places around those. */
export function orderList(
  list: readonly unknown[],
  order: readonly unknown[],
  type: StrategicType,
  name: string,
): unknown[] {
  const { mergeKey } = type;
  const keyOf = (item: unknown): unknown =>
    mergeKey === undefined ? item : isObject(item) ? ownValue(item, mergeKey) : undefined;
  const keys = order.map(keyOf);
  if (keys.some((key) => key === undefined)) {
    throw ApiError.of(
      'BadRequest',
      `invalid patch format of setElementOrder list: every item of ${name} needs ${mergeKey}`,
    );
  }
  const byKey = new Map(list.map((item) => [keyOf(item), item]));
  const first = keys.filter((key) => byKey.has(key)).map((key) => byKey.get(key));
  return interleave(list, first, keyOf);
}

/**
 * Puts the items of `live` that `first` does not have among those of `first`: each before the first one that follows it in
 * `live`. Both keep their own order.
 */
function interleave(live: readonly unknown[], first: readonly unknown[], keyOf: (item: unknown) => unknown): unknown[] {
  const place = new Map<unknown, number>();
  live.forEach((item, index) => {
    if (!place.has(keyOf(item))) place.set(keyOf(item), index);
  });
  const firstKeys = new Set(first.map(keyOf));
  const others = live.filter((item) => !firstKeys.has(keyOf(item)));
  const result: unknown[] = [];
  let next = 0;
  for (const item of first) {
    const at = place.get(keyOf(item));
    while (at !== undefined && next < others.length && (place.get(keyOf(others[next])) as number) < at) {
      result.push(others[next++]);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}
