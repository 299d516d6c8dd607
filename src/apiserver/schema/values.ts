import { jsonEqual } from '../../meta/index.ts';
import { type Failure, failure, invalid, locate, printValue } from './failure.ts';
import { stringFormats } from './formats.ts';
import {
  isEmbedded,
  isIntOrString,
  isNullable,
  isObject,
  numberAt,
  propertiesOf,
  schemaAt,
  schemasAt,
  stringAt,
  stringsAt,
} from './json-schema.ts';
import { checkMetadata } from './metadata.ts';
import { regexOf } from './regex/regex.ts';
import type { JsonSchema } from './schema.ts';

/** Adds what is wrong with `value`. */
export type Validator = (value: unknown, out: Failure[]) => void;

type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null';

/**
 * Compiles the value validations of a schema, in the order and words of Kubernetes (kube-openapi's validators as
 * apiextensions-apiserver turns them into field errors). Errors a pattern cannot help at run time, such as one that is
 * not RE2, are thrown here.
 */
export function compileValidator(schema: JsonSchema, isRoot = false): Validator {
  const types = typesOf(schema);
  const nullable = isNullable(schema);
  const typeText = types.join(',');
  const strings = stringChecks(schema);
  const numbers = numberChecks(schema);
  const array = arrayValidator(schema);
  const object = objectValidator(schema, isRoot);
  const after = [...enumCheck(schema), ...compositions(schema)];
  const accepts = (kind: Kind) => types.length === 0 || types.includes(kind);
  const [string, integer, number, boolean, list, map] = (
    ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const
  ).map(accepts);

  return (value, out) => {
    const start = out.length;
    switch (typeof value) {
      case 'string':
        if (!string) out.push(wrongType('string', typeText));
        else for (let i = 0; i < strings.length; i++) strings[i]!(value, out);
        break;
      case 'number':
        if (number || (integer && Number.isInteger(value)))
          for (let i = 0; i < numbers.length; i++) numbers[i]!(value, out);
        else out.push(wrongType(Number.isInteger(value) ? 'integer' : 'number', typeText));
        break;
      case 'boolean':
        if (!boolean) out.push(wrongType('boolean', typeText));
        break;
      default:
        if (value === null || value === undefined) {
          if (nullable) return;
          if (types.length > 0) out.push(wrongType('null', typeText));
        } else if (Array.isArray(value)) {
          if (list) array(value, out);
          else out.push(wrongType('array', typeText));
        } else if (map) object(value as Record<string, unknown>, out);
        else out.push(wrongType('object', typeText));
    }
    if (after.length === 0 || (out.length > start && out[out.length - 1]!.segments.length === 0 && types.length > 0))
      return;
    for (let i = 0; i < after.length; i++) after[i]!(value, out);
  };
}

function typesOf(schema: JsonSchema): Kind[] {
  if (isIntOrString(schema)) return ['integer', 'string'];
  const type = schema.type;
  return typeof type === 'string' && type !== '' ? [type as Kind] : [];
}

function wrongType(found: Kind, expected: string): Failure {
  return failure(
    'FieldValueTypeInvalid',
    `Invalid value: "${found}"`,
    (path) => `${path} in body must be of type ${expected}: "${found}"`,
  );
}

function inBody(value: unknown, what: string): Failure {
  return invalid(value, (path) => `${path} in body ${what}`);
}

/** Code points, as Go counts runes; the common case needs no look inside. */
function longerThan(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || countRunes(text) > limit);
}

function countRunes(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const code = text.charCodeAt(i);
    if (code < 0xd800 || code > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    count--;
    i++;
  }
  return count;
}

function stringChecks(schema: JsonSchema): ((value: string, out: Failure[]) => void)[] {
  const checks: ((value: string, out: Failure[]) => void)[] = [];
  const max = numberAt(schema, 'maxLength');
  if (max !== undefined) {
    checks.push((value, out) => {
      if (longerThan(value, max))
        out.push(failure('FieldValueTooLong', 'Too long', `may not be more than ${max} bytes`));
    });
  }
  const min = numberAt(schema, 'minLength');
  if (min !== undefined && min > 0) {
    checks.push((value, out) => {
      if (value.length < min || (value.length < 2 * min && countRunes(value) < min)) {
        out.push(inBody(value, `should be at least ${min} chars long`));
      }
    });
  }
  const pattern = stringAt(schema, 'pattern');
  if (pattern !== undefined && pattern !== '') {
    const regex = regexOf(pattern);
    checks.push((value, out) => {
      if (!regex.test(value)) out.push(inBody(value, `should match '${pattern}'`));
    });
  }
  const format = stringAt(schema, 'format');
  const hasFormat =
    format === undefined ? undefined : (stringFormats.get(format.replaceAll('-', '')) ?? stringFormats.get(format));
  if (hasFormat !== undefined) {
    checks.push((value, out) => {
      if (hasFormat(value)) return;
      out.push(
        failure(
          'FieldValueTypeInvalid',
          `Invalid value: ${printValue(value)}`,
          (path) => `${path} in body must be of type ${format}: ${printValue(value)}`,
        ),
      );
    });
  }
  return checks;
}

