import type { CelRule, JsonSchema } from '../../src/api/index.ts';

/** One row of a field table. */
export interface Field {
  path: string;
  type: string;
  required: boolean;
  default: string;
  constraints: string;
  description: string;
}

/** A CEL rule and the path of the field it stands on. */
export interface Rule extends CelRule {
  path: string;
}

/** The fields under `schema`, depth first in the schema's order. Conditions are one row: they are the same everywhere. */
export function fieldsOf(schema: JsonSchema, path: string): Field[] {
  const fields: Field[] = [];
  walk(schema, path, false, (at, node, required) => {
    fields.push({
      path: at,
      type: typeOf(node),
      required,
      default: 'default' in node ? JSON.stringify(node.default) : '',
      constraints: constraintsOf(node).join(', '),
      description: (node.description as string | undefined) ?? '',
    });
  });
  return fields;
}

/** The CEL rules under `schema`. */
export function rulesOf(schema: JsonSchema, path: string): Rule[] {
  const rules: Rule[] = [];
  walk(schema, path, false, (at, node) => {
    for (const rule of (node['x-kubernetes-validations'] as CelRule[] | undefined) ?? [])
      rules.push({ ...rule, path: at });
  });
  return rules;
}

type Visit = (path: string, schema: JsonSchema, required: boolean) => void;

function walk(schema: JsonSchema, path: string, required: boolean, visit: Visit): void {
  visit(path, schema, required);
  if (isConditionList(schema)) return;
  const items = schema.items as JsonSchema | undefined;
  const values = schema.additionalProperties as JsonSchema | undefined;
  if (items !== undefined) below(items, `${path}[]`, visit);
  if (values !== undefined) below(values, `${path}{}`, visit);
  children(schema, path, visit);
}

/** What is inside a list or map: its items have no row of their own, but their rules count. */
function below(item: JsonSchema, path: string, visit: Visit): void {
  if (item['x-kubernetes-validations'] !== undefined) visit(path, item, false);
  children(item, path, visit);
}

function children(schema: JsonSchema, path: string, visit: Visit): void {
  const required = new Set(schema.required as string[] | undefined);
  for (const [name, child] of Object.entries((schema.properties as Record<string, JsonSchema> | undefined) ?? {})) {
    walk(child, path === '' ? name : `${path}.${name}`, required.has(name), visit);
  }
}

function isConditionList(schema: JsonSchema): boolean {
  const item = schema.items as { properties?: Record<string, unknown> } | undefined;
  return item?.properties?.lastTransitionTime !== undefined;
}

function typeOf(schema: JsonSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true)
    return schema.pattern === undefined ? 'integer or string' : 'quantity';
  if (isConditionList(schema)) return '[]Condition';
  if (schema.items !== undefined) return `[]${typeOf(schema.items as JsonSchema)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties as JsonSchema)}`;
  const format = schema.format as string | undefined;
  return format === undefined || format === 'cidr' ? (schema.type as string) : format;
}

function constraintsOf(schema: JsonSchema): string[] {
  const said: string[] = [];
  const range = (low: unknown, high: unknown, what: string) => {
    if (low !== undefined && high !== undefined) said.push(low === high ? `${low}${what}` : `${low}..${high}${what}`);
    else if (low !== undefined) said.push(`at least ${low}${what}`);
    else if (high !== undefined) said.push(`at most ${high}${what}`);
  };
  const values = (schema.enum ?? (schema.items as JsonSchema | undefined)?.enum) as string[] | undefined;
  if (values !== undefined) said.push(`one of ${values.map((value) => (value === '' ? 'empty' : value)).join(', ')}`);
  range(schema.minimum, schema.maximum, '');
  range(schema.minLength, schema.maxLength, ' characters');
  range(schema.minItems, schema.maxItems, ' items');
  range(schema.minProperties, schema.maxProperties, ' entries');
  if (schema.pattern !== undefined && schema['x-kubernetes-int-or-string'] !== true)
    said.push(`matches ${schema.pattern}`);
  const keys = schema['x-kubernetes-list-map-keys'] as string[] | undefined;
  if (keys !== undefined) said.push(`keyed by ${keys.join(', ')}`);
  if (schema['x-kubernetes-list-type'] === 'set') said.push('no item twice');
  return said;
}
