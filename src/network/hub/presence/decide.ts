import {
  contextName,
  hashedName,
  labelValue,
  type Network,
  type NetworkBinding,
  NetworkContext,
  networkingAnnotations,
  networkingLabels,
  type Reason,
  reasonMessage,
} from '../../../api/index.ts';
import { mergeDifference } from '../../../kube/index.ts';
import {
  apiVersionOf,
  controllerReference,
  findCondition,
  formatTime,
  isControlledBy,
  isTerminating,
  jsonEqual,
  type ObjectMeta,
  type OwnerReference,
  parseTime,
  type Stored,
} from '../../../meta/index.ts';
import { type Answer, saidBy } from '../../shared/answer.ts';
import type { FabricFacts } from '../fabric.ts';
import type { Pair } from './key.ts';

export interface Snapshot {
  pair: Pair;
  project: string;
  /** The project namespace. */
  namespace: string;
  /** Both upstream labels, as a hub namespace that stands for it has them; undefined where there is none any more. */
  upstream: Record<string, string> | undefined;
  /** Bindings that ask for this presence and are not being deleted. */
  bindings: readonly Stored<NetworkBinding>[];
  /** Whether an interface of the network, retained ones included, or a binding of the project's own is in the location. */
  inUse: boolean;
  /** Whether the project has a LocationBinding for the location. */
  locationAvailable: boolean;
  network: Stored<Network> | undefined;
  /** What the fabric is to know of the network; undefined where there is no fabric, or no network. */
  fabric: FabricFacts | undefined;
  /** Contexts whose spec says this pair. */
  contexts: readonly Stored<NetworkContext>[];
  /** Whether the readable name is that of a context of another pair. */
  nameTaken: boolean;
  /** Milliseconds since the Unix epoch. */
  now: number;
  quietPeriodMilliseconds: number;
}

export type ContextStep =
  | { do: 'create'; object: NetworkContext }
  /** A merge patch of what differs. */
  | { do: 'update'; context: Stored<NetworkContext>; metadata: ContextPatch; spec: SpecPatch | undefined }
  | { do: 'stamp'; context: Stored<NetworkContext>; since: string }
  /** Nothing needs it, and its quiet period is over; or it is of a network that is gone. */
  | { do: 'delete'; context: Stored<NetworkContext>; because: 'quiet' | 'network-gone' };

export interface ContextPatch {
  labels?: Record<string, string>;
  annotations?: Record<string, null>;
  ownerReferences?: OwnerReference[];
}

export type SpecPatch = Record<string, unknown>;

export interface Plan {
  steps: ContextStep[];
  /** What every binding is told; undefined where there is none. */
  answer: Answer | undefined;
  /** UID of the network, for the bindings' label. */
  networkUid: string | undefined;
  requeueAfterMilliseconds: number | undefined;
}

/** Pure. One context per presence, and one answer for everybody who asks for it. */
export function decide(snapshot: Snapshot): Plan {
  const { bindings, inUse, network } = snapshot;
  const networkUid = network?.metadata.uid;
  if (bindings.length === 0 && !inUse) {
    return { ...quiet(snapshot), answer: undefined, networkUid };
  }
  const live = snapshot.contexts.filter((context) => !isTerminating(context));
  const usable = network === undefined ? undefined : live.find((context) => isPresenceOf(context, network));
  const steps = live.flatMap((context) => kept(context, snapshot, usable));
  if (bindings.length === 0) return { steps, answer: undefined, networkUid, requeueAfterMilliseconds: undefined };
  const answer = answerOf(snapshot, usable, live);
  if (answer.context !== undefined && usable === undefined && network !== undefined) {
    steps.push({ do: 'create', object: contextOf(snapshot, network, answer.context) });
  }
  return { steps, answer, networkUid, requeueAfterMilliseconds: undefined };
}

function stampOf(context: NetworkContext): string | undefined {
  return context.metadata.annotations?.[networkingAnnotations.unclaimedSince];
}

