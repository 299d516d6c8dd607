import {
  computeFinalizers,
  type Instance,
  instanceName,
  type NetworkInterfaceClaim,
  schedulingGates,
  type WorkloadDeployment,
} from '../../../api/index.ts';
import { isConditionTrue, isTerminating, type Stored } from '../../../meta/index.ts';
import { interfaceRequest, templateHash, templateHashOf } from '../../shared/template.ts';
import { type LocationIdentity, locationRefusal } from '../location.ts';
import { claimFits, claimOf, instanceOf, ordinalOf, ownedBy, slotClaimName } from './slots.ts';
import { deploymentStatus } from './status.ts';

export interface Snapshot {
  deployment: Stored<WorkloadDeployment>;
  location: LocationIdentity;
  /** Instances and claims that carry the deployment's name or are owned by it, an earlier deployment's included. */
  instances: readonly Stored<Instance>[];
  claims: readonly Stored<NetworkInterfaceClaim>[];
  /** Whether a claim of the namespace that is not the deployment's has this name. */
  claimNameTaken: (name: string) => boolean;
  networking: boolean;
  now: number;
}

export type Step =
  | { do: 'hold' | 'let-go' }
  | { do: 'create-claim'; object: NetworkInterfaceClaim }
  | { do: 'create-instance'; object: Instance }
  | { do: 'delete-instance'; object: Stored<Instance> }
  | { do: 'delete-claim'; object: Stored<NetworkInterfaceClaim> }
  /** To be done only after a live read that finds no instance of that name. */
  | { do: 'release-claim'; object: Stored<NetworkInterfaceClaim>; instance: string };

export interface Plan {
  steps: Step[];
  status: NonNullable<WorkloadDeployment['status']>;
}

/** How many instances a deployment is to have. */
export function replicasOf(deployment: WorkloadDeployment): number {
  const { replicas, scaleSettings } = deployment.spec ?? {};
  return Math.max(0, replicas ?? scaleSettings?.minReplicas ?? 0);
}

/**
 * Pure. Slots 0 … n-1, each with a claim and then an instance. An instance is replaced without its claim being touched; a
 * claim goes only when its slot leaves, and only after its instance.
 */
export function decide(snapshot: Snapshot): Plan {
  const { deployment } = snapshot;
  const ending = isTerminating(deployment);
  const hash = deployment.spec === undefined ? '' : templateHash(deployment.spec.template);
  const mine = ownedBy(snapshot.instances, deployment);
  const claims = ownedBy(snapshot.claims, deployment);
  const refusal = locationRefusal(deployment, snapshot.location);
  const count = ending || deployment.spec === undefined ? 0 : replicasOf(deployment);
  const { kept, strays } = sortOut(deployment, mine, count);

  const steps: Step[] = [];
  const held = deployment.metadata.finalizers?.includes(computeFinalizers.workload) === true;
  if (!ending && !held) steps.push({ do: 'hold' });
  for (const object of strays) if (!isTerminating(object)) steps.push({ do: 'delete-instance', object });

  // A deployment in the wrong cell starts nothing and stops nothing.
  if (refusal === undefined && count > 0) {
    steps.push(...fill(snapshot, count, hash, kept, claims));
    const outdated = nextToReplace(kept, hash);
    if (outdated !== undefined) steps.push({ do: 'delete-instance', object: outdated });
  }
  if (snapshot.networking) steps.push(...claimEndings(deployment, claims, mine, count));

  if (ending && mine.length === 0 && claims.length === 0 && held) steps.push({ do: 'let-go' });
  return { steps, status: deploymentStatus({ ...snapshot, instances: [...kept.values()] }, count, hash, refusal) };
}

/** The instance of each slot, and those that are of no slot: outside 0 … n-1, unnumbered, or a second of one slot. */
function sortOut(
  deployment: Stored<WorkloadDeployment>,
  instances: readonly Stored<Instance>[],
  count: number,
): { kept: Map<number, Stored<Instance>>; strays: Stored<Instance>[] } {
  const kept = new Map<number, Stored<Instance>>();
  const strays: Stored<Instance>[] = [];
  const named = (instance: Stored<Instance>) =>
    instance.metadata.name === instanceName(deployment.metadata.name, ordinalOf(instance) ?? -1);
  // The one with the slot's own name is kept before any other.
  for (const instance of [...instances].sort((a, b) => Number(named(b)) - Number(named(a)))) {
    const ordinal = ordinalOf(instance);
    if (ordinal === undefined || ordinal >= count || kept.has(ordinal)) strays.push(instance);
    else kept.set(ordinal, instance);
  }
  // Highest ordinal first, as a stateful set scales down.
  strays.sort((a, b) => (ordinalOf(b) ?? -1) - (ordinalOf(a) ?? -1));
  return { kept, strays };
}

