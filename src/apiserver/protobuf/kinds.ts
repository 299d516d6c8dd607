import type { FieldType, MessageType } from './wire.ts';

/**
 * The fields of the built-in kinds, by the numbers in Kubernetes' `generated.proto` files (k8s.io/api and
 * k8s.io/apimachinery): what kubectl's typed commands and Go controllers send.
 */

const one = (message: MessageType): FieldType => ({ message });
const many = (message: MessageType): FieldType => ({ list: { message } });
const strings: FieldType = { list: 'string' };

const ownerReference: MessageType = {
  1: ['kind', 'string'],
  3: ['name', 'string'],
  4: ['uid', 'string'],
  5: ['apiVersion', 'string'],
  6: ['controller', 'bool'],
  7: ['blockOwnerDeletion', 'bool'],
};

const metadata: readonly [string, FieldType] = [
  'metadata',
  one({
    1: ['name', 'string'],
    2: ['generateName', 'string'],
    3: ['namespace', 'string'],
    5: ['uid', 'string'],
    6: ['resourceVersion', 'string'],
    7: ['generation', 'int'],
    8: ['creationTimestamp', 'time'],
    9: ['deletionTimestamp', 'time'],
    10: ['deletionGracePeriodSeconds', 'int'],
    11: ['labels', { map: 'string' }],
    12: ['annotations', { map: 'string' }],
    13: ['ownerReferences', many(ownerReference)],
    14: ['finalizers', strings],
    17: [
      'managedFields',
      many({
        1: ['manager', 'string'],
        2: ['operation', 'string'],
        3: ['apiVersion', 'string'],
        4: ['time', 'time'],
        6: ['fieldsType', 'string'],
        7: ['fieldsV1', one({ 1: ['Raw', 'json'] })],
        8: ['subresource', 'string'],
      }),
    ],
  }),
];

const reference: MessageType = {
  1: ['kind', 'string'],
  2: ['namespace', 'string'],
  3: ['name', 'string'],
  4: ['uid', 'string'],
  5: ['apiVersion', 'string'],
  6: ['resourceVersion', 'string'],
  7: ['fieldPath', 'string'],
};
const eventSource: MessageType = { 1: ['component', 'string'], 2: ['host', 'string'] };
const eventSeries: MessageType = { 1: ['count', 'int'], 2: ['lastObservedTime', 'microTime'] };

const rule: MessageType = {
  1: ['verbs', strings],
  2: ['apiGroups', strings],
  3: ['resources', strings],
  4: ['resourceNames', strings],
  5: ['nonResourceURLs', strings],
};
const labelSelector: MessageType = {
  1: ['matchLabels', { map: 'string' }],
  2: ['matchExpressions', many({ 1: ['key', 'string'], 2: ['operator', 'string'], 3: ['values', strings] })],
};
const binding: MessageType = {
  1: metadata,
  2: [
    'subjects',
    many({ 1: ['kind', 'string'], 2: ['apiGroup', 'string'], 3: ['name', 'string'], 4: ['namespace', 'string'] }),
  ],
  3: ['roleRef', one({ 1: ['apiGroup', 'string'], 2: ['kind', 'string'], 3: ['name', 'string'] })],
};

const resourceAttributes: MessageType = {
  1: ['namespace', 'string'],
  2: ['verb', 'string'],
  3: ['group', 'string'],
  4: ['version', 'string'],
  5: ['resource', 'string'],
  6: ['subresource', 'string'],
  7: ['name', 'string'],
};
const asked: MessageType = {
  1: ['resourceAttributes', one(resourceAttributes)],
  2: ['nonResourceAttributes', one({ 1: ['path', 'string'], 2: ['verb', 'string'] })],
};
const askedOfOthers: MessageType = {
  ...asked,
  3: ['user', 'string'],
  4: ['groups', strings],
  6: ['uid', 'string'],
};

