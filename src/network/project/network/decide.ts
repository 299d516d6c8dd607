import {
  Network,
  type NetworkContext,
  networkingFinalizers,
  networkRangeClaimName,
  reasonMessage,
} from '../../../api/index.ts';
import { isControlledBy, isTerminating, type Stored, withCondition } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { networkScope } from '../../shared/scope.ts';
import { type RangeAnswer, type RangeRequest, rangeConditions, recordOf } from '../ranges.ts';

export interface Snapshot {
  network: Stored<Network>;
  project: string;
  /** Contexts that name the network; read live before the last of them decides. */
  contexts: readonly Stored<NetworkContext>[];
  classes: NetworkDeps['ipamClasses'];
}

export interface Held {
  namespace: string;
  name: string;
  range: string;
}

export type Plan =
  /** Contexts go first: they hold the subnets that lie in the network's ranges (F25). */
  | { do: 'delete-contexts'; contexts: readonly Stored<NetworkContext>[]; waitsFor: readonly string[] }
  | { do: 'release'; claims: readonly Held[] }
  | { do: 'hold'; finalizers: readonly string[]; ranges: readonly RangeRequest[] }
  | { do: 'nothing' };

type RecordedRef = { namespace?: string; claimName?: string };

/** Pure. What a network holds, or how it gives it back. */
export function decide(snapshot: Snapshot): Plan {
  const { network, contexts } = snapshot;
  const finalizers = network.metadata.finalizers ?? [];
  if (!isTerminating(network)) {
    const ranges = rangesOf(snapshot);
    const wanted = [
      networkingFinalizers.network,
      ...(ranges.length > 0 ? [networkingFinalizers.networkPrefixRelease] : []),
    ];
    return { do: 'hold', finalizers: wanted.filter((each) => !finalizers.includes(each)), ranges };
  }
  const own = contexts.filter((context) => isControlledBy(context, network) || isOrphan(context, network));
  if (own.length > 0) {
    const waitsFor = own.map((context) => context.metadata.name).sort();
    return { do: 'delete-contexts', contexts: own.filter((context) => !isTerminating(context)), waitsFor };
  }
  const ours: string[] = [networkingFinalizers.network, networkingFinalizers.networkPrefixRelease];
  return finalizers.some((each) => ours.includes(each))
    ? { do: 'release', claims: heldBy(snapshot) }
    : { do: 'nothing' };
}

/** A context that names the network and that nobody controls: of an older way of making them. */
function isOrphan(context: NetworkContext, network: Network): boolean {
  const controlled = (context.metadata.ownerReferences ?? []).some((ref) => ref.controller === true);
  return !controlled && context.spec?.network.name === network.metadata.name;
}

function rangesOf({ network, project, classes }: Snapshot): RangeRequest[] {
  if (network.spec.ipam.mode !== 'Auto') return [];
  const { name, uid, namespace = '' } = network.metadata;
  const configured = { IPv6: classes.networkIPv6, IPv4: classes.networkIPv4 };
  return (['IPv6', 'IPv4'] as const).flatMap((family) => {
    const className = configured[family];
    if (className === undefined || !(network.spec.ipFamilies ?? []).includes(family)) return [];
    const claimName = networkRangeClaimName(uid, family);
    return [
      { family, className, claimName, namespace, scope: networkScope({ name, uid }), of: `network ${name}`, project },
    ];
  });
}

/** What is to be given back: what status records, and what its name says, should status have been lost. */
function heldBy({ network }: Snapshot): Held[] {
  const { namespace = '', uid } = network.metadata;
  const { ipam } = network.status ?? {};
  const of = (ref: RecordedRef | undefined, range: string | undefined, family: 'IPv4' | 'IPv6'): Held => ({
    namespace: ref?.namespace ?? namespace,
    name: ref?.claimName ?? networkRangeClaimName(uid, family),
    range: range ?? `(${family})`,
  });
  return [of(ipam?.ipv6PrefixRef, ipam?.ipv6Prefix, 'IPv6'), of(ipam?.ipv4PrefixRef, ipam?.ipv4Prefix, 'IPv4')];
}

/** Pure. The status that says what came of it. */
export function concluded(
  network: Stored<Network>,
  answers: readonly RangeAnswer[],
  now: number,
): NonNullable<Network['status']> {
  const ipam: NonNullable<NonNullable<Network['status']>['ipam']> = { ...network.status?.ipam };
  for (const answer of answers) {
    if (!answer.held) continue;
    const ref = recordOf(answer);
    if (answer.request.family === 'IPv6') Object.assign(ipam, { ipv6Prefix: answer.cidr, ipv6PrefixRef: ref });
    else Object.assign(ipam, { ipv4Prefix: answer.cidr, ipv4PrefixRef: ref });
  }
  const ready = reasonMessage('Ready', { kind: 'Network', name: network.metadata.name });
  const generation = network.metadata.generation ?? 1;
  const conditions = rangeConditions(answers, network.status?.conditions, ready, generation, now);
  return { ...(Object.keys(ipam).length === 0 ? {} : { ipam }), conditions };
}

/** Pure. The status of a network that is being deleted and waits for its presences; what it holds, it still holds. */
export function terminating(
  network: Stored<Network>,
  waitsFor: readonly string[],
  now: number,
): NonNullable<Network['status']> {
  const { name, generation: observedGeneration = 1 } = network.metadata;
  const contexts = `NetworkContext${waitsFor.length === 1 ? '' : 's'} ${waitsFor.join(', ')}`;
  const message = reasonMessage('Terminating', { kind: Network.kind, name, waitsFor: contexts });
  const said = { type: 'Ready', status: 'False', reason: 'Terminating', message, observedGeneration } as const;
  return { ...network.status, conditions: withCondition(network.status?.conditions, said, now) };
}
