import type { Environment } from '@marcbachmann/cel-js';
import { parse } from '@marcbachmann/cel-js';
import { isEmbedded, isIntOrString, isObject, preserves, propertiesOf, schemaAt, stringAt } from '../json-schema.ts';
import type { JsonSchema } from '../schema.ts';
import { asAssociative, associativeOf } from './associative.ts';
import { charge } from './budget.ts';
import { equal } from './equality.ts';
import { selectorsOf } from './names.ts';
import { keysOf, objectClass } from './objects.ts';

/** What a value of one schema is inside a rule. */
export interface CelType {
  /** As cel-js writes it: `int`, `list<string>`, `Object.spec`. */
  readonly name: string;
  /** JSON to CEL; undefined where they are the same. Never called with null. */
  readonly wrap: ((value: unknown) => unknown) | undefined;
}

const toTimestamp = parse('timestamp(value)');
const toDuration = parse('duration(value)');

/**
 * Declares the object types of a schema in `environment` and answers the type of the whole. Values are wrapped lazily:
 * an object becomes one small instance, and a field is converted when a rule reads it.
 *
 * @returns undefined for a value rules cannot see (of no type, or unknown by `x-kubernetes-preserve-unknown-fields`).
 */
export class TypeDeclarations {
  readonly #environment: Environment;
  readonly #names = new Set<string>();
  readonly #types = new Map<JsonSchema, CelType | undefined>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  typeOf(schema: JsonSchema, path: string, isRoot = false): CelType | undefined {
    if (this.#types.has(schema)) return this.#types.get(schema);
    const type = this.#declare(schema, path, isRoot);
    this.#types.set(schema, type);
    return type;
  }

  #declare(schema: JsonSchema, path: string, isRoot: boolean): CelType | undefined {
    if (isIntOrString(schema)) {
      return { name: 'dyn', wrap: (value) => (typeof value === 'number' ? BigInt(Math.trunc(value)) : value) };
    }
    switch (schema.type) {
      case 'string':
        return stringType(stringAt(schema, 'format'));
      case 'integer':
        return { name: 'int', wrap: (value) => BigInt(value as number) };
      case 'number':
        return { name: 'double', wrap: undefined };
      case 'boolean':
        return { name: 'bool', wrap: undefined };
      case 'array': {
        const items = schemaAt(schema, 'items');
        const item = items === undefined ? undefined : this.typeOf(items, `${path}.item`);
        if (item === undefined) return undefined;
        const wrap = item.wrap;
        const associative = associativeOf(schema);
        const convert = (list: unknown[]): unknown[] => {
          charge(list.length);
          return wrap === undefined ? list.slice() : list.map((one) => wrapOr(wrap, one));
        };
        return {
          name: `list<${item.name}>`,
          wrap:
            wrap === undefined && associative === undefined
              ? undefined
              : (value) => {
                  if (!Array.isArray(value)) return value;
                  const list = convert(value);
                  return associative === undefined ? list : asAssociative(list, associative);
                },
        };
      }
      case 'object': {
        const additional = schemaAt(schema, 'additionalProperties');
        if (additional !== undefined) return this.#map(additional, path);
        return this.#message(schema, path, isRoot);
      }
      default:
        return undefined;
    }
  }

  #map(additional: JsonSchema, path: string): CelType | undefined {
    const value = this.typeOf(additional, `${path}.value`);
    if (value === undefined) return undefined;
    const wrap = value.wrap;
    return {
      name: `map<string, ${value.name}>`,
      wrap:
        wrap &&
        ((object) => {
          if (!isObject(object)) return object;
          const out: Record<string, unknown> = Object.create(null);
          for (const key of keysOf(object)) {
            if (object[key] !== null) out[key] = wrap(object[key]);
          }
          return out;
        }),
    };
  }

  #message(schema: JsonSchema, path: string, isRoot: boolean): CelType {
    const properties = propertiesOf(schema);
    if (isRoot || isEmbedded(schema)) {
      for (const name of ['apiVersion', 'kind']) {
        if (!properties.some(([known]) => known === name)) properties.push([name, { type: 'string' }]);
      }
      const metadata = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };
      const index = properties.findIndex(([known]) => known === 'metadata');
      if (index >= 0) properties.splice(index, 1);
      properties.push(['metadata', metadata]);
    }
    const fields: Record<string, string> = {};
    const seen: Parameters<typeof objectClass>[0][number][] = [];
    for (const [name, property] of properties) {
      if (preserves(property) && property.type === undefined) continue;
      const selectors = selectorsOf(name);
      const [escaped] = selectors;
      const type = escaped === undefined ? undefined : this.typeOf(property, `${path}.${escaped}`);
      if (escaped === undefined || type === undefined) continue;
      for (const selector of selectors) fields[selector] = type.name;
      seen.push({ name, selectors, wrap: type.wrap });
    }
    const type = this.#freshName(path);
    const ObjectOfSchema = objectClass(seen);
    this.#environment.registerType(type, { ctor: ObjectOfSchema, fields });
    // For the checker; what a rule compares goes through `equal` anyway.
    this.#environment.registerOperator(`${type} == ${type}`, (a: unknown, b: unknown) => equal(a, b, Object.is));
    return { name: type, wrap: (value) => (isObject(value) ? new ObjectOfSchema(value) : value) };
  }

  #freshName(path: string): string {
    let name = path;
    for (let i = 2; this.#names.has(name); i++) name = `${path}${i}`;
    this.#names.add(name);
    return name;
  }
}

function wrapOr(wrap: (value: unknown) => unknown, value: unknown): unknown {
  return value === null ? null : wrap(value);
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case 'date-time':
    case 'datetime':
      return { name: 'google.protobuf.Timestamp', wrap: (value) => toTimestamp({ value }) };
    case 'date':
      return { name: 'google.protobuf.Timestamp', wrap: (value) => toTimestamp({ value: `${value}T00:00:00Z` }) };
    case 'duration':
      return { name: 'google.protobuf.Duration', wrap: (value) => toDuration({ value }) };
    case 'byte':
      return { name: 'bytes', wrap: bytesOf };
    default:
      return { name: 'string', wrap: undefined };
  }
}

function bytesOf(value: unknown): Uint8Array {
  const text = String(value);
  charge(text.length / 100);
  return new Uint8Array(Buffer.from(text, 'base64'));
}