/** Only a context that carries the network's UID was written here, and only such a one is ever removed (F27). */
function networkUidOf(context: NetworkContext): string | undefined {
  return context.metadata.labels?.[networkingLabels.networkUID];
}

/** Of this very network; or made by hand or in an older way, and nobody else's. */
function isPresenceOf(context: Stored<NetworkContext>, network: Stored<Network>): boolean {
  const uid = networkUidOf(context);
  if (uid !== undefined) return uid === network.metadata.uid;
  const controlled = context.metadata.ownerReferences?.some((owner) => owner.controller === true) === true;
  return !controlled || isControlledBy(context, network);
}

/** Nothing needs the presence: what is there goes once it has been so for the whole quiet period (F16). */
function quiet({ contexts, now, quietPeriodMilliseconds }: Snapshot): Pick<Plan, 'steps' | 'requeueAfterMilliseconds'> {
  const steps: ContextStep[] = [];
  let requeueAfterMilliseconds: number | undefined;
  for (const context of contexts) {
    if (isTerminating(context) || networkUidOf(context) === undefined) continue;
    const since = parseTime(stampOf(context));
    const left = since === undefined ? undefined : since + quietPeriodMilliseconds - now;
    if (quietPeriodMilliseconds <= 0 || (left !== undefined && left <= 0)) {
      steps.push({ do: 'delete', context, because: 'quiet' });
      continue;
    }
    // Rounded up to the second the stamp can carry, so that the period is never cut short.
    const stamp = Math.ceil(now / 1000) * 1000;
    const readable = left !== undefined && left <= quietPeriodMilliseconds + 1000;
    if (!readable) steps.push({ do: 'stamp', context, since: formatTime(stamp) });
    const wait = readable ? left : stamp + quietPeriodMilliseconds - now;
    requeueAfterMilliseconds = Math.min(wait, requeueAfterMilliseconds ?? wait);
  }
  return { steps, requeueAfterMilliseconds };
}

/** A context that is needed: brought up to its network, or, where its network is gone, removed to make room. */
function kept(
  context: Stored<NetworkContext>,
  snapshot: Snapshot,
  usable: Stored<NetworkContext> | undefined,
): ContextStep[] {
  const { network } = snapshot;
  const uid = networkUidOf(context);
  if (context !== usable) {
    const ofAnother = network !== undefined && uid !== undefined && uid !== network.metadata.uid;
    if (ofAnother) return [{ do: 'delete', context, because: 'network-gone' }];
  }
  const metadata: ContextPatch = {};
  let spec: SpecPatch | undefined;
  if (stampOf(context) !== undefined) metadata.annotations = { [networkingAnnotations.unclaimedSince]: null };
  if (context === usable && network !== undefined && !isTerminating(network)) {
    const labels = { ...context.metadata.labels, ...labelsOf(snapshot, network) };
    if (!jsonEqual(labels, context.metadata.labels)) metadata.labels = labels;
    if (!isControlledBy(context, network)) {
      metadata.ownerReferences = [...(context.metadata.ownerReferences ?? []), controllerReference(network)];
    }
    spec = patchOf(specOf(snapshot, network), context.spec);
  }
  return Object.keys(metadata).length === 0 && spec === undefined ? [] : [{ do: 'update', context, metadata, spec }];
}

/** What makes a spec say all that is wanted, and leaves the rest of it; undefined where it does. */
function patchOf(wanted: NonNullable<NetworkContext['spec']>, held: NetworkContext['spec']): SpecPatch | undefined {
  // A network that carries no family any more is not to be taken for one that still carries the last of them.
  const stale = wanted.ipFamilies === undefined && held?.ipFamilies !== undefined;
  const differs = Object.entries(wanted).some(
    ([field, value]) => !jsonEqual(value, (held as Record<string, unknown> | undefined)?.[field]),
  );
  if (!differs && !stale) return undefined;
  const { egress } = wanted;
  // Whole: nothing of what was said before may stand beside it.
  return {
    ...wanted,
    ...(stale ? { ipFamilies: null } : {}),
    ...(egress === undefined ? {} : { egress: mergeDifference(held?.egress ?? {}, egress) }),
  };
}

