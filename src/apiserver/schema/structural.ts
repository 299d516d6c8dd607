import { compileDefaulter } from './defaults.ts';
import { type Failure, printValue, toFieldError } from './failure.ts';
import {
  cloneJson,
  isEmbedded,
  isIntOrString,
  isNullable,
  preserves,
  propertiesOf,
  schemaAt,
  schemasAt,
} from './json-schema.ts';
import { checkListType, type Report } from './list-types.ts';
import { compilePruner } from './prune.ts';
import type { FieldError, JsonSchema } from './schema.ts';
import { compileValidator } from './values.ts';

const types = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

/** Keywords of JSONSchemaProps; anything else in a schema is a mistake, a misspelt `required` among them. */
const keywords = new Set(
  `id $schema description type format title default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength
  pattern maxItems minItems multipleOf enum maxProperties minProperties required items allOf oneOf anyOf not properties
  additionalProperties externalDocs example nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource
  x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type
  x-kubernetes-validations`.split(/\s+/),
);

/** Keywords apiextensions.k8s.io/v1 knows and forbids. */
const forbidden = [
  '$ref',
  'definitions',
  'dependencies',
  'patternProperties',
  'additionalItems',
  'deprecated',
  'discriminator',
  'readOnly',
  'writeOnly',
  'xml',
  'uniqueItems',
];

/** Inside allOf, anyOf, oneOf and not only value validations may stand. */
const structuralOnly = [
  'description',
  'default',
  'additionalProperties',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-int-or-string',
  'x-kubernetes-validations',
];

const maximumDepth = 100;

/**
 * The rules a structural schema keeps (KEP-1002; apiextensions-apiserver, pkg/apiserver/schema): every level has a type,
 * nothing is a reference, map lists have required scalar keys, defaults are valid and say nothing the schema would prune.
 *
 * @param path of the schema in the object that is refused, `spec.versions[0].schema.openAPIV3Schema`.
 */
export function checkStructural(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const report: Report = (reason, field, message) => errors.push({ reason, field, message });
  if (schema.type !== 'object') {
    report(
      schema.type === undefined || schema.type === '' ? 'FieldValueRequired' : 'FieldValueInvalid',
      `${path}.type`,
      schema.type === undefined || schema.type === ''
        ? 'Required value: must not be empty at the root'
        : `Invalid value: ${printValue(schema.type)}: must be object at the root`,
    );
  }
  if (isNullable(schema))
    report('FieldValueForbidden', `${path}.nullable`, 'Forbidden: nullable cannot be true at the root');
  checkLevel(schema, path, report, { depth: 0, isRoot: true });
  checkRootMetadata(schema, path, report);
  return errors;
}

interface Level {
  depth: number;
  isRoot: boolean;
}

function checkLevel(schema: JsonSchema, path: string, report: Report, level: Level): void {
  if (level.depth > maximumDepth) {
    report('FieldValueInvalid', path, `Invalid value: the schema nests deeper than ${maximumDepth} levels`);
    return;
  }
  const type = schema.type;
  for (const keyword of forbidden) {
    if (schema[keyword] !== undefined)
      report('FieldValueForbidden', `${path}.${keyword}`, `Forbidden: ${keyword} is not supported`);
  }
  for (const keyword of Object.keys(schema)) {
    if (!keywords.has(keyword) && !forbidden.includes(keyword)) {
      report('FieldValueInvalid', `${path}.${keyword}`, `Invalid value: unknown field ${JSON.stringify(keyword)}`);
    }
  }
  if (isIntOrString(schema)) {
    if (type !== undefined && type !== '') {
      report('FieldValueForbidden', `${path}.type`, 'Forbidden: must be empty if x-kubernetes-int-or-string is true');
    }
  } else if (type === undefined || type === '') {
    if (!preserves(schema) && !level.isRoot) {
      report('FieldValueRequired', `${path}.type`, 'Required value: must not be empty for specified object fields');
    }
  } else if (!types.has(type as string)) {
    report(
      'FieldValueNotSupported',
      `${path}.type`,
      `Unsupported value: ${printValue(type)}: supported values: ${[...types]
        .sort()
        .map((one) => `"${one}"`)
        .join(', ')}`,
    );
  }
  if (isEmbedded(schema) && type !== 'object') {
    report(
      'FieldValueInvalid',
      `${path}.type`,
      'Invalid value: must be object if x-kubernetes-embedded-resource is true',
    );
  }
  if (isEmbedded(schema) && !preserves(schema) && propertiesOf(schema).length === 0) {
    const without = 'x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    report('FieldValueRequired', `${path}.properties`, `Required value: must not be empty if ${without}`);
  }
  if (preserves(schema) && type !== 'object' && type !== undefined && type !== '') {
    report(
      'FieldValueInvalid',
      `${path}.type`,
      `Invalid value: ${printValue(type)}: must be object if x-kubernetes-preserve-unknown-fields is true`,
    );
  }
  if (type === 'array' && schemaAt(schema, 'items') === undefined) {
    report('FieldValueRequired', `${path}.items`, 'Required value: must be specified');
  }
  if (propertiesOf(schema).length > 0 && schema.additionalProperties !== undefined) {
    report(
      'FieldValueForbidden',
      `${path}.additionalProperties`,
      'Forbidden: additionalProperties and properties are mutual exclusive',
    );
  }
  if (schema.additionalProperties === false) {
    report(
      'FieldValueForbidden',
      `${path}.additionalProperties`,
      'Forbidden: additionalProperties cannot be set to false',
    );
  }
  checkPattern(schema, path, report);
  checkListType(schema, path, report);
  checkDefault(schema, path, report, level);
  checkValueValidations(schema, schema, path, report, level.depth);
  const next = { depth: level.depth + 1, isRoot: false };
  for (const [name, property] of propertiesOf(schema))
    checkLevel(property, `${path}.properties[${name}]`, report, next);
  const items = schemaAt(schema, 'items');
  if (items !== undefined) checkLevel(items, `${path}.items`, report, next);
  else if (schema.items !== undefined)
    report('FieldValueForbidden', `${path}.items`, 'Forbidden: items must be a schema object and not an array');
  const additional = schemaAt(schema, 'additionalProperties');
  if (additional !== undefined) checkLevel(additional, `${path}.additionalProperties`, report, next);
}

