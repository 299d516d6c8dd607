import type { AddressRequest, NetworkInterface } from '../../../api/index.ts';
import { findCondition, isTerminating, jsonEqual, type Stored } from '../../../meta/index.ts';
import { networkScope, type Scope } from '../../shared/scope.ts';
import { requestsOf } from '../allocation/requests.ts';
import { egressOf, egressSaid } from '../attachment.ts';
import { dataPlaneReset } from '../dataplane.ts';
import { isRefused, locationOf, projectOf, type Refused, type Routing, recordOf } from '../routing.ts';
import { adoptionRefusal, networkRefusal } from './adoption.ts';
import { contextOf, contextRefusal, type Gateways, gatewaysOf, networkUidOf, subnetRefusal } from './context.ts';
import { isEnding, isHolding } from './ending.ts';
import { type Derivation, interfacePatch, newInterface } from './interface.ts';
import { decideRelease, type ReleaseStep } from './release.ts';
import { type ClaimStatus, type InterfaceStatus, isHeldBy, type Snapshot } from './snapshot.ts';
import { allocatedCondition, boundStatus, interfaceStatus, refusedStatus } from './status.ts';

/** One write, or none. After each the claim is looked at again with what it changed. */
export type Step =
  | { do: 'rest' }
  /** Puts the release finalizer on the claim, with where it is about to allocate. */
  | { do: 'hold'; routing: Routing }
  | { do: 'allocate'; routing: Routing; requests: AddressRequest[]; scope: Scope; fresh: boolean }
  | { do: 'create'; object: NetworkInterface; routing: Routing }
  | { do: 'reset'; networkInterface: Stored<NetworkInterface> }
  /** Makes the claim the holder of an interface nobody holds, in IPAM first. */
  | { do: 'bind'; networkInterface: Stored<NetworkInterface>; routing: Routing; patch: object }
  | { do: 'update'; networkInterface: Stored<NetworkInterface>; patch: object }
  | { do: 'verify'; networkInterface: Stored<NetworkInterface>; routing: Routing }
  /** Says of a new interface what the data plane waits for; the claim is told once that has answered. Ends a pass. */
  | { do: 'offer'; networkInterface: Stored<NetworkInterface>; interfaceStatus: InterfaceStatus }
  | {
      do: 'publish';
      networkInterface?: Stored<NetworkInterface>;
      interfaceStatus?: InterfaceStatus;
      claimStatus: ClaimStatus;
      refused?: Refused;
      missing?: string;
    }
  | ReleaseStep;

/** Pure. The next step for a claim; `rest`, `offer` and `publish` end a pass. */
export function decide(snapshot: Snapshot): Step {
  const { claim, networkInterface } = snapshot;
  if (isEnding(claim)) return decideRelease(snapshot);
  if (networkInterface !== undefined && isHeldBy(networkInterface, claim)) {
    return isTerminating(networkInterface) ? { do: 'rest' } : upkeep(snapshot, networkInterface);
  }
  const bound = claim.status?.networkInterfaceRef !== undefined;
  // It is kept for who uses it, and never gets anything new.
  if (isTerminating(claim) && !bound) return { do: 'rest' };
  const admitted = admit(snapshot, bound);
  if (isRefused(admitted)) return refuse(snapshot, admitted);
  return networkInterface === undefined
    ? provide(snapshot, admitted, bound)
    : adopt(snapshot, admitted, networkInterface);
}

interface Admission extends Derivation {
  context: NonNullable<Derivation['context']>;
  gateways: Gateways;
}

/** Everything that must be so before an interface is made or taken (C.3): each answer names what is missing. */
function admit(snapshot: Snapshot, bound: boolean): Admission | Refused {
  const { claim, servingLocations, namespaceLabels, contexts, subnets } = snapshot;
  const routing = bound ? (recordOf(claim) ?? route()) : route();
  if (isRefused(routing)) return routing;
  const context = contextOf(contexts, claim.spec.network.name, routing.location);
  const refused = contextRefusal(claim, context, routing.location, bound);
  if (refused !== undefined) return refused;
  const waits = bound ? undefined : subnetRefusal(context!, subnets, routing.location);
  if (waits !== undefined) return waits;
  const gateways = gatewaysOf(context!, subnets, claim.spec.ipFamilies);
  return isRefused(gateways) ? gateways : { claim, routing, context: context!, gateways };

  function route(): Routing | Refused {
    const identity = locationOf(servingLocations);
    if (isRefused(identity)) return identity;
    const project = projectOf(claim.metadata.namespace ?? '', namespaceLabels);
    return isRefused(project) ? project : { ...project, ...identity };
  }
}

