import type { PlaneRole } from '../kube/index.ts';

/** Grants that controllers hold and an ordinary run does not use, and why they hold them all the same. */
export interface ReservedGrants {
  reason: string;
  role: PlaneRole;
  controllers: readonly string[];
  /** `verb group/resource`; core has no group: `create /namespaces`. */
  grants: readonly string[];
}

const networking = 'networking.datumapis.com';
const compute = 'compute.datumapis.com';
const series = 'patch events.k8s.io/events';
const event = 'create events.k8s.io/events';
const taken = 'Events that tell of what should not be: somebody else’s object under the name of a copy.';

/** The agent of a cell, as far as it writes copies. */
const agents = [
  'federation-down-networkcontexts',
  'federation-down-servinglocations',
  'federation-down-subnets',
  'federation-down-workloaddeployments',
  'federation-up-instances',
  'federation-up-networkinterfaces',
];

/**
 * The one list of them. `test/e2e/access.test.ts` takes the platform through its life and compares: what was granted and not
 * used must be here, and what is here must be granted.
 */
export const reservedGrants: readonly ReservedGrants[] = [
  {
    reason: 'An Event that is told again is patched.',
    role: 'project',
    controllers: ['compute-hub-instance-projector', 'network-hub-interface-projector'],
    grants: [series],
  },
  {
    reason: 'An Event that is told again is patched.',
    role: 'cell',
    controllers: ['network-cell-claim', 'network-cell-interface', 'simulated-provider'],
    grants: [series],
  },
  {
    reason: 'Events that tell of what should not be: a location that cannot be served as it is.',
    role: 'hub',
    controllers: ['network-hub-location'],
    grants: [event, series],
  },
  {
    reason: taken,
    role: 'cell',
    controllers: agents,
    grants: [event, series],
  },
  {
    reason: taken,
    role: 'hub',
    controllers: [
      ...agents,
      'network-hub-replicator-networkcontexts',
      'network-hub-replicator-subnets',
      'compute-hub-federator',
    ],
    grants: [event, series],
  },
  {
    reason: taken,
    role: 'project',
    controllers: ['network-hub-replicator-networkcontexts', 'network-hub-replicator-subnets', 'compute-hub-federator'],
    grants: [event, series],
  },
  {
    reason: 'An operator may say that a cell is gone for good: then what is left of it on the hub is cleared away.',
    role: 'hub',
    controllers: ['federation-lost-workloaddeployments'],
    grants: [`patch ${compute}/workloaddeployments`],
  },
  {
    reason: 'An operator may say that a cell is gone for good: then what is left of it on the hub is cleared away.',
    role: 'hub',
    controllers: ['federation-lost-instances'],
    grants: [`delete ${compute}/instances`],
  },
  {
    reason: 'An operator may say that a cell is gone for good: then what is left of it on the hub is cleared away.',
    role: 'hub',
    controllers: ['federation-lost-networkinterfaces'],
    grants: [`delete ${networking}/networkinterfaces`],
  },
  {
    reason: 'Events that tell of what should not be: numbers that are used up or claimed twice.',
    role: 'project',
    controllers: ['fabric-hub-identity'],
    grants: [event, series],
  },
  {
    reason: 'Events that tell of what should not be: an identity or a shard that cannot be used.',
    role: 'cell',
    controllers: ['fabric-cell-vpc', 'fabric-cell-egress'],
    grants: [event, series],
  },
  {
    reason: 'Clusters that enforce blockOwnerDeletion ask for it where an owner is named.',
    role: 'project',
    controllers: ['compute-project-workload'],
    grants: [`update ${compute}/workloads/finalizers`],
  },
  {
    reason: 'Clusters that enforce blockOwnerDeletion ask for it where an owner is named.',
    role: 'project',
    controllers: ['network-project-context', 'network-project-subnetclaim'],
    grants: [`update ${networking}/networkcontexts/finalizers`],
  },
  {
    reason: 'Clusters that enforce blockOwnerDeletion ask for it where an owner is named.',
    role: 'cell',
    controllers: ['compute-cell-deployment'],
    grants: [`update ${compute}/workloaddeployments/finalizers`],
  },
  {
    reason: 'Clusters that enforce blockOwnerDeletion ask for it where an owner is named.',
    role: 'cell',
    controllers: ['fabric-cell-vpc'],
    grants: [`update ${networking}/networkcontexts/finalizers`],
  },
  {
    reason: 'A namespace is made by whoever carries something into it first.',
    role: 'cell',
    controllers: [
      'federation-down-namespaces',
      'federation-down-networkcontexts',
      'federation-down-subnets',
      'federation-down-workloaddeployments',
    ],
    grants: ['create /namespaces'],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'cell',
    controllers: ['federation-down-namespaces'],
    grants: ['update /namespaces'],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right; it goes with its location.',
    role: 'cell',
    controllers: ['federation-down-servinglocations'],
    grants: [`update ${networking}/servinglocations`, `delete ${networking}/servinglocations`],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'cell',
    controllers: ['federation-down-subnets'],
    grants: [`update ${networking}/subnets`],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'cell',
    controllers: ['federation-down-networkcontexts'],
    grants: [`update ${networking}/networkcontexts`],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'hub',
    controllers: ['federation-up-instances'],
    grants: [`update ${compute}/instances`],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'hub',
    controllers: ['network-hub-replicator-subnets'],
    grants: [`update ${networking}/subnets`],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'hub',
    controllers: ['network-hub-replicator-networkcontexts'],
    grants: [`update ${networking}/networkcontexts`],
  },
  {
    reason: 'A copy whose source has changed, or that somebody else changed, is put right.',
    role: 'project',
    controllers: ['compute-hub-instance-projector'],
    grants: [`update ${compute}/instances`],
  },
  {
    reason: 'Labels that somebody took away are put back; a binding for another network or location is replaced.',
    role: 'hub',
    controllers: ['compute-hub-federator'],
    grants: ['patch /namespaces', `patch ${networking}/networkbindings`, `delete ${networking}/networkbindings`],
  },
  {
    reason: 'A subnet of an earlier context of the name makes way; one that somebody changed is put right.',
    role: 'project',
    controllers: ['network-project-context'],
    grants: [`update ${networking}/subnets`, `delete ${networking}/subnets`],
  },
  {
    reason: 'A location that an operator takes away is served no longer.',
    role: 'hub',
    controllers: ['network-hub-location'],
    grants: [`delete ${networking}/servinglocations`],
  },
  {
    reason: 'Networks that ask for the internet, which an operator must offer first.',
    role: 'project',
    controllers: ['network-hub-egress'],
    grants: [`patch ${networking}/networks/status`, `patch ${networking}/networkcontexts/status`],
  },
  {
    reason: 'A context is stamped while it is quiet, and its stamp taken away when it is used again.',
    role: 'project',
    controllers: ['network-hub-presence'],
    grants: [`patch ${networking}/networkcontexts`],
  },
  {
    reason: 'A claim that no longer fits the allocation retained for its name waits for that one to go.',
    role: 'project',
    controllers: ['network-cell-claim'],
    grants: ['list ipam.miloapis.com/ipallocations', 'watch ipam.miloapis.com/ipallocations'],
  },
  {
    reason: 'A release that somebody was faster than is looked at again.',
    role: 'project',
    controllers: ['network-cell-claim', 'network-cell-interface'],
    grants: ['get ipam.miloapis.com/ipclaims'],
  },
  {
    reason: 'The auditor puts right what a crash or another program left behind, and says so.',
    role: 'cell',
    controllers: ['network-cell-audit'],
    grants: [`patch ${networking}/networkinterfaces/status`, 'patch /namespaces', event, series],
  },
  {
    reason: 'The auditor puts right what a crash or another program left behind, and says so.',
    role: 'project',
    controllers: ['network-cell-audit'],
    grants: ['get ipam.miloapis.com/ipclaims', 'delete ipam.miloapis.com/ipclaims'],
  },
  {
    reason: 'An attachment follows an interface that changed after it was made.',
    role: 'cell',
    controllers: ['fabric-cell-attachment'],
    grants: ['patch cloud.datumapis.com/vpcattachments'],
  },
  {
    reason: 'What is left in a project that goes: most of it has gone with what it was for.',
    role: 'project',
    controllers: ['platform-root-project'],
    grants: [
      `delete ${networking}/networkbindings`,
      'delete ipam.miloapis.com/ipclaims',
      'delete ipam.miloapis.com/ipallocations',
    ],
  },
  {
    reason: 'What is left in a project that goes: most of it has gone with what it was for.',
    role: 'cell',
    controllers: ['platform-root-project'],
    grants: ['delete /namespaces'],
  },
];
