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
  selects,
  withCondition,
} from '../../meta/index.ts';
import {
  addReplicas,
  leadingReason,
  mergeWaiting,
  noReplicas,
  type Replicas,
  rankOf,
  replicasOf,
  replicasReady,
  waitingOf,
} from '../shared/replicas.ts';
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
    return { steps, status: statusOf(snapshot, ours.map(asItIs), [], undefined) };
  }

  const steps: Step[] = held ? [] : [{ do: 'hold' }];
  const refused = networkRefusal(workload);
  const wanted = refused === undefined ? wantedOf(snapshot, ours) : [];
  const names = new Set(wanted.map((part) => part.name));
  const changed = new Map<string, WorkloadDeployment['spec']>();
  for (const part of wanted) {
    const existing = snapshot.deployments.find((each) => each.metadata.name === part.name);
    if (existing === undefined) steps.push({ do: 'create', object: deploymentOf(workload, part) });
    else if (existing.spec?.workloadRef.uid === workload.metadata.uid && !isTerminating(existing)) {
      const next = updated(existing, workload, part);
      if (next !== undefined) steps.push({ do: 'update', object: next });
      if (next !== undefined && !jsonEqual(next.spec, existing.spec)) changed.set(existing.metadata.uid, next.spec);
    }
    // Otherwise it is an earlier workload's of this name, still draining: its deletion wakes this workload.
  }
  // A template that is refused changes nothing that runs.
  if (refused === undefined) {
    for (const object of ours) {
      if (!names.has(object.metadata.name) && !isTerminating(object)) steps.push({ do: 'delete', object });
    }
  }
  const missing = wanted.filter((part) => !ours.some((each) => each.metadata.name === part.name));
  const parts = ours.map((each): Part => {
    const isChanged = changed.has(each.metadata.uid);
    return isChanged ? { ...asItIs(each), spec: changed.get(each.metadata.uid), seen: false } : asItIs(each);
  });
  return { steps, status: statusOf(snapshot, parts, missing, refused) };
}

/** A deployment as a workload counts it. */
interface Part {
  deployment: Stored<WorkloadDeployment>;
  /** What it is asked for, this pass's changes included. */
  spec: WorkloadDeployment['spec'];
  /** Whether its status is about that. */
  seen: boolean;
}

