import {
  type NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  networkingFinalizers,
  networkingLabels,
  type Subnet,
  upstreamLabels,
} from '../../../api/index.ts';
import { apiVersionOf, type ObjectMeta, type Stored } from '../../../meta/index.ts';
import { unheldStamp } from '../interface/lease.ts';
import { recordAnnotations } from '../routing.ts';
import type { Snapshot } from './snapshot.ts';

/** Objects for tests of decisions: as a server would store them. */

export const routing = { project: 'project-alpha', namespace: 'default', location: 'us-central-1' };
export const now = 1_767_225_600_000;

function metadata(name: string, uid: string, more: Partial<ObjectMeta> = {}): Stored<NetworkInterface>['metadata'] {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return { name, namespace: 'ns', uid, resourceVersion: '1', generation: 1, creationTimestamp, ...more };
}

const seeds = (types: string[]) =>
  types.map((type) => ({
    type,
    status: 'Unknown' as const,
    reason: 'Pending',
    message: 'Waiting for controller',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  }));

interface More<T extends { spec: unknown; status?: unknown }> {
  metadata?: Partial<ObjectMeta>;
  spec?: Partial<T['spec']>;
  status?: T['status'];
}

export function claimOf({
  metadata: meta,
  spec,
  status,
}: More<NetworkInterfaceClaim> = {}): Stored<NetworkInterfaceClaim> {
  return {
    apiVersion: apiVersionOf(NetworkInterfaceClaim),
    kind: NetworkInterfaceClaim.kind,
    metadata: metadata('nic', 'claim-uid', meta),
    spec: {
      network: { name: 'net' },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      ipFamilies: ['IPv6', 'IPv4'],
      reclaimPolicy: 'Delete',
      ...spec,
    },
    status: { conditions: seeds(['Bound', 'Allocated', 'Prepared', 'Programmed', 'Ready']), ...status },
  };
}

/** A claim that has recorded where it allocates. */
export function holdingClaim(more: More<NetworkInterfaceClaim> = {}): Stored<NetworkInterfaceClaim> {
  const finalizers = [networkingFinalizers.claimRelease];
  return claimOf({ ...more, metadata: { finalizers, annotations: recordAnnotations(routing), ...more.metadata } });
}

export function interfaceOf({ metadata: meta, spec, status }: More<NetworkInterface> = {}): Stored<NetworkInterface> {
  return {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: metadata('nic', 'interface-uid', {
      labels: {
        [networkingLabels.network]: 'net',
        [networkingLabels.location]: 'us-central-1',
        [networkingLabels.networkUID]: 'net-uid',
      },
      annotations: recordAnnotations(routing),
      finalizers: [networkingFinalizers.interfaceRelease],
      ...meta,
    }),
    spec: {
      network: { name: 'net' },
      claimRef: { name: 'nic', uid: 'claim-uid' },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      mtu: 1460,
      addresses: [
        { family: 'IPv6', address: 'fd20:1000:0:0:1::/96', primary: true },
        { family: 'IPv4', address: '10.128.0.2/32', primary: false },
      ],
      reclaimPolicy: 'Delete',
      ...spec,
    },
    status: { conditions: seeds(['Allocated', 'Prepared', 'Programmed']), ...status },
  };
}

/** An interface nobody holds, since `now`. */
export function unheld(more: More<NetworkInterface> = {}): Stored<NetworkInterface> {
  const annotations = { ...recordAnnotations(routing), ...unheldStamp(now) };
  const found = interfaceOf({ ...more, metadata: { annotations, ...more.metadata } });
  const { claimRef: _, ...spec } = found.spec;
  return { ...found, spec };
}

export function contextOfNet(more: { metadata?: Partial<ObjectMeta>; spec?: object } = {}): Stored<NetworkContext> {
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'NetworkContext',
    metadata: metadata('net-us-central-1', 'context-uid', {
      labels: { [networkingLabels.networkUID]: 'net-uid' },
      ...more.metadata,
    }),
    spec: {
      network: { name: 'net' },
      location: { name: 'us-central-1' },
      ipFamilies: ['IPv6', 'IPv4'],
      mtu: 1460,
      ...more.spec,
    },
  };
}

export function subnetOf(ipFamily: 'IPv4' | 'IPv6', startAddress: string, prefixLength: number): Stored<Subnet> {
  const name = `net-us-central-1-${ipFamily.toLowerCase()}`;
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'Subnet',
    metadata: metadata(name, `${name}-uid`),
    spec: {
      subnetClass: 'private',
      networkContext: { name: 'net-us-central-1' },
      location: { name: 'us-central-1' },
      ipFamily,
      startAddress,
      prefixLength,
    },
  };
}

export function snapshotOf(more: Partial<Snapshot> = {}): Snapshot {
  return {
    claim: claimOf(),
    networkInterface: undefined,
    servingLocations: ['us-central-1'],
    namespaceLabels: { [upstreamLabels.clusterName]: 'cluster-project-alpha', [upstreamLabels.namespace]: 'default' },
    namespaceTerminating: false,
    contexts: [contextOfNet()],
    subnets: [],
    verificationDue: false,
    now,
    ...more,
  };
}
