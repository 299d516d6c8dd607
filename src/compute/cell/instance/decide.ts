import {
  type DataPlane,
  type Instance,
  type NetworkInterface,
  type NetworkInterfaceClaim,
  reasonMessage,
  schedulingGates,
} from '../../../api/index.ts';
import {
  type Condition,
  findCondition,
  isConditionTrue,
  isTerminating,
  jsonEqual,
  parseTime,
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import type { DataState } from '../data.ts';
import { interfacesOf, isRefusal } from './interfaces.ts';

export interface QuotaAnswer {
  granted: boolean;
  /** Of `QuotaGranted`. */
  reason: 'QuotaAvailable' | 'QuotaDisabled' | 'QuotaExceeded' | 'QuotaBackendUnavailable';
  message: string;
}

export interface Snapshot {
  instance: Stored<Instance>;
  /** The claim of the instance's slot, whoever made it. */
  claim: Stored<NetworkInterfaceClaim> | undefined;
  /** The interface the claim names. */
  networkInterface: Stored<NetworkInterface> | undefined;
  /** Why the network does not come to this location, as the hub has told. */
  networkRefusal: Said | undefined;
  /** Whether what the template references has come; undefined where nothing is waited for. */
  data: DataState;
  quota: QuotaAnswer;
  /** Whether something in this cell prepares attachments, and must have before an instance starts. */
  dataPlane: DataPlane;
  networking: boolean;
  /** How many others were under way in the cells of this process since it was made, nothing being said of them yet. */
  crowd: number;
  now: number;
}

/** How long an instance may be on its way before it says so; what is refused, or there, is said at once. */
export const patienceMilliseconds = 5_000;
/** Among many that come up at once each takes longer, and saying so of all of them would make it longer still. */
export const crowdPatienceMilliseconds = 10;
/** When quota that was not granted is asked for again. */
const quotaRetryMilliseconds = 10_000;

export interface Plan {
  /** The gates that stay; absent where none opens. */
  gates?: { name: string }[];
  /** All of compute's part of the status; absent where the instance is only on its way and has patience left. */
  status?: Pick<NonNullable<Instance['status']>, 'conditions' | 'networkInterfaces' | 'controller'>;
  lookAgainAfterMilliseconds?: number;
}

/**
 * Whether the claim speaks for the slot: it is not being deleted, and the interface it names says so too, by UID. A claim
 * that is about to go, or that another one has followed under its name, opens no gate (F2, F39).
 */
export function isBelieved(
  claim: Stored<NetworkInterfaceClaim> | undefined,
  networkInterface: Stored<NetworkInterface> | undefined,
): claim is Stored<NetworkInterfaceClaim> {
  return (
    claim !== undefined &&
    !isTerminating(claim) &&
    networkInterface !== undefined &&
    claim.status?.networkInterfaceRef?.name === networkInterface.metadata.name &&
    networkInterface.spec.claimRef?.uid === claim.metadata.uid
  );
}

/** Pure. Which gates open, and what is said of the instance. Nothing waits on Programmed: that comes with starting. */
export function decide(snapshot: Snapshot): Plan {
  const { instance } = snapshot;
  const gates = instance.spec?.controller?.schedulingGates ?? [];
  const stays = gates.filter((gate) => !opens(gate.name, snapshot));
  // What opens is written once, together: no instance starts while any gate is left.
  const opening = gates.length > 0 && stays.length === 0;
  const left = opening ? [] : gates;
  const plan: Plan = opening ? { gates: [] } : {};
  const patience = patienceMilliseconds + snapshot.crowd * crowdPatienceMilliseconds;
  const patienceLeft = patience - (snapshot.now - onItsWaySince(snapshot));
  const ready = readyOf(snapshot, stays);
  const held = findCondition(instance.status?.conditions, 'Ready');
  // An instance that comes up as it should costs few writes: that it is on its way is said only when it takes long.
  const untold = underWay.has(ready.reason) && (held === undefined || held.status === 'Unknown') && patienceLeft > 0;
  const status = {
    conditions: conditionsOf(snapshot, untold ? undefined : ready),
    ...(snapshot.networking ? { networkInterfaces: interfacesOf(snapshot) } : {}),
    ...(left.length === 0 && instance.spec?.controller !== undefined
      ? { controller: { observedTemplateHash: instance.spec.controller.templateHash } }
      : {}),
  };
  const news = !jsonEqual(status.networkInterfaces ?? [], instance.status?.networkInterfaces ?? []);
  const sameReason = underWay.has(ready.reason) && held !== undefined && underWay.has(held.reason);
  // Addresses are said with the gates' opening: while it is on its way, nobody reads them.
  if (untold && !opening) plan.lookAgainAfterMilliseconds = patienceLeft;
  else if (news || patienceLeft <= 0 || !sameReason) plan.status = status;
  else plan.lookAgainAfterMilliseconds = patienceLeft;
  if (!snapshot.quota.granted && gates.length > 0) plan.lookAgainAfterMilliseconds = quotaRetryMilliseconds;
  return plan;
}

/** When it was made, or got its addresses since: what comes then (being started) has a time of its own. */
function onItsWaySince({ instance, claim }: Snapshot): number {
  const made = parseTime(instance.metadata.creationTimestamp) ?? 0;
  const allocated = findCondition(claim?.status?.conditions, 'Allocated');
  return allocated?.status === 'True' ? Math.max(made, parseTime(allocated.lastTransitionTime) ?? 0) : made;
}

/** Reasons of `Ready` while everything goes as it should. */
const underWay: ReadonlySet<string> = new Set([
  'Pending',
  'SchedulingGatesPresent',
  'Provisioning',
  'Resolving',
  'AwaitingPropagation',
  // The first deployment in a location brings the network there: until it has, its claims are told that it is not.
  'NetworkNotAvailableInLocation',
  // And then the data plane makes what it needs of it.
  'AwaitingNetworkContext',
  'AwaitingVPC',
  'AwaitingVPCIdentifier',
]);

function opens(gate: string, { claim, networkInterface, quota, dataPlane, networking, data }: Snapshot): boolean {
  if (gate === schedulingGates.quota) return quota.granted;
  if (gate === schedulingGates.referencedData) return data === undefined || data === 'there';
  if (gate !== schedulingGates.network) return false;
  // A gate from the time when networking was integrated: nobody would open it any more.
  if (!networking) return true;
  if (!isBelieved(claim, networkInterface)) return false;
  const { conditions } = claim.status ?? {};
  const has = (type: string) => isConditionTrue(conditions, type);
  // What is refused after binding holds no replacement back: it has its addresses (behaviour: Presence).
  return has('Bound') && has('Allocated') && (dataPlane === 'none' || has('Prepared'));
}

export interface Said {
  reason: string;
  message: string;
}

type Readiness = Said & { status: 'True' | 'False' };

/** What network services refuse, in their own words: before the claim is bound, or afterwards on Ready (F74). */
function refusal(claim: Stored<NetworkInterfaceClaim> | undefined): Said | undefined {
  for (const type of ['Bound', 'Allocated', 'Ready']) {
    const condition = findCondition(claim?.status?.conditions, type);
    if (isRefusal(condition)) return { reason: condition.reason, message: condition.message };
  }
  return undefined;
}

/** Of a network that has not come: why not, from where that is known. */
function absence({ claim, networkRefusal }: Snapshot): Said | undefined {
  const seen = refusal(claim);
  return seen === undefined || seen.reason === 'NetworkNotAvailableInLocation' ? networkRefusal : undefined;
}

/** What the data plane says it cannot prepare an interface for; of a claim that speaks for the slot. */
function unprepared({ claim, networkInterface, dataPlane }: Snapshot): Said | undefined {
  if (dataPlane === 'none' || !isBelieved(claim, networkInterface)) return undefined;
  const prepared = findCondition(claim.status?.conditions, 'Prepared');
  return prepared?.status === 'False' ? { reason: prepared.reason, message: prepared.message } : undefined;
}

/** Compute's conditions; `Ready` as it is where there is nothing to say of it yet. */
function conditionsOf(snapshot: Snapshot, readiness: Readiness | undefined): Condition[] {
  const { instance, quota, now } = snapshot;
  const observedGeneration = instance.metadata.generation ?? 1;
  const before = instance.status?.conditions;
  const granted = quota.granted ? 'True' : 'False';
  const quotaGranted = { type: 'QuotaGranted', status: granted, reason: quota.reason, message: quota.message } as const;
  const told = readiness === undefined ? [quotaGranted] : [{ type: 'Ready', ...readiness }, quotaGranted];
  const all = told.reduce((list, next) => withCondition(list, { ...next, observedGeneration }, now), before ?? []);
  return all.filter((condition) => condition.type === 'Ready' || condition.type === 'QuotaGranted');
}

/** One true reason, in the words of whoever found it: the network, quota, or the provider. */
function readyOf(snapshot: Snapshot, stays: readonly { name: string }[]): Readiness {
  const { instance, claim, quota, data } = snapshot;
  const gates = instance.spec?.controller?.schedulingGates ?? [];
  if (gates.length > 0 && stays.length > 0) {
    const network = stays.some((gate) => gate.name === schedulingGates.network);
    const refused = network ? (absence(snapshot) ?? refusal(claim) ?? unprepared(snapshot)) : undefined;
    if (refused !== undefined) return { status: 'False', ...refused };
    const waitsForData = stays.some((gate) => gate.name === schedulingGates.referencedData);
    if (waitsForData && data !== undefined && data !== 'there') return { status: 'False', ...data };
    if (!quota.granted && !network) return { status: 'False', reason: quota.reason, message: quota.message };
    const names = stays.map((gate) => gate.name).join(' and ');
    const message = reasonMessage('SchedulingGatesPresent', { gates: `gate ${names}` });
    return { status: 'False', reason: 'SchedulingGatesPresent', message };
  }
  const { conditions } = instance.status ?? {};
  if (isConditionTrue(conditions, 'Available')) {
    return { status: 'True', reason: 'Available', message: reasonMessage('Available') };
  }
  for (const type of ['Programmed', 'Available']) {
    const condition = findCondition(conditions, type);
    if (condition?.status === 'False') return { status: 'False', reason: condition.reason, message: condition.message };
  }
  const refused = refusal(claim);
  if (refused !== undefined) return { status: 'False', ...refused };
  return { status: 'False', reason: 'Provisioning', message: reasonMessage('Provisioning') };
}
