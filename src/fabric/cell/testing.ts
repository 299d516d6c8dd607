import {
  crdsOf,
  EgressShard,
  EgressShardParameters,
  fabricFinalizers,
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  networkingLabels,
  VPC,
  VPCAttachment,
} from '../../api/index.ts';
import { Environment } from '../../apiserver/testing/index.ts';
import { applyStatus, type Client, type Controller, mergeStatus, planeRef } from '../../kube/index.ts';
import { apiVersionOf, controllerReference, Event, formatTime, Namespace, type Stored } from '../../meta/index.ts';
import { formatIdentifier, vpcIdentifier } from '../codec/index.ts';
import type { FabricDeps } from '../shared/deps.ts';
import { type Intent, parametersOf, shardNamespace, shardOf } from './egress/testing.ts';

export const namespace = 'ns-alpha';

/** A cell, and controllers of the fabric that are to be at work there. */
export async function openCell(controllersOf: (deps: FabricDeps) => Controller[]): Promise<Environment> {
  const environment = await Environment.open();
  const { clock, recorder } = environment;
  environment.use(() => controllersOf({ clock, recorder }));
  const client = await environment.openPlane(planeRef('cell', 'us-central-1'), { crds: crdsOf('cell') });
  for (const name of [namespace, shardNamespace]) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  return environment;
}

// What neighbours do.

interface ContextOptions {
  internet?: Intent | undefined;
  /** UID of the network. */
  uid?: string;
}

const networkUidOf = (network: string) => `${network}-uid`;

export function contextNameOf(network: string): string {
  return `${network}-us-central-1`;
}

/** A network\u2019s presence, as propagation delivers it. */
export function context(
  client: Client,
  network: string,
  options: ContextOptions = {},
): Promise<Stored<NetworkContext>> {
  const { internet, uid = networkUidOf(network) } = options;
  return client.create(NetworkContext, {
    apiVersion: apiVersionOf(NetworkContext),
    kind: NetworkContext.kind,
    metadata: { name: contextNameOf(network), namespace, labels: { [networkingLabels.networkUID]: uid } },
    spec: {
      network: { name: network },
      location: { name: 'us-central-1' },
      ipFamilies: ['IPv6', 'IPv4'],
      mtu: 1440,
      ...(internet === undefined ? {} : { egress: { internet } }),
    },
  });
}

/** What the hub projects on it from now on. */
export async function project(client: Client, network: string, internet: Intent | undefined): Promise<void> {
  const key = { namespace, name: contextNameOf(network) };
  // Null first: what is left out of a merge stays.
  await client.patch(NetworkContext, key, { type: 'merge', body: { spec: { egress: { internet: null } } } });
  if (internet === undefined) return;
  await client.patch(NetworkContext, key, { type: 'merge', body: { spec: { egress: { internet } } } });
}

/** The VPC of a context, and its identifier where it has one yet. */
export async function vpc(client: Client, network: string, identifier: number | undefined): Promise<Stored<VPC>> {
  const name = contextNameOf(network);
  const owner = await client.get(NetworkContext, { namespace, name });
  const made = await client.create(VPC, {
    apiVersion: apiVersionOf(VPC),
    kind: VPC.kind,
    metadata: {
      name,
      namespace,
      finalizers: [fabricFinalizers.vpc],
      ...(owner === undefined ? {} : { ownerReferences: [controllerReference(owner)] }),
    },
    spec: { networks: ['fd5a:9:2::/64'] },
  });
  return identifier === undefined ? made : identify(client, made, identifier);
}

export function identify(client: Client, object: Stored<VPC>, identifier: number): Promise<Stored<VPC>> {
  return mergeStatus(client, VPC, object, { vpc: formatIdentifier(vpcIdentifier, identifier) });
}

interface InterfaceOptions {
  network?: string;
  mode?: 'Netns' | 'Hypervisor';
  mtu?: number | undefined;
  address?: string;
}

/** An interface that a claim holds, with its addresses: what network services have made. */
export async function boundInterface(
  client: Client,
  name: string,
  options: InterfaceOptions = {},
): Promise<Stored<NetworkInterface>> {
  const { network = 'net', mode = 'Netns', address = 'fd5a:9:2:0:c::/96' } = options;
  const mtu = 'mtu' in options ? options.mtu : 1440;
  const made = await client.create(NetworkInterface, {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: { name, namespace, labels: { [networkingLabels.networkUID]: networkUidOf(network) } },
    spec: {
      network: { name: network },
      claimRef: { name, uid: `${name}-claim` },
      interfaceName: 'eth0',
      attachmentMode: mode,
      ...(mtu === undefined ? {} : { mtu }),
      addresses: [
        { family: 'IPv6', address, gateway: 'fd5a:9:2::1', primary: true },
        { family: 'IPv4', address: '10.70.3.9/32', gateway: '10.70.0.1' },
      ],
      reclaimPolicy: 'Delete',
    },
  });
  return sayBound(client, made);
}

/** network/cell\u2019s part of its status. */
export function sayBound(client: Client, object: Stored<NetworkInterface>): Promise<Stored<NetworkInterface>> {
  const said = {
    status: 'True',
    reason: 'Allocated',
    message: 'Allocated',
    lastTransitionTime: formatTime(0),
  } as const;
  return applyStatus(
    client,
    NetworkInterface,
    object,
    {
      phase: 'Bound',
      networkContextRef: { name: contextNameOf(object.spec.network.name) },
      conditions: [{ type: 'Allocated', ...said }],
    },
    'network-cell',
  );
}

/** A shard as an operator and its node make it. */
export async function shard(
  client: Client,
  name: string,
  options: Parameters<typeof shardOf>[1] = {},
): Promise<Stored<EgressShard>> {
  const { metadata, status = {}, ...rest } = shardOf(name, options);
  const { labels = {} } = metadata;
  const made = await client.create(EgressShard, {
    ...rest,
    metadata: { name, namespace: metadata.namespace!, labels },
  });
  return mergeStatus(client, EgressShard, made, status);
}

export function shardKey(name: string): { namespace: string; name: string } {
  return { namespace: shardNamespace, name };
}

export function parameters(
  client: Client,
  ...of: Parameters<typeof parametersOf>
): Promise<Stored<EgressShardParameters>> {
  const { metadata, ...rest } = parametersOf(...of);
  return client.create(EgressShardParameters, { ...rest, metadata: { name: metadata.name } });
}

export const get = {
  interface: (client: Client, name: string) => client.get(NetworkInterface, { namespace, name }),
  attachment: (client: Client, name: string) => client.get(VPCAttachment, { namespace, name }),
  definition: (client: Client, name: string) => client.get(NetworkAttachmentDefinition, { namespace, name }),
};

export async function eventNotes(client: Client, reason: string): Promise<string[]> {
  const { items } = await client.list(Event);
  return items.filter((event) => event.reason === reason).map((event) => event.note ?? '');
}
