import { IpPrefix } from '../../../address/index.ts';
import {
  type NetworkContext,
  networkingFinalizers,
  networkingLabels,
  reasonMessage,
  Subnet,
  subnetName,
  subnetRangeClaimName,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  controllerReference,
  isControlledBy,
  isTerminating,
  jsonEqual,
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { networkScope } from '../../shared/scope.ts';
import { type RangeAnswer, type RangeRequest, rangeConditions, recordOf } from '../ranges.ts';

export interface Snapshot {
  context: Stored<NetworkContext>;
  project: string;
  classes: NetworkDeps['ipamClasses'];
}

export type Plan =
  | { do: 'hold'; finalizer: boolean; ranges: readonly RangeRequest[] }
  | { do: 'release'; claims: readonly { namespace: string; name: string; range: string }[] }
  | { do: 'nothing' };

const families = ['IPv6', 'IPv4'] as const;

/** Pure. The ranges of a network in a location: held while the context is there, given back when it goes. */
export function decide({ context, project, classes }: Snapshot): Plan {
  const { uid, namespace = '' } = context.metadata;
  const held = context.metadata.finalizers?.includes(networkingFinalizers.contextSubnetRelease) === true;
  if (isTerminating(context)) {
    if (!held) return { do: 'nothing' };
    const claims = families.map((family) => ({
      namespace,
      name: subnetRangeClaimName(uid, family),
      range: `of ${context.metadata.name} (${family})`,
    }));
    return { do: 'release', claims };
  }
  const network = context.spec?.network.name ?? '';
  const location = context.spec?.location.name ?? '';
  const networkUid = context.metadata.labels?.[networkingLabels.networkUID];
  const configured = { IPv6: classes.subnetIPv6, IPv4: classes.subnetIPv4 };
  const ranges = families.flatMap((family): RangeRequest[] => {
    const className = configured[family];
    // Without the network's UID the scope would be another one than its interfaces'.
    if (className === undefined || networkUid === undefined || !carries(context, family)) return [];
    return [
      {
        family,
        className,
        claimName: subnetRangeClaimName(uid, family),
        namespace,
        scope: networkScope({ name: network, uid: networkUid }, location),
        of: `network ${network} in location ${location}`,
        project,
      },
    ];
  });
  return { do: 'hold', finalizer: ranges.length > 0 && !held, ranges };
}

function carries(context: NetworkContext, family: 'IPv4' | 'IPv6'): boolean {
  return context.spec?.ipFamilies?.includes(family) === true;
}

/** The Subnet that publishes a range. */
export function subnetOf(context: Stored<NetworkContext>, answer: Extract<RangeAnswer, { held: true }>): Subnet {
  const prefix = IpPrefix.parse(answer.cidr);
  const labels = context.metadata.labels ?? {};
  const kept = [networkingLabels.network, networkingLabels.location, networkingLabels.networkUID];
  return {
    apiVersion: apiVersionOf(Subnet),
    kind: Subnet.kind,
    metadata: {
      name: subnetName(context.metadata.name, answer.request.family),
      namespace: context.metadata.namespace ?? '',
      labels: Object.fromEntries(Object.entries(labels).filter(([key]) => kept.some((each) => each === key))),
      ownerReferences: [controllerReference(context)],
    },
    spec: {
      subnetClass: 'private',
      networkContext: { name: context.metadata.name },
      location: { name: context.spec?.location.name ?? '' },
      ipFamily: answer.request.family,
      startAddress: prefix.first.toString(),
      prefixLength: prefix.length,
    },
  };
}

export type SubnetStep =
  | { do: 'create'; object: Subnet }
  | { do: 'update'; object: Stored<Subnet> }
  | { do: 'delete'; subnet: Stored<Subnet> }
  | { do: 'nothing' };

/** Pure. A Subnet of another context (an earlier one of this name, not collected yet) is waited for, never taken over. */
export function decideSubnet(wanted: Subnet, held: Stored<Subnet> | undefined, context: NetworkContext): SubnetStep {
  if (held === undefined) return { do: 'create', object: wanted };
  if (isTerminating(held)) return { do: 'nothing' };
  if (!isControlledBy(held, context)) return { do: 'delete', subnet: held };
  const labels = { ...held.metadata.labels, ...wanted.metadata.labels };
  if (jsonEqual(wanted.spec, held.spec) && jsonEqual(labels, held.metadata.labels ?? {})) return { do: 'nothing' };
  return {
    do: 'update',
    object: {
      ...held,
      ...(wanted.spec === undefined ? {} : { spec: wanted.spec }),
      metadata: { ...held.metadata, labels },
    },
  };
}

export function subnetStatus(subnet: Stored<Subnet>, now: number): NonNullable<Subnet['status']> {
  const { startAddress, prefixLength } = subnet.spec ?? { startAddress: '', prefixLength: 0 };
  const observedGeneration = subnet.metadata.generation ?? 1;
  const range = `${startAddress}/${prefixLength}`;
  const allocated = {
    type: 'Allocated',
    status: 'True',
    reason: 'PrefixAllocated',
    message: reasonMessage('PrefixAllocated', { range }),
    observedGeneration,
  } as const;
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: reasonMessage('Ready', { kind: 'Subnet', name: subnet.metadata.name }),
    observedGeneration,
  } as const;
  const conditions = withCondition(withCondition(subnet.status?.conditions, allocated, now), ready, now);
  return { startAddress, prefixLength, conditions };
}

/** Pure. What the context says once ranges were asked for and Subnets published. */
export function concluded(
  context: Stored<NetworkContext>,
  answers: readonly RangeAnswer[],
  now: number,
): NonNullable<NetworkContext['status']> {
  const { name, generation = 1 } = context.metadata;
  const ipam: NonNullable<NonNullable<NetworkContext['status']>['ipam']> = { ...context.status?.ipam };
  for (const answer of answers) {
    if (!answer.held) continue;
    const { family } = answer.request;
    const subnet = { name: subnetName(name, family) };
    const claim = recordOf(answer);
    if (family === 'IPv6') Object.assign(ipam, { ipv6SubnetRef: subnet, ipv6ClaimRef: claim });
    else Object.assign(ipam, { ipv4SubnetRef: subnet, ipv4ClaimRef: claim });
  }
  const ready = reasonMessage('Ready', { kind: 'NetworkContext', name });
  const conditions = rangeConditions(answers, context.status?.conditions, ready, generation, now);
  return { ...context.status, ...(Object.keys(ipam).length === 0 ? {} : { ipam }), conditions };
}