/** What is missing in slots 0 … n-1, claims before instances. No slot waits for another (F79). */
function fill(
  snapshot: Snapshot,
  count: number,
  hash: string,
  kept: ReadonlyMap<number, Stored<Instance>>,
  claims: readonly Stored<NetworkInterfaceClaim>[],
): Step[] {
  const { deployment, networking } = snapshot;
  const request = interfaceRequest(deployment.spec!.template.spec);
  const claimed = new Map(claims.map((claim) => [ordinalOf(claim), claim]));
  const steps: Step[] = [];
  for (let ordinal = 0; ordinal < count; ordinal++) {
    if (networking && request !== undefined) {
      const claim = claimed.get(ordinal);
      // One that is being deleted, or that asks for something else, has to go before the slot can have its own.
      const blocked = claim !== undefined && (isTerminating(claim) || !claimFits(claim, deployment, request));
      if (blocked) continue;
      if (claim === undefined) {
        const name = slotClaimName(deployment, ordinal, request, snapshot.claimNameTaken);
        steps.push({ do: 'create-claim', object: claimOf(deployment, ordinal, request, name) });
      }
    }
    if (!kept.has(ordinal)) {
      steps.push({ do: 'create-instance', object: instanceOf(deployment, ordinal, hash, networking) });
    }
  }
  return steps;
}

function isReady(instance: Instance): boolean {
  return isConditionTrue(instance.status?.conditions, 'Ready');
}

/** Whether an instance still waits on its network: then its readiness says nothing about the template. */
function waitsOnNetwork(instance: Instance): boolean {
  return instance.spec?.controller?.schedulingGates?.some((gate) => gate.name === schedulingGates.network) === true;
}

/**
 * The next instance of an older template to replace: lowest ordinal first, one at a time, each waited for. Those that
 * wait on their network serve nobody: they are replaced first and hold nothing back.
 */
function nextToReplace(kept: ReadonlyMap<number, Stored<Instance>>, hash: string): Stored<Instance> | undefined {
  const inOrder = [...kept.entries()].sort(([a], [b]) => a - b).map(([, instance]) => instance);
  const outdated = inOrder.filter((instance) => templateHashOf(instance) !== hash && !isTerminating(instance));
  if (outdated.length === 0) return undefined;
  const idle = outdated.find(waitsOnNetwork);
  if (idle !== undefined) return idle;
  const settled = inOrder.every(
    (instance) =>
      !isTerminating(instance) && (templateHashOf(instance) !== hash || isReady(instance) || waitsOnNetwork(instance)),
  );
  return settled ? outdated[0] : undefined;
}

/** Claims whose slot has left, or that no longer fit their slot, and the finalizer of those that nothing uses any more. */
function claimEndings(
  deployment: Stored<WorkloadDeployment>,
  claims: readonly Stored<NetworkInterfaceClaim>[],
  instances: readonly Stored<Instance>[],
  count: number,
): Step[] {
  const request = deployment.spec === undefined ? undefined : interfaceRequest(deployment.spec.template.spec);
  const inSlot = new Map<number | undefined, Stored<Instance>[]>();
  for (const instance of instances) {
    const ordinal = ordinalOf(instance);
    inSlot.set(ordinal, [...(inSlot.get(ordinal) ?? []), instance]);
  }
  const steps: Step[] = [];
  for (const claim of claims) {
    const ordinal = ordinalOf(claim);
    const users = inSlot.get(ordinal) ?? [];
    if (isTerminating(claim)) {
      const held = claim.metadata.finalizers?.includes(computeFinalizers.slotInUse) === true;
      if (users.length === 0 && held && ordinal !== undefined) {
        const instance = instanceName(deployment.metadata.name, ordinal);
        steps.push({ do: 'release-claim', object: claim, instance });
      }
      continue;
    }
    const left = ordinal === undefined || ordinal >= count;
    // An instance of an older template keeps the claim it runs on until the roll has taken its turn.
    const unfit = request !== undefined && !claimFits(claim, deployment, request);
    if (users.length === 0 && (left || unfit)) steps.push({ do: 'delete-claim', object: claim });
  }
  return steps;
}
