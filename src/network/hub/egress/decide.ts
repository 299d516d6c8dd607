import { type Network, type NetworkContext, networkingLabels, reasonMessage } from '../../../api/index.ts';
import { type Condition, isTerminating, type Stored, withCondition } from '../../../meta/index.ts';
import type { Resolution } from './resolve.ts';

export interface Snapshot {
  network: Stored<Network>;
  /** Contexts of the project that name it. */
  contexts: readonly Stored<NetworkContext>[];
  resolution: Resolution;
  now: number;
}

export interface Plan {
  /** Status of the network; undefined where it has nothing to say. */
  network: NonNullable<Network['status']> | undefined;
  contexts: { context: Stored<NetworkContext>; status: NonNullable<NetworkContext['status']> }[];
}

const type = 'InternetEgressReady';

/**
 * Pure. That a wish for internet egress is refused, and why, is said on the network, where its owner looks, and on each of
 * its contexts. A wish that is not refused is told by nothing here: whether traffic flows is known in the cells.
 */
export function decide({ network, contexts, resolution, now }: Snapshot): Plan {
  const own = contexts.filter(
    (context) =>
      !isTerminating(context) && context.metadata.labels?.[networkingLabels.networkUID] === network.metadata.uid,
  );
  const plan: Plan = { network: undefined, contexts: [] };
  const onNetwork = conditionsOf(network, resolution, undefined, now);
  if (onNetwork !== undefined) plan.network = { ...network.status, conditions: onNetwork };
  for (const context of own) {
    const conditions = conditionsOf(context, resolution, context.spec?.location.name, now);
    if (conditions !== undefined) plan.contexts.push({ context, status: { ...context.status, conditions } });
  }
  return plan;
}

function conditionsOf(
  { metadata, status }: Stored<Network> | Stored<NetworkContext>,
  resolution: Resolution,
  location: string | undefined,
  now: number,
): Condition[] | undefined {
  const before = status?.conditions ?? [];
  if ('intent' in resolution) {
    const without = before.filter((condition) => condition.type !== type);
    return without.length === before.length ? undefined : without;
  }
  const reason = 'Unavailable';
  const message = reasonMessage(reason, { location, detail: resolution.refused });
  const observedGeneration = metadata.generation ?? 1;
  return withCondition(before, { type, status: 'False', reason, message, observedGeneration }, now);
}
