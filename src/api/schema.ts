import type {
  Static,
  TArray,
  TBoolean,
  TInteger,
  TNumber,
  TObject,
  TOptional,
  TProperties,
  TSchema,
  TString,
  TUnsafe,
} from 'typebox';
import type { JsonSchema } from './kind.ts';

/**
 * Building blocks of the kinds' schemas: plain JSON Schema with the `x-kubernetes-*` keywords, each with its
 * description, typed as TypeBox schemas so that `Static` gives the TypeScript type. (Only TypeBox's types are used:
 * loading it would cost each start 140 ms, for objects that are as easily written down.)
 *
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

const optionals = new WeakSet<object>();

function make<T extends TSchema>(schema: JsonSchema): T {
  return schema as unknown as T;
}

function keywords(description: string, { rules, ...rest }: Options): Record<string, unknown> {
  return { description, ...rest, ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }) };
}

export function text(description: string, options: Options = {}) {
  return make<TString>({ type: 'string', ...keywords(description, options) });
}

export function oneOf<const V extends readonly string[]>(
  description: string,
  values: V,
  options: Options = {},
): TUnsafe<V[number]> {
  return make({ type: 'string', enum: values, ...keywords(description, options) });
}

export function int32(description: string, options: Options = {}) {
  return make<TInteger>({ type: 'integer', format: 'int32', ...keywords(description, options) });
}

export function int64(description: string, options: Options = {}) {
  return make<TInteger>({ type: 'integer', format: 'int64', ...keywords(description, options) });
}

export function number(description: string, options: Options = {}) {
  return make<TNumber>({ type: 'number', ...keywords(description, options) });
}

export function bool(description: string, options: Options = {}) {
  return make<TBoolean>({ type: 'boolean', ...keywords(description, options) });
}

/** RFC 3339. */
export function time(description: string) {
  return make<TString>({ type: 'string', format: 'date-time', description });
}

/** A Kubernetes quantity: `500m`, `2Gi`, 4. */
export function quantity(description: string): TUnsafe<string | number> {
  return make({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
    'x-kubernetes-int-or-string': true,
    description,
  });
}

export function intOrString(description: string): TUnsafe<string | number> {
  return make({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    description,
  });
}

export function list<T extends TSchema>(description: string, item: T, options: Options = {}) {
  return make<TArray<T>>({ type: 'array', items: item, ...keywords(description, options) });
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
  return make({
    type: 'object',
    additionalProperties: value,
    ...keywords(description, options),
  });
}

export function object<P extends TProperties>(description: string, properties: P, options: Options = {}) {
  const required = Object.keys(properties).filter(
    (name) => !optionals.has(properties[name]!) && !('default' in properties[name]!),
  );
  return make<TObject<P>>({
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...keywords(description, options),
  });
}

export function optional<T extends TSchema>(schema: T): TOptional<T> {
  const copy = { ...schema } as TOptional<T>;
  optionals.add(copy);
  return copy;
}

/** A copy of the schema as plain JSON: parts that several kinds share are no longer shared. */
export function plain(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}
