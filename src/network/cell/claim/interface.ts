import {
  computeLabelPrefix,
  labelValue,
  type NetworkContext,
  NetworkInterface,
  type NetworkInterfaceClaim,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
} from '../../../api/index.ts';
import { apiVersionOf, jsonEqual, type Stored } from '../../../meta/index.ts';
import { type Allocation, addressesOf } from '../allocation/requests.ts';
import { type Routing, recordAnnotations, recordOf } from '../routing.ts';
import { type Gateways, networkUidOf } from './context.ts';
import { interfaceNameOf } from './snapshot.ts';

type Address = NonNullable<NetworkInterface['spec']['addresses']>[number];

/** What an interface takes from its claim and its network's presence. */
export interface Derivation {
  claim: Stored<NetworkInterfaceClaim>;
  routing: Routing;
  /** Absent while the presence is gone: then what was derived from it stays. */
  context: Stored<NetworkContext> | undefined;
  /** Absent where they can not be told: then they stay. */
  gateways: Gateways | undefined;
}

/** The interface of a claim whose addresses are allocated. It has no owner: it must be able to outlive the claim. */
export function newInterface(derivation: Derivation, allocations: readonly Allocation[]): NetworkInterface {
  const { claim, routing, context, gateways } = derivation;
  const { addresses, externalAddresses } = addressesOf(allocations, claim.spec.ipFamilies);
  const { mtu } = context?.spec ?? {};
  return {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: {
      name: interfaceNameOf(claim),
      namespace: claim.metadata.namespace ?? '',
      labels: labelsOf(derivation, {}),
      annotations: { [networkingAnnotations.allocationClaim]: claim.metadata.name, ...recordAnnotations(routing) },
      finalizers: [networkingFinalizers.interfaceRelease],
    },
    spec: {
      network: { name: claim.spec.network.name },
      claimRef: { name: claim.metadata.name, uid: claim.metadata.uid },
      interfaceName: claim.spec.interfaceName,
      attachmentMode: claim.spec.attachmentMode,
      ...(mtu === undefined ? {} : { mtu }),
      addresses: addresses.map((address) => withGateway(address, gateways ?? {})),
      ...(externalAddresses.length === 0 ? {} : { externalAddresses }),
      reclaimPolicy: claim.spec.reclaimPolicy,
    },
  };
}

/**
 * The merge patch that makes an interface what its claim and its network's presence say now, the holder included; undefined
 * where it is that already. Addresses are never among what changes.
 */
export function interfacePatch(
  networkInterface: Stored<NetworkInterface>,
  derivation: Derivation,
): { metadata?: object; spec?: object } | undefined {
  const { claim, routing, context, gateways } = derivation;
  const { metadata, spec } = networkInterface;
  const changed: Record<string, unknown> = {};
  const claimRef = { name: claim.metadata.name, uid: claim.metadata.uid };
  if (!jsonEqual(spec.claimRef, claimRef)) changed.claimRef = claimRef;
  if (context !== undefined && spec.mtu !== context.spec?.mtu) changed.mtu = context.spec?.mtu ?? null;
  const { attachmentMode } = claim.spec;
  if (attachmentMode !== spec.attachmentMode) changed.attachmentMode = attachmentMode;
  const primary = claim.spec.ipFamilies[0];
  const addresses = spec.addresses?.map((address) => {
    const marked = primary === undefined ? address : { ...address, primary: address.family === primary };
    return gateways === undefined ? marked : withGateway(marked, gateways);
  });
  if (addresses !== undefined && !jsonEqual(addresses, spec.addresses)) changed.addresses = addresses;

  const labels = difference(metadata.labels ?? {}, labelsOf(derivation, metadata.labels ?? {}));
  // Whoever asked for it back came second: left on, the request would be heard when the interface is let go. And a stamp
  // of when it was let go last would be taken for the next time.
  const over = [networkingAnnotations.returnRequested, networkingAnnotations.unheldSince].filter(
    (key) => metadata.annotations?.[key] !== undefined,
  );
  const annotations = {
    ...(recordOf(networkInterface) === undefined ? recordAnnotations(routing) : {}),
    ...Object.fromEntries(over.map((key) => [key, null])),
  };
  const meta = {
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
  const patch = {
    ...(Object.keys(meta).length === 0 ? {} : { metadata: meta }),
    ...(Object.keys(changed).length === 0 ? {} : { spec: changed }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function withGateway({ gateway: _, ...address }: Address, gateways: Gateways): Address {
  const gateway = gateways[address.family];
  return gateway === undefined ? address : { ...address, gateway };
}

/** Compute's labels follow the claim, stale ones included; the network's are of the interface's birth. */
function labelsOf({ claim, routing, context }: Derivation, held: Record<string, string>): Record<string, string> {
  const computes = (labels: Record<string, string> | undefined) =>
    Object.entries(labels ?? {}).filter(([key]) => key.startsWith(computeLabelPrefix));
  const others = Object.entries(held).filter(([key]) => !key.startsWith(computeLabelPrefix));
  const uid = held[networkingLabels.networkUID] ?? (context === undefined ? undefined : networkUidOf(context));
  return Object.fromEntries([
    ...others,
    ...computes(claim.metadata.labels),
    [networkingLabels.network, held[networkingLabels.network] ?? labelValue(claim.spec.network.name)],
    [networkingLabels.location, held[networkingLabels.location] ?? labelValue(routing.location)],
    ...(uid === undefined ? [] : [[networkingLabels.networkUID, uid]]),
  ]);
}

function difference(before: Record<string, string>, after: Record<string, string>): Record<string, string | null> {
  const changes: [string, string | null][] = Object.entries(after).filter(([key, value]) => before[key] !== value);
  for (const key of Object.keys(before)) if (!(key in after)) changes.push([key, null]);
  return Object.fromEntries(changes);
}
