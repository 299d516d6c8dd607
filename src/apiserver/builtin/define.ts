import type { ResourceType } from '../../meta/index.ts';
import type { ServedResource } from '../resource.ts';
import { compileSchema } from '../schema/index.ts';
import type { JsonSchema } from '../schema/schema.ts';
import type { Served, Strategy } from '../served.ts';
import { defaultNameRule } from '../validation/metadata.ts';

export interface BuiltinDefinition extends ResourceType {
  verbs?: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  status?: boolean;
  columns?: ServedResource['columns'];
  /** Properties beside apiVersion, kind and metadata. */
  properties: JsonSchema;
  required?: readonly string[];
  description: string;
  /** Where another version or group holds the objects. */
  stored?: { group: string; version: string };
  strategy?: Partial<Strategy>;
}

const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** A kind compiled into the server: its schema is compiled once, for all planes. */
export function builtin(definition: BuiltinDefinition): Served {
  const { group, version, kind, plural, namespaced } = definition;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const stored = definition.stored ?? { group, version };
  const schema = compileSchema({
    type: 'object',
    description: definition.description,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...definition.properties,
    },
    ...(definition.required === undefined ? {} : { required: [...definition.required] }),
  });
  return {
    resource: {
      group,
      version,
      kind,
      plural,
      namespaced,
      singular: kind.toLowerCase(),
      listKind: `${kind}List`,
      ...(definition.verbs === undefined ? {} : { verbs: definition.verbs }),
      shortNames: definition.shortNames ?? [],
      categories: definition.categories ?? [],
      subresources: { status: definition.status ?? false },
      columns: definition.columns ?? [age],
      selectableFields: [],
      schema,
    },
    storage: `${stored.group}/${plural}`,
    apiVersion,
    storedApiVersion: stored.group === '' ? stored.version : `${stored.group}/${stored.version}`,
    strategy: {
      nameRule: defaultNameRule,
      custom: false,
      generation: false,
      createOnUpdate: false,
      unconditionalUpdate: true,
      ...definition.strategy,
    },
    schemaRevision: 0,
    terminating: false,
  };
}

/** Schema fragments the built-in kinds share. */
export const string: JsonSchema = { type: 'string' };
export const strings: JsonSchema = { type: 'array', items: { type: 'string' } };
export const stringMap: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };
export const int32: JsonSchema = { type: 'integer', format: 'int32' };
export const boolean: JsonSchema = { type: 'boolean' };
export const time: JsonSchema = { type: 'string', format: 'date-time' };
export const ageColumn = age;

export function object(properties: JsonSchema, required: readonly string[] = []): JsonSchema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required: [...required] }) };
}

export function list(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export const conditions: JsonSchema = {
  type: 'array',
  items: object(
    {
      type: string,
      status: string,
      reason: string,
      message: string,
      lastTransitionTime: time,
      observedGeneration: { type: 'integer', format: 'int64' },
    },
    ['type', 'status'],
  ),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
};
