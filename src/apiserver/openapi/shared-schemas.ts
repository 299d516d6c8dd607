import type { JsonSchema } from '../schema/schema.ts';

/** The metav1 types every resource's document refers to, by their names in Kubernetes' own documents. */
export const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

const string = (description: string): JsonSchema => ({ type: 'string', description });
const integer = (description: string): JsonSchema => ({ type: 'integer', format: 'int64', description });
const boolean = (description: string): JsonSchema => ({ type: 'boolean', description });
const stringMap = (description: string): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string', default: '' },
});
const list = (items: JsonSchema, description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'array',
  items,
  description,
  ...more,
});

/** `ref` makes a reference to another of these in the form of the document at hand. */
export function sharedSchemas(ref: (name: string) => JsonSchema): Record<string, JsonSchema> {
  const time = ref(`${metaPrefix}Time`);
  return {
    [`${metaPrefix}Time`]: {
      type: 'string',
      format: 'date-time',
      description: 'A moment, in RFC 3339 at whole seconds.',
    },
    [`${metaPrefix}FieldsV1`]: {
      type: 'object',
      description: 'A set of fields, as a tree of their names.',
    },
    [`${metaPrefix}OwnerReference`]: {
      type: 'object',
      description: 'Names an object this one belongs to, in the same namespace or without one.',
      required: ['apiVersion', 'kind', 'name', 'uid'],
      'x-kubernetes-map-type': 'atomic',
      properties: {
        apiVersion: string('Group and version of the owner.'),
        kind: string('Kind of the owner.'),
        name: string('Name of the owner.'),
        uid: string('UID of the owner.'),
        controller: boolean('Whether the owner is the one that manages this object.'),
        blockOwnerDeletion: boolean('Whether a foreground deletion of the owner waits for this object.'),
      },
    },
    [`${metaPrefix}ManagedFieldsEntry`]: {
      type: 'object',
      description: 'Which fields one manager has set, and how.',
      properties: {
        manager: string('Who manages the fields.'),
        operation: string('Apply or Update.'),
        apiVersion: string('The version the fields are named in.'),
        time: { ...time, description: 'When the entry last changed.' },
        fieldsType: string('The form of the fields; FieldsV1 is the only one.'),
        fieldsV1: { ...ref(`${metaPrefix}FieldsV1`), description: 'The fields.' },
        subresource: string('The subresource they were written through, empty for the object itself.'),
      },
    },
    [`${metaPrefix}ObjectMeta`]: {
      type: 'object',
      description: 'What every object has: its identity, its labels, and what the server records about it.',
      properties: {
        name: string('Unique in the namespace among objects of this kind; cannot be changed.'),
        generateName: string('A prefix: the server appends random characters to make the name, where none is given.'),
        namespace: string('The namespace the object is in; empty for kinds without one.'),
        uid: string('Set by the server; never used twice, not even for a later object of the same name.'),
        resourceVersion: string('Changes with every write. Send it back to be refused when somebody wrote in between.'),
        generation: integer('Counts the changes of what is wanted. Set by the server.'),
        creationTimestamp: { ...time, description: 'When the object was made. Set by the server.' },
        deletionTimestamp: { ...time, description: 'When deletion was asked for. Set by the server.' },
        deletionGracePeriodSeconds: integer('Seconds the object is given to end by itself.'),
        labels: stringMap('What selectors match.'),
        annotations: stringMap('What tools keep here; nothing selects by it.'),
        finalizers: list({ type: 'string', default: '' }, 'Who has to let go before the object is removed.', {
          'x-kubernetes-list-type': 'set',
          'x-kubernetes-patch-strategy': 'merge',
        }),
        ownerReferences: list(ref(`${metaPrefix}OwnerReference`), 'The objects this one belongs to.', {
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['uid'],
          'x-kubernetes-patch-merge-key': 'uid',
          'x-kubernetes-patch-strategy': 'merge',
        }),
        managedFields: list(ref(`${metaPrefix}ManagedFieldsEntry`), 'Which manager set which field.', {
          'x-kubernetes-list-type': 'atomic',
        }),
        selfLink: string('No longer set.'),
      },
    },
    [`${metaPrefix}ListMeta`]: {
      type: 'object',
      description: 'What every list has.',
      properties: {
        resourceVersion: string('The state the list shows; a watch can start from it.'),
        continue: string('Sent back, gives the next page; empty when there is none.'),
        remainingItemCount: integer('How many items later pages hold.'),
        selfLink: string('No longer set.'),
      },
    },
    [`${metaPrefix}Patch`]: { type: 'object', description: 'A patch, in the form its content type says.' },
    [`${metaPrefix}Preconditions`]: {
      type: 'object',
      description: 'What must be so for a deletion to happen.',
      properties: {
        uid: string('The UID the object must have.'),
        resourceVersion: string('The version it must have.'),
      },
    },
    [`${metaPrefix}DeleteOptions`]: {
      type: 'object',
      description: 'How to delete.',
      properties: {
        apiVersion: string('Version of this object.'),
        kind: string('DeleteOptions.'),
        gracePeriodSeconds: integer('Seconds the object is given to end by itself.'),
        propagationPolicy: string('Orphan, Background or Foreground: what happens to dependents.'),
        preconditions: ref(`${metaPrefix}Preconditions`),
        dryRun: list({ type: 'string', default: '' }, 'All: go through everything but the write.'),
      },
    },
    [`${metaPrefix}StatusCause`]: {
      type: 'object',
      description: 'One reason of a failure.',
      properties: {
        reason: string('A word for machines.'),
        message: string('A sentence for people.'),
        field: string('The field it is about.'),
      },
    },
    [`${metaPrefix}StatusDetails`]: {
      type: 'object',
      description: 'What a failure is about.',
      properties: {
        name: string('Name of the object.'),
        group: string('Its group.'),
        kind: string('Its kind or resource.'),
        uid: string('Its UID.'),
        causes: list(ref(`${metaPrefix}StatusCause`), 'Why, one by one.', { 'x-kubernetes-list-type': 'atomic' }),
        retryAfterSeconds: { type: 'integer', format: 'int32', description: 'When to try again.' },
      },
    },
    [`${metaPrefix}Status`]: {
      type: 'object',
      description: 'The answer of a request that returns no object.',
      properties: {
        apiVersion: string('Version of this object.'),
        kind: string('Status.'),
        metadata: ref(`${metaPrefix}ListMeta`),
        status: string('Success or Failure.'),
        message: string('A sentence for people.'),
        reason: string('A word for machines.'),
        details: ref(`${metaPrefix}StatusDetails`),
        code: { type: 'integer', format: 'int32', description: 'The HTTP status.' },
      },
    },
  };
}
