import {
  InternetEgressClass,
  LocationBinding,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkFabricIdentity,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  reasonMessage,
} from '../../../api/index.ts';
import {
  type Controller,
  mergeStatus,
  type Plane,
  type Planes,
  type Request,
  type Result,
} from '../../../kube/index.ts';
import {
  findCondition,
  isTerminating,
  jsonEqual,
  type KubeObject,
  Namespace,
  type Stored,
} from '../../../meta/index.ts';
import { type Answer, bindingStatus } from '../../shared/answer.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import {
  type Found,
  fabricKinds,
  fabricRules,
  hasFabric,
  indexClasses,
  indexIdentities,
  indexNetworks,
  networksOfClass,
  networksOfIdentity,
} from '../fabric.ts';
import { hubNamespacesOf, indexRoutes, projectPlaneId, type Routing, routingOf } from '../routing.ts';
import { isSynced, unsyncedRetry } from '../synced.ts';
import { type ContextStep, decide, type Snapshot } from './decide.ts';
import { type Pair, pairName, pairOf } from './key.ts';
import {
  bindingsOfLocation,
  bindingsOfNetwork,
  contextsOfNetwork,
  hubKinds,
  indexHub,
  indexProject,
  isQuiet,
  isUnneeded,
  locationOf,
  observe,
  pairOfBinding,
  pairOfContext,
  pairOfInterface,
  projectKinds,
} from './observe.ts';

const reads = ['get', 'list', 'watch'];
/** How long a project may take to be served again before its bindings are told that it cannot be reached (F71). */
const patienceMilliseconds = 30_000;
const lateCacheMilliseconds = 1_000;

/**
 * Networks in locations: for every network that something on the hub needs somewhere, a NetworkContext in the project.
 *
 * A request is (project plane, project namespace, `network/location`). What cannot be routed to an engaged project has
 * the hub's plane, the hub namespace and no name: its bindings are told so.
 */
