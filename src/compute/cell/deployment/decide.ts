import {
  computeFinalizers,
  hashedName,
  type Instance,
  instanceName,
  type NetworkInterfaceClaim,
  schedulingGates,
  type WorkloadDeployment,
} from '../../../api/index.ts';
import { findCondition, isConditionTrue, isTerminating, parseTime, type Stored } from '../../../meta/index.ts';
import { replicasOf } from '../../shared/replicas.ts';
import { type InterfaceRequest, interfaceRequest, templateHash, templateHashOf } from '../../shared/template.ts';
import type { DataState } from '../data.ts';
import { type LocationIdentity, locationRefusal } from '../location.ts';
import {
  claimFits,
  claimLabels,
  claimOf,
  claimSpecOf,
  freeName,
  instanceOf,
  isSlotClaimName,
  missingLabels,
  ordinalOf,
  ordinalsByClaimName,
  ownedBy,
  slotClaimNames,
} from './slots.ts';
import { deploymentStatus } from './status.ts';

export interface Snapshot {
  deployment: Stored<WorkloadDeployment>;
  location: LocationIdentity;
  /** Instances and claims that deployments of this name control, an earlier one's included. */
  instances: readonly Stored<Instance>[];
  claims: readonly Stored<NetworkInterfaceClaim>[];
  /** Whether the network that the deployment asks for is present in this cell. True where `networking` is off. */
  networkThere: boolean;
  /** Whatever has a name in the deployment's namespace. Not asked about claims where `networking` is off. */
  holderOf: (
    kind: 'Instance' | 'NetworkInterfaceClaim',
    name: string,
  ) => Stored<Instance | NetworkInterfaceClaim> | undefined;
  networking: boolean;
  /** Whether what the template references has come; undefined where it references nothing, or that is not carried. */
  data: DataState;
  now: number;
}

export type Step =
  | { do: 'hold' | 'let-go' }
  | { do: 'create-claim'; object: NetworkInterfaceClaim }
  | { do: 'create-instance'; object: Instance }
  | { do: 'delete-instance'; object: Stored<Instance> }
  | { do: 'delete-claim'; object: Stored<NetworkInterfaceClaim> }
  | { do: 'label-claim'; object: Stored<NetworkInterfaceClaim>; labels: Record<string, string> }
  /** Somebody took the finalizer off a claim that is in use. */
  | { do: 'protect-claim'; object: Stored<NetworkInterfaceClaim> }
  /** To be done only after a live read that finds none of these claims. */
  | { do: 'replace-unclaimed'; object: Stored<Instance>; claims: readonly string[] }
  /** To be done only after a live read that finds none of these instances. */
  | { do: 'release-claim'; object: Stored<NetworkInterfaceClaim>; instances: readonly string[] };

export interface Plan {
  steps: Step[];
  status: NonNullable<WorkloadDeployment['status']>;
  lookAgainAfterMilliseconds?: number;
}

/**
 * How long the first claims of a deployment wait for the network that it brings to its location. Usually it is there in
 * a fraction of that; claims made before would all be refused, and would have to be asked for again.
 */
export const arrivalMilliseconds = 2_000;

/**
 * Slots begun and ended in one pass. A deployment of very many is looked at in between: who asked for too many is heard
 * while they are being made.
 */
export const slotsAtOnce = 500;

/** When the rest of a longer list is looked at: what was done of it is in the caches by then. */
const restMilliseconds = 10;

/** One of slots 0 … n-1, as it is. */
interface Slot {
  ordinal: number;
  instance: Stored<Instance> | undefined;
  /** The claim that is right for the slot, not being deleted. */
  claim: Stored<NetworkInterfaceClaim> | undefined;
  /** Claims that have to go before the slot can have its own: being deleted, or of another template. */
  inTheWay: readonly SlotClaim[];
}

interface SlotClaim {
  claim: Stored<NetworkInterfaceClaim>;
  /** Whether it has a name of the slot, and asks for what the template asks for. */
  right: boolean;
}

