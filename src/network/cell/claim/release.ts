import { type NetworkInterface, networkingFinalizers } from '../../../api/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import { type Routing, recordOf } from '../routing.ts';
import { isHolding } from './ending.ts';
import { isHeldBy, type Snapshot } from './snapshot.ts';

export type ReleaseStep =
  | { do: 'rest' }
  /** Retain: the interface stays, with its addresses, and nobody holds it. */
  | { do: 'unbind'; networkInterface: Stored<NetworkInterface> }
  /** Gives back what IPAM holds for the claim's interface under this holder; `restore` where that is to be kept instead. */
  | { do: 'release'; routing: Routing }
  /** Retain, and the interface is gone: it comes back, unheld, with what IPAM holds for it. */
  | { do: 'restore'; routing: Routing }
  /** Tells everybody that the interface goes; its finalizer keeps it until its addresses are given back. */
  | { do: 'delete'; networkInterface: Stored<NetworkInterface> }
  /** Lets the interface go, its addresses being given back or kept for `restore`. */
  | { do: 'remove'; networkInterface: Stored<NetworkInterface> }
  | { do: 'let-go' };

/**
 * Pure. The end of a claim (C.7, and the promise table). The interface in the snapshot was read live. Whatever the order
 * of events: what this claim holds is either given back or named by an interface before the claim is let go.
 */
export function decideRelease({ claim, networkInterface, namespaceTerminating, done = {} }: Snapshot): ReleaseStep {
  if (!isHolding(claim)) return { do: 'rest' };
  const retain = claim.spec.reclaimPolicy === 'Retain';
  const routing = recordOf(networkInterface) ?? recordOf(claim);
  const mine = networkInterface !== undefined && isMine(networkInterface);
  if (networkInterface !== undefined && !mine) {
    // Its end may have left alone what this claim had taken up already: that is given back once it is gone.
    const given = isTerminating(networkInterface) && networkInterface.spec.claimRef === undefined;
    return given ? { do: 'rest' } : { do: 'let-go' };
  }
  // Without a record nothing was ever asked of IPAM.
  if (networkInterface === undefined) {
    if (routing === undefined || done.released || done.restored) return { do: 'let-go' };
    // A namespace that goes takes its retained interfaces along: there is nothing to come back to.
    return retain && !namespaceTerminating ? { do: 'restore', routing } : { do: 'release', routing };
  }
  if (!isTerminating(networkInterface) && retain) return { do: 'unbind', networkInterface };
  if (isTerminating(networkInterface) && retain && !namespaceTerminating && !wasUnheld(networkInterface)) {
    // It went first, so it was not given back: it goes without its addresses, and comes back with them.
    return holdsOn(networkInterface) ? { do: 'remove', networkInterface } : { do: 'rest' };
  }
  // Before its addresses can be anybody else's: a data plane that still carries them is told first.
  if (!isTerminating(networkInterface)) return { do: 'delete', networkInterface };
  if (routing !== undefined && !done.released) return { do: 'release', routing };
  // Another finalizer keeps it: the claim waits with it.
  return holdsOn(networkInterface) ? { do: 'remove', networkInterface } : { do: 'rest' };

  function isMine(object: Stored<NetworkInterface>): boolean {
    if (isHeldBy(object, claim)) return true;
    const { claimRef } = object.spec;
    if (claimRef !== undefined) return claimRef.uid === undefined && claimRef.name === claim.metadata.name;
    // Somebody took the holder off by hand, and the policy wants it gone.
    return object.spec.reclaimPolicy !== 'Retain' && claim.status?.networkInterfaceRef?.name === object.metadata.name;
  }

  /** Deleted after the claim was: by then it counts as nobody's, and deleting it gives it back. */
  function wasUnheld(object: Stored<NetworkInterface>): boolean {
    return (claim.metadata.deletionTimestamp ?? '') < (object.metadata.deletionTimestamp ?? '');
  }
}

function holdsOn({ metadata }: Stored<NetworkInterface>): boolean {
  return metadata.finalizers?.includes(networkingFinalizers.interfaceRelease) === true;
}
