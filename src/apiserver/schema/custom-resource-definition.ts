import { createHash } from 'node:crypto';
import { type CustomResourceDefinition, jsonEqual } from '../../meta/index.ts';
import { compileJsonPath } from '../table/jsonpath.ts';
import { compileRules, type RuleProblem } from './cel/rules.ts';
import { printValue } from './failure.ts';
import { followFieldPath } from './field-paths.ts';
import { isObject, own, schemaAt } from './json-schema.ts';
import { checkRuleDeclarations } from './rule-declarations.ts';
import type { FieldError, JsonSchema } from './schema.ts';
import { checkStructural } from './structural.ts';

type Report = (reason: FieldError['reason'], field: string, message: string) => void;

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const label1035 = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const version = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const mostSound = 500;
/**
 * Hashes of specs whose versions are right, the first ones to go first: every plane is given the same definitions, and
 * compiling their rules is most of what opening one costs.
 */
const sound = new Set<string>();

/**
 * What is wrong with a CustomResourceDefinition (apiextensions.k8s.io/v1), as kube-apiserver's validation says it:
 * names, versions, structural schemas, their defaults, patterns and CEL rules, columns and subresources. Empty where it
 * can be served. Takes any JSON; never throws.
 */
export function checkCustomResourceDefinition(definition: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const report: Report = (reason, field, message) => errors.push({ reason, field, message });
  const spec: unknown = definition.spec;
  if (!isObject(spec)) {
    report('FieldValueRequired', 'spec', 'Required value');
    return errors;
  }
  const names = isObject(spec.names) ? spec.names : {};
  checkNames(definition, spec, names, report);
  if (spec.scope !== 'Namespaced' && spec.scope !== 'Cluster') {
    report(
      spec.scope === undefined ? 'FieldValueRequired' : 'FieldValueNotSupported',
      'spec.scope',
      spec.scope === undefined
        ? 'Required value'
        : `Unsupported value: ${printValue(spec.scope)}: supported values: "Cluster", "Namespaced"`,
    );
  }
  if (spec.preserveUnknownFields === true) {
    report(
      'FieldValueInvalid',
      'spec.preserveUnknownFields',
      'Invalid value: true: must be false in order to use defaults in the schema',
    );
  }
  const strategy = isObject(spec.conversion) ? spec.conversion.strategy : undefined;
  if (strategy !== undefined && strategy !== 'None') {
    report(
      'FieldValueNotSupported',
      'spec.conversion.strategy',
      `Unsupported value: ${printValue(strategy)}: supported values: "None"`,
    );
  }
  const hash = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
  if (sound.has(hash)) return errors;
  const before = errors.length;
  checkVersions(spec, report);
  if (errors.length === before) sound.add(hash);
  if (sound.size > mostSound) sound.delete(sound.values().next().value!);
  return heldOnce(errors, spec.versions);
}

