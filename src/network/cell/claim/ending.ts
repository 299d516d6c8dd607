import { computeFinalizers, type NetworkInterfaceClaim, networkingFinalizers } from '../../../api/index.ts';
import { isTerminating, type KubeObject, type Stored } from '../../../meta/index.ts';

/**
 * Whether a claim is at its end: it is being deleted, and nothing uses it any more. Until then it is as alive as any
 * other, as a volume claim in use is.
 */
export function isEnding(claim: KubeObject): boolean {
  return isTerminating(claim) && claim.metadata.finalizers?.includes(computeFinalizers.slotInUse) !== true;
}

/** Whether this service has something to give back before the claim may go. */
export function isHolding(claim: Stored<NetworkInterfaceClaim>): boolean {
  return claim.metadata.finalizers?.includes(networkingFinalizers.claimRelease) === true;
}
