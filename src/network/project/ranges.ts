import { IPClaim, isProjectGone, reasonMessage } from '../../api/index.ts';
import type { Client } from '../../kube/index.ts';
import {
  apiVersionOf,
  type Condition,
  isApiError,
  isTerminating,
  type Stored,
  withCondition,
} from '../../meta/index.ts';
import { refusalOf } from '../shared/refusal.ts';
import type { Scope } from '../shared/scope.ts';

/** A range that a network or a context is to hold. */
export interface RangeRequest {
  family: 'IPv4' | 'IPv6';
  /** IPAM class whose pool of this scope is the range. */
  className: string;
  /** Name of the IPClaim that holds it. */
  claimName: string;
  namespace: string;
  scope: Scope;
  /** `network default`, `network default in location us-central-1`: for messages. */
  of: string;
  project: string;
}

export type RangeAnswer =
  | { held: true; request: RangeRequest; cidr: string; pool: string | undefined }
  | { held: false; request: RangeRequest; reason: string; message: string };

/**
 * Holds a range: a ScopeRange claim, found by its name (which carries its owner's UID) or made. Being released already
 * counts as not there. An IPAM that does not know ScopeRange answers with a block: that is refused, and given back.
 */
export async function holdRange(client: Client, request: RangeRequest): Promise<RangeAnswer> {
  const key = { namespace: request.namespace, name: request.claimName };
  let claim: Stored<IPClaim> | undefined;
  try {
    claim = (await client.get(IPClaim, key)) ?? (await client.create(IPClaim, claimOf(request)));
  } catch (error) {
    return { held: false, request, ...refused(error, request) };
  }
  if (claim.spec?.target !== 'ScopeRange') {
    await client.delete(IPClaim, key, { preconditions: { uid: claim.metadata.uid } });
    const message = reasonMessage('RangeUnsupported', { request: rangeText(request) });
    return { held: false, request, reason: 'RangeUnsupported', message };
  }
  const cidr = claim.status?.allocatedCIDR;
  if (isTerminating(claim) || claim.status?.phase === 'Releasing' || cidr === undefined || cidr === '') {
    const message = reasonMessage('AllocationFailed', { request: rangeText(request), cause: 'it is being released' });
    return { held: false, request, reason: 'AllocationFailed', message };
  }
  return { held: true, request, cidr, pool: claim.status?.poolRef?.name };
}

function claimOf(request: RangeRequest): IPClaim {
  return {
    apiVersion: apiVersionOf(IPClaim),
    kind: IPClaim.kind,
    metadata: { name: request.claimName, namespace: request.namespace },
    spec: { className: request.className, target: 'ScopeRange', scope: request.scope },
  };
}

function rangeText(request: RangeRequest): string {
  return `the ${request.family} range of ${request.of}`;
}

function refused(error: unknown, request: RangeRequest): { reason: string; message: string } {
  const { reason, message } = refusalOf(error, {
    what: rangeText(request),
    claim: request.claimName,
    class: request.className,
    family: request.family,
    project: request.project,
    namespace: request.namespace,
  });
  return { reason, message };
}

/**
 * Gives a range back. Undefined once it is not held any more; else why not: addresses in it are still allocated. A project
 * that is gone holds nothing; any other failure is thrown and tried again.
 */
export async function releaseRange(
  client: Client,
  claim: { namespace: string; name: string; range: string },
): Promise<{ reason: 'RangeOccupied'; message: string } | undefined> {
  try {
    await client.delete(IPClaim, claim);
    return undefined;
  } catch (error) {
    if (isProjectGone(error)) return undefined;
    if (!isApiError(error, 'Conflict')) throw error;
    const message = reasonMessage('RangeOccupied', { range: claim.range, detail: error.message });
    return { reason: 'RangeOccupied', message };
  }
}

/** Where in IPAM a held range is, as status records it: what release goes by. */
export function recordOf({ request, pool }: Extract<RangeAnswer, { held: true }>) {
  const { project, namespace, claimName } = request;
  return { project, namespace, claimName, ...(pool === undefined ? {} : { poolName: pool }) };
}

/**
 * Pure. `IPAMAllocated`, only where something was asked for, and `Ready`, which says the same in its words; `ready` is its
 * message once all is held.
 */
export function rangeConditions(
  answers: readonly RangeAnswer[],
  before: readonly Condition[] | undefined,
  ready: string,
  observedGeneration: number,
  now: number,
): Condition[] {
  const isReady = { type: 'Ready', status: 'True', reason: 'Ready', message: ready, observedGeneration } as const;
  if (answers.length === 0) {
    const others = (before ?? []).filter((condition) => condition.type !== 'IPAMAllocated');
    return withCondition(others, isReady, now);
  }
  const refused = answers.find((answer) => !answer.held);
  if (refused !== undefined && !refused.held) return refusedConditions(refused, before, observedGeneration, now);
  const addresses = answers.flatMap((answer) => (answer.held ? [answer.cidr] : [])).join(', ');
  const message = reasonMessage('Allocated', { addresses });
  const allocated = {
    type: 'IPAMAllocated',
    status: 'True',
    reason: 'Allocated',
    message,
    observedGeneration,
  } as const;
  return withCondition(withCondition(before, allocated, now), isReady, now);
}

/** Both conditions False, for one reason. */
export function refusedConditions(
  { reason, message }: { reason: string; message: string },
  before: readonly Condition[] | undefined,
  observedGeneration: number,
  now: number,
): Condition[] {
  const said = { status: 'False', reason, message, observedGeneration } as const;
  return withCondition(withCondition(before, { type: 'IPAMAllocated', ...said }, now), { type: 'Ready', ...said }, now);
}
