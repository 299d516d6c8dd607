import type { JsonSchema } from './schema.ts';

/** Reading a schema's keywords without trusting it. */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function schemaAt(schema: JsonSchema, key: string): JsonSchema | undefined {
  const value = schema[key];
  return isObject(value) ? value : undefined;
}

export function schemasAt(schema: JsonSchema, key: string): JsonSchema[] {
  const value = schema[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function propertiesOf(schema: JsonSchema): [string, JsonSchema][] {
  const value = schema.properties;
  if (!isObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, JsonSchema] => isObject(entry[1]));
}

export function stringsAt(schema: JsonSchema, key: string): string[] {
  const value = schema[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function numberAt(schema: JsonSchema, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}

export function stringAt(schema: JsonSchema, key: string): string | undefined {
  const value = schema[key];
  return typeof value === 'string' ? value : undefined;
}

export const preserves = (schema: JsonSchema) => schema['x-kubernetes-preserve-unknown-fields'] === true;
export const isEmbedded = (schema: JsonSchema) => schema['x-kubernetes-embedded-resource'] === true;
export const isIntOrString = (schema: JsonSchema) => schema['x-kubernetes-int-or-string'] === true;
export const isNullable = (schema: JsonSchema) => schema.nullable === true;

/** A deep copy of a JSON value, own properties only. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, cloneJson((value as Record<string, unknown>)[key]));
  return copy as T;
}

/** `object[key] = value`, also where the key is `__proto__`. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}

/** `object[key]`, where it is the object's own and not null. */
export function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? (object[key] ?? undefined) : undefined;
}
