import {
  computeFinalizers,
  computeLabels,
  computeServiceName,
  deploymentName,
  hashedName,
  type LocationBinding,
  labelValue,
  reasonMessage,
  type Workload,
  WorkloadDeployment,
} from '../../api/index.ts';
import {
  apiVersionOf,
  type Condition,
  controllerReference,
  findCondition,
  isTerminating,
  jsonEqual,
  type Stored,
  withCondition,
} from '../../meta/index.ts';
import {
  addReplicas,
  leadingReason,
  mergeWaiting,
  noReplicas,
  type Replicas,
  rankOf,
  replicasReady,
  waitingOf,
} from '../shared/replicas.ts';
import { selects } from '../shared/selector.ts';
import { interfaceRequest } from '../shared/template.ts';

export interface Snapshot {
  workload: Stored<Workload>;
  bindings: readonly Stored<LocationBinding>[];
  /** Every deployment of the namespace that names this workload, or has a name this workload would give. */
  deployments: readonly Stored<WorkloadDeployment>[];
  /** Milliseconds since the Unix epoch. */
  now: number;
}

export type Step =
  | { do: 'hold' | 'let-go' }
  | { do: 'create'; object: WorkloadDeployment }
  | { do: 'update'; object: Stored<WorkloadDeployment> }
  | { do: 'delete'; object: Stored<WorkloadDeployment> };

export interface Plan {
  steps: Step[];
  status: NonNullable<Workload['status']>;
}

type Placement = Workload['spec']['placements'][number];

interface Wanted {
  placement: string;
  location: string;
  /** Deployment that has this part now, terminating ones and another workload's included. */
  name: string;
  spec: NonNullable<WorkloadDeployment['spec']>;
}

/** Pure. What a workload's deployments should be, and what is to be said of it. */
export function decide(snapshot: Snapshot): Plan {
  const { workload } = snapshot;
  const ours = snapshot.deployments.filter((each) => each.spec?.workloadRef.uid === workload.metadata.uid);
  const held = workload.metadata.finalizers?.includes(computeFinalizers.workload) === true;

  if (isTerminating(workload)) {
    const steps: Step[] = ours.filter((each) => !isTerminating(each)).map((object) => ({ do: 'delete', object }));
    // The finalizer goes only when nothing is left that holds an address for this workload.
    if (ours.length === 0 && held) steps.push({ do: 'let-go' });
    return { steps, status: statusOf(snapshot, ours, undefined) };
  }

  const steps: Step[] = held ? [] : [{ do: 'hold' }];
  const refused = networkRefusal(workload);
  const wanted = refused === undefined ? wantedOf(snapshot) : [];
  const names = new Set(wanted.map((part) => part.name));
  for (const part of wanted) {
    const existing = snapshot.deployments.find((each) => each.metadata.name === part.name);
    if (existing === undefined) steps.push({ do: 'create', object: deploymentOf(workload, part) });
    else if (existing.spec?.workloadRef.uid === workload.metadata.uid && !isTerminating(existing)) {
      const next = updated(existing, workload, part);
      if (next !== undefined) steps.push({ do: 'update', object: next });
    }
    // Otherwise it is an earlier workload's of this name, still draining: its deletion wakes this workload.
  }
  // A template that is refused changes nothing that runs.
  if (refused === undefined) {
    for (const object of ours) {
      if (!names.has(object.metadata.name) && !isTerminating(object)) steps.push({ do: 'delete', object });
    }
  }
  return { steps, status: statusOf(snapshot, ours, refused) };
}

/** A network of another namespace is refused, never ignored (F75). */
function networkRefusal(
  workload: Stored<Workload>,
): { reason: 'NetworkReferenceInvalid'; message: string } | undefined {
  const request = interfaceRequest(workload.spec.template.spec);
  const own = workload.metadata.namespace ?? '';
  const namespace = request?.networkNamespace;
  if (request === undefined || namespace === undefined || namespace === own) return undefined;
  const params = { network: request.spec.network.name, namespace, own };
  return { reason: 'NetworkReferenceInvalid', message: reasonMessage('NetworkReferenceInvalid', params) };
}

function locationName(binding: LocationBinding): string {
  const named = binding.spec?.locationRef.name;
  return named === undefined || named === '' ? binding.metadata.name : named;
}

