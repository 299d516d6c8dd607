import {
  computeFinalizers,
  Instance,
  NetworkContext,
  NetworkInterfaceClaim,
  ServingLocation,
  WorkloadDeployment,
} from '../../../api/index.ts';
import {
  addFinalizer,
  type Clock,
  type Controller,
  mergeStatus,
  type Plane,
  type Request,
  removeFinalizer,
} from '../../../kube/index.ts';
import {
  isApiError,
  isTerminating,
  jsonEqual,
  type KubeObject,
  type ObjectMeta,
  type ResourceType,
  type Stored,
} from '../../../meta/index.ts';
import { Pace } from '../../shared/pace.ts';
import { replicasOf } from '../../shared/replicas.ts';
import { interfaceRequest } from '../../shared/template.ts';
import { companionsRule, dataState, watchCompanions } from '../data.ts';
import { locationIdentity } from '../location.ts';
import { decide, type Snapshot, type Step } from './decide.ts';
import { controllingDeployment } from './slots.ts';

export interface DeploymentDeps {
  clock: Clock;
  networkingIntegration: boolean;
  referencedData: boolean;
  admitClaim?(plane: Plane, claim: NetworkInterfaceClaim): NetworkInterfaceClaim;
}

const reads = ['get', 'list', 'watch'];
const byOwner = 'compute/controller';

/** Instances come and go in swarms: a deployment looks at them this much later, once for all of them. */
const settleMilliseconds = 10;
/** A look at one instance costs some microseconds: of a second, looks take a small part however many there are. */
const settleMillisecondsPerInstance = 0.1;
/** What a deployment says of its instances is carried to hub and project: said at once, then with these pauses. */
const leastPauseMilliseconds = 10;
const mostPauseMilliseconds = 1000;
const pauseMillisecondsPerInstance = 1;
/** Writes of one pass under way at once: they share commits, and one slow one holds nobody back. */
const writesAtOnce = 32;