/**
 * Pure. Slots 0 … n-1, each with a claim and then an instance. An instance is replaced without its claim being touched; a
 * claim goes only when its slot leaves, and only after its instance.
 */
export function decide(snapshot: Snapshot): Plan {
  const { deployment, networking } = snapshot;
  const { spec } = deployment;
  const ending = isTerminating(deployment);
  const hash = spec === undefined ? '' : templateHash(spec.template);
  const request = spec === undefined ? undefined : interfaceRequest(spec.template.spec);
  const mine = ownedBy(snapshot.instances, deployment);
  const claims = ownedBy(snapshot.claims, deployment);
  const refusal = locationRefusal(deployment, snapshot.location);
  const count = ending ? 0 : replicasOf(spec);
  const { kept, strays } = sortOut(deployment, mine, count);
  const bySlot = claimsBySlot(deployment, claims, request, count);
  const slots = slotsOf(count, kept, bySlot);

  const arrival = request === undefined ? 0 : arrivalLeft(snapshot);

  const steps: Step[] = [];
  let more = false;
  const held = deployment.metadata.finalizers?.includes(computeFinalizers.workload) === true;
  if (!ending && !held) steps.push({ do: 'hold' });
  // A deployment in the wrong cell starts nothing and stops nothing; one that ends is drained wherever it is.
  if (ending || refusal === undefined) {
    const replaced = toReplace(slots, hash);
    const leaving = [...strays, ...replaced].filter((object) => !isTerminating(object));
    for (const object of leaving.slice(0, slotsAtOnce)) steps.push({ do: 'delete-instance', object });
    const labels = request === undefined ? {} : claimLabels(deployment, request);
    let begun = 0;
    for (const slot of arrival === 0 ? slots : []) {
      if (begun === slotsAtOnce) break;
      const before = steps.length;
      fill(steps, snapshot, slot, hash, request, labels);
      if (steps.slice(before).some((step) => step.do === 'create-claim' || step.do === 'create-instance')) begun++;
    }
    const upkeep = networking ? claimUpkeep(deployment, bySlot, mine, count, request !== undefined) : [];
    steps.push(...upkeep.slice(0, slotsAtOnce));
    more = begun === slotsAtOnce || Math.max(leaving.length, upkeep.length) > slotsAtOnce;
  }
  if (ending && mine.length === 0 && claims.length === 0 && held) steps.push({ do: 'let-go' });
  return {
    steps,
    status: deploymentStatus({ ...snapshot, instances: [...kept.values()] }, count, hash, refusal),
    ...(arrival > 0 ? { lookAgainAfterMilliseconds: arrival } : {}),
    ...(more ? { lookAgainAfterMilliseconds: restMilliseconds } : {}),
  };
}

/** How much longer the first slots wait for their network to arrive; 0 where they do not. */
function arrivalLeft({ deployment, networkThere, instances, claims, now }: Snapshot): number {
  if (networkThere || instances.length > 0 || claims.length > 0) return 0;
  const age = now - (parseTime(deployment.metadata.creationTimestamp) ?? 0);
  // A clock that is behind the server's waits for nothing.
  return age < 0 ? 0 : Math.max(0, arrivalMilliseconds - age);
}

/** The instance of each slot, and those that are of no slot: outside 0 … n-1, unnumbered, or a second of one slot. */
function sortOut(
  deployment: Stored<WorkloadDeployment>,
  instances: readonly Stored<Instance>[],
  count: number,
): { kept: Map<number, Stored<Instance>>; strays: Stored<Instance>[] } {
  const kept = new Map<number, Stored<Instance>>();
  const strays: Stored<Instance>[] = [];
  for (const instance of instances) {
    const ordinal = ordinalOf(instance);
    const other = ordinal === undefined ? undefined : kept.get(ordinal);
    if (ordinal === undefined || ordinal >= count) strays.push(instance);
    else if (other === undefined) kept.set(ordinal, instance);
    // Of two, the one with the slot's own name is kept.
    else if (instance.metadata.name === instanceName(deployment.metadata.name, ordinal)) {
      kept.set(ordinal, instance);
      strays.push(other);
    } else strays.push(instance);
  }
  // Highest ordinal first, as a stateful set scales down.
  strays.sort((a, b) => (ordinalOf(b) ?? -1) - (ordinalOf(a) ?? -1));
  return { kept, strays };
}

