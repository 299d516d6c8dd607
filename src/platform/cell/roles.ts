import { Location, ServingLocation } from '../../api/index.ts';
import { normaliseRules, systemNamespace } from '../../apiserver/index.ts';
import { type PlaneRole, systemClock, systemRandom } from '../../kube/index.ts';
import { ClusterRole, ClusterRoleBinding, Lease, type PolicyRule, type Subject } from '../../meta/index.ts';
import { defaultConfig } from '../config.ts';
import { cellControllersOf, controllerDeps } from '../controllers.ts';
import type { FeatureGates } from '../gates.ts';

/** Who a cell's process is on the hub and in projects: any user of this group. */
export const cellsGroup = 'berth:cells';
/** Who it is in its own cluster. */
export const cellAccount = { kind: 'ServiceAccount', name: 'berth-cell', namespace: systemNamespace } as const;
/** The Lease in the cell that its processes compete for; on the hub, `<this>-<location>` says whose the location is. */
export const cellLease = 'berth-cell';

const leases = { apiGroups: [Lease.group], resources: [Lease.plural] };

/** What the process itself needs besides what its controllers do. */
const ownRules: Partial<Record<PlaneRole, readonly PolicyRule[]>> = {
  cell: [
    { ...leases, verbs: ['create'] },
    { ...leases, resourceNames: [cellLease], verbs: ['get', 'update'] },
  ],
  hub: [
    { ...leases, verbs: ['get', 'create'] },
    { apiGroups: [Location.group], resources: [Location.plural, ServingLocation.plural], verbs: ['get'] },
  ],
};

/** All that a cell's process may do on planes of a role: one identity, with the rules of all its controllers. */
export function cellRules(role: PlaneRole, featureGates: FeatureGates): PolicyRule[] {
  const never = (): never => {
    throw new Error('these controllers are there for their rules, not to run');
  };
  const nothing = { debug() {}, info() {}, warn() {}, error() {} };
  const controllers = cellControllersOf(
    controllerDeps({
      clock: systemClock,
      random: systemRandom,
      log: nothing,
      config: { ...defaultConfig(), featureGates },
      recorder: never,
      projectClient: never,
      simulate: true,
    }),
    { apart: true },
  );
  return normaliseRules([...controllers.flatMap(({ rules }) => rules[role] ?? []), ...(ownRules[role] ?? [])]);
}

/** The role of cells on planes of a role, and who has it there; undefined where they have no business. */
export function cellRole(
  role: PlaneRole,
  featureGates: FeatureGates,
): { clusterRole: ClusterRole; clusterRoleBinding: ClusterRoleBinding } | undefined {
  const rules = cellRules(role, featureGates);
  if (rules.length === 0) return undefined;
  const apiVersion = `${ClusterRole.group}/${ClusterRole.version}`;
  const metadata = { name: 'berth:cell' };
  const subject: Subject =
    role === 'cell' ? cellAccount : { kind: 'Group', apiGroup: ClusterRole.group, name: cellsGroup };
  return {
    clusterRole: { apiVersion, kind: ClusterRole.kind, metadata, rules },
    clusterRoleBinding: {
      apiVersion,
      kind: ClusterRoleBinding.kind,
      metadata,
      roleRef: { apiGroup: ClusterRole.group, kind: 'ClusterRole', name: metadata.name },
      subjects: [subject],
    },
  };
}