/** By `<apiVersion>/<kind>`. */
export const kinds: ReadonlyMap<string, MessageType> = new Map<string, MessageType>([
  [
    'v1/Namespace',
    { 1: metadata, 2: ['spec', one({ 1: ['finalizers', strings] })], 3: ['status', one({ 1: ['phase', 'string'] })] },
  ],
  [
    'v1/ConfigMap',
    {
      1: metadata,
      2: ['data', { map: 'string' }],
      3: ['binaryData', { map: 'bytes' }],
      4: ['immutable', 'bool'],
    },
  ],
  [
    'v1/Secret',
    {
      1: metadata,
      2: ['data', { map: 'bytes' }],
      3: ['type', 'string'],
      4: ['stringData', { map: 'string' }],
      5: ['immutable', 'bool'],
    },
  ],
  [
    'v1/ServiceAccount',
    {
      1: metadata,
      2: ['secrets', many(reference)],
      3: ['imagePullSecrets', many({ 1: ['name', 'string'] })],
      4: ['automountServiceAccountToken', 'bool'],
    },
  ],
  [
    'v1/Event',
    {
      1: metadata,
      2: ['involvedObject', one(reference)],
      3: ['reason', 'string'],
      4: ['message', 'string'],
      5: ['source', one(eventSource)],
      6: ['firstTimestamp', 'time'],
      7: ['lastTimestamp', 'time'],
      8: ['count', 'int'],
      9: ['type', 'string'],
      10: ['eventTime', 'microTime'],
      11: ['series', one(eventSeries)],
      12: ['action', 'string'],
      13: ['related', one(reference)],
      14: ['reportingComponent', 'string'],
      15: ['reportingInstance', 'string'],
    },
  ],
  [
    'events.k8s.io/v1/Event',
    {
      1: metadata,
      2: ['eventTime', 'microTime'],
      3: ['series', one(eventSeries)],
      4: ['reportingController', 'string'],
      5: ['reportingInstance', 'string'],
      6: ['action', 'string'],
      7: ['reason', 'string'],
      8: ['regarding', one(reference)],
      9: ['related', one(reference)],
      10: ['note', 'string'],
      11: ['type', 'string'],
      12: ['deprecatedSource', one(eventSource)],
      13: ['deprecatedFirstTimestamp', 'time'],
      14: ['deprecatedLastTimestamp', 'time'],
      15: ['deprecatedCount', 'int'],
    },
  ],
  [
    'coordination.k8s.io/v1/Lease',
    {
      1: metadata,
      2: [
        'spec',
        one({
          1: ['holderIdentity', 'string'],
          2: ['leaseDurationSeconds', 'int'],
          3: ['acquireTime', 'microTime'],
          4: ['renewTime', 'microTime'],
          5: ['leaseTransitions', 'int'],
        }),
      ],
    },
  ],
  ['rbac.authorization.k8s.io/v1/Role', { 1: metadata, 2: ['rules', many(rule)] }],
  [
    'rbac.authorization.k8s.io/v1/ClusterRole',
    {
      1: metadata,
      2: ['rules', many(rule)],
      3: ['aggregationRule', one({ 1: ['clusterRoleSelectors', many(labelSelector)] })],
    },
  ],
  ['rbac.authorization.k8s.io/v1/RoleBinding', binding],
  ['rbac.authorization.k8s.io/v1/ClusterRoleBinding', binding],
  ['authorization.k8s.io/v1/SelfSubjectAccessReview', { 1: metadata, 2: ['spec', one(asked)] }],
  ['authorization.k8s.io/v1/SubjectAccessReview', { 1: metadata, 2: ['spec', one(askedOfOthers)] }],
  ['authorization.k8s.io/v1/LocalSubjectAccessReview', { 1: metadata, 2: ['spec', one(askedOfOthers)] }],
  ['authorization.k8s.io/v1/SelfSubjectRulesReview', { 1: metadata, 2: ['spec', one({ 1: ['namespace', 'string'] })] }],
  ['authentication.k8s.io/v1/SelfSubjectReview', { 1: metadata }],
  [
    'authentication.k8s.io/v1/TokenReview',
    { 1: metadata, 2: ['spec', one({ 1: ['token', 'string'], 2: ['audiences', strings] })] },
  ],
  [
    'authentication.k8s.io/v1/TokenRequest',
    {
      1: metadata,
      2: [
        'spec',
        one({
          1: ['audiences', strings],
          3: [
            'boundObjectRef',
            one({ 1: ['kind', 'string'], 2: ['apiVersion', 'string'], 3: ['name', 'string'], 4: ['uid', 'string'] }),
          ],
          4: ['expirationSeconds', 'int'],
        }),
      ],
    },
  ],
]);

/** Sent with deletes of any kind, under the version of whatever group is deleted from. */
export const deleteOptions: MessageType = {
  1: ['gracePeriodSeconds', 'int'],
  2: ['preconditions', one({ 1: ['uid', 'string'], 2: ['resourceVersion', 'string'] })],
  3: ['orphanDependents', 'bool'],
  4: ['propagationPolicy', 'string'],
  5: ['dryRun', strings],
};