function checkPattern(schema: JsonSchema, path: string, report: Report): void {
  if (typeof schema.pattern !== 'string') return;
  try {
    compileValidator({ type: 'string', pattern: schema.pattern });
  } catch (error) {
    report(
      'FieldValueInvalid',
      `${path}.pattern`,
      `Invalid value: ${printValue(schema.pattern)}: must be a valid regular expression, but isn't: ${(error as Error).message}`,
    );
  }
}

/** Value validations may only speak of fields the structure above them has. */
function checkValueValidations(
  structure: JsonSchema,
  schema: JsonSchema,
  path: string,
  report: Report,
  depth: number,
): void {
  const parts: [string, JsonSchema][] = [];
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    for (const [index, part] of schemasAt(schema, key).entries()) parts.push([`${path}.${key}[${index}]`, part]);
  }
  const not = schemaAt(schema, 'not');
  if (not !== undefined) parts.push([`${path}.not`, not]);
  for (const [at, part] of parts) checkPart(structure, part, at, report, depth + 1);
}

function checkPart(structure: JsonSchema, part: JsonSchema, path: string, report: Report, depth: number): void {
  if (depth > maximumDepth) return;
  for (const key of structuralOnly) {
    if (part[key] !== undefined)
      report('FieldValueForbidden', `${path}.${key}`, 'Forbidden: must be undefined to be structural');
  }
  if (part.type !== undefined && !isIntOrString(structure)) {
    report('FieldValueForbidden', `${path}.type`, 'Forbidden: must be empty to be structural');
  }
  checkPattern(part, path, report);
  checkValueValidations(structure, part, path, report, depth);
  const known = new Map(propertiesOf(structure));
  for (const [name, property] of propertiesOf(part)) {
    const below = known.get(name) ?? schemaAt(structure, 'additionalProperties');
    const at = `${path}.properties[${name}]`;
    if (below === undefined) {
      if (!preserves(structure))
        report(
          'FieldValueRequired',
          at.replace(/\.(?:allOf|anyOf|oneOf)\[\d+\]|\.not/g, ''),
          `Required value: because it is defined in ${at}`,
        );
    } else checkPart(below, property, at, report, depth + 1);
  }
  const items = schemaAt(part, 'items');
  const below = schemaAt(structure, 'items');
  if (items !== undefined && below !== undefined) checkPart(below, items, `${path}.items`, report, depth + 1);
}

function checkDefault(schema: JsonSchema, path: string, report: Report, level: Level): void {
  const preset = schema.default;
  if (preset === undefined) return;
  if (level.isRoot) {
    report('FieldValueForbidden', `${path}.default`, 'Forbidden: must not be set at the root');
    return;
  }
  const value = cloneJson(preset);
  try {
    const dropped: string[] = [];
    compilePruner(schema, false)?.(value, dropped);
    if (dropped.length > 0) {
      report(
        'FieldValueInvalid',
        `${path}.default`,
        `Invalid value: ${printValue(preset)}: must not have unknown fields: ${dropped.map((one) => one.replace(/^\./, '')).join(', ')}`,
      );
      return;
    }
    compileDefaulter(schema)?.(value);
    const found: Failure[] = [];
    compileValidator(schema)(value, found);
    for (const one of found) {
      one.segments.push('.default', path);
      const error = toFieldError(one);
      report(error.reason, error.field, error.message);
    }
  } catch {
    // A pattern below that is not RE2 is reported where it stands.
  }
}

/** At the root only name and generateName of metadata can be restricted; its other fields belong to the server. */
function checkRootMetadata(schema: JsonSchema, path: string, report: Report): void {
  const metadata = new Map(propertiesOf(schema)).get('metadata');
  if (metadata === undefined) return;
  const at = `${path}.properties[metadata]`;
  const allowed = new Set(['type', 'description', 'properties', 'title']);
  for (const key of Object.keys(metadata)) {
    if (!allowed.has(key))
      report(
        'FieldValueForbidden',
        `${at}.${key}`,
        'Forbidden: must not be specified in a nested object metadata at the root',
      );
  }
  for (const [name] of propertiesOf(metadata)) {
    if (name !== 'name' && name !== 'generateName') {
      report(
        'FieldValueForbidden',
        `${at}.properties[${name}]`,
        'Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      );
    }
  }
}
