import { type Failure, failure, inBody, printValue } from './failure.ts';
import { isObject, stringsAt } from './json-schema.ts';
import type { JsonSchema } from './schema.ts';

/** `x-kubernetes-list-type: set` and `map`, and plain `uniqueItems`. */
export function uniqueness(schema: JsonSchema): ((value: unknown[], out: Failure[]) => void) | undefined {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'map') {
    const keys = stringsAt(schema, 'x-kubernetes-list-map-keys');
    return (value, out) => {
      if (value.length < 2) return;
      const seen = new Set<string>();
      for (let i = 0; i < value.length; i++) {
        const entry = value[i];
        if (!isObject(entry)) continue;
        // Nearly always one key, and a string: no need to build an object to compare.
        const only = keys.length === 1 ? entry[keys[0]!] : undefined;
        if (typeof only === 'string' && !seen.has(only)) {
          seen.add(only);
          continue;
        }
        const identity: Record<string, unknown> = {};
        for (const key of keys) if (Object.hasOwn(entry, key)) identity[key] = entry[key];
        report(seen, typeof only === 'string' ? only : canonical(identity), identity, i, out);
      }
    };
  }
  if (listType === 'set') {
    return (value, out) => {
      const seen = new Set<string>();
      for (let i = 0; i < value.length; i++) report(seen, canonical(value[i]), value[i], i, out);
    };
  }
  if (schema.uniqueItems === true) {
    return (value, out) => {
      if (new Set(value.map(canonical)).size < value.length) out.push(inBody('', "shouldn't contain duplicates"));
    };
  }
  return undefined;
}

function report(seen: Set<string>, key: string, value: unknown, index: number, out: Failure[]): void {
  if (seen.has(key)) {
    out.push(
      failure('FieldValueDuplicate', `Duplicate value: ${printValue(value)}`, '', {
        segments: [`[${index}]`],
        ownerDepth: 1,
      }),
    );
  } else seen.add(key);
}

/** The same text for equal JSON values, whatever the order of their keys. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const object = value as Record<string, unknown>;
  const entries = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`);
  return `{${entries.join()}}`;
}
