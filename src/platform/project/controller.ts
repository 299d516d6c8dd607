import {
  IPAllocation,
  IPClaim,
  IPClass,
  IPPool,
  LocationBinding,
  Network,
  NetworkBinding,
  Project,
  projectOfClusterLabel,
  topologyKeys,
  upstreamLabels,
  Workload,
} from '../../api/index.ts';
import {
  addFinalizer,
  type Clock,
  type Controller,
  type Plane,
  type Planes,
  removeFinalizer,
} from '../../kube/index.ts';
import {
  isApiError,
  isTerminating,
  type KubeObject,
  Namespace,
  type ResourceType,
  type Stored,
  withCondition,
} from '../../meta/index.ts';
import type { CellSpec } from '../cells.ts';
import { projectPlane } from '../planes.ts';
import {
  chooseRanges,
  decide,
  type ProjectSnapshot,
  type ProjectStep,
  projectFinalizer,
  rangesAnnotation,
  type Stage,
  seededAnnotation,
  stages,
} from './decide.ts';

export interface ProjectDeps {
  clock: Clock;
  /** Serves a project's plane and engages the controllers with it; nothing where it is open. */
  open(project: string): Promise<void>;
  /** Stops the controllers of a project's plane and forgets everything stored in it. */
  drop(project: string): Promise<void>;
  cells(): readonly CellSpec[];
  /** What IPAM of a fresh project starts with, its root pools from the ranges of that number. */
  seeds(ranges: number): { classes: readonly IPClass[]; pools: readonly IPPool[] };
}

const retryMilliseconds = 250;
const deletesAtOnce = 64;

/** The controller of Projects: what stands behind `kubectl create -f project.yaml` on the root plane. */
export function projectController(deps: ProjectDeps): Controller {
  const emptied = (group: string, ...resources: string[]) => ({
    apiGroups: [group],
    resources,
    verbs: ['list', 'delete'],
  });
  return {
    name: 'platform-root-project',
    // Ranges are chosen by looking at the other projects.
    concurrency: 1,
    rules: {
      root: [
        { apiGroups: [Project.group], resources: ['projects'], verbs: ['get', 'list', 'watch', 'patch'] },
        { apiGroups: [Project.group], resources: ['projects/status'], verbs: ['patch'] },
      ],
      project: [
        { apiGroups: [LocationBinding.group], resources: ['locationbindings'], verbs: ['get', 'list', 'create'] },
        { apiGroups: [IPClass.group], resources: ['ipclasses', 'ippools'], verbs: ['get', 'create'] },
        emptied(Network.group, 'networks', 'networkbindings'),
        emptied(Workload.group, 'workloads'),
        emptied(IPClaim.group, 'ipclaims', 'ipallocations'),
      ],
      hub: [emptied('', 'namespaces')],
      cell: [emptied('', 'namespaces')],
    },

    engage(plane, _planes, watch) {
      if (plane.role === 'root') watch.on(plane, Project);
    },

    async reconcile(request, planes) {
      const root = planes.get(request.plane);
      const project = root?.informer(Project).get('', request.name);
      if (root === undefined || project === undefined) return undefined;
      const snapshot = await observe(deps, project, planes);
      const steps = decide(snapshot);
      for (const step of steps) await act(step, deps, root, planes, project.metadata.name);
      const waits = steps.some((step) => step.do === 'delete' || (step.do === 'open' && snapshot.terminating));
      return waits ? { requeueAfterMilliseconds: retryMilliseconds } : undefined;
    },
  };
}

async function observe(deps: ProjectDeps, project: Stored<Project>, planes: Planes): Promise<ProjectSnapshot> {
  const id = project.metadata.name;
  const plane = planes.get(projectPlane(id).id);
  const terminating = isTerminating(project);
  const bound = plane === undefined ? [] : (await plane.client.list(LocationBinding)).items;
  return {
    terminating,
    finalizer: project.metadata.finalizers?.includes(projectFinalizer) === true,
    seeded: project.metadata.annotations?.[seededAnnotation] === 'true',
    open: plane !== undefined,
    missingLocations: deps
      .cells()
      .map((cell) => cell.location)
      .filter((location) => !bound.some((binding) => binding.metadata.name === location)),
    left: terminating && plane !== undefined ? await countLeft(id, plane, planes) : [],
  };
}