function specOf({ pair, fabric }: Snapshot, network: Stored<Network>): NonNullable<NetworkContext['spec']> {
  const { network: name, location } = pair;
  const { ipFamilies = [], mtu } = network.spec;
  return {
    network: { name },
    location: { name: location },
    // No families is "not stated": what reads it refuses rather than guesses.
    ...(ipFamilies.length === 0 ? {} : { ipFamilies }),
    ...(mtu === undefined ? {} : { mtu }),
    networkGeneration: network.metadata.generation ?? 1,
    ...(fabric === undefined ? {} : fabricSpec(fabric)),
  };
}

/** What is not known, or refused, is not said: what was said earlier stays. */
function fabricSpec({
  identity,
  egress,
}: FabricFacts): Pick<NonNullable<NetworkContext['spec']>, 'fabricIdentity' | 'egress'> {
  return {
    ...(identity === undefined ? {} : { fabricIdentity: identity }),
    ...('intent' in egress ? { egress: { internet: egress.intent } } : {}),
  };
}

function labelsOf({ pair, upstream }: Snapshot, network: Stored<Network>): NonNullable<ObjectMeta['labels']> {
  return {
    ...upstream,
    [networkingLabels.network]: labelValue(pair.network),
    [networkingLabels.location]: labelValue(pair.location),
    [networkingLabels.networkUID]: network.metadata.uid,
  };
}

function contextOf(snapshot: Snapshot, network: Stored<Network>, name: string): NetworkContext {
  return {
    apiVersion: apiVersionOf(NetworkContext),
    kind: NetworkContext.kind,
    metadata: {
      name,
      namespace: snapshot.namespace,
      labels: labelsOf(snapshot, network),
      ownerReferences: [controllerReference(network)],
    },
    spec: specOf(snapshot, network),
  };
}

function answerOf(
  { pair, project, namespace, network, locationAvailable, contexts, nameTaken }: Snapshot,
  usable: Stored<NetworkContext> | undefined,
  live: readonly Stored<NetworkContext>[],
): Answer {
  const refused = <R extends Reason>(reason: R, message: string): Answer => ({ context: undefined, reason, message });
  if (!locationAvailable) {
    return refused('LocationNotAvailable', reasonMessage('LocationNotAvailable', { location: pair.location, project }));
  }
  if (network === undefined) {
    return refused('NetworkNotFound', reasonMessage('NetworkNotFound', { network: pair.network, namespace }));
  }
  if (isTerminating(network)) {
    // Its finalizer removes its contexts: made again, they would only be removed again (F18).
    const params = { network: pair.network, namespace, detail: 'it is being deleted' };
    return refused('NetworkNotFound', reasonMessage('NetworkNotFound', params));
  }
  if (usable !== undefined) {
    const ready = findCondition(usable.status?.conditions, 'Ready');
    return ready?.status === 'True'
      ? { context: usable.metadata.name, ready: true }
      : { context: usable.metadata.name, ready: false, reason: ready === undefined ? undefined : saidBy(ready) };
  }
  // Never adopted, and no second one beside it: the ranges are the same (F17).
  const going = contexts.find(isTerminating) ?? live.find((context) => networkUidOf(context) !== undefined);
  if (going !== undefined) {
    const context = going.metadata.name;
    return refused('NetworkContextTerminating', reasonMessage('NetworkContextTerminating', { context }));
  }
  const name =
    nameTaken || live.length > 0 ? hashedName([pair.network, pair.location]) : contextName(pair.network, pair.location);
  return { context: name, ready: false, reason: undefined };
}
