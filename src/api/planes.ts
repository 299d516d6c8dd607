import type { CustomResourceDefinition } from '../meta/index.ts';
import { Instance } from './compute/instance.ts';
import { Workload } from './compute/workload.ts';
import { WorkloadDeployment } from './compute/workload-deployment.ts';
import { crdManifest } from './define.ts';
import { EgressShard } from './fabric/egress-shard.ts';
import { EgressShardParameters } from './fabric/egress-shard-parameters.ts';
import { NetworkAttachmentDefinition } from './fabric/network-attachment-definition.ts';
import { NetworkFabricIdentity } from './fabric/network-fabric-identity.ts';
import { VPC } from './fabric/vpc.ts';
import { VPCAttachment } from './fabric/vpc-attachment.ts';
import { IPAllocation } from './ipam/ip-allocation.ts';
import { IPClaim } from './ipam/ip-claim.ts';
import { IPClass } from './ipam/ip-class.ts';
import { IPPool } from './ipam/ip-pool.ts';
import type { Kind } from './kind.ts';
import { InternetEgressClass } from './networking/internet-egress-class.ts';
import { Location } from './networking/location.ts';
import { LocationBinding } from './networking/location-binding.ts';
import { Network } from './networking/network.ts';
import { NetworkBinding } from './networking/network-binding.ts';
import { NetworkContext } from './networking/network-context.ts';
import { NetworkInterface } from './networking/network-interface.ts';
import { NetworkInterfaceClaim } from './networking/network-interface-claim.ts';
import { NetworkPolicy } from './networking/network-policy.ts';
import { ServingLocation } from './networking/serving-location.ts';
import { Subnet } from './networking/subnet.ts';
import { SubnetClaim } from './networking/subnet-claim.ts';
import { Project } from './resourcemanager/project.ts';

/** What a plane is for; a cluster that plays several roles serves the kinds of all of them. */
export type PlaneRole = 'root' | 'project' | 'hub' | 'cell';

const byRole: Readonly<Record<PlaneRole, readonly Kind[]>> = {
  root: [Project],
  project: [
    Network,
    NetworkBinding,
    NetworkContext,
    NetworkInterface,
    NetworkPolicy,
    Subnet,
    SubnetClaim,
    LocationBinding,
    Workload,
    WorkloadDeployment,
    Instance,
    IPClass,
    IPPool,
    IPClaim,
    IPAllocation,
  ],
  hub: [
    Location,
    ServingLocation,
    InternetEgressClass,
    NetworkBinding,
    NetworkContext,
    Subnet,
    NetworkInterface,
    NetworkFabricIdentity,
    WorkloadDeployment,
    Instance,
  ],
  cell: [
    ServingLocation,
    NetworkContext,
    Subnet,
    NetworkInterfaceClaim,
    NetworkInterface,
    WorkloadDeployment,
    Instance,
    VPC,
    VPCAttachment,
    NetworkAttachmentDefinition,
    EgressShard,
    EgressShardParameters,
  ],
};

/** The kinds a plane of this role serves, IPAM's included. */
export function kindsOf(role: PlaneRole): readonly Kind[] {
  return byRole[role];
}

/** Manifests of the CRDs among them. */
export function crdsOf(role: PlaneRole): CustomResourceDefinition[] {
  return kindsOf(role)
    .filter((kind) => kind.servedBy === 'crd')
    .map(crdManifest);
}

/** Every kind of Berth, once, by group and then by name. */
export const allKinds: readonly Kind[] = [...new Set(Object.values(byRole).flat())].sort(
  (a, b) => compare(a.group, b.group) || compare(a.kind, b.kind),
);

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
