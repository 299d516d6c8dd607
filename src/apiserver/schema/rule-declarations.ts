import { printValue } from './failure.ts';
import { followFieldPath } from './field-paths.ts';
import { isObject, propertiesOf, schemaAt } from './json-schema.ts';
import type { FieldError, JsonSchema } from './schema.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const lineBreak = /[\n\r]/;

/**
 * What is wrong with how CEL rules are declared, their expressions aside: empty texts, line breaks, unknown reasons, field
 * paths that lead nowhere (apiextensions-apiserver, pkg/apis/apiextensions/validation).
 */
export function checkRuleDeclarations(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, path, errors);
  return errors;
}

function visit(schema: JsonSchema, path: string, errors: FieldError[]): void {
  for (const [name, property] of propertiesOf(schema)) visit(property, `${path}.properties[${name}]`, errors);
  for (const key of ['items', 'additionalProperties']) {
    const child = schemaAt(schema, key);
    if (child !== undefined) visit(child, `${path}.${key}`, errors);
  }
  const rules = schema['x-kubernetes-validations'];
  if (!Array.isArray(rules)) return;
  for (const [index, rule] of rules.entries()) {
    if (isObject(rule)) checkRule(schema, rule, `${path}.x-kubernetes-validations[${index}]`, errors);
  }
}

function checkRule(schema: JsonSchema, declared: Record<string, unknown>, at: string, errors: FieldError[]): void {
  const text = (key: string): string => (typeof declared[key] === 'string' ? (declared[key] as string) : '');
  const required = (key: string, why: string): void => {
    errors.push({ reason: 'FieldValueRequired', field: `${at}.${key}`, message: `Required value: ${why}` });
  };
  const invalid = (key: string, why: string): void => {
    const message = `Invalid value: ${printValue(text(key))}: ${why}`;
    errors.push({ reason: 'FieldValueInvalid', field: `${at}.${key}`, message });
  };
  const [rule, message] = [text('rule').trim(), text('message').trim()];
  if (rule === '') required('rule', 'rule is not specified');
  else if (text('message') !== '' && message === '') invalid('message', 'must be non-empty if specified');
  else if (lineBreak.test(message)) invalid('message', 'must not contain line breaks');
  else if (lineBreak.test(rule) && message === '') {
    required('message', 'message must be specified if rule contains line breaks');
  }
  if (text('messageExpression') !== '' && text('messageExpression').trim() === '') {
    required('messageExpression', 'messageExpression must be non-empty if specified');
  }
  if (declared.reason !== undefined && !reasons.includes(text('reason'))) {
    const supported = reasons.map((reason) => `"${reason}"`).join(', ');
    const why = `Unsupported value: ${printValue(declared.reason)}: supported values: ${supported}`;
    errors.push({ reason: 'FieldValueNotSupported', field: `${at}.reason`, message: why });
  }
  const fieldPath = text('fieldPath');
  if (fieldPath === '') return;
  if (fieldPath.trim() === '') invalid('fieldPath', 'must be non-empty if specified');
  if (lineBreak.test(fieldPath)) invalid('fieldPath', 'must not contain line breaks');
  if (!leadsSomewhere(schema, fieldPath)) invalid('fieldPath', 'must be a valid path');
}

function leadsSomewhere(schema: JsonSchema, path: string): boolean {
  try {
    return followFieldPath(schema, path).schema !== undefined;
  } catch {
    return false;
  }
}
