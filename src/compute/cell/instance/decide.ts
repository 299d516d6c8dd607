import {
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
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import { interfacesOf } from './interfaces.ts';

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
  quota: QuotaAnswer;
  /** Whether something in this cell prepares attachments, and must have before an instance starts. */
  dataPlane: 'none' | 'fabric';
  networking: boolean;
  now: number;
}

export interface Plan {
  /** The gates that stay; absent where none opens. */
  gates?: { name: string }[];
  /** All of compute's part of the status. */
  status: Pick<NonNullable<Instance['status']>, 'conditions' | 'networkInterfaces' | 'controller'>;
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
  return {
    ...(opening ? { gates: [] } : {}),
    status: {
      conditions: conditionsOf(snapshot, stays),
      ...(snapshot.networking ? { networkInterfaces: interfacesOf(snapshot) } : {}),
      ...(left.length === 0 && instance.spec?.controller !== undefined
        ? { controller: { observedTemplateHash: instance.spec.controller.templateHash } }
        : {}),
    },
  };
}

function opens(gate: string, { claim, networkInterface, quota, dataPlane }: Snapshot): boolean {
  if (gate === schedulingGates.quota) return quota.granted;
  if (gate !== schedulingGates.network || !isBelieved(claim, networkInterface)) return false;
  const { conditions } = claim.status ?? {};
  const has = (type: string) => isConditionTrue(conditions, type);
  return has('Bound') && has('Allocated') && (dataPlane === 'none' || has('Prepared')) && refusal(claim) === undefined;
}

interface Said {
  reason: string;
  message: string;
}

/** Reasons a claim gives while everything is only on its way. */
const onItsWay = new Set(['Pending', 'NotBound', 'NotAllocated', 'NotPrepared', 'NotProgrammed']);

/** What network services refuse, in their own words: before the claim is bound, or afterwards on Ready (F74). */
function refusal(claim: Stored<NetworkInterfaceClaim> | undefined): Said | undefined {
  for (const type of ['Bound', 'Allocated', 'Ready']) {
    const condition = findCondition(claim?.status?.conditions, type);
    if (condition?.status === 'False' && !onItsWay.has(condition.reason)) {
      return { reason: condition.reason, message: condition.message };
    }
  }
  return undefined;
}

function conditionsOf(snapshot: Snapshot, stays: readonly { name: string }[]): Condition[] {
  const { instance, quota, now } = snapshot;
  const observedGeneration = instance.metadata.generation ?? 1;
  const before = instance.status?.conditions;
  const granted = quota.granted ? 'True' : 'False';
  const quotaGranted = { type: 'QuotaGranted', status: granted, reason: quota.reason, message: quota.message } as const;
  const ready = { type: 'Ready', ...readyOf(snapshot, stays) };
  const all = [ready, quotaGranted].reduce(
    (list, next) => withCondition(list, { ...next, observedGeneration }, now),
    before ?? [],
  );
  return all.filter((condition) => condition.type === 'Ready' || condition.type === 'QuotaGranted');
}

/** One true reason, in the words of whoever found it: the network, quota, or the provider. */
function readyOf(
  snapshot: Snapshot,
  stays: readonly { name: string }[],
): { status: 'True' | 'False'; reason: string; message: string } {
  const { instance, claim, quota } = snapshot;
  const gates = instance.spec?.controller?.schedulingGates ?? [];
  if (gates.length > 0 && stays.length > 0) {
    const network = stays.some((gate) => gate.name === schedulingGates.network);
    const refused = network ? refusal(claim) : undefined;
    if (refused !== undefined) return { status: 'False', ...refused };
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
  return { status: 'False', reason: 'Provisioning', message: reasonMessage('Provisioning') };
}