/** Slots of a deployment: claims, instances, and what is said of them. */
export function deploymentController(deps: DeploymentDeps): Controller {
  const { networkingIntegration } = deps;
  const claims = [
    {
      apiGroups: [NetworkInterfaceClaim.group],
      resources: ['networkinterfaceclaims'],
      verbs: [...reads, 'create', 'patch', 'delete'],
    },
    { apiGroups: [NetworkContext.group], resources: ['networkcontexts'], verbs: reads },
  ];
  const pace = new Pace();
  return {
    name: 'compute-cell-deployment',
    rules: {
      cell: [
        { apiGroups: [Instance.group], resources: ['workloaddeployments'], verbs: [...reads, 'patch'] },
        { apiGroups: [Instance.group], resources: ['workloaddeployments/status'], verbs: ['patch'] },
        { apiGroups: [Instance.group], resources: ['workloaddeployments/finalizers'], verbs: ['update'] },
        { apiGroups: [Instance.group], resources: ['instances'], verbs: [...reads, 'create', 'delete'] },
        { apiGroups: [ServingLocation.group], resources: ['servinglocations'], verbs: reads },
        ...(networkingIntegration ? claims : []),
        ...(deps.referencedData ? [companionsRule] : []),
      ],
    },

    engage(plane, _planes, watch) {
      watch.on(plane, WorkloadDeployment, ({ metadata }, event) => {
        if (event.type === 'deleted') pace.forget(metadata.uid);
        return [requestOf(plane, metadata)];
      });
      const owned = (object: KubeObject): Request[] => {
        const name = controllingDeployment(object);
        const namespace = object.metadata.namespace ?? '';
        if (name === undefined) return [];
        const count = replicasOf(plane.informer(WorkloadDeployment).get(namespace, name)?.spec);
        const settled = settleMilliseconds + count * settleMillisecondsPerInstance;
        watch.enqueue({ plane: plane.id, namespace, name }, settled);
        return [];
      };
      index(plane, Instance);
      watch.on(plane, Instance, owned);
      if (networkingIntegration) {
        index(plane, NetworkInterfaceClaim);
        watch.on(plane, NetworkInterfaceClaim, (claim, event) =>
          event.type === 'updated' && !hasChanged(event.old, claim) ? [] : owned(claim),
        );
        watch.on(plane, NetworkContext, (context, event) =>
          event.type === 'updated'
            ? []
            : plane
                .informer(WorkloadDeployment)
                .list(context.metadata.namespace)
                .filter((each) => networkOf(each) === context.spec?.network.name)
                .map(({ metadata }) => requestOf(plane, metadata)),
        );
      }
      if (deps.referencedData) {
        watchCompanions(plane, watch, (namespace, name) => [{ plane: plane.id, namespace, name }]);
      }
      watch.on(plane, ServingLocation, () =>
        plane
          .informer(WorkloadDeployment)
          .list()
          .map(({ metadata }) => requestOf(plane, metadata)),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const deployment = plane?.informer(WorkloadDeployment).get(request.namespace, request.name);
      if (plane === undefined || deployment === undefined) return undefined;
      const plan = decide(await observe(plane, deployment, deps));
      let held = deployment;
      // The network is brought here for whoever says that it serves this location: that is not kept waiting.
      if (plan.status.location?.name !== deployment.status?.location?.name) {
        held = await mergeStatus(plane.client, WorkloadDeployment, deployment, plan.status);
      }
      const current = await act(plan.steps, plane, held, deps);
      const { lookAgainAfterMilliseconds: again } = plan;
      const rest = again === undefined ? undefined : { requeueAfterMilliseconds: again };
      if (current === undefined || jsonEqual(current.status, plan.status)) return rest;
      const left = pace.turn(deployment.metadata.uid, deps.clock.monotonic(), pauseOf(deployment));
      if (left > 0) return { requeueAfterMilliseconds: Math.min(left, again ?? left) };
      await mergeStatus(plane.client, WorkloadDeployment, current, plan.status);
      return rest;
    },
  };
}

function requestOf(plane: Plane, { namespace = '', name }: ObjectMeta): Request {
  return { plane: plane.id, namespace, name };
}

/** Whether a claim is another one to its slot. What network services say of it matters to its instance alone. */
function hasChanged(before: NetworkInterfaceClaim, after: NetworkInterfaceClaim): boolean {
  const [was, is] = [before, after].map(({ metadata }) => {
    const { generation, labels, finalizers, ownerReferences, deletionTimestamp } = metadata;
    return { generation, labels, finalizers, ownerReferences, deletionTimestamp };
  });
  return !jsonEqual(was, is);
}

function networkOf({ spec }: WorkloadDeployment): string | undefined {
  return spec === undefined ? undefined : interfaceRequest(spec.template.spec)?.spec.network.name;
}

function pauseOf({ spec }: WorkloadDeployment): number {
  const wanted = replicasOf(spec) * pauseMillisecondsPerInstance;
  return Math.min(mostPauseMilliseconds, Math.max(leastPauseMilliseconds, wanted));
}

function index(plane: Plane, type: ResourceType): void {
  plane.informer(type).addIndex(byOwner, (object) => {
    const owner = controllingDeployment(object);
    return owner === undefined ? [] : [`${object.metadata.namespace ?? ''}/${owner}`];
  });
}

async function observe(
  plane: Plane,
  deployment: Stored<WorkloadDeployment>,
  { clock, networkingIntegration, referencedData }: DeploymentDeps,
): Promise<Snapshot> {
  const { namespace = '', name } = deployment.metadata;
  const mine = `${namespace}/${name}`;
  let instances = plane.informer(Instance).byIndex(byOwner, mine);
  let claims = networkingIntegration ? plane.informer(NetworkInterfaceClaim).byIndex(byOwner, mine) : [];
  if (isTerminating(deployment) && instances.length === 0 && claims.length === 0) {
    // The last finalizer is let go on what is there, not on what a cache has seen.
    instances = (await plane.client.list(Instance, { namespace })).items.filter(
      (each) => controllingDeployment(each) === name,
    );
    if (networkingIntegration) {
      const listed = await plane.client.list(NetworkInterfaceClaim, { namespace });
      claims = listed.items.filter((each) => controllingDeployment(each) === name);
    }
  }
  return {
    deployment,
    location: locationIdentity(plane.informer(ServingLocation).list()),
    instances,
    claims,
    networkThere: !networkingIntegration || isPresent(plane, deployment),
    holderOf: (kind, held) =>
      kind === 'Instance'
        ? plane.informer(Instance).get(namespace, held)
        : plane.informer(NetworkInterfaceClaim).get(namespace, held),
    networking: networkingIntegration,
    data: referencedData ? dataState(plane, deployment) : undefined,
    now: clock.now(),
  };
}

function isPresent(plane: Plane, deployment: Stored<WorkloadDeployment>): boolean {
  const network = networkOf(deployment);
  return plane
    .informer(NetworkContext)
    .list(deployment.metadata.namespace)
    .some((context) => context.spec?.network.name === network && !isTerminating(context));
}

/** Answers the deployment as it is now, or undefined once it is gone. */
async function act(
  steps: readonly Step[],
  plane: Plane,
  deployment: Stored<WorkloadDeployment>,
  { admitClaim }: DeploymentDeps,
): Promise<Stored<WorkloadDeployment> | undefined> {
  let current = deployment;
  const rest: Step[] = [];
  for (const step of steps) {
    // Before anything is made on its behalf, the deployment is held.
    if (step.do === 'hold') {
      current = await addFinalizer(plane.client, WorkloadDeployment, current, computeFinalizers.workload);
    } else if (step.do === 'let-go') {
      await removeFinalizer(plane.client, WorkloadDeployment, current, computeFinalizers.workload);
      return undefined;
    } else rest.push(step);
  }
  // Claims before instances: an instance never exists without its slot's claim.
  const order: Step['do'][] = [
    'create-claim',
    'label-claim',
    'protect-claim',
    'create-instance',
    'delete-instance',
    'replace-unclaimed',
    'delete-claim',
    'release-claim',
  ];
  for (const kind of order) {
    await inBatches(
      rest.filter((step) => step.do === kind),
      (step) => perform(step, plane, admitClaim),
    );
  }
  return current;
}

/** Every item is tried, then the first failure is thrown: one slot that cannot be written holds back no other. */
async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (let start = 0; start < items.length; start += writesAtOnce) {
    const results = await Promise.allSettled(items.slice(start, start + writesAtOnce).map(work));
    failures.push(...results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
  }
  if (failures.length > 0) throw failures[0];
}

async function perform(step: Step, plane: Plane, admitClaim: DeploymentDeps['admitClaim']): Promise<void> {
  switch (step.do) {
    case 'create-claim':
      await created(plane.client.create(NetworkInterfaceClaim, admitClaim?.(plane, step.object) ?? step.object));
      return;
    case 'create-instance':
      await created(plane.client.create(Instance, step.object));
      return;
    case 'delete-instance':
      await plane.client.delete(Instance, keyOf(step.object), { preconditions: { uid: step.object.metadata.uid } });
      return;
    case 'label-claim': {
      const body = { metadata: { uid: step.object.metadata.uid, labels: step.labels } };
      await plane.client.patch(NetworkInterfaceClaim, keyOf(step.object), { type: 'merge', body });
      return;
    }
    case 'protect-claim':
      await addFinalizer(plane.client, NetworkInterfaceClaim, step.object, computeFinalizers.slotInUse);
      return;
    case 'replace-unclaimed': {
      const { namespace = '', uid } = step.object.metadata;
      for (const name of step.claims) {
        const claim = await plane.client.get(NetworkInterfaceClaim, { namespace, name });
        // The cache is late, or a person was faster.
        if (claim !== undefined && controllingDeployment(claim) === controllingDeployment(step.object)) return;
      }
      await plane.client.delete(Instance, keyOf(step.object), { preconditions: { uid } });
      return;
    }
    case 'delete-claim': {
      const { uid } = step.object.metadata;
      await plane.client.delete(NetworkInterfaceClaim, keyOf(step.object), { preconditions: { uid } });
      return;
    }
    case 'release-claim': {
      const { namespace = '' } = step.object.metadata;
      for (const name of step.instances) {
        const instance = await plane.client.get(Instance, { namespace, name });
        const owner = instance === undefined ? undefined : controllingDeployment(instance);
        if (owner !== undefined && owner === controllingDeployment(step.object)) return;
      }
      await removeFinalizer(plane.client, NetworkInterfaceClaim, step.object, computeFinalizers.slotInUse);
      return;
    }
    default:
      return;
  }
}

/** An object of this name that the cache has not seen yet: the next look finds out whose it is. */
async function created(writing: Promise<unknown>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    throw new Error(`an object the cache has not seen is in the way: ${error.message}`, { cause: error });
  }
}

function keyOf(object: KubeObject): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