/** Allocate, then make the interface: what a claim of a new name goes through, and one whose interface was deleted. */
function provide(snapshot: Snapshot, admission: Admission, bound: boolean): Step {
  const { claim, outcome } = snapshot;
  const { routing, context } = admission;
  // Before the first allocation: where it was made must be known however the pass ends (F4, F7).
  if (!isHolding(claim) || !jsonEqual(recordOf(claim), routing)) return { do: 'hold', routing };
  if (outcome === undefined) {
    const { name } = claim.spec.network;
    const scope = networkScope({ name, uid: networkUidOf(context) }, routing.location);
    const fresh = !bound && claim.spec.networkInterfaceName === undefined;
    return { do: 'allocate', routing, requests: requestsOf(claim.spec), scope, fresh };
  }
  if ('refusal' in outcome) return refuse(snapshot, outcome.refusal);
  return { do: 'create', object: newInterface(admission, outcome.allocations), routing };
}

/** An interface that is there already: the same checks for one of the claim's name and for one it names. */
function adopt(snapshot: Snapshot, admission: Admission, networkInterface: Stored<NetworkInterface>): Step {
  const { claim, now } = snapshot;
  const { routing, context } = admission;
  const refused = adoptionRefusal(networkInterface, { claim, routing, networkUid: networkUidOf(context) });
  if (refused !== undefined) return refuse(snapshot, refused);
  if (!isHolding(claim) || !jsonEqual(recordOf(claim), routing)) return { do: 'hold', routing };
  if (dataPlaneReset(networkInterface, now) !== undefined) return { do: 'reset', networkInterface };
  return { do: 'bind', networkInterface, routing, patch: interfacePatch(networkInterface, admission) ?? {} };
}

/** A bound claim: derived fields, the check against IPAM, and what is published. Nothing here takes an address away. */
function upkeep(snapshot: Snapshot, networkInterface: Stored<NetworkInterface>): Step {
  const { claim, contexts, subnets, attachment, verificationDue, missing, now } = snapshot;
  const routing = recordOf(networkInterface) ?? recordOf(claim);
  // Another service's interface, without a record: as if it were not bound yet.
  const admitted = routing === undefined ? admit(snapshot, true) : undefined;
  if (admitted !== undefined && isRefused(admitted)) return refuse(snapshot, admitted, networkInterface);
  const place = routing ?? (admitted as Admission).routing;
  if (!isTerminating(claim) && (!isHolding(claim) || recordOf(claim) === undefined))
    return { do: 'hold', routing: place };

  const context = contextOf(contexts, claim.spec.network.name, place.location);
  const gateways = context === undefined ? undefined : gatewaysOf(context, subnets, claim.spec.ipFamilies);
  const usable = gateways === undefined || isRefused(gateways) ? undefined : gateways;
  const patch = interfacePatch(networkInterface, { claim, routing: place, context, gateways: usable });
  if (patch !== undefined) return { do: 'update', networkInterface, patch };
  if (verificationDue && missing === undefined) return { do: 'verify', networkInterface, routing: place };

  const refused =
    contextRefusal(claim, context, place.location, true) ??
    networkRefusal(networkInterface, {
      claim,
      routing: place,
      networkUid: context === undefined ? undefined : networkUidOf(context),
    }) ??
    (gateways !== undefined && isRefused(gateways) ? gateways : undefined);
  const allocated = allocatedCondition(networkInterface, missing, place.project);
  const egress = egressSaid(networkInterface, attachment);
  const published = interfaceStatus(networkInterface, 'Bound', context?.metadata.name, allocated, egress, now);
  if (refused === undefined && allocated.status === 'True' && isAwaited(snapshot, networkInterface)) {
    return { do: 'offer', networkInterface, interfaceStatus: published };
  }
  return {
    do: 'publish',
    networkInterface,
    interfaceStatus: published,
    claimStatus: boundStatus(claim, networkInterface, allocated, refused, egress, now),
    ...(refused === undefined ? {} : { refused }),
    ...(allocated.reason === 'AddressAllocationMissing' ? { missing: allocated.message } : {}),
  };
}

/** Whether the data plane is about to say something of an interface whose claim has not been told of it yet. */
function isAwaited({ claim, patient }: Snapshot, { status }: Stored<NetworkInterface>): boolean {
  if (patient !== true || isTerminating(claim) || claim.status?.networkInterfaceRef !== undefined) return false;
  return (findCondition(status?.conditions, 'Prepared')?.status ?? 'Unknown') === 'Unknown';
}

function refuse({ claim, now }: Snapshot, refused: Refused, held?: Stored<NetworkInterface>): Step {
  const { reason, message } = refused;
  const said = { reason, message };
  if (held === undefined) return { do: 'publish', claimStatus: refusedStatus(claim, said, now), refused };
  const allocated = allocatedCondition(held, undefined, '');
  return { do: 'publish', claimStatus: boundStatus(claim, held, allocated, said, egressOf(held), now), refused };
}