function checkNames(
  definition: CustomResourceDefinition,
  spec: Record<string, unknown>,
  names: Record<string, unknown>,
  report: Report,
): void {
  const group = typeof spec.group === 'string' ? spec.group : '';
  if (group === '') report('FieldValueRequired', 'spec.group', 'Required value');
  else if (group.length > 253 || !group.split('.').every((part) => label.test(part))) {
    report(
      'FieldValueInvalid',
      'spec.group',
      `Invalid value: ${printValue(group)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    );
  } else if (!group.includes('.')) {
    report(
      'FieldValueInvalid',
      'spec.group',
      `Invalid value: ${printValue(group)}: should be a domain with at least one dot`,
    );
  }
  for (const key of ['plural', 'kind'] as const) {
    if (typeof names[key] !== 'string' || names[key] === '')
      report('FieldValueRequired', `spec.names.${key}`, 'Required value');
  }
  for (const [key, isPlainText] of [
    ['plural', true],
    ['singular', true],
    ['kind', false],
    ['listKind', false],
  ] as const) {
    const value = names[key];
    if (value === undefined || value === '') continue;
    const text = typeof value === 'string' ? value : '';
    if (label1035.test(isPlainText ? text : text.toLowerCase())) continue;
    report(
      'FieldValueInvalid',
      `spec.names.${key}`,
      `Invalid value: ${printValue(value)}: ${isPlainText ? '' : 'may have mixed case, but should otherwise match: '}${label1035Text}`,
    );
  }
  for (const key of ['shortNames', 'categories'] as const) {
    const list = names[key];
    if (list === undefined || list === null) continue;
    for (const [index, value] of (Array.isArray(list) ? list : [list]).entries()) {
      if (typeof value === 'string' && label1035.test(value)) continue;
      report(
        'FieldValueInvalid',
        `spec.names.${key}[${index}]`,
        `Invalid value: ${printValue(value)}: ${label1035Text}`,
      );
    }
  }
  if (typeof names.kind === 'string' && names.kind !== '' && names.kind === names.listKind) {
    report(
      'FieldValueInvalid',
      'spec.names.listKind',
      `Invalid value: ${printValue(names.listKind)}: kind and listKind may not be the same`,
    );
  }
  const expected = `${names.plural}.${group}`;
  if (typeof names.plural === 'string' && group !== '' && definition.metadata?.name !== expected) {
    report(
      'FieldValueInvalid',
      'metadata.name',
      `Invalid value: ${printValue(definition.metadata?.name)}: must be spec.names.plural+"."+spec.group`,
    );
  }
}

function checkVersions(spec: Record<string, unknown>, report: Report): void {
  const versions = Array.isArray(spec.versions) ? spec.versions.filter(isObject) : [];
  if (versions.length === 0)
    report('FieldValueRequired', 'spec.versions', 'Required value: must have at least one version');
  const storage = versions.filter((one) => one.storage === true).length;
  if (versions.length > 0 && storage !== 1) {
    report(
      'FieldValueInvalid',
      'spec.versions',
      'Invalid value: must have exactly one version marked as storage version',
    );
  }
  const seen = new Set<unknown>();
  for (const [index, one] of versions.entries()) {
    const at = `spec.versions[${index}]`;
    if (typeof one.name !== 'string' || !version.test(one.name)) {
      report('FieldValueInvalid', `${at}.name`, `Invalid value: ${printValue(one.name)}: ${label1035Text}`);
    } else if (seen.has(one.name)) {
      report('FieldValueInvalid', 'spec.versions', 'Invalid value: must contain unique version names');
    }
    seen.add(one.name);
    for (const flag of ['served', 'storage']) {
      if (typeof one[flag] !== 'boolean') report('FieldValueRequired', `${at}.${flag}`, 'Required value');
    }
    checkVersion(one, at, report);
  }
}

function checkVersion(version: Record<string, unknown>, at: string, report: Report): void {
  checkDeprecation(version, at, report);
  const schema = isObject(version.schema) ? schemaAt(version.schema, 'openAPIV3Schema') : undefined;
  if (schema === undefined) {
    report('FieldValueRequired', `${at}.schema.openAPIV3Schema`, 'Required value');
  } else {
    const path = `${at}.schema.openAPIV3Schema`;
    const problems = [...checkStructural(schema, path), ...checkRuleDeclarations(schema, path)];
    for (const problem of problems) report(problem.reason, problem.field, problem.message);
    // Rules are compiled against types, so the structure has to be right first.
    if (problems.length === 0) {
      const broken: RuleProblem[] = [];
      compileRules(schema, broken);
      for (const { at: segments, index, field, value, message, declared } of broken) {
        const where = [path, ...segments, `x-kubernetes-validations[${index}]`, field].join('.');
        const given = field === 'rule' || field === 'messageExpression' ? goRule(declared) : printValue(value);
        report('FieldValueInvalid', where, `Invalid value: ${given}: ${message}`);
      }
    }
  }
  const columns = Array.isArray(version.additionalPrinterColumns) ? version.additionalPrinterColumns : [];
  for (const [index, column] of columns.entries())
    checkColumn(column, `${at}.additionalPrinterColumns[${index}]`, report);
  checkSelectableFields(version, schema ?? {}, `${at}.selectableFields`, report);
  const scale = isObject(version.subresources) ? version.subresources.scale : undefined;
  if (!isObject(scale)) return;
  for (const [key, prefix] of [
    ['specReplicasPath', '.spec.'],
    ['statusReplicasPath', '.status.'],
  ] as const) {
    const value = own(scale, key);
    if (typeof value !== 'string') report('FieldValueRequired', `${at}.subresources.scale.${key}`, 'Required value');
    else if (!value.startsWith(prefix)) {
      report(
        'FieldValueInvalid',
        `${at}.subresources.scale.${key}`,
        `Invalid value: ${printValue(value)}: should be a json path under ${prefix.slice(0, -1)}`,
      );
    }
  }
}

/** A rule as a refusal shows it: as Go holds it. */
function goRule(declared: Record<string, unknown>): string {
  const { rule = '', message = '', messageExpression = '', reason = null, fieldPath = '', optionalOldSelf } = declared;
  return JSON.stringify({
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  });
}

const shared: readonly (readonly [part: string, top: string])[] = [
  ['schema', 'spec.validation'],
  ['additionalPrinterColumns', 'spec.additionalPrinterColumns'],
  ['subresources', 'spec.subresources'],
  ['selectableFields', 'spec.selectableFields'],
];

/**
 * Errors where kube-apiserver finds them: what all versions have in common it holds once, beside them, and so it says it
 * once.
 */
function heldOnce(errors: readonly FieldError[], versions: unknown): FieldError[] {
  const list = Array.isArray(versions) ? versions.filter(isObject) : [];
  const common = shared.filter(
    ([part]) => list[0]?.[part] !== undefined && list.every((version) => jsonEqual(version[part], list[0]?.[part])),
  );
  return errors.flatMap((error) => {
    for (const [part, top] of common) {
      const [, index, rest] = /^spec\.versions\[(\d+)\]\.(.*)$/.exec(error.field) ?? [];
      if (rest === undefined || !(rest === part || rest.startsWith(`${part}.`) || rest.startsWith(`${part}[`)))
        continue;
      if (index !== '0') return [];
      const message = error.message.replaceAll(`spec.versions[0].${part}`, top);
      return [{ ...error, field: `${top}${rest.slice(part.length)}`, message }];
    }
    return [error];
  });
}

const mostSelectableFields = 8;

function checkSelectableFields(version: Record<string, unknown>, schema: JsonSchema, at: string, report: Report): void {
  const fields = Array.isArray(version.selectableFields) ? version.selectableFields : [];
  const seen = new Set<string>();
  for (const [index, field] of fields.entries()) {
    const path = isObject(field) && typeof field.jsonPath === 'string' ? field.jsonPath : '';
    const where = `${at}[${index}].jsonPath`;
    const invalid = (why: string): void =>
      report('FieldValueInvalid', where, `Invalid value: ${printValue(path)}: ${why}`);
    if (path === '') {
      report('FieldValueRequired', where, 'Required value');
      continue;
    }
    let found: ReturnType<typeof followFieldPath>;
    try {
      found = followFieldPath(schema, path);
    } catch (error) {
      invalid(`is an invalid path: ${(error as Error).message}`);
      continue;
    }
    if (found.schema === undefined && found.parts[0] !== 'metadata') {
      invalid('is an invalid path: does not refer to a valid field');
      continue;
    }
    if (found.parts[0] === 'metadata') invalid('must not point to fields in metadata');
    if (!['string', 'boolean', 'integer'].includes(String(found.schema?.type))) {
      invalid(
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      );
    }
    const name = found.parts.join('.');
    if (seen.has(name)) report('FieldValueDuplicate', where, `Duplicate value: ${printValue(path)}`);
    seen.add(name);
  }
  if (seen.size > mostSelectableFields) {
    report('FieldValueTooMany', at, `Too many: ${seen.size}: must have at most ${mostSelectableFields} items`);
  }
}

/** Throws nothing; a warning is a single printable line for a deprecated version. */
function checkDeprecation(
  { deprecated, deprecationWarning: warning }: Record<string, unknown>,
  at: string,
  report: Report,
) {
  if (typeof warning !== 'string') return;
  const invalid = (why: string): void =>
    report('FieldValueInvalid', `${at}.deprecationWarning`, `Invalid value: ${printValue(warning)}: ${why}`);
  if (deprecated !== true) {
    invalid('can only be set for deprecated versions');
    return;
  }
  if (Buffer.byteLength(warning) > 256) invalid('must be <= 256 characters long');
  if (warning === '') invalid('must not be an empty string');
  const odd = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (odd >= 0) {
    invalid(`must only contain printable UTF-8 characters; non-printable character found at index ${odd}`);
  }
}

function checkColumn(column: unknown, at: string, report: Report): void {
  if (!isObject(column)) {
    report('FieldValueInvalid', at, `Invalid value: ${printValue(column)}: must be an object`);
    return;
  }
  if (typeof column.name !== 'string' || column.name === '')
    report('FieldValueRequired', `${at}.name`, 'Required value');
  if (column.type === undefined || column.type === '') {
    report('FieldValueRequired', `${at}.type`, `Required value: must be one of ${columnTypes.join(',')}`);
  } else if (!columnTypes.includes(column.type as string)) {
    report(
      'FieldValueInvalid',
      `${at}.type`,
      `Invalid value: ${printValue(column.type)}: must be one of ${columnTypes.join(',')}`,
    );
  }
  if (column.format !== undefined && column.format !== '' && !columnFormats.includes(column.format as string)) {
    report(
      'FieldValueInvalid',
      `${at}.format`,
      `Invalid value: ${printValue(column.format)}: must be one of ${columnFormats.join(',')}`,
    );
  }
  checkPath(column.jsonPath, `${at}.JSONPath`, report);
}

function checkPath(path: unknown, at: string, report: Report): void {
  if (typeof path !== 'string' || path === '') {
    report('FieldValueRequired', at, 'Required value');
    return;
  }
  if (!path.startsWith('.')) {
    report('FieldValueInvalid', at, `Invalid value: ${printValue(path)}: must be a simple json path starting with .`);
    return;
  }
  try {
    compileJsonPath(path);
  } catch (error) {
    report(
      'FieldValueInvalid',
      at,
      `Invalid value: ${printValue(path)}: is an invalid path: ${(error as Error).message}`,
    );
  }
}