/** Locations a placement resolves to: those named, or selected by topology, that the project has a binding for. */
export function locationsOf(placement: Placement, bindings: readonly Stored<LocationBinding>[]): string[] {
  const usable = bindings.filter(
    (binding) => !isTerminating(binding) && findCondition(binding.status?.conditions, 'Available')?.status !== 'False',
  );
  const { locations, locationSelector } = placement;
  const chosen =
    locations !== undefined
      ? locations.map(({ name }) => name).filter((name) => usable.some((binding) => locationName(binding) === name))
      : usable.filter((binding) => selects(locationSelector ?? {}, binding.spec?.topology ?? {})).map(locationName);
  return [...new Set(chosen)].sort();
}

function wantedOf({ workload, bindings, deployments }: Snapshot): Wanted[] {
  return workload.spec.placements.flatMap((placement) =>
    locationsOf(placement, bindings).map((location) => {
      const parts = [workload.metadata.name, placement.name, location] as const;
      const readable = deploymentName(...parts);
      const holder = deployments.find((each) => each.metadata.name === readable);
      // Another list of parts can join to this name (a-b + c, a + b-c): then the hash tells them apart.
      const mine =
        holder === undefined ||
        (holder.spec?.workloadRef.name === workload.metadata.name &&
          holder.spec.placementName === placement.name &&
          holder.spec.locationRef.name === location);
      return {
        placement: placement.name,
        location,
        name: mine ? readable : hashedName(parts),
        spec: {
          workloadRef: { name: workload.metadata.name, uid: workload.metadata.uid },
          placementName: placement.name,
          locationRef: { name: location },
          template: workload.spec.template,
          scaleSettings: placement.scaleSettings,
        },
      };
    }),
  );
}

function labelsOf(workload: Stored<Workload>, part: Wanted): Record<string, string> {
  return {
    [computeLabels.workloadUID]: workload.metadata.uid,
    [computeLabels.workloadName]: labelValue(workload.metadata.name),
    [computeLabels.placementName]: labelValue(part.placement),
    [computeLabels.location]: labelValue(part.location),
    [computeLabels.serviceName]: computeServiceName,
  };
}

function deploymentOf(workload: Stored<Workload>, part: Wanted): WorkloadDeployment {
  return {
    apiVersion: apiVersionOf(WorkloadDeployment),
    kind: WorkloadDeployment.kind,
    metadata: {
      name: part.name,
      ...(workload.metadata.namespace === undefined ? {} : { namespace: workload.metadata.namespace }),
      labels: labelsOf(workload, part),
      ownerReferences: [controllerReference(workload)],
    },
    spec: part.spec,
  };
}

/** Brings template and scale up to date. `spec.replicas` belongs to whoever scales the deployment. */
function updated(
  existing: Stored<WorkloadDeployment>,
  workload: Stored<Workload>,
  part: Wanted,
): Stored<WorkloadDeployment> | undefined {
  const spec = { ...existing.spec, ...part.spec };
  const labels = { ...existing.metadata.labels, ...labelsOf(workload, part) };
  if (jsonEqual(spec, existing.spec) && jsonEqual(labels, existing.metadata.labels)) return undefined;
  return { ...existing, spec, metadata: { ...existing.metadata, labels } };
}

const countsOf = (deployment: Stored<WorkloadDeployment>): Replicas => ({
  ...noReplicas,
  desiredReplicas: deployment.spec?.replicas ?? deployment.spec?.scaleSettings.minReplicas ?? 0,
  ...(deployment.status === undefined ? {} : counts(deployment.status)),
});

function counts(status: Replicas): Replicas {
  const { replicas, currentReplicas, updatedReplicas, desiredReplicas, readyReplicas } = status;
  return { replicas, currentReplicas, updatedReplicas, desiredReplicas, readyReplicas };
}

interface Said {
  reason: string;
  message: string;
}

