import {
  clusterLabel,
  computeAnnotations,
  computeFinalizers,
  copyNameTaken,
  labelValue,
  NetworkBinding,
  networkingLabels,
  type Reason,
  topologyKeys,
  upstreamLabels,
  type WorkloadDeployment,
} from '../../../api/index.ts';
import { copyOf, isInTheWay, sourceUidOf, updateOf } from '../../../federation/index.ts';
import {
  apiVersionOf,
  type Condition,
  controllerReference,
  findCondition,
  formatTime,
  isControlledBy,
  isTerminating,
  jsonEqual,
  type KubeObject,
  type Namespace,
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import { sourceGeneration } from '../../shared/generation.ts';
import { interfaceRequest } from '../../shared/template.ts';
import { type Told, toldText } from '../../shared/told.ts';
import { type CompanionStep, companionSteps, type Data, dataAnnotations } from './data.ts';

export interface Snapshot {
  project: string;
  /** The project's deployment; read live where the cache did not have it. */
  source: Stored<WorkloadDeployment> | undefined;
  /** The project's namespace it is in. */
  sourceNamespace: Stored<Namespace> | undefined;
  /** Name of the hub namespace that stands for it. */
  hubNamespace: string;
  hub: { id: string };
  namespace: Stored<Namespace> | undefined;
  /** The hub's copy; read live where its absence decides. */
  copy: Stored<WorkloadDeployment> | undefined;
  /** UID of the copy's source, where somebody took its mark off. */
  mark?: string | undefined;
  binding: Stored<NetworkBinding> | undefined;
  networking: boolean;
  /** What the template references; undefined where that is not carried. */
  data: Data | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

export type Step =
  | { do: 'hold' | 'let-go'; source: Stored<WorkloadDeployment> }
  | { do: 'record-namespace'; source: Stored<WorkloadDeployment>; namespace: string }
  | { do: 'create-namespace'; object: Namespace }
  | { do: 'label-namespace'; name: string; labels: Record<string, string> }
  | { do: 'create-copy' | 'update-copy'; object: WorkloadDeployment }
  | { do: 'delete-copy'; copy: Stored<WorkloadDeployment> }
  | { do: 'create-binding'; object: NetworkBinding }
  | { do: 'delete-binding'; binding: Stored<NetworkBinding> }
  | { do: 'label-binding'; binding: Stored<NetworkBinding>; labels: Record<string, string> }
  | CompanionStep
  /** An object that nobody carried has the name. */
  | { do: 'tell-taken'; holder: Stored<KubeObject> }
  | { do: 'report'; source: Stored<WorkloadDeployment>; status: NonNullable<WorkloadDeployment['status']> };

/** What the network refuses in terms a consumer can act on; anything else is only on its way. */
const bindingRefusals: readonly Reason[] = ['ProjectUnresolved', 'NetworkNotFound', 'LocationNotAvailable'];

function bindingRefusal({ binding, copy, hub }: Pick<Snapshot, 'binding' | 'copy' | 'hub'>): Told | undefined {
  if (binding !== undefined && isBindingTaken(binding, copy)) return copyNameTaken(binding, hub);
  const ready = findCondition(binding?.status?.conditions, 'Ready');
  if (ready?.status !== 'False') return undefined;
  const reason = bindingRefusals.find((each) => each === ready.reason);
  return reason === undefined ? undefined : { reason, message: ready.message };
}

/** One that was made for something else, by somebody else. One of an earlier copy goes with that. */
function isBindingTaken(binding: Stored<NetworkBinding>, copy: Snapshot['copy']): boolean {
  const wanted = copy === undefined ? undefined : bindingFor(copy);
  const owner = binding.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (wanted === undefined || owner?.kind === copy?.kind || !isInTheWay(undefined, binding)) return false;
  return binding.spec.network.name !== wanted.network || binding.spec.location.name !== wanted.location;
}

/** Pure. One copy on the hub per deployment, one binding per copy, and the cell's status back. */
export function decide(snapshot: Snapshot): Step[] {
  const { source, copy } = snapshot;
  const of = copy === undefined ? undefined : (sourceUidOf(copy) ?? snapshot.mark);
  if (source === undefined) {
    return copy !== undefined && !isTerminating(copy) && of !== undefined ? [{ do: 'delete-copy', copy }] : [];
  }
  const held = source.metadata.finalizers?.includes(computeFinalizers.federator) === true;
  if (isTerminating(source)) {
    // The hub's copy stays until the cell has drained it; only then may the name be used again.
    if (copy !== undefined && of !== undefined) {
      if (!isTerminating(copy)) return [{ do: 'delete-copy', copy }];
      // Its status goes on being told: it says how far the cell is.
      const { status } = copy;
      if (of !== source.metadata.uid) return [];
      const ending: Step[] = [];
      // By its labels the cell knows that it is its own to drain.
      const marked = snapshot.sourceNamespace && updateOf(hubCopy(source, snapshot.sourceNamespace, snapshot), copy);
      if (marked !== undefined) ending.push({ do: 'update-copy', object: marked as WorkloadDeployment });
      if (status !== undefined && !jsonEqual(status, source.status)) ending.push({ do: 'report', source, status });
      return ending;
    }
    return held ? [{ do: 'let-go', source }] : [];
  }
  if (snapshot.sourceNamespace === undefined) return [];

  const steps: Step[] = held ? [] : [{ do: 'hold', source }];
  if (source.metadata.annotations?.[computeAnnotations.federationNamespace] !== snapshot.hubNamespace) {
    steps.push({ do: 'record-namespace', source, namespace: snapshot.hubNamespace });
  }
  steps.push(...namespaceSteps(snapshot, snapshot.sourceNamespace));
  const wanted = hubCopy(source, snapshot.sourceNamespace, snapshot);
  if (copy === undefined) return [...steps, { do: 'create-copy', object: wanted }];
  // What nobody carried here is not ours to touch: a person has to delete it.
  if (isInTheWay(of, copy)) {
    steps.push({ do: 'tell-taken', holder: copy });
    const status = refused(source, copyNameTaken(copy, snapshot.hub), snapshot.now);
    return jsonEqual(status, source.status) ? steps : [...steps, { do: 'report', source, status }];
  }
  if (isTerminating(copy)) return steps;
  if (of !== source.metadata.uid) return [...steps, { do: 'delete-copy', copy }];

  const object = updateOf(wanted, copy);
  if (object !== undefined) steps.push({ do: 'update-copy', object: object as WorkloadDeployment });
  if (snapshot.data !== undefined) steps.push(...companionSteps(copy, snapshot.data));
  if (snapshot.networking) steps.push(...bindingSteps(copy, snapshot.binding, source));
  const status = reported(copy, snapshot);
  if (status !== undefined && !jsonEqual(status, source.status)) steps.push({ do: 'report', source, status });
  return steps;
}

function namespaceSteps(snapshot: Snapshot, sourceNamespace: Stored<Namespace>): Step[] {
  const labels = {
    [upstreamLabels.clusterName]: clusterLabel(snapshot.project),
    [upstreamLabels.namespace]: sourceNamespace.metadata.name,
  };
  const { namespace, hubNamespace } = snapshot;
  if (namespace === undefined) {
    const metadata = { name: hubNamespace, labels };
    return [{ do: 'create-namespace', object: { apiVersion: 'v1', kind: 'Namespace', metadata } }];
  }
  const lacks = Object.entries(labels).some(([key, value]) => namespace.metadata.labels?.[key] !== value);
  return lacks ? [{ do: 'label-namespace', name: hubNamespace, labels }] : [];
}

function hubCopy(
  source: Stored<WorkloadDeployment>,
  sourceNamespace: Stored<Namespace>,
  snapshot: Snapshot,
): WorkloadDeployment {
  const { hubNamespace: namespace, data, hub } = snapshot;
  const copy = copyOf(source) as WorkloadDeployment;
  const annotations: Record<string, string> = {
    ...copy.metadata.annotations,
    [sourceGeneration]: String(source.metadata.generation ?? 1),
  };
  delete annotations[computeAnnotations.federationNamespace];
  // A cell sees only that the network has not come: the instances there say why.
  const refusal = bindingRefusal(snapshot);
  const told: Record<string, string | undefined> = {
    [computeAnnotations.networkRefusal]: refusal === undefined ? undefined : toldText(refusal),
    ...dataAnnotations(source.metadata.name, data, hub),
  };
  for (const [key, value] of Object.entries(told)) {
    // Nobody else tells a cell: a tenant's own annotation of the name goes no further.
    if (value === undefined) delete annotations[key];
    else annotations[key] = value;
  }
  return {
    ...copy,
    metadata: {
      ...copy.metadata,
      namespace,
      annotations,
      labels: {
        ...copy.metadata.labels,
        [topologyKeys.location]: labelValue(source.spec?.locationRef.name ?? ''),
        [upstreamLabels.namespace]: sourceNamespace.metadata.name,
      },
    },
  };
}

/** What the binding is to name; undefined as long as there is to be none. */
function bindingFor({ spec, status }: Stored<WorkloadDeployment>): { network: string; location: string } | undefined {
  const location = status?.location?.name;
  const request = spec === undefined ? undefined : interfaceRequest(spec.template.spec);
  return location === undefined || request === undefined ? undefined : { network: request.spec.network.name, location };
}

/** The binding waits until the cell has said which location it serves: then something there is ready to use the network. */
function bindingSteps(
  copy: Stored<WorkloadDeployment>,
  binding: Stored<NetworkBinding> | undefined,
  source: Stored<WorkloadDeployment>,
): Step[] {
  const wanted = bindingFor(copy);
  if (wanted === undefined) return [];
  const { network, location } = wanted;
  const labels = {
    [networkingLabels.network]: labelValue(network),
    [networkingLabels.location]: labelValue(location),
  };
  if (binding === undefined) {
    const object: NetworkBinding = {
      apiVersion: apiVersionOf(NetworkBinding),
      kind: NetworkBinding.kind,
      metadata: {
        name: copy.metadata.name,
        namespace: copy.metadata.namespace ?? '',
        labels,
        ownerReferences: [controllerReference(copy, false)],
      },
      spec: {
        network: { name: network },
        location: { name: location },
        consumer: { apiGroup: 'compute.datumapis.com', kind: 'Workload', name: source.spec?.workloadRef.name ?? '' },
      },
    };
    return [{ do: 'create-binding', object }];
  }
  if (isTerminating(binding)) return [];
  if (!isControlledBy(binding, copy)) {
    // A binding of an earlier copy goes with it; somebody else's of this name is not ours to touch.
    return isBindingTaken(binding, copy) ? [{ do: 'tell-taken', holder: binding }] : [];
  }
  const diverged = binding.spec.network.name !== network || binding.spec.location.name !== location;
  if (diverged) return [{ do: 'delete-binding', binding }];
  // Only our own labels are judged: the network's UID was put there by network services and stays.
  const lacks = Object.entries(labels).some(([key, value]) => binding.metadata.labels?.[key] !== value);
  return lacks ? [{ do: 'label-binding', binding, labels }] : [];
}

/** The cell's status as it is, with the network's refusal on Available while nothing is available. */
function reported(
  copy: Stored<WorkloadDeployment>,
  snapshot: Snapshot,
): NonNullable<WorkloadDeployment['status']> | undefined {
  const { status } = copy;
  if (status === undefined) return undefined;
  const refusal = bindingRefusal(snapshot);
  const { binding, now } = snapshot;
  const available = findCondition(status.conditions, 'Available');
  if (refusal === undefined || available?.status === 'True') return status;
  const since = findCondition(binding?.status?.conditions, 'Ready')?.lastTransitionTime ?? formatTime(now);
  const refused: Condition = {
    type: 'Available',
    status: 'False',
    ...refusal,
    lastTransitionTime: available?.lastTransitionTime ?? since,
    observedGeneration: available?.observedGeneration ?? status.observedGeneration ?? 1,
  };
  const others = (status.conditions ?? []).filter((condition) => condition.type !== 'Available');
  return { ...status, conditions: [refused, ...others] };
}

/** Of a deployment that does not even get as far as the hub. */
function refused(
  { metadata, spec, status }: Stored<WorkloadDeployment>,
  told: Told,
  now: number,
): NonNullable<WorkloadDeployment['status']> {
  const { generation: observedGeneration = 1 } = metadata;
  const available = { type: 'Available', status: 'False', ...told, observedGeneration } as const;
  const none = { replicas: 0, currentReplicas: 0, updatedReplicas: 0, readyReplicas: 0 };
  const desiredReplicas = spec?.scaleSettings.minReplicas ?? 0;
  return { ...none, desiredReplicas, ...status, conditions: withCondition(status?.conditions, available, now) };
}

export function keyOf(object: KubeObject): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
