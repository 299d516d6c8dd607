import {
  type Network,
  NetworkInterface,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
} from '../../../api/index.ts';
import { isInTheWay, sourceCell, sourceUid, sourceUidOf, updateOf } from '../../../federation/index.ts';
import { apiVersionOf, isTerminating, jsonEqual, parseTime, type Stored } from '../../../meta/index.ts';

export interface Snapshot {
  /** The hub's copy; read live where the cache did not have it. */
  source: Stored<NetworkInterface> | undefined;
  /** The project's copy. */
  copy: Stored<NetworkInterface> | undefined;
  /** Of whom the copy is, where somebody took every mark off it. */
  mark?: string | undefined;
  /** The project's network the interface is on, which owns the copy; read live where the copy is being deleted. */
  network: Stored<Network> | undefined;
  /** The project namespace, and whether something can be made in it. */
  namespace: string;
  open: boolean;
  /** Milliseconds since the epoch. */
  now: number;
}

export type Step =
  | { do: 'create' | 'update'; object: NetworkInterface }
  | { do: 'status'; status: NonNullable<NetworkInterface['status']> }
  | { do: 'hold' | 'let-go' | 'remove'; copy: Stored<NetworkInterface> }
  /** The tenant gives the interface back, or it is held again before its cell heard of it. */
  | { do: 'ask-return'; source: Stored<NetworkInterface>; interfaceUid: string | null }
  | { do: 'say-held'; copy: Stored<NetworkInterface>; holder: string }
  /** An interface that nobody carried has the name. */
  | { do: 'tell-taken'; holder: Stored<NetworkInterface> }
  /** Looks again after that long. */
  | { do: 'wait'; milliseconds: number };

/** Who deletes a workload and then its interfaces is ahead of what the hub has heard of the cell: who holds them. */
export const hearMilliseconds = 2_000;

/**
 * Pure. A copy in the project for every copy on the hub. Deleting it is how a tenant gives a retained interface back
 * (F22): unheld, the request goes to the hub and the copy waits for the interface to go; held for longer than the hub may
 * take to hear otherwise, the copy comes back.
 */
export function decide(snapshot: Snapshot): Step[] {
  const { copy, network, open } = snapshot;
  const source = snapshot.source !== undefined && !isTerminating(snapshot.source) ? snapshot.source : undefined;
  if (copy !== undefined && !isCopy(copy) && snapshot.mark === undefined) {
    const kept = source !== undefined && network !== undefined && isInTheWay(undefined, copy);
    return kept ? [{ do: 'tell-taken', holder: copy }] : [];
  }
  if (copy !== undefined && isTerminating(copy)) return deleted(copy, source, snapshot);

  // Said to the cell before somebody claimed the interface: it is not to be given back later for that.
  const recalled: Step[] =
    source !== undefined && isHeld(source) && requestOn(source) !== undefined
      ? [{ do: 'ask-return', source, interfaceUid: null }]
      : [];
  if (source === undefined || network === undefined) return copy === undefined ? [] : [{ do: 'remove', copy }];
  if (copy === undefined) return open ? [...recalled, ...created(source, network, snapshot.namespace)] : recalled;
  if (sourceUidOf(copy) !== interfaceUidOf(source)) return [...recalled, { do: 'remove', copy }];

  const steps: Step[] = recalled;
  if (copy.metadata.finalizers?.includes(networkingFinalizers.interfaceReturn) !== true) {
    steps.push({ do: 'hold', copy });
  }
  const object = updateOf(projected(source, network, snapshot.namespace), copy);
  if (object !== undefined) steps.push({ do: 'update', object: object as NetworkInterface });
  if (source.status !== undefined && !jsonEqual(source.status, copy.status)) {
    steps.push({ do: 'status', status: source.status });
  }
  return steps;
}