function statusOf(
  snapshot: Snapshot,
  ours: readonly Stored<WorkloadDeployment>[],
  refused: Said | undefined,
): NonNullable<Workload['status']> {
  const { workload, now } = snapshot;
  const generation = workload.metadata.generation ?? 1;
  const before = workload.status;
  const placements = workload.spec.placements.map((placement) => {
    const parts = ours.filter((each) => each.spec?.placementName === placement.name);
    const locations = locationsOf(placement, snapshot.bindings);
    const available = availableOf('deployment', parts, placementRefusal(placement, locations, parts, refused), {
      placement: placement.name,
    });
    const held = before?.placements?.find((entry) => entry.name === placement.name)?.conditions;
    return {
      name: placement.name,
      locations: locations.map((name) => ({ name })),
      ...parts.map(countsOf).reduce(addReplicas, noReplicas),
      conditions: withCondition(held, { ...available, observedGeneration: generation }, now),
    };
  });
  const total = ours.map(countsOf).reduce(addReplicas, noReplicas);
  const unplaced = placements.find((entry) => entry.locations.length === 0);
  const available = availableOf(
    'placement',
    ours,
    refused ??
      (unplaced === undefined || ours.length > 0
        ? undefined
        : said('NoMatchingLocations', { placement: unplaced.name })),
    { placement: availablePlacement(ours) },
  );
  const waiting = mergeWaiting(ours.map((each) => waitingOf(findCondition(each.status?.conditions, 'ReplicasReady'))));
  const missing = refused !== undefined ? [{ ...refused, count: 0 }] : [];
  let conditions: Condition[] = withCondition(
    before?.conditions,
    { ...available, observedGeneration: generation },
    now,
  );
  const ready = replicasReady(total, [...waiting, ...missing], generation);
  conditions = withCondition(
    conditions,
    refused === undefined ? ready : { ...ready, status: 'False', ...refused },
    now,
  );
  return {
    deployments: ours.length,
    ...total,
    observedGeneration: generation,
    placements,
    conditions,
  };
}

function said<R extends 'NoMatchingLocations'>(reason: R, params: { placement: string }): Said {
  return { reason, message: reasonMessage(reason, params) };
}

function placementRefusal(
  placement: Placement,
  locations: readonly string[],
  parts: readonly Stored<WorkloadDeployment>[],
  refused: Said | undefined,
): Said | undefined {
  if (refused !== undefined) return refused;
  return locations.length === 0 && parts.length === 0
    ? said('NoMatchingLocations', { placement: placement.name })
    : undefined;
}

function availablePlacement(ours: readonly Stored<WorkloadDeployment>[]): string {
  return ours.find(isAvailable)?.spec?.placementName ?? '';
}

function isAvailable(deployment: Stored<WorkloadDeployment>): boolean {
  return findCondition(deployment.status?.conditions, 'Available')?.status === 'True';
}

/** True as soon as one deployment is; else the worst reason any of them gives, in its own words. */
function availableOf(
  level: 'deployment' | 'placement',
  parts: readonly Stored<WorkloadDeployment>[],
  refused: Said | undefined,
  names: { placement: string },
): Omit<Condition, 'lastTransitionTime' | 'observedGeneration'> {
  const type = 'Available';
  const available = parts.find(isAvailable);
  if (available !== undefined) {
    const [reason, message] =
      level === 'placement'
        ? (['AvailablePlacementFound', reasonMessage('AvailablePlacementFound', names)] as const)
        : ([
            'AvailableDeploymentFound',
            reasonMessage('AvailableDeploymentFound', { deployment: available.metadata.name }),
          ] as const);
    return { type, status: 'True', reason, message };
  }
  if (refused !== undefined) return { type, status: 'False', ...refused };
  const reasons = parts.flatMap((each) => {
    const condition = findCondition(each.status?.conditions, 'Available');
    return condition?.status === 'False' ? [{ reason: condition.reason, message: condition.message, count: 1 }] : [];
  });
  const worst = Math.min(...reasons.map(({ reason }) => rankOf(reason)));
  const leading = leadingReason(mergeWaiting([reasons.filter(({ reason }) => rankOf(reason) === worst)]));
  if (leading !== undefined) return { type, status: 'False', reason: leading.reason, message: leading.message };
  return level === 'placement'
    ? { type, status: 'False', reason: 'NoAvailablePlacements', message: reasonMessage('NoAvailablePlacements') }
    : {
        type,
        status: 'False',
        reason: 'NoAvailableDeployments',
        message: reasonMessage('NoAvailableDeployments', names),
      };
}
