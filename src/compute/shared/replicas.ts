import { isReason, reasonMessage, type WorkloadDeployment } from '../../api/index.ts';
import type { Condition } from '../../meta/index.ts';

/** How many instances a deployment is to have: what it was scaled to, within its limits. */
export function replicasOf(spec: WorkloadDeployment['spec']): number {
  const { minReplicas = 0, maxReplicas = Number.POSITIVE_INFINITY } = spec?.scaleSettings ?? {};
  return Math.max(0, minReplicas, Math.min(spec?.replicas ?? 0, maxReplicas));
}

/** Counts of instances, as every status of compute carries them. */
export interface Replicas {
  replicas: number;
  currentReplicas: number;
  updatedReplicas: number;
  desiredReplicas: number;
  readyReplicas: number;
}

export const noReplicas: Replicas = {
  replicas: 0,
  currentReplicas: 0,
  updatedReplicas: 0,
  desiredReplicas: 0,
  readyReplicas: 0,
};

export function addReplicas(a: Replicas, b: Replicas): Replicas {
  return {
    replicas: a.replicas + b.replicas,
    currentReplicas: a.currentReplicas + b.currentReplicas,
    updatedReplicas: a.updatedReplicas + b.updatedReplicas,
    desiredReplicas: a.desiredReplicas + b.desiredReplicas,
    readyReplicas: a.readyReplicas + b.readyReplicas,
  };
}

/** Why instances are not ready: how many for each reason, and one message of it. */
export interface Waiting {
  reason: string;
  count: number;
  message: string;
}

/** The entries of several lists, added up by reason. */
export function mergeWaiting(lists: readonly (readonly Waiting[])[]): Waiting[] {
  const byReason = new Map<string, Waiting>();
  for (const entry of lists.flat()) {
    const held = byReason.get(entry.reason);
    if (held === undefined) byReason.set(entry.reason, { ...entry });
    else {
      held.count += entry.count;
      // One message stands for all: the first in order, so that the same state is always told the same way.
      if (entry.message < held.message) held.message = entry.message;
    }
  }
  return [...byReason.values()];
}

/** The reason with the largest count; the alphabetically first of several (behaviour: The true reason). */
export function leadingReason(waiting: readonly Waiting[]): Waiting | undefined {
  return [...waiting].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))[0];
}

type Untimed = Omit<Condition, 'lastTransitionTime'>;

/** `ReplicasReady`: `3 of 40 instances wait: AddressPoolExhausted …`. */
export function replicasReady(replicas: Replicas, waiting: readonly Waiting[], observedGeneration: number): Untimed {
  const type = 'ReplicasReady';
  const total = replicas.desiredReplicas;
  const leading = leadingReason(waiting);
  if (leading === undefined || replicas.readyReplicas >= total) {
    if (replicas.readyReplicas >= total) {
      const message = reasonMessage('ReplicasReady', { total });
      return { type, status: 'True', reason: 'ReplicasReady', message, observedGeneration };
    }
    const message = reasonMessage('InstancesProvisioning', { waiting: total - replicas.readyReplicas, total });
    return { type, status: 'False', reason: 'InstancesProvisioning', message, observedGeneration };
  }
  const message = `${leading.count} of ${total} instances wait: ${leading.reason}: ${leading.message}`;
  return { type, status: 'False', reason: leading.reason, message, observedGeneration };
}

/**
 * Reads what `replicasReady` wrote, so that a workload can add up its deployments. That instances are on their way is no
 * reason to add: the counts say it.
 */
export function waitingOf(condition: Condition | undefined): Waiting[] {
  if (condition === undefined || condition.status !== 'False' || !isReason(condition.reason)) return [];
  if (condition.reason === 'InstancesProvisioning') return [];
  const [, count, message] = /^(\d+) of \d+ instances wait: [A-Za-z]+: (.*)$/s.exec(condition.message) ?? [];
  if (count === undefined || message === undefined) {
    return [{ reason: condition.reason, count: 1, message: condition.message }];
  }
  return [{ reason: condition.reason, count: Number(count), message }];
}

/**
 * Reasons that keep a workload or deployment from being available, worst first, where several deployments say
 * different things (kinds.md 2.1, with every reason a deployment can carry ranked: F81).
 */
const ranks: readonly (readonly string[])[] = [
  ['RuntimeClassNotServed'],
  ['AmbiguousServingLocation', 'LocationMismatch'],
  [
    'NetworkReferenceInvalid',
    'NetworkNotFound',
    'LocationNotAvailable',
    'ProjectUnresolved',
    'NoMatchingLocations',
    'NoMatchingLocation',
  ],
  ['AddressFamilyNotCarried', 'AddressPoolExhausted', 'AddressAllocationRejected', 'RetainedAddressConflict'],
  ['SourceNotFound', 'SourceTooLarge', 'SourceUnauthorized', 'SourceNameTooLong'],
  ['ReferencedDataNotReady', 'AwaitingPropagation', 'Resolving'],
  ['QuotaNotGranted', 'PendingQuota', 'QuotaExceeded'],
];

/** Smaller is worse; what is only on its way, or not asked for, comes last. */
export function rankOf(reason: string): number {
  const rank = ranks.findIndex((reasons) => reasons.includes(reason));
  if (rank >= 0) return rank;
  const onItsWay = [
    'InstancesProvisioning',
    'NetworkProvisioning',
    'SchedulingGatesPresent',
    'Provisioning',
    'Pending',
  ];
  if (reason === 'ScaledToZero') return ranks.length + 2;
  return onItsWay.includes(reason) ? ranks.length + 1 : ranks.length;
}
