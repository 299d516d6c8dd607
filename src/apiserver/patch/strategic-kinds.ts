/**
 * Which lists of the built-in kinds merge in a strategic merge patch, and by which key (`patchStrategy` and
 * `patchMergeKey` of the published Kubernetes types). Lists not named here are replaced.
 */
export interface StrategicType {
  /** Lists of objects merged by this key. */
  readonly mergeKey?: string;
  /** A list of plain values that is merged as a set. */
  readonly primitives?: true;
  readonly fields?: Readonly<Record<string, StrategicType>>;
}

const metadata: StrategicType = { fields: { finalizers: { primitives: true }, ownerReferences: { mergeKey: 'uid' } } };
const plain: StrategicType = { fields: { metadata } };

const kinds = new Map<string, StrategicType>([
  ['/Namespace', { fields: { metadata, status: { fields: { conditions: { mergeKey: 'type' } } } } }],
  ['/ConfigMap', plain],
  ['/Secret', plain],
  ['/ServiceAccount', { fields: { metadata, secrets: { mergeKey: 'name' } } }],
  ['/Event', plain],
  ['events.k8s.io/Event', plain],
  ['coordination.k8s.io/Lease', plain],
  ['rbac.authorization.k8s.io/Role', plain],
  ['rbac.authorization.k8s.io/ClusterRole', plain],
  ['rbac.authorization.k8s.io/RoleBinding', plain],
  ['rbac.authorization.k8s.io/ClusterRoleBinding', plain],
  [
    '/Node',
    {
      fields: {
        metadata,
        spec: { fields: { podCIDRs: { primitives: true } } },
        status: { fields: { conditions: { mergeKey: 'type' }, addresses: { mergeKey: 'type' } } },
      },
    },
  ],
]);

/** Whether strategic merge patches are taken; the server answers 415 for every other kind, as Kubernetes for custom ones. */
export function strategicMergeSupported(group: string, kind: string): boolean {
  return kinds.has(`${group}/${kind}`);
}

export function strategicTypeOf(group: string, kind: string): StrategicType | undefined {
  return kinds.get(`${group}/${kind}`);
}