function numberChecks(schema: JsonSchema): ((value: number, out: Failure[]) => void)[] {
  const checks: ((value: number, out: Failure[]) => void)[] = [];
  const max = numberAt(schema, 'maximum');
  const min = numberAt(schema, 'minimum');
  const step = numberAt(schema, 'multipleOf');
  const format = stringAt(schema, 'format');
  if (format === 'int32' && schema.type === 'integer') {
    checks.push((value, out) => {
      if (value < -(2 ** 31) || value >= 2 ** 31) out.push(formatOverflow(value, 'int32'));
    });
  } else if (schema.type === 'integer' || isIntOrString(schema)) {
    checks.push((value, out) => {
      if (value < -(2 ** 63) || value >= 2 ** 63) out.push(formatOverflow(value, 'int64'));
    });
  }
  if (step !== undefined && step > 0) {
    checks.push((value, out) => {
      const quotient = value / step;
      if (Math.abs(quotient - Math.round(quotient)) > 1e-9) out.push(inBody(value, `should be a multiple of ${step}`));
    });
  }
  if (max !== undefined) {
    const exclusive = schema.exclusiveMaximum === true;
    checks.push((value, out) => {
      if (exclusive ? value >= max : value > max) {
        out.push(inBody(value, `should be less than ${exclusive ? '' : 'or equal to '}${max}`));
      }
    });
  }
  if (min !== undefined) {
    const exclusive = schema.exclusiveMinimum === true;
    checks.push((value, out) => {
      if (exclusive ? value <= min : value < min) {
        out.push(inBody(value, `should be greater than ${exclusive ? '' : 'or equal to '}${min}`));
      }
    });
  }
  return checks;
}

function formatOverflow(value: number, format: string): Failure {
  return inBody(value, `must be of type integer in range of ${format}`);
}

function arrayValidator(schema: JsonSchema): (value: unknown[], out: Failure[]) => void {
  const items = schemaAt(schema, 'items');
  const item = items === undefined ? undefined : compileValidator(items);
  const max = numberAt(schema, 'maxItems');
  const min = numberAt(schema, 'minItems');
  const unique = uniqueness(schema);
  return (value, out) => {
    // A list already known to be too long is not walked: its items could be millions.
    if (max !== undefined && value.length > max) {
      out.push(failure('FieldValueTooMany', `Too many: ${value.length}`, `must have at most ${max} items`));
      return;
    }
    if (min !== undefined && value.length < min) out.push(inBody(value.length, `should have at least ${min} items`));
    if (item !== undefined) {
      for (let i = 0; i < value.length; i++) {
        const before = out.length;
        item(value[i], out);
        if (out.length > before) locate(out, before, `[${i}]`);
      }
    }
    unique?.(value, out);
  };
}

