import type { TSchema } from 'typebox';
import { type Condition, type CustomResourceDefinition, deepFreeze, type KubeObject } from '../meta/index.ts';
import type { JsonSchema, Kind, PrinterColumn } from './kind.ts';
import { type CelRule, plain } from './schema.ts';

/** A kind of which every object has a spec, because the schema says so. */
export interface Specified<Spec, Status = unknown> extends KubeObject<Spec, Status> {
  spec: Spec;
}

interface Definition {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  description: string;
  spec?: TSchema;
  /** Whether an object without `spec` is refused. */
  specRequired?: boolean;
  /** Present: the kind has a status subresource. */
  status?: TSchema;
  /** The conditions an object is created with. */
  seeds?: readonly Condition[];
  /** CEL rules about the name: over the whole object, of which they see `self.metadata.name` and `self.spec`. */
  rules?: readonly CelRule[];
  columns?: readonly PrinterColumn[];
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  selectableFields?: readonly string[];
  shortNames?: readonly string[];
  annotations?: Record<string, string>;
  servedBy?: 'crd' | 'aggregated';
}

/** A kind from its definition: names, the schema of the whole object, columns and subresources. */
export function defineKind<T extends KubeObject>(definition: Definition): Kind<T> {
  const { group, version, kind, plural, namespaced, description, status, scale } = definition;
  return deepFreeze<Kind<T>>({
    group,
    version,
    kind,
    plural,
    namespaced,
    description,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: definition.shortNames ?? [],
    categories: [],
    schema: objectSchema(definition),
    columns: definition.columns ?? [],
    subresources: { status: status !== undefined, ...(scale === undefined ? {} : { scale }) },
    selectableFields: definition.selectableFields ?? [],
    servedBy: definition.servedBy ?? 'crd',
    annotations: definition.annotations ?? {},
  });
}

function objectSchema(definition: Definition): JsonSchema {
  const properties: JsonSchema = {
    apiVersion: { type: 'string', description: 'Group and version of the API this object is written in.' },
    kind: { type: 'string', description: 'Kind of the object.' },
    metadata: definition.rules === undefined ? { type: 'object' } : namedMetadata(),
  };
  if (definition.spec !== undefined) properties.spec = plain(definition.spec);
  if (definition.status !== undefined) {
    const status = plain(definition.status);
    if (definition.seeds !== undefined) status.default = { conditions: definition.seeds };
    properties.status = status;
  }
  return {
    type: 'object',
    description: definition.description,
    ...(definition.specRequired === true ? { required: ['spec'] } : {}),
    properties,
    ...(definition.rules === undefined ? {} : { 'x-kubernetes-validations': definition.rules }),
  };
}

/**
 * Spelled out where a rule is about the name, so that its refusal can point there, and so that its length bounds the cost
 * Kubernetes estimates for the rule: a server that does not find both properties puts unbounded ones in their place.
 */
function namedMetadata(): JsonSchema {
  const name = { type: 'string', maxLength: 253 };
  return { type: 'object', properties: { name, generateName: name } };
}

/** The manifest that makes a Kubernetes API server serve `kind`. Throws for a kind that is not served by a CRD. */
export function crdManifest(kind: Kind): CustomResourceDefinition {
  if (kind.servedBy !== 'crd')
    throw new Error(`${kind.kind} is served by ${kind.group}'s own API server, not by a CRD`);
  const { status, scale } = kind.subresources;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      ...(Object.keys(kind.annotations).length === 0 ? {} : { annotations: { ...kind.annotations } }),
    },
    spec: {
      group: kind.group,
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: kind.kind,
        listKind: kind.listKind,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length === 0 ? {} : { shortNames: [...kind.shortNames] }),
        ...(kind.categories.length === 0 ? {} : { categories: [...kind.categories] }),
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: kind.schema },
          ...(status || scale !== undefined
            ? { subresources: { ...(status ? { status: {} } : {}), ...(scale === undefined ? {} : { scale }) } }
            : {}),
          ...(kind.columns.length === 0
            ? {}
            : { additionalPrinterColumns: kind.columns.map(({ cell: _, ...column }) => ({ ...column })) }),
          ...(kind.selectableFields.length === 0
            ? {}
            : { selectableFields: kind.selectableFields.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  };
}
