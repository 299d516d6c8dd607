import type { ObjectMeta } from '../../meta/index.ts';
import { compositions, enumCheck } from './compositions.ts';
import { type Failure, failure, inBody, locate, maximumFailures, type Validator } from './failure.ts';
import { isEmbedded, isIntOrString, isNullable, numberAt, propertiesOf, schemaAt, stringsAt } from './json-schema.ts';
import { checkEmbeddedMetadata, checkMetadata } from './metadata.ts';
import { numberChecks, stringChecks } from './scalars.ts';
import type { JsonSchema } from './schema.ts';
import { uniqueness } from './unique.ts';

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
  const after = [...enumCheck(schema), ...compositions(schema, compileValidator)];
  const accepts = (kind: Kind) => types.length === 0 || types.includes(kind);
  const [string, integer, number, boolean, list, map] = (
    ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const
  ).map(accepts);

  return (value, out, valid) => {
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
        } else if (map) object(value as Record<string, unknown>, out, valid);
        else out.push(wrongType('object', typeText));
    }
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
      for (let i = 0; i < value.length && out.length < maximumFailures; i++) {
        const before = out.length;
        item(value[i], out);
        if (out.length > before) locate(out, before, `[${i}]`);
      }
    }
    unique?.(value, out);
  };
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
): (value: Record<string, unknown>, out: Failure[], valid?: Record<string, unknown>) => void {
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
      if (out.length > before) return;
      if (!isRoot) checkEmbeddedMetadata(value as ObjectMeta, out);
      declared?.(value, out);
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
  return (value, out, valid) => {
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
      if (typeof item === field.accepts || (valid !== undefined && valid[key] === item)) continue;
      const before = out.length;
      field.validate(item, out);
      if (out.length === before) continue;
      locate(out, before, `.${key}`);
      if (out.length >= maximumFailures) return;
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
    out.push(failure('FieldValueRequired', 'Required value', '', { segments: [`.${name}`], ownerDepth: 1 }));
  }
}