/** Where the objects of each stage are. Listed live: absence decides that the next stage may begin. */
async function objectsOf(
  stage: Stage,
  id: string,
  plane: Plane,
  planes: Planes,
): Promise<{ plane: Plane; type: ResourceType; object: Stored<KubeObject> }[]> {
  const inProject = async (type: ResourceType) =>
    (await plane.client.list(type)).items.map((object) => ({ plane, type, object }));
  const namespaces = async (where: readonly Plane[]) => {
    const found = await Promise.all(
      where.map(async (each) => {
        const { items } = await each.client.list(Namespace, { labelSelector: upstreamLabels.clusterName });
        return items
          .filter((item) => projectOfClusterLabel(item.metadata.labels?.[upstreamLabels.clusterName]) === id)
          .map((object) => ({ plane: each, type: Namespace as ResourceType, object }));
      }),
    );
    return found.flat();
  };
  switch (stage) {
    case 'workloads':
      return inProject(Workload);
    case 'network bindings':
      return inProject(NetworkBinding);
    case 'hub namespaces':
      return namespaces(planes.byRole('hub'));
    case 'cell namespaces':
      return namespaces(planes.byRole('cell'));
    case 'networks':
      return inProject(Network);
    case 'claims': {
      // What nobody claims any more, and is kept, keeps the range it lies in.
      const kept = (object: Stored<IPAllocation>) =>
        object.spec?.purpose === 'Claim' && object.spec.claimRef === undefined;
      const allocations = (await plane.client.list(IPAllocation)).items.filter(kept);
      return [
        ...(await inProject(IPClaim)),
        ...allocations.map((object) => ({ plane, type: IPAllocation as ResourceType, object })),
      ];
    }
  }
}

async function countLeft(id: string, plane: Plane, planes: Planes): Promise<{ stage: Stage; count: number }[]> {
  const left: { stage: Stage; count: number }[] = [];
  for (const stage of stages) {
    const { length } = await objectsOf(stage, id, plane, planes);
    left.push({ stage, count: length });
    // Later stages are not looked at before the earlier ones are done.
    if (length > 0) break;
  }
  return left;
}

async function act(step: ProjectStep, deps: ProjectDeps, root: Plane, planes: Planes, id: string): Promise<void> {
  const project = await root.client.get(Project, { namespace: '', name: id });
  if (project === undefined) return;
  switch (step.do) {
    case 'add-finalizer':
      await addFinalizer(root.client, Project, project, projectFinalizer);
      return;
    case 'open':
      await deps.open(id);
      return;
    case 'seed':
      await seed(deps, root, planes, project);
      return;
    case 'bind-locations':
      await bindLocations(deps, planes, id, step.locations);
      return;
    case 'report-ready':
      await report(root, project, deps, 'True', 'Ready', 'the project is served');
      return;
    case 'delete':
      await report(root, project, deps, 'False', 'Terminating', `waits for ${step.count} ${step.stage} to go`);
      await deleteStage(step.stage, id, planes);
      return;
    case 'drop':
      await deps.drop(id);
      return;
    case 'remove-finalizer':
      await removeFinalizer(root.client, Project, project, projectFinalizer);
      return;
  }
}

function planeOf(planes: Planes, id: string): Plane {
  const plane = planes.get(projectPlane(id).id);
  if (plane === undefined) throw new Error(`the plane of project ${id} is not open`);
  return plane;
}

async function annotate(root: Plane, name: string, annotations: Record<string, string>): Promise<void> {
  await root.client.patch(Project, { namespace: '', name }, { type: 'merge', body: { metadata: { annotations } } });
}