export function presenceController(deps: NetworkDeps): Controller {
  const fabric = hasFabric(deps);
  const seen = fabric ? [...hubKinds, ...fabricKinds] : hubKinds;
  /** Since when a project with bindings that have an answer is not served. Milliseconds since the Unix epoch. */
  const unserved = new Map<string, number>();

  return {
    name: 'network-hub-presence',
    rules: {
      hub: [
        { apiGroups: [NetworkBinding.group], resources: ['networkbindings'], verbs: [...reads, 'patch'] },
        { apiGroups: [NetworkBinding.group], resources: ['networkbindings/status'], verbs: ['patch'] },
        { apiGroups: [NetworkBinding.group], resources: ['networkinterfaces'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        ...(fabric ? fabricRules : []),
      ],
      project: [
        {
          apiGroups: [NetworkContext.group],
          resources: ['networkcontexts'],
          verbs: [...reads, 'create', 'patch', 'delete'],
        },
        {
          apiGroups: [NetworkContext.group],
          resources: ['networks', 'locationbindings', 'networkbindings'],
          verbs: reads,
        },
      ],
    },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) {
        indexRoutes(plane);
        indexHub(plane);
        if (fabric) {
          indexClasses(plane);
          indexIdentities(plane);
          const presences = (found: readonly Found[]) =>
            found.flatMap((each) => presencesOf(each.network, each.plane, plane));
          watch.on(plane, InternetEgressClass, (changed, event) => presences(networksOfClass(planes, changed, event)));
          watch.on(plane, NetworkFabricIdentity, (identity) => presences(networksOfIdentity(planes, identity)));
        }
        watch.on(plane, NetworkBinding, (binding) => requestsFor(plane, planes, binding, pairOfBinding(binding)));
        watch.on(plane, NetworkInterface, (copy, event) => {
          const pair = pairOfInterface(copy);
          // An interface holds its network's presence by being there; what else changes on it is nothing here.
          if (pair === undefined) return [];
          const before = event.type === 'updated' ? pairOfInterface(event.old) : undefined;
          if (before !== undefined && pairName(before) === pairName(pair)) return [];
          const moved = before === undefined ? [] : requestsFor(plane, planes, copy, before);
          const requests = [...moved, ...requestsFor(plane, planes, copy, pair)].filter(({ name }) => name !== '');
          // One more of many holds what is held already, unless the quiet period runs.
          return event.type === 'added' ? requests.filter((request) => isLeaving(planes, request)) : requests;
        });
        watch.on(plane, Namespace, (namespace, event) => {
          const { metadata } = namespace;
          if (event.type === 'updated' && jsonEqual(event.old.metadata.labels, metadata.labels)) return [];
          const bindings = plane.informer(NetworkBinding).list(metadata.name);
          const asked = bindings.flatMap((binding) => requestsFor(plane, planes, binding, pairOfBinding(binding)));
          if (event.type === 'added') return asked;
          // What was asked for through the namespace as it was may be needed no more.
          const before = event.type === 'updated' ? event.old : namespace;
          return [...asked, ...contextsBehind(planes, routingOf(before.metadata.labels))];
        });
        return;
      }
      if (plane.role !== 'project') return;
      indexProject(plane);
      if (fabric) indexNetworks(plane);
      const hub = planes.get(deps.hub);
      for (const binding of hub?.informer(NetworkBinding).list() ?? []) {
        if (hub === undefined) break;
        for (const request of requestsFor(hub, planes, binding, pairOfBinding(binding))) {
          if (request.plane === plane.id) watch.enqueue(request);
        }
      }
      watch.on(plane, NetworkContext, (context) => {
        const pair = pairOfContext(context);
        return pair === undefined ? [] : [requestOf(plane, context.metadata.namespace ?? '', pair)];
      });
      watch.on(plane, Network, (network, event) => {
        if (event.type === 'updated' && !hasMoved(event.old, network)) return [];
        return presencesOf(network, plane, planes.get(deps.hub));
      });
      watch.on(plane, LocationBinding, (binding, event) => {
        if (event.type === 'updated' && !hasMoved(event.old, binding)) return [];
        const locations = new Set([locationOf(binding), locationOf(event.type === 'updated' ? event.old : binding)]);
        const current = planes.get(deps.hub);
        if (current === undefined) return [];
        return [...locations]
          .flatMap((location) => bindingsOfLocation(current, location))
          .flatMap((asked) => requestsFor(current, planes, asked, pairOfBinding(asked)))
          .filter((request) => request.plane === plane.id);
      });
      watch.on(plane, NetworkBinding, (binding, event) =>
        event.type === 'updated' ? [] : [requestOf(plane, binding.metadata.namespace ?? '', pairOfBinding(binding))],
      );
    },

    async reconcile(request, planes) {
      const hub = planes.get(deps.hub);
      const plane = planes.get(request.plane);
      if (hub === undefined || plane === undefined) return undefined;
      if (plane === hub) return unrouted(hub, request.namespace, planes, unserved, deps);
      unserved.delete(plane.name);
      if (!isSynced(hub, [Namespace, ...seen]) || !isSynced(plane, projectKinds)) return unsyncedRetry;

      const pair = pairOf(request.name);
      const { namespace } = request;
      const { quietPeriodMilliseconds } = deps;
      const settings = { now: deps.clock.now(), quietPeriodMilliseconds, fabric };
      const { snapshot, misreferenced } = observe(hub, plane, namespace, pair, settings);
      const plan = decide(snapshot);
      let late = false;
      for (const step of plan.steps) {
        const confirmed =
          step.do !== 'delete' || step.because !== 'quiet' || (await isUnneeded(hub, plane, namespace, pair));
        if (confirmed) await act(step, plane);
        else late = true;
      }
      const { answer } = plan;
      if (answer !== undefined) {
        for (const binding of snapshot.bindings) await tell(binding, answer, plan.networkUid, snapshot, hub);
      }
      for (const binding of misreferenced)
        await tell(binding, misreference(binding, namespace), undefined, snapshot, hub);
      if (late) return { requeueAfterMilliseconds: lateCacheMilliseconds };
      const { requeueAfterMilliseconds } = plan;
      return requeueAfterMilliseconds === undefined ? undefined : { requeueAfterMilliseconds };
    },
  };
}

function requestOf(plane: Plane, namespace: string, pair: Pair): Request {
  return { plane: plane.id, namespace, name: pairName(pair) };
}

function isLeaving(planes: Planes, request: Request): boolean {
  const project = planes.get(request.plane);
  return project !== undefined && isQuiet(project, request.namespace, pairOf(request.name));
}

/** The presence an object of the hub is about; its namespace, where that leads to no engaged project. */
function requestsFor(hub: Plane, planes: Planes, object: KubeObject, pair: Pair): Request[] {
  const hubNamespace = object.metadata.namespace ?? '';
  const routing = routingOf(hub.informer(Namespace).get('', hubNamespace)?.metadata.labels);
  if (routing === undefined) return [];
  const plane = 'to' in routing ? planes.get(projectPlaneId(routing.to.project)) : undefined;
  return plane === undefined || !('to' in routing)
    ? [{ plane: hub.id, namespace: hubNamespace, name: '' }]
    : [requestOf(plane, routing.to.namespace, pair)];
}

function contextsBehind(planes: Planes, routing: Routing): Request[] {
  if (routing === undefined || !('to' in routing)) return [];
  const { project, namespace } = routing.to;
  const plane = planes.get(projectPlaneId(project));
  if (plane === undefined) return [];
  return plane
    .informer(NetworkContext)
    .list(namespace)
    .flatMap((context) => {
      const pair = pairOfContext(context);
      return pair === undefined ? [] : [requestOf(plane, namespace, pair)];
    });
}