function asItIs(deployment: Stored<WorkloadDeployment>): Part {
  const { metadata, spec, status } = deployment;
  return { deployment, spec, seen: status?.observedGeneration === metadata.generation };
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

/**
 * Locations a placement resolves to: those named, or selected by topology, that the project has a binding for. One that
 * is not available at the moment, or on its way out, gets nothing new; what runs there (`running`) stays until the
 * binding is gone: nobody loses addresses to a condition that comes and goes.
 */
export function locationsOf(
  placement: Placement,
  bindings: readonly Stored<LocationBinding>[],
  running: ReadonlySet<string>,
): string[] {
  const usable = bindings.filter(
    (binding) =>
      running.has(locationName(binding)) ||
      (!isTerminating(binding) && findCondition(binding.status?.conditions, 'Available')?.status !== 'False'),
  );
  const { locations, locationSelector } = placement;
  const chosen =
    locations !== undefined
      ? locations.map(({ name }) => name).filter((name) => usable.some((binding) => locationName(binding) === name))
      : usable.filter((binding) => selects(locationSelector ?? {}, binding.spec?.topology ?? {})).map(locationName);
  return [...new Set(chosen)].sort();
}

/** Where a placement of this workload has deployments now. */
function runningIn(placement: Placement, ours: readonly Stored<WorkloadDeployment>[]): Set<string> {
  return new Set(ours.flatMap(({ spec }) => (spec?.placementName === placement.name ? [spec.locationRef.name] : [])));
}

function wantedOf(
  { workload, bindings, deployments }: Snapshot,
  ours: readonly Stored<WorkloadDeployment>[],
): Wanted[] {
  const seen = new Set<string>();
  return workload.spec.placements.flatMap((placement) =>
    locationsOf(placement, bindings, runningIn(placement, ours)).flatMap((location): Wanted[] => {
      const parts = [workload.metadata.name, placement.name, location] as const;
      // Of two placements of one name, the first says what runs in a location both choose.
      if (seen.has(parts.join('\0'))) return [];
      seen.add(parts.join('\0'));
      const readable = deploymentName(...parts);
      // What runs keeps its name, whatever other name has become free.
      const running = ours
        .filter(({ spec }) => spec?.placementName === placement.name && spec.locationRef.name === location)
        .sort((a, b) => Number(b.metadata.name === readable) - Number(a.metadata.name === readable))[0];
      const holder = deployments.find((each) => each.metadata.name === readable);
      // Another list of parts can join to this name (a-b + c, a + b-c): then the hash tells them apart.
      const mine =
        holder === undefined ||
        (holder.spec?.workloadRef.name === workload.metadata.name &&
          holder.spec.placementName === placement.name &&
          holder.spec.locationRef.name === location);
      return [
        {
          placement: placement.name,
          location,
          name: running?.metadata.name ?? (mine ? readable : hashedName(parts)),
          spec: {
            workloadRef: { name: workload.metadata.name, uid: workload.metadata.uid },
            placementName: placement.name,
            locationRef: { name: location },
            template: workload.spec.template,
            scaleSettings: placement.scaleSettings,
          },
        },
      ];
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

/**
 * How many instances a deployment has. How many it should have is in its spec; how many of the present template it has,
 * its status says only once the cell has seen the present spec.
 */
function countsOf({ deployment: { metadata, status }, spec, seen }: Part): Replicas {
  const { replicas, currentReplicas, updatedReplicas, readyReplicas } = status ?? noReplicas;
  return {
    replicas,
    currentReplicas: seen ? currentReplicas : 0,
    updatedReplicas: seen ? updatedReplicas : 0,
    // One that ends is to have none; its instances are counted for as long as there are any.
    desiredReplicas: metadata.deletionTimestamp === undefined ? replicasOf(spec) : 0,
    readyReplicas,
  };
}

/** What a deployment that is not there yet adds: what it will have to run. */
function missingCounts(missing: readonly Wanted[]): Replicas {
  const desiredReplicas = missing.reduce((sum, part) => sum + replicasOf(part.spec), 0);
  return { ...noReplicas, desiredReplicas };
}

interface Said {
  reason: string;
  message: string;
}

function statusOf(
  snapshot: Snapshot,
  all: readonly Part[],
  missing: readonly Wanted[],
  refused: Said | undefined,
): NonNullable<Workload['status']> {
  const { workload, now } = snapshot;
  const ours = all.map(({ deployment }) => deployment);
  const generation = workload.metadata.generation ?? 1;
  const before = workload.status;
  const placements = workload.spec.placements.map((placement) => {
    const its = all.filter(({ deployment }) => deployment.spec?.placementName === placement.name);
    const parts = its.map(({ deployment }) => deployment);
    const locations = locationsOf(placement, snapshot.bindings, runningIn(placement, ours));
    const available = availableOf('deployment', parts, placementRefusal(placement, locations, parts, refused), {
      placement: placement.name,
    });
    const held = before?.placements?.find((entry) => entry.name === placement.name)?.conditions;
    return {
      name: placement.name,
      locations: locations.map((name) => ({ name })),
      ...its
        .map(countsOf)
        .reduce(addReplicas, missingCounts(missing.filter((part) => part.placement === placement.name))),
      conditions: withCondition(held, { ...available, observedGeneration: generation }, now),
    };
  });
  const total = all.map(countsOf).reduce(addReplicas, missingCounts(missing));
  const faults = isTerminating(workload)
    ? []
    : workload.spec.placements.map((placement, index) => placementFault(placement, placements[index]?.locations ?? []));
  const nowhere = faults.find((fault) => fault?.reason === 'NoMatchingLocations') ?? faults.find(Boolean);
  const available = availableOf('placement', ours, refused ?? (ours.length > 0 ? undefined : nowhere), {
    placement: availablePlacement(ours),
  });
  const waiting = mergeWaiting(ours.map((each) => waitingOf(findCondition(each.status?.conditions, 'ReplicasReady'))));
  // Counts cannot tell of instances that have no place to be counted for.
  const kept = refused ?? nowhere;
  let conditions: Condition[] = withCondition(
    before?.conditions,
    { ...available, observedGeneration: generation },
    now,
  );
  const ready = replicasReady(total, waiting, generation);
  const told = kept === undefined || (refused === undefined && ready.status === 'False' && waiting.length > 0);
  conditions = withCondition(conditions, told ? ready : { ...ready, status: 'False', ...kept }, now);
  return {
    deployments: ours.length,
    ...total,
    observedGeneration: generation,
    placements,
    conditions,
  };
}

/** What a placement asks for and can not have: any place at all, or one of those it names. */
function placementFault(placement: Placement, locations: readonly { name: string }[]): Said | undefined {
  const named = placement.locations?.map(({ name }) => name) ?? [];
  const missing = named.filter((name) => !locations.some((each) => each.name === name));
  if (locations.length === 0) {
    const cause = missing.length === 0 ? undefined : `${missing.join(', ')} can not be used`;
    const message = reasonMessage('NoMatchingLocations', { placement: placement.name, cause });
    return { reason: 'NoMatchingLocations', message };
  }
  if (missing.length === 0) return undefined;
  const message = reasonMessage('NoMatchingLocation', { location: missing.join(', ') });
  return { reason: 'NoMatchingLocation', message };
}

function placementRefusal(
  placement: Placement,
  locations: readonly string[],
  parts: readonly Stored<WorkloadDeployment>[],
  refused: Said | undefined,
): Said | undefined {
  if (refused !== undefined) return refused;
  return locations.length === 0 && parts.length === 0 ? placementFault(placement, []) : undefined;
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
