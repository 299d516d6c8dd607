import { isObject, type JsonObject, ownValue, setOwn } from './object.ts';

/**
 * JSON merge patch (RFC 7386): objects merge, null deletes, anything else replaces. Neither argument is changed; what
 * the patch does not touch is shared with `target`, and a patch that changes nothing answers `target` itself.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const original = isObject(target) ? target : undefined;
  let result: JsonObject | undefined = original === undefined ? {} : undefined;
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === undefined) continue;
    const source = result ?? (original as JsonObject);
    if (change === null) {
      if (!Object.hasOwn(source, key)) continue;
      result ??= { ...original };
      delete result[key];
      continue;
    }
    const before = ownValue(source, key);
    const after = applyMergePatch(before, change);
    if (after === before) continue;
    result ??= { ...original };
    setOwn(result, key, after);
  }
  return result ?? original;
}