/** The ranges are recorded before they are used, and the seeding after it is done: a crash between repeats it, alike. */
async function seed(deps: ProjectDeps, root: Plane, planes: Planes, project: Stored<Project>): Promise<void> {
  const { name } = project.metadata;
  const recorded = project.metadata.annotations?.[rangesAnnotation];
  // From memory, which has our own writes at once: nobody else records ranges, and a thousand projects would each list a thousand.
  const others = root
    .informer(Project)
    .list()
    .flatMap((each) => {
      const held = each.metadata.annotations?.[rangesAnnotation];
      return held === undefined || each.metadata.name === name ? [] : [Number(held)];
    });
  const ranges = recorded === undefined ? chooseRanges(name, new Set(others)) : Number(recorded);
  if (recorded === undefined) await annotate(root, name, { [rangesAnnotation]: String(ranges) });
  const { client } = planeOf(planes, name);
  const { classes, pools } = deps.seeds(ranges);
  const ensure = async <T extends KubeObject>(type: ResourceType<T>, object: T): Promise<void> => {
    const there = await client.get(type, { namespace: '', name: object.metadata.name });
    if (there === undefined) await client.create(type, object);
  };
  for (const object of classes) await ensure(IPClass, object);
  for (const object of pools) await ensure(IPPool, object);
  await annotate(root, name, { [seededAnnotation]: 'true' });
}

async function bindLocations(
  deps: ProjectDeps,
  planes: Planes,
  id: string,
  locations: readonly string[],
): Promise<void> {
  const { client } = planeOf(planes, id);
  for (const cell of deps.cells().filter(({ location }) => locations.includes(location))) {
    // Right after a start the cache may not know what an earlier run made.
    if ((await client.get(LocationBinding, { namespace: '', name: cell.location })) !== undefined) continue;
    await client.create(LocationBinding, {
      apiVersion: `${LocationBinding.group}/${LocationBinding.version}`,
      kind: 'LocationBinding',
      metadata: { name: cell.location },
      spec: {
        locationRef: { name: cell.location },
        locationClassName: 'self-managed',
        displayName: cell.location,
        topology: topologyOf(cell),
      },
    });
  }
}

/** Topology of a location of the embedded platform. */
export function topologyOf(cell: CellSpec): Record<string, string> {
  return { [topologyKeys.cityCode]: cell.cityCode, [topologyKeys.region]: cell.location };
}

async function report(
  root: Plane,
  project: Stored<Project>,
  deps: ProjectDeps,
  status: 'True' | 'False',
  reason: string,
  message: string,
): Promise<void> {
  const before = project.status?.conditions;
  const held = before?.find((condition) => condition.type === 'Ready');
  const generation = project.metadata.generation ?? 1;
  const same = held?.status === status && held.reason === reason && held.message === message;
  if (same && held.observedGeneration === generation) return;
  const conditions = withCondition(
    before,
    { type: 'Ready', status, reason, message, observedGeneration: generation },
    deps.clock.now(),
  );
  const body = { metadata: { resourceVersion: project.metadata.resourceVersion }, status: { conditions } };
  const key = { namespace: '', name: project.metadata.name };
  await root.client.patch(Project, key, { type: 'merge', body }, { subresource: 'status' });
}

async function deleteStage(stage: Stage, id: string, planes: Planes): Promise<void> {
  // The cells' namespaces are the agent's: they follow the hub's, and are only waited for.
  if (stage === 'cell namespaces') return;
  const pending = (await objectsOf(stage, id, planeOf(planes, id), planes)).filter(
    ({ object }) => !isTerminating(object),
  );
  for (let start = 0; start < pending.length; start += deletesAtOnce) {
    await Promise.all(
      pending.slice(start, start + deletesAtOnce).map(async ({ plane, type, object: { metadata } }) => {
        const key = { namespace: metadata.namespace ?? '', name: metadata.name };
        try {
          await plane.client.delete(type, key, { preconditions: { uid: metadata.uid } });
        } catch (error) {
          // A range in which something is left goes the next time, when that has gone: it is not in the others' way.
          if (!isApiError(error, 'Conflict', 'NotFound')) throw error;
        }
      }),
    );
  }
}