/** `x-kubernetes-list-type: set` and `map`, and plain `uniqueItems`. */
function uniqueness(schema: JsonSchema): ((value: unknown[], out: Failure[]) => void) | undefined {
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

interface Field {
  readonly validate: Validator;
  /** The `typeof` every value of which passes, so that the commonest leaves cost no call. */
  readonly accepts: 'string' | 'boolean' | '';
  readonly isRequired: boolean;
}

function acceptsAll(schema: JsonSchema): Field['accepts'] {
  const type = schema.type;
  if (type !== 'string' && type !== 'boolean') return '';
  const free = new Set(['type', 'description', 'title', 'default', 'example', 'nullable']);
  return Object.keys(schema).every((key) => free.has(key)) ? type : '';
}

function objectValidator(
  schema: JsonSchema,
  isRoot: boolean,
): (value: Record<string, unknown>, out: Failure[]) => void {
  const required = stringsAt(schema, 'required');
  const known = new Map<string, Field>();
  for (const [name, property] of propertiesOf(schema)) {
    known.set(name, {
      validate: compileValidator(property),
      accepts: acceptsAll(property),
      isRequired: required.includes(name),
    });
  }
  const embedded = isEmbedded(schema);
  if (isRoot || embedded) {
    const declared = known.get('metadata')?.validate;
    const validate: Validator = (value, out) => {
      const before = out.length;
      checkMetadata(value, out);
      if (out.length === before) declared?.(value, out);
    };
    known.set('metadata', { validate, accepts: '', isRequired: required.includes('metadata') });
  }
  const additional = schemaAt(schema, 'additionalProperties');
  const other: Field | undefined =
    additional === undefined
      ? undefined
      : { validate: compileValidator(additional), accepts: acceptsAll(additional), isRequired: false };
  const closed = schema.additionalProperties === false;
  const max = numberAt(schema, 'maxProperties');
  const min = numberAt(schema, 'minProperties');
  return (value, out) => {
    if (max !== undefined || min !== undefined) {
      const count = Object.keys(value).length;
      if (max !== undefined && count > max) {
        out.push(failure('FieldValueTooMany', `Too many: ${count}`, `must have at most ${max} items`));
        return;
      }
      if (min !== undefined && count < min) out.push(inBody(count, `should have at least ${min} properties`));
    }
    let missing = required.length;
    for (const key in value) {
      const field = known.get(key) ?? other;
      if (field === undefined) {
        if (closed)
          out.push(
            failure(
              'FieldValueInvalid',
              'Invalid value: ""',
              (path) => `${path}.${key} in body is a forbidden property`,
            ),
          );
        continue;
      }
      const item = value[key];
      if (item === undefined) continue;
      if (field.isRequired) missing--;
      if (typeof item === field.accepts) continue;
      const before = out.length;
      field.validate(item, out);
      if (out.length > before) locate(out, before, `.${key}`);
    }
    if (missing > 0) {
      for (const name of required) {
        if (Object.hasOwn(value, name) && value[name] !== undefined) continue;
        out.push(failure('FieldValueRequired', 'Required value', '', { segments: [`.${name}`], ownerDepth: 1 }));
      }
    }
    if (embedded) checkEmbedded(value, out);
  };
}

function checkEmbedded(value: Record<string, unknown>, out: Failure[]): void {
  for (const name of ['apiVersion', 'kind']) {
    const text = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof text === 'string' && text !== '') continue;
    out.push(
      failure('FieldValueRequired', 'Required value', 'must not be empty', { segments: [`.${name}`], ownerDepth: 1 }),
    );
  }
}

function enumCheck(schema: JsonSchema): Validator[] {
  const values = schema.enum;
  if (!Array.isArray(values) || values.length === 0) return [];
  const scalars = new Set(values);
  const complex = values.filter((value) => typeof value === 'object' && value !== null);
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const supported = texts.map((text) => JSON.stringify(text)).join(', ');
  return [
    (value, out) => {
      if (scalars.has(value) || complex.some((candidate) => jsonEqual(candidate, value))) return;
      out.push(
        failure('FieldValueNotSupported', `Unsupported value: ${printValue(value)}`, `supported values: ${supported}`),
      );
    },
  ];
}

function compositions(schema: JsonSchema): Validator[] {
  const checks: Validator[] = [];
  const compile = (key: string) => schemasAt(schema, key).map((part) => compileValidator(part));
  const attempt = (part: Validator, value: unknown): Failure[] => {
    const found: Failure[] = [];
    part(value, found);
    return found;
  };
  const must = (what: string) => failure('FieldValueInvalid', 'Invalid value: ""', (path) => `"${path}" must ${what}`);
  const least = (results: Failure[][]) => results.reduce((best, next) => (next.length < best.length ? next : best));

  const anyOf = compile('anyOf');
  if (anyOf.length > 0) {
    checks.push((value, out) => {
      const results: Failure[][] = [];
      for (const part of anyOf) {
        const found = attempt(part, value);
        if (found.length === 0) return;
        results.push(found);
      }
      out.push(must('validate at least one schema (anyOf)'), ...least(results));
    });
  }
  const oneOf = compile('oneOf');
  if (oneOf.length > 0) {
    checks.push((value, out) => {
      const results = oneOf.map((part) => attempt(part, value));
      const valid = results.filter((found) => found.length === 0).length;
      if (valid === 1) return;
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      out.push(must(`validate one and only one schema (oneOf). ${found}`));
      if (valid === 0) out.push(...least(results));
    });
  }
  const allOf = compile('allOf');
  if (allOf.length > 0) {
    checks.push((value, out) => {
      const results = allOf.map((part) => attempt(part, value));
      const failed = results.filter((found) => found.length > 0).length;
      if (failed === 0) return;
      for (const found of results) out.push(...found);
      out.push(must(`validate all the schemas (allOf)${failed === allOf.length ? '. None validated' : ''}`));
    });
  }
  const not = schemaAt(schema, 'not');
  if (not !== undefined) {
    const part = compileValidator(not);
    checks.push((value, out) => {
      if (attempt(part, value).length === 0) out.push(must('not validate the schema (not)'));
    });
  }
  return checks;
}