type BySlot = ReadonlyMap<number | undefined, readonly SlotClaim[]>;

/** Claims by ordinal. One whose label was lost or changed is found by its name, which nobody can change. */
function claimsBySlot(
  deployment: Stored<WorkloadDeployment>,
  claims: readonly Stored<NetworkInterfaceClaim>[],
  request: InterfaceRequest | undefined,
  count: number,
): BySlot {
  const slots = new Map<number | undefined, SlotClaim[]>();
  const wanted = request === undefined ? undefined : claimSpecOf(deployment, request);
  let byName: ReadonlyMap<string, number> | undefined;
  for (const claim of claims) {
    let ordinal = ordinalOf(claim);
    let right = false;
    if (request !== undefined && wanted !== undefined) {
      const { name } = claim.metadata;
      let named = ordinal !== undefined && isSlotClaimName(name, deployment, ordinal, request);
      if (!named) {
        byName ??= ordinalsByClaimName(deployment, request, Math.max(count, claims.length));
        const found = byName.get(name);
        named = found !== undefined;
        ordinal = found ?? ordinal;
      }
      right = named && claimFits(claim, wanted);
    }
    const others = slots.get(ordinal);
    if (others === undefined) slots.set(ordinal, [{ claim, right }]);
    else others.push({ claim, right });
  }
  return slots;
}

function slotsOf(count: number, kept: ReadonlyMap<number, Stored<Instance>>, bySlot: BySlot): Slot[] {
  const slots: Slot[] = [];
  for (let ordinal = 0; ordinal < count; ordinal++) {
    const claims = bySlot.get(ordinal) ?? [];
    const claim = claims.find((each) => each.right && !isTerminating(each.claim))?.claim;
    slots.push({ ordinal, instance: kept.get(ordinal), claim, inTheWay: claim === undefined ? claims : [] });
  }
  return slots;
}

/** Adds what a slot lacks, claim before instance. No slot waits for another (F79). */
function fill(
  steps: Step[],
  snapshot: Snapshot,
  slot: Slot,
  hash: string,
  request: InterfaceRequest | undefined,
  labels: Readonly<Record<string, string>>,
): void {
  const { deployment, networking, holderOf } = snapshot;
  const { ordinal, instance, claim, inTheWay } = slot;
  if (networking && request !== undefined) {
    if (inTheWay.length > 0) return;
    if (claim === undefined) {
      const names = slotClaimNames(deployment, ordinal, request);
      if (instance !== undefined && lostItsClaim(instance)) {
        steps.push({ do: 'replace-unclaimed', object: instance, claims: names });
        return;
      }
      const name = freeName(names, deployment, (each) => holderOf('NetworkInterfaceClaim', each));
      // An earlier deployment of this name still has it: it goes with that.
      if (name === undefined) return;
      steps.push({ do: 'create-claim', object: claimOf(deployment, ordinal, request, name) });
    } else {
      const missing = missingLabels(claim, ordinal, labels);
      if (missing !== undefined) steps.push({ do: 'label-claim', object: claim, labels: missing });
    }
  }
  if (instance === undefined) {
    const names = instanceNames(deployment, ordinal);
    const name = freeName(names, deployment, (each) => holderOf('Instance', each));
    if (name === undefined) return;
    steps.push({ do: 'create-instance', object: instanceOf(deployment, ordinal, name, hash, gatesOf(snapshot)) });
  }
}

/**
 * Whether an instance in a slot without a claim runs on addresses that were given back under it: its claim was removed by
 * force. A new claim would have others, and nobody renumbers what runs: the instance goes first.
 */
function lostItsClaim(instance: Stored<Instance>): boolean {
  const addressed = (instance.status?.networkInterfaces ?? []).length > 0;
  return addressed && !hasNetworkGate(instance) && !isTerminating(instance);
}

