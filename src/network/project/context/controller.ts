import {
  contextName,
  IPClaim,
  NetworkContext,
  NetworkInterface,
  networkingFinalizers,
  networkingLabels,
  Subnet,
} from '../../../api/index.ts';
import {
  addFinalizer,
  type Controller,
  mergeStatus,
  type Plane,
  type Result,
  removeFinalizer,
} from '../../../kube/index.ts';
import { isApiError, type KubeObject, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { retryDelay } from '../../shared/retry.ts';
import { countTerminating } from '../../shared/terminating.ts';
import { holdRange, type RangeAnswer, refusedConditions, releaseRange } from '../ranges.ts';
import { concluded, decide, decideSubnet, type Plan, subnetOf, subnetStatus } from './decide.ts';

const reads = ['get', 'list', 'watch'];

/** The ranges of a network in a location, published as Subnets. */
export function contextController(deps: NetworkDeps): Controller {
  return {
    name: 'network-project-context',
    rules: {
      project: [
        { apiGroups: [NetworkContext.group], resources: ['networkcontexts'], verbs: [...reads, 'patch'] },
        { apiGroups: [NetworkContext.group], resources: ['networkcontexts/status'], verbs: ['patch'] },
        { apiGroups: [NetworkContext.group], resources: ['networkcontexts/finalizers'], verbs: ['update'] },
        { apiGroups: [Subnet.group], resources: ['subnets'], verbs: [...reads, 'create', 'update', 'delete'] },
        { apiGroups: [Subnet.group], resources: ['subnets/status'], verbs: ['patch'] },
        { apiGroups: [NetworkInterface.group], resources: ['networkinterfaces'], verbs: reads },
        { apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'create', 'delete'] },
      ],
    },

    engage(plane, _planes, watch) {
      countTerminating(plane, deps.metrics, deps.clock);
      watch.on(plane, NetworkContext);
      watch.on(plane, Subnet, ({ metadata, spec }) => [
        { plane: plane.id, namespace: metadata.namespace ?? '', name: spec?.networkContext.name ?? '' },
      ]);
      // A range that can not be given back waits for the addresses in it: an interface's are released before it is gone.
      watch.on(plane, NetworkInterface, ({ metadata, spec }, event) => {
        const location = metadata.labels?.[networkingLabels.location];
        if (event.type !== 'deleted' || location === undefined) return [];
        const name = contextName(spec.network.name, location);
        return [{ plane: plane.id, namespace: metadata.namespace ?? '', name }];
      });
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const context = plane?.informer(NetworkContext).get(request.namespace, request.name);
      if (plane === undefined || context === undefined) return undefined;
      return act(decide({ context, project: plane.name, classes: deps.ipamClasses }), context, plane, deps);
    },
  };
}

async function act(plan: Plan, context: Stored<NetworkContext>, plane: Plane, deps: NetworkDeps): Promise<Result> {
  switch (plan.do) {
    case 'nothing':
      return undefined;
    case 'release':
      return release(plan, context, plane, deps);
    case 'hold': {
      let current = context;
      // Held before anything is: a range nobody would give back must not exist.
      if (plan.finalizer) {
        current = await addFinalizer(plane.client, NetworkContext, current, networkingFinalizers.contextSubnetRelease);
      }
      const answers: RangeAnswer[] = [];
      for (const range of plan.ranges) answers.push(await holdRange(plane.client, range));
      for (const answer of answers) if (answer.held) await publish(answer, current, plane, deps);
      const status = concluded(current, answers, deps.clock.now());
      await mergeStatus(plane.client, NetworkContext, current, status);
      return answers.every((answer) => answer.held) ? undefined : { requeueAfterMilliseconds: retryDelay(deps.random) };
    }
  }
}

async function publish(
  answer: Extract<RangeAnswer, { held: true }>,
  context: Stored<NetworkContext>,
  plane: Plane,
  deps: NetworkDeps,
): Promise<void> {
  const wanted = subnetOf(context, answer);
  const held = plane.informer(Subnet).get(context.metadata.namespace ?? '', wanted.metadata.name);
  const step = decideSubnet(wanted, held, context);
  let subnet = held;
  switch (step.do) {
    case 'create':
      subnet = await plane.client.create(Subnet, step.object);
      break;
    case 'update':
      subnet = await plane.client.update(Subnet, step.object);
      break;
    case 'delete':
      await plane.client.delete(Subnet, keyOf(step.subnet), { preconditions: { uid: step.subnet.metadata.uid } });
      return;
    case 'nothing':
      if (held === undefined || held.metadata.deletionTimestamp !== undefined) return;
  }
  if (subnet !== undefined) await mergeStatus(plane.client, Subnet, subnet, subnetStatus(subnet, deps.clock.now()));
}

async function release(
  plan: Extract<Plan, { do: 'release' }>,
  context: Stored<NetworkContext>,
  plane: Plane,
  deps: NetworkDeps,
): Promise<Result> {
  for (const claim of plan.claims) {
    const occupied = await releaseRange(plane.client, claim);
    if (occupied === undefined) continue;
    const generation = context.metadata.generation ?? 1;
    const conditions = refusedConditions(occupied, context.status?.conditions, generation, deps.clock.now());
    await mergeStatus(plane.client, NetworkContext, context, { ...context.status, conditions });
    return { requeueAfterMilliseconds: retryDelay(deps.random) };
  }
  try {
    await removeFinalizer(plane.client, NetworkContext, context, networkingFinalizers.contextSubnetRelease);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
  return undefined;
}

function keyOf({ metadata }: KubeObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}
