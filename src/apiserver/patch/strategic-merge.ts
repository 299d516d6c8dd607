import { ApiError } from '../../meta/index.ts';
import { isObject, type JsonObject, ownValue, setOwn } from './object.ts';
import { type StrategicType, strategicTypeOf } from './strategic-kinds.ts';
import { mergeObjectList, mergePrimitiveList, orderList } from './strategic-list.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const setElementOrder = '$setElementOrder/';
const deleteFromPrimitiveList = '$deleteFromPrimitiveList/';

/**
 * Strategic merge patch of a built-in kind: a merge patch whose lists merge by key, with the directives `$patch`,
 * `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`. Neither argument is changed.
 *
 * @throws ApiError BadRequest where a directive or a list is malformed, UnsupportedMediaType for a kind without a table.
 */
export function applyStrategicMergePatch(
  target: JsonObject,
  patch: unknown,
  kind: { group: string; kind: string },
): JsonObject {
  const type = strategicTypeOf(kind.group, kind.kind);
  if (type === undefined) {
    throw ApiError.of(
      'UnsupportedMediaType',
      `strategic merge patch is not supported for ${kind.kind}; use a merge patch`,
    );
  }
  if (!isObject(patch)) throw ApiError.of('BadRequest', 'a strategic merge patch must be an object');
  return mergeStrategically(target, patch, type);
}

/** `target` with `patch` merged in, by the lists `type` names. */
function mergeStrategically(target: JsonObject, patch: JsonObject, type: StrategicType | undefined): JsonObject {
  const strategy = ownValue(patch, directive);
  if (strategy === 'delete') return {};
  if (strategy !== undefined && strategy !== 'replace' && strategy !== 'merge') {
    throw ApiError.of(
      'BadRequest',
      `unknown patch type '${String(strategy)}' in map: it must be merge, replace or delete`,
    );
  }
  const result = strategy === 'replace' ? {} : retained(target, patch);
  const ordered = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (key === directive || key === retainKeys) continue;
    if (key.startsWith(deleteFromPrimitiveList)) {
      deletePrimitives(result, key, patch[key]);
    } else if (key.startsWith(setElementOrder)) {
      ordered.add(key);
    } else {
      mergeKey(result, key, patch, type?.fields?.[key]);
    }
  }
  for (const key of ordered) applyOrder(result, key, patch, type);
  return result;
}

function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = ownValue(patch, retainKeys);
  if (keys === undefined) return { ...target };
  if (!isTextList(keys))
    throw ApiError.of('BadRequest', `invalid patch format of ${retainKeys}: it must be a list of field names`);
  for (const key of Object.keys(patch)) {
    if (!key.startsWith('$') && patch[key] !== null && !keys.includes(key)) {
      throw ApiError.of(
        'BadRequest',
        `invalid patch format of ${retainKeys}: it does not name ${key}, which the patch sets`,
      );
    }
  }
  const kept: JsonObject = {};
  for (const key of Object.keys(target)) if (keys.includes(key)) setOwn(kept, key, target[key]);
  return kept;
}

function mergeKey(result: JsonObject, key: string, patch: JsonObject, type: StrategicType | undefined): void {
  const change = patch[key];
  const before = ownValue(result, key);
  if (change === null) {
    delete result[key];
  } else if (isObject(change)) {
    setOwn(result, key, mergeStrategically(isObject(before) ? before : {}, change, type));
  } else if (Array.isArray(change) && type?.primitives) {
    setOwn(result, key, mergePrimitiveList(Array.isArray(before) ? before : [], change, key));
  } else if (Array.isArray(change) && type?.mergeKey !== undefined) {
    const merge = (item: JsonObject, by: JsonObject): JsonObject => mergeStrategically(item, by, type);
    setOwn(result, key, mergeObjectList(Array.isArray(before) ? before : [], change, type.mergeKey, key, merge));
  } else if (change !== undefined) {
    setOwn(result, key, change);
  }
}

function deletePrimitives(result: JsonObject, directiveKey: string, values: unknown): void {
  const key = directiveKey.slice(deleteFromPrimitiveList.length);
  if (!Array.isArray(values) || values.some((value) => typeof value === 'object')) {
    throw ApiError.of(
      'BadRequest',
      `invalid patch format of primitive list: ${directiveKey} must be a list of plain values`,
    );
  }
  const before = ownValue(result, key);
  if (Array.isArray(before))
    setOwn(
      result,
      key,
      before.filter((item) => !values.includes(item)),
    );
}

function applyOrder(
  result: JsonObject,
  directiveKey: string,
  patch: JsonObject,
  type: StrategicType | undefined,
): void {
  const key = directiveKey.slice(setElementOrder.length);
  const listType = type?.fields?.[key];
  const order = patch[directiveKey];
  if (!Array.isArray(order) || (listType?.mergeKey === undefined && !listType?.primitives)) {
    throw ApiError.of(
      'BadRequest',
      `invalid patch format of setElementOrder list: ${directiveKey} must be a list, of a list that merges`,
    );
  }
  const list = ownValue(result, key);
  if (Array.isArray(list)) setOwn(result, key, orderList(list, order, listType, directiveKey));
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
