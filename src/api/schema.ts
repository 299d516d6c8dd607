import Type, { type Static, type TProperties, type TSchema, type TUnsafe } from 'typebox';
import type { JsonSchema } from './kind.ts';

/**
 * Building blocks of the kinds' schemas: TypeBox schemas with the `x-kubernetes-*` keywords, each with its description.
 * A property with a default is not required of a writer, and is always there in the TypeScript type, since types
 * describe objects as a server returns them.
 */

/** A CEL rule of `x-kubernetes-validations`. `message` is what a person reads: it says what would be right. */
export interface CelRule {
  rule: string;
  message: string;
  fieldPath?: string;
}

export interface Options {
  rules?: readonly CelRule[];
  [keyword: string]: unknown;
}

/** The rule of a field that can not be edited. */
export function immutable(field: string): CelRule {
  return { rule: 'self == oldSelf', message: `${field} is immutable` };
}

/** The rules, on the object around it, of an optional field that can not be edited, set or cleared. */
export function immutableOptional(field: string): CelRule {
  return {
    rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message: `${field} is immutable: it can be neither changed nor set nor cleared`,
  };
}

/** The rule of a list of scalars that holds no item twice. */
export function uniqueItems(what: string): CelRule {
  return {
    rule: 'self.all(item, self.exists_one(other, other == item))',
    message: `${what} must not be repeated`,
  };
}

/** The rule of a list of objects of which no two have the same `field`. */
export function uniqueBy(field: string, what: string): CelRule {
  return {
    rule: `self.all(item, self.exists_one(other, other.${field} == item.${field}))`,
    message: `${what} must not be repeated`,
  };
}

function keywords(description: string, { rules, ...rest }: Options): Record<string, unknown> {
  return { description, ...rest, ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }) };
}

export function text(description: string, options: Options = {}) {
  return Type.String(keywords(description, options));
}

export function oneOf<const V extends readonly string[]>(
  description: string,
  values: V,
  options: Options = {},
): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({ type: 'string', enum: values, ...keywords(description, options) });
}

export function int32(description: string, options: Options = {}) {
  return Type.Integer({ format: 'int32', ...keywords(description, options) });
}

export function int64(description: string, options: Options = {}) {
  return Type.Integer({ format: 'int64', ...keywords(description, options) });
}

export function number(description: string, options: Options = {}) {
  return Type.Number(keywords(description, options));
}

export function bool(description: string, options: Options = {}) {
  return Type.Boolean(keywords(description, options));
}

/** RFC 3339. */
export function time(description: string) {
  return Type.String({ format: 'date-time', ...keywords(description, {}) });
}

/** A Kubernetes quantity: `500m`, `2Gi`, 4. */
export function quantity(description: string): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
    'x-kubernetes-int-or-string': true,
    description,
  });
}

export function intOrString(description: string): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    description,
  });
}

export function list<T extends TSchema>(description: string, item: T, options: Options = {}) {
  return Type.Array(item, keywords(description, options));
}

/** A list whose items are known by the fields `keys`; two items of one key are refused. */
export function listMap<T extends TSchema>(description: string, keys: string[], item: T, options: Options = {}) {
  return list(description, item, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...options,
  });
}

export function map<T extends TSchema>(
  description: string,
  value: T,
  options: Options = {},
): TUnsafe<Record<string, Static<T>>> {
  return Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    additionalProperties: value,
    ...keywords(description, options),
  });
}

export function object<P extends TProperties>(description: string, properties: P, options: Options = {}) {
  const schema = Type.Object(properties, keywords(description, options));
  const required = ((schema as { required?: string[] }).required ?? []).filter(
    (name) => !('default' in (properties[name] as unknown as JsonSchema)),
  );
  if (required.length === 0) delete (schema as unknown as JsonSchema).required;
  else (schema as unknown as JsonSchema).required = required;
  return schema;
}

export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(schema);
}

/** The schema as plain JSON, without what TypeBox keeps for itself. */
export function plain(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}