/** Somebody deleted the copy: a person, the collector after its network, or the end of its namespace. */
function deleted(
  copy: Stored<NetworkInterface>,
  source: Stored<NetworkInterface> | undefined,
  { network, open, now }: Snapshot,
): Step[] {
  if (copy.metadata.finalizers?.includes(networkingFinalizers.interfaceReturn) !== true) return [];
  const letGo: Step = { do: 'let-go', copy };
  const same = source !== undefined && sourceUidOf(copy) === interfaceUidOf(source);
  // A copy that went with its network was given back by nobody; one of an earlier interface says nothing of this one.
  if (source === undefined || !same || network === undefined || wentWith(network, copy)) return [letGo];
  if (isHeld(source)) {
    const age = now - (parseTime(copy.metadata.deletionTimestamp) ?? 0);
    // A clock that is behind the server's waits for nothing.
    if (open && age >= 0 && age < hearMilliseconds) return [{ do: 'wait', milliseconds: hearMilliseconds - age }];
    const steps: Step[] = requestOn(source) === undefined ? [] : [{ do: 'ask-return', source, interfaceUid: null }];
    if (open) steps.push({ do: 'say-held', copy, holder: source.metadata.labels?.[networkingLabels.heldBy] ?? '' });
    return [...steps, letGo];
  }
  if (!isUnheld(source)) return open ? [] : [letGo];
  const uid = interfaceUidOf(source);
  const steps: Step[] = requestOn(source) === uid ? [] : [{ do: 'ask-return', source, interfaceUid: uid }];
  // With its namespace going there is nothing to keep the copy for.
  return open ? steps : [...steps, letGo];
}

/**
 * Whether the collector deleted the copy because its network is gone. Where the network is only being deleted, whoever
 * deletes the copy gives the interface back: the network waits for just that, and who deletes it in the foreground asks
 * for what it owns to be deleted first.
 */
function wentWith({ metadata }: Stored<Network>, copy: Stored<NetworkInterface>): boolean {
  return copy.metadata.ownerReferences?.some((owner) => owner.uid === metadata.uid) !== true;
}

export function isCopy(object: NetworkInterface): boolean {
  return object.metadata.labels?.[networkingLabels.interfaceProjection] === 'true' || sourceUidOf(object) !== undefined;
}

function isHeld({ metadata, status }: NetworkInterface): boolean {
  return status?.phase === 'Bound' || (metadata.labels?.[networkingLabels.heldBy] ?? '') !== '';
}

/** Only what the cell says is unheld is given back; before it has said anything, nothing is. */
function isUnheld(source: NetworkInterface): boolean {
  return !isHeld(source) && source.status?.phase === 'Available';
}

function requestOn(source: NetworkInterface): string | undefined {
  return source.metadata.annotations?.[networkingAnnotations.returnRequested];
}

/** UID of the cell's interface: a copy made again on the hub is still of the same. */
function interfaceUidOf(source: Stored<NetworkInterface>): string {
  return sourceUidOf(source) ?? source.metadata.uid;
}

function created(source: Stored<NetworkInterface>, network: Stored<Network>, namespace: string): Step[] {
  const object = projected(source, network, namespace);
  const finalizers = [networkingFinalizers.interfaceReturn];
  const create: Step = { do: 'create', object: { ...object, metadata: { ...object.metadata, finalizers } } };
  return source.status === undefined ? [create] : [create, { do: 'status', status: source.status }];
}

/** How it came to the hub, and what is asked of its cell there, is nothing a project needs to read. */
const notShown: readonly string[] = [sourceCell, networkingAnnotations.returnRequested];

function projected(source: Stored<NetworkInterface>, network: Stored<Network>, namespace: string): NetworkInterface {
  const { apiVersion, kind } = network;
  const shown = Object.entries(source.metadata.annotations ?? {}).filter(([key]) => !notShown.includes(key));
  return {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: {
      name: source.metadata.name,
      namespace,
      labels: { ...source.metadata.labels },
      annotations: { ...Object.fromEntries(shown), [sourceUid]: interfaceUidOf(source) },
      ownerReferences: [{ apiVersion, kind, name: network.metadata.name, uid: network.metadata.uid }],
    },
    spec: source.spec,
  };
}
