import {
  type NetworkInterface,
  type NetworkInterfaceClaim,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
} from '../../../api/index.ts';
import type { JsonPatchOperation } from '../../../kube/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import { isEnding, isHolding } from '../claim/ending.ts';
import type { InterfaceStatus } from '../claim/snapshot.ts';
import { allocatedCondition, expiringCondition, interfaceStatus } from '../claim/status.ts';
import { dataPlaneReset } from '../dataplane.ts';
import { type Routing, recordOf } from '../routing.ts';
import { type Lease, leaseState, unheldAt } from './lease.ts';

export interface Snapshot {
  /** Read live wherever the step is more than a status. */
  networkInterface: Stored<NetworkInterface>;
  /** The claim of the name `claimRef` has, read live where the cache does not show the one it means. */
  holder: Stored<NetworkInterfaceClaim> | undefined;
  /** How long the interface is kept, where nobody holds it. */
  lease: Lease;
  now: number;
}

export type Step =
  | { do: 'rest' }
  | { do: 'hold' }
  /** Gives back what IPAM holds for the interface, but for what a living claim holds. */
  | { do: 'release'; routing: Routing | undefined }
  | { do: 'let-go' }
  /** The holder is gone without having let go: a retained interface is nobody's, any other goes. */
  | { do: 'unbind' }
  /** Writes down since when nobody holds it. */
  | { do: 'stamp' }
  | { do: 'delete'; reason?: 'InterfaceReturned' }
  | { do: 'delete'; reason: 'LeaseExpired'; since: number }
  /** `again`: milliseconds until its lease may say something else. */
  | { do: 'settle'; reset: JsonPatchOperation[] | undefined; status: InterfaceStatus; again: number };

/** Pure. What an interface needs apart from its claim's care: an end (C.8), an orphan's care, and rest while nobody holds it. */
export function decide({ networkInterface, holder, lease, now }: Snapshot): Step {
  const { metadata, spec } = networkInterface;
  // A copy in a project whose plane this cluster also serves owns nothing (F36).
  if (metadata.labels?.[networkingLabels.interfaceProjection] !== undefined) return { do: 'rest' };
  const { claimRef } = spec;
  const claim = claimRef !== undefined && holder !== undefined && names(claimRef, holder) ? holder : undefined;

  if (isTerminating(networkInterface)) {
    if (metadata.finalizers?.includes(networkingFinalizers.interfaceRelease) !== true) return { do: 'rest' };
    // The claim goes on, and makes it again of the addresses it still has.
    if (claim !== undefined && !isEnding(claim)) return { do: 'let-go' };
    // The claim is at its end itself, and finishes both.
    if (claim !== undefined && isHolding(claim)) return { do: 'rest' };
    return { do: 'release', routing: recordOf(networkInterface) };
  }
  if (claimRef !== undefined && claim === undefined) {
    // A reference without a UID was written by hand, perhaps ahead of its claim.
    if (claimRef.uid === undefined) return { do: 'rest' };
    return spec.reclaimPolicy === 'Retain' ? { do: 'unbind' } : { do: 'delete' };
  }
  if (claim !== undefined) {
    const held = metadata.finalizers?.includes(networkingFinalizers.interfaceRelease) === true;
    return held || isEnding(claim) ? { do: 'rest' } : { do: 'hold' };
  }
  if (metadata.annotations?.[networkingAnnotations.returnRequested] === metadata.uid) {
    return { do: 'delete', reason: 'InterfaceReturned' };
  }
  const routing = recordOf(networkInterface);
  // Made without a claim, by hand: nothing is known of it.
  if (routing === undefined) return { do: 'rest' };
  const since = unheldAt(networkInterface, now);
  if (since === undefined) return { do: 'stamp' };
  const kept = leaseState(since, lease, now);
  if (kept.state === 'expired') return { do: 'delete', reason: 'LeaseExpired', since };
  const allocated = allocatedCondition(networkInterface, undefined, routing.project);
  const expiring = expiringCondition(networkInterface, kept);
  const status = interfaceStatus(networkInterface, 'Available', undefined, allocated, {}, now, expiring);
  return { do: 'settle', reset: dataPlaneReset(networkInterface, now), status, again: kept.again };
}

function names(ref: { name: string; uid?: string }, claim: Stored<NetworkInterfaceClaim>): boolean {
  return ref.uid === undefined ? ref.name === claim.metadata.name : ref.uid === claim.metadata.uid;
}