/** Every presence of a network: those that are there, and those that are asked for. */
function presencesOf(network: Network, plane: Plane, hub: Plane | undefined): Request[] {
  const { namespace = '', name } = network.metadata;
  const there = contextsOfNetwork(plane, namespace, name).map(pairOfContext);
  const asked =
    hub === undefined
      ? []
      : hubNamespacesOf(hub, { project: plane.name, namespace })
          .flatMap(({ metadata }) => bindingsOfNetwork(hub, metadata.name, name))
          .map(pairOfBinding);
  return [...there, ...asked].flatMap((pair) => (pair === undefined ? [] : [requestOf(plane, namespace, pair)]));
}

/** Whether more than status changed. */
function hasMoved<T extends KubeObject>(old: Stored<T>, next: Stored<T>): boolean {
  return (
    old.metadata.uid !== next.metadata.uid ||
    old.metadata.generation !== next.metadata.generation ||
    isTerminating(old) !== isTerminating(next)
  );
}

/** Bindings of a hub namespace whose labels are wrong, or whose project is not served. */
async function unrouted(
  hub: Plane,
  namespace: string,
  planes: Planes,
  unserved: Map<string, number>,
  deps: NetworkDeps,
): Promise<Result> {
  const routing = routingOf(hub.informer(Namespace).get('', namespace)?.metadata.labels);
  if (routing === undefined) return undefined;
  const bindings = hub
    .informer(NetworkBinding)
    .list(namespace)
    .filter((binding) => !isTerminating(binding));
  const now = deps.clock.now();
  let message: string;
  if ('missing' in routing) {
    message = reasonMessage('ProjectUnresolved', { namespace, label: routing.missing });
  } else {
    const { project } = routing.to;
    if (planes.get(projectPlaneId(project)) !== undefined) return undefined;
    const ready = bindings.some((binding) => findCondition(binding.status?.conditions, 'Ready')?.status === 'True');
    const since = unserved.get(project) ?? now;
    const left = since + patienceMilliseconds - now;
    // Projects come up one after the other: a binding that is ready is not told otherwise for that.
    if (ready && left > 0) {
      unserved.set(project, since);
      return { requeueAfterMilliseconds: left };
    }
    message = reasonMessage('ProjectUnresolved', { namespace, project });
  }
  const answer: Answer = { context: undefined, reason: 'ProjectUnresolved', message };
  for (const binding of bindings) {
    await mergeStatus(hub.client, NetworkBinding, binding, bindingStatus(binding, answer, namespace, now));
  }
  return undefined;
}

function misreference(binding: NetworkBinding, own: string): Answer {
  const { name, namespace = '' } = binding.spec.network;
  const reason = 'NetworkReferenceInvalid';
  return { context: undefined, reason, message: reasonMessage(reason, { network: name, namespace, own }) };
}

async function tell(
  binding: Stored<NetworkBinding>,
  answer: Answer,
  networkUid: string | undefined,
  { namespace, now }: Snapshot,
  hub: Plane,
): Promise<void> {
  const { namespace: hubNamespace = '', name, resourceVersion, labels } = binding.metadata;
  let current = binding;
  if (networkUid !== undefined && labels?.[networkingLabels.networkUID] !== networkUid) {
    const body = { metadata: { resourceVersion, labels: { [networkingLabels.networkUID]: networkUid } } };
    current = await hub.client.patch(NetworkBinding, { namespace: hubNamespace, name }, { type: 'merge', body });
  }
  await mergeStatus(hub.client, NetworkBinding, current, bindingStatus(current, answer, namespace, now));
}

async function act(step: ContextStep, project: Plane): Promise<void> {
  if (step.do === 'create') {
    await project.client.create(NetworkContext, step.object);
    return;
  }
  const { namespace = '', name, uid, resourceVersion } = step.context.metadata;
  const key = { namespace, name };
  switch (step.do) {
    case 'update': {
      const { metadata, spec } = step;
      const body = { metadata: { ...metadata, resourceVersion }, ...(spec === undefined ? {} : { spec }) };
      await project.client.patch(NetworkContext, key, { type: 'merge', body });
      return;
    }
    case 'stamp': {
      const annotations = { [networkingAnnotations.unclaimedSince]: step.since };
      await project.client.patch(NetworkContext, key, {
        type: 'merge',
        body: { metadata: { resourceVersion, annotations } },
      });
      return;
    }
    case 'delete':
      // The version too: whoever has begun to need it since has written to it.
      await project.client.delete(NetworkContext, key, { preconditions: { uid, resourceVersion } });
      return;
  }
}
