import {
  type NetworkContext,
  type NetworkInterface,
  networkingFinalizers,
  networkingLabels,
  reasonMessage,
} from '../../../api/index.ts';
import { isTerminating, type Stored, withCondition } from '../../../meta/index.ts';
import { recordOf } from '../routing.ts';

export interface Snapshot {
  context: Stored<NetworkContext>;
  /** Interfaces of the namespace on the context's network. */
  interfaces: readonly Stored<NetworkInterface>[];
  now: number;
}

export type Step =
  | { do: 'rest' }
  | { do: 'hold' }
  | { do: 'let-go' }
  | { do: 'say'; status: NonNullable<NetworkContext['status']> };

const mostNamed = 5;

/**
 * Pure. A presence stays in the cell while addresses of it are held there (C.9): deleted on the hub, it lingers here, and
 * says for whom.
 */
export function decide({ context, interfaces, now }: Snapshot): Step {
  const held = context.metadata.finalizers?.includes(networkingFinalizers.contextInUse) === true;
  if (!interfaces.some((object) => isOf(object, context))) return held ? { do: 'let-go' } : { do: 'rest' };
  if (!isTerminating(context)) return held ? { do: 'rest' } : { do: 'hold' };
  if (!held) return { do: 'rest' };
  const here = interfaces.filter((object) => isOf(object, context));
  const names = here.map((object) => object.metadata.name).sort();
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  const waitsFor = `interfaces ${names.slice(0, mostNamed).join(', ')}${more}`;
  const message = reasonMessage('Terminating', { kind: 'NetworkContext', name: context.metadata.name, waitsFor });
  const observedGeneration = context.metadata.generation ?? 1;
  const ready = { type: 'Ready', status: 'False', reason: 'Terminating', message, observedGeneration } as const;
  return {
    do: 'say',
    status: { ...context.status, conditions: withCondition(context.status?.conditions, ready, now) },
  };
}

/** By what both say they are, never by a name (F14). */
function isOf(networkInterface: Stored<NetworkInterface>, context: Stored<NetworkContext>): boolean {
  const { metadata, spec } = networkInterface;
  const location = recordOf(networkInterface)?.location;
  const [uid, wanted] = [metadata, context.metadata].map((each) => each.labels?.[networkingLabels.networkUID]);
  return (
    metadata.labels?.[networkingLabels.interfaceProjection] === undefined &&
    spec.network.name === context.spec?.network.name &&
    (location === undefined || location === context.spec.location.name) &&
    (uid === undefined || wanted === undefined || uid === wanted)
  );
}