/** What a new instance waits for. */
function gatesOf({ networking, data }: Snapshot): string[] {
  const { network, quota, referencedData } = schedulingGates;
  return [...(networking ? [network] : []), quota, ...(data === undefined ? [] : [referencedData])];
}

function instanceNames(deployment: WorkloadDeployment, ordinal: number): [string, string] {
  const { name } = deployment.metadata;
  return [instanceName(name, ordinal), hashedName([name, String(ordinal)])];
}

function isReady(instance: Instance): boolean {
  return isConditionTrue(instance.status?.conditions, 'Ready');
}

function hasNetworkGate(instance: Instance): boolean {
  return instance.spec?.controller?.schedulingGates?.some((gate) => gate.name === schedulingGates.network) === true;
}

/**
 * Whether an instance waits on its network, and has said so: refused, or longer than it takes. One that was made a moment
 * ago has said nothing yet.
 */
function waitsOnNetwork(instance: Instance): boolean {
  const { conditions } = instance.status ?? {};
  const ready = findCondition(conditions, 'Ready');
  return (
    hasNetworkGate(instance) &&
    ready?.status === 'False' &&
    // Its gates are about to open.
    ready.reason !== 'Provisioning' &&
    findCondition(conditions, 'QuotaGranted')?.status !== 'False'
  );
}

/**
 * The instances to replace now. Of an older template: lowest ordinal first, one at a time, each waited for; those behind
 * their network gate serve nobody and go at once. Of any template: one that was never started and whose claim is being
 * deleted, since the claim waits for it and it for the claim.
 */
function toReplace(slots: readonly Slot[], hash: string): Stored<Instance>[] {
  const waiting: Stored<Instance>[] = [];
  let next: Slot | undefined;
  for (const slot of slots) {
    const { instance } = slot;
    if (instance === undefined || isTerminating(instance)) continue;
    const outdated = templateHashOf(instance) !== hash;
    if (hasNetworkGate(instance)) {
      if (outdated || slot.inTheWay.some(({ claim }) => isTerminating(claim))) waiting.push(instance);
    } else if (outdated) next ??= slot;
  }
  if (next?.instance === undefined || waiting.length > 0) return waiting;
  // Who keeps its claim fears nothing from a sibling whose network refuses; who asks for a new one waits to see it work.
  const keepsClaim = next.inTheWay.length === 0;
  return slots.every((slot) => isSettled(slot, hash, keepsClaim)) ? [next.instance] : [];
}

function isSettled({ instance, inTheWay }: Slot, hash: string, networkAside: boolean): boolean {
  if (instance === undefined) return networkAside && inTheWay.length > 0;
  if (isTerminating(instance)) return false;
  return templateHashOf(instance) !== hash || isReady(instance) || (networkAside && waitsOnNetwork(instance));
}

/**
 * Claims whose slot has left, or that are not right for it, and the finalizer: off those that nothing uses any more, back on
 * those that somebody took it off.
 */
function claimUpkeep(
  deployment: Stored<WorkloadDeployment>,
  bySlot: BySlot,
  instances: readonly Stored<Instance>[],
  count: number,
  asks: boolean,
): Step[] {
  const used = new Set(instances.map(ordinalOf));
  const steps: Step[] = [];
  for (const [ordinal, claims] of bySlot) {
    // An instance of an older template keeps the claim it runs on until the roll has taken its turn.
    const inUse = ordinal !== undefined && used.has(ordinal);
    for (const { claim, right } of claims) {
      const guarded = claim.metadata.finalizers?.includes(computeFinalizers.slotInUse) === true;
      if (isTerminating(claim)) {
        if (inUse || !guarded) continue;
        const names = ordinal === undefined ? [] : instanceNames(deployment, ordinal);
        steps.push({ do: 'release-claim', object: claim, instances: names });
      } else if (!inUse && (ordinal === undefined || ordinal >= count || (asks && !right))) {
        steps.push({ do: 'delete-claim', object: claim });
      } else if (!guarded) steps.push({ do: 'protect-claim', object: claim });
    }
  }
  return steps;
}
