import {
  type Condition,
  type CustomResourceDefinition,
  jsonEqual,
  type KubeObject,
  withCondition,
} from '../../meta/index.ts';
import { fieldInvalid } from '../errors.ts';
import { checkCustomResourceDefinition } from '../schema/index.ts';
import type { FieldError } from '../schema/schema.ts';
import type { StrategyContext } from '../served.ts';
import { boolean, builtin, conditions, int32, list, object, string, strings } from './define.ts';

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

type Names = NonNullable<CustomResourceDefinition['spec']>['names'];

export interface DefinitionStatus {
  conditions?: Condition[];
  acceptedNames?: Names | { plural: ''; kind: '' };
  storedVersions?: string[];
}

const names = object(
  { plural: string, singular: string, kind: string, listKind: string, shortNames: strings, categories: strings },
  ['plural', 'kind'],
);
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const version = object(
  {
    name: string,
    served: boolean,
    storage: boolean,
    deprecated: boolean,
    deprecationWarning: string,
    schema: object({ openAPIV3Schema: anything }),
    subresources: object({
      status: anything,
      scale: object({ specReplicasPath: string, statusReplicasPath: string, labelSelectorPath: string }, [
        'specReplicasPath',
        'statusReplicasPath',
      ]),
    }),
    additionalPrinterColumns: list(
      object({ name: string, type: string, format: string, description: string, priority: int32, jsonPath: string }, [
        'name',
        'type',
        'jsonPath',
      ]),
    ),
    selectableFields: list(object({ jsonPath: string }, ['jsonPath'])),
  },
  ['name', 'served', 'storage'],
);

function defaultSpec(definition: CustomResourceDefinition): void {
  const { preserveUnknownFields, ...spec } = definition.spec!;
  const { names } = spec;
  definition.spec = {
    ...spec,
    names: {
      ...names,
      singular: names.singular || names.kind.toLowerCase(),
      listKind: names.listKind || `${names.kind}List`,
    },
    conversion: spec.conversion ?? { strategy: 'None' },
    ...(preserveUnknownFields === true ? { preserveUnknownFields } : {}),
  };
}

/** NamesAccepted, Established, acceptedNames and storedVersions, as kube-apiserver's naming controller decides them. */
function decideStatus(definition: CustomResourceDefinition, context: StrategyContext): void {
  const status: DefinitionStatus = { ...(definition.status as DefinitionStatus | undefined) };
  const spec = definition.spec!;
  const conflict = context.nameConflict(definition);
  let list = withCondition(
    status.conditions,
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', reason: conflict.reason, message: conflict.message },
    context.now,
  );
  const established = list.find((condition) => condition.type === 'Established')?.status === 'True';
  if (conflict === undefined || established) {
    const message = 'the initial names have been accepted';
    list = withCondition(
      list,
      { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message },
      context.now,
    );
  } else {
    const message = 'not all names are accepted';
    list = withCondition(list, { type: 'Established', status: 'False', reason: 'NotAccepted', message }, context.now);
  }
  status.conditions = list;
  if (conflict === undefined) status.acceptedNames = spec.names;
  else status.acceptedNames ??= { plural: '', kind: '' };
  definition.status = status;
  keepStored(definition);
}

/** The version objects are stored in is among the stored ones, whatever a client writes. */
function keepStored(definition: CustomResourceDefinition): void {
  const status: DefinitionStatus = { ...(definition.status as DefinitionStatus | undefined) };
  const storage = definition.spec!.versions.find((candidate) => candidate.storage)?.name;
  const stored = status.storedVersions ?? [];
  status.storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  definition.status = status;
}

function validateChange(definition: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const established = ((old.status as DefinitionStatus | undefined)?.conditions ?? []).some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  );
  for (const [field, now, before] of [
    ['spec.group', definition.spec?.group, old.spec?.group],
    ['spec.names.plural', definition.spec?.names.plural, old.spec?.names.plural],
    ...(established
      ? [
          ['spec.scope', definition.spec?.scope, old.spec?.scope],
          ['spec.names.kind', definition.spec?.names.kind, old.spec?.names.kind],
        ]
      : []),
  ] as [string, string, string][]) {
    if (now !== before) errors.push(fieldInvalid(field, now, 'field is immutable'));
  }
  const versions = new Set(definition.spec?.versions.map((candidate) => candidate.name));
  for (const [index, stored] of ((old.status as DefinitionStatus | undefined)?.storedVersions ?? []).entries()) {
    if (!versions.has(stored)) {
      const why = `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`;
      errors.push(fieldInvalid(`status.storedVersions[${index}]`, stored, why));
    }
  }
  return errors;
}

export const customResourceDefinitions = builtin({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  status: true,
  description: 'CustomResourceDefinition represents a resource that should be exposed on the API server.',
  properties: {
    spec: object(
      {
        group: string,
        scope: { type: 'string', enum: ['Namespaced', 'Cluster'] },
        names,
        versions: list(version),
        conversion: object({ strategy: string, webhook: anything }),
        preserveUnknownFields: boolean,
      },
      ['group', 'scope', 'names', 'versions'],
    ),
    status: object({ conditions, acceptedNames: names, storedVersions: strings }),
  },
  required: ['spec'],
  columns: [{ name: 'Created At', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
  strategy: {
    zero: { spec: { names: {} }, status: {} },
    generation: true,
    unconditionalUpdate: false,
    prepareCreate(object, context) {
      const definition = object as CustomResourceDefinition;
      if (!wellFormed(definition)) return;
      defaultSpec(definition);
      delete definition.status;
      decideStatus(definition, context);
    },
    prepareUpdate(object, old, subresource, context) {
      const definition = object as CustomResourceDefinition;
      if (!wellFormed(definition)) return;
      if (subresource === 'status') {
        keepStored(definition);
        return;
      }
      defaultSpec(definition);
      if (!jsonEqual(definition.spec, old.spec)) decideStatus(definition, context);
    },
    validate(object, old) {
      const definition = object as CustomResourceDefinition;
      if (!wellFormed(definition)) return [];
      const errors = checkCustomResourceDefinition(definition);
      if (old !== undefined) errors.push(...validateChange(definition, old as CustomResourceDefinition));
      return errors;
    },
    prepareDelete(object, context) {
      const definition = object as CustomResourceDefinition;
      delete definition.metadata.deletionGracePeriodSeconds;
      // Its deletion is no new generation.
      if (definition.metadata.generation !== undefined) definition.metadata.generation--;
      const finalizers = new Set(definition.metadata.finalizers);
      definition.metadata.finalizers = [...finalizers.add(cleanupFinalizer)];
      const status = (definition.status ?? {}) as DefinitionStatus;
      const terminating = {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      } as const;
      definition.status = { ...status, conditions: withCondition(status.conditions, terminating, context.now) };
    },
  },
});

/** Enough of the required structure to work on; where it is missing, the schema has already said so. */
function wellFormed(object: KubeObject): boolean {
  const spec = (object as CustomResourceDefinition).spec;
  return typeof spec?.names?.kind === 'string' && Array.isArray(spec.versions);
}
