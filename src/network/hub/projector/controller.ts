import {
  copyNameTaken,
  Network,
  NetworkInterface,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
  reasonMessage,
} from '../../../api/index.ts';
import { lostMark, takenRule, tellTaken } from '../../../federation/index.ts';
import {
  addFinalizer,
  type Controller,
  mergeStatus,
  type Plane,
  type Planes,
  type Request,
  removeFinalizer,
} from '../../../kube/index.ts';
import { isApiError, isTerminating, jsonEqual, Namespace, type Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { hubNamespacesOf, indexRoutes, projectPlaneId, type Route, routingOf, targetOf } from '../routing.ts';
import { isSynced, unsyncedRetry } from '../synced.ts';
import { decide, isCopy, type Step } from './decide.ts';

const name = 'network-hub-interface-projector';
const byNetwork = 'projector/network';
const reads = ['get', 'list', 'watch'];

/** Whoever waits for the end of what they deleted (kubectl does) is to see it gone before it is back. */
const awayMilliseconds = 2_000;

/** Shows a project its interfaces, retained ones included, and takes back what it returns. */
export function interfaceProjector(deps: NetworkDeps): Controller {
  /** When copies that were deleted although they are held may be back. By request; `clock.monotonic()` milliseconds. */
  const away = new Map<string, number>();

  return {
    name,
    rules: {
      hub: [
        { apiGroups: [NetworkInterface.group], resources: ['networkinterfaces'], verbs: [...reads, 'patch'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
      ],
      project: [
        {
          apiGroups: [NetworkInterface.group],
          resources: ['networkinterfaces'],
          verbs: [...reads, 'create', 'update', 'patch', 'delete'],
        },
        { apiGroups: [NetworkInterface.group], resources: ['networkinterfaces/status'], verbs: ['patch'] },
        { apiGroups: [NetworkInterface.group], resources: ['networks'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        takenRule,
      ],
    },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) {
        indexRoutes(plane);
        plane
          .informer(NetworkInterface)
          .addIndex(byNetwork, ({ metadata, spec }) => [networkValue(metadata.namespace, spec.network.name)]);
        watch.on(plane, NetworkInterface, (copy) => requestsFor(plane, planes, copy));
        watch.on(plane, Namespace, (namespace, event) => {
          const { name: hubNamespace, labels } = namespace.metadata;
          if (event.type === 'updated' && jsonEqual(event.old.metadata.labels, labels)) return [];
          const sources = plane.informer(NetworkInterface).list(hubNamespace);
          const shown =
            event.type === 'added' ? [] : copiesBehind(planes, event.type === 'updated' ? event.old : namespace);
          return [...sources.flatMap((source) => requestsFor(plane, planes, source)), ...shown];
        });
        return;
      }
      if (plane.role !== 'project') return;
      const hub = planes.get(deps.hub);
      for (const source of hub?.informer(NetworkInterface).list() ?? []) {
        for (const request of hub === undefined ? [] : requestsFor(hub, planes, source)) {
          if (request.plane === plane.id) watch.enqueue(request);
        }
      }
      watch.on(plane, NetworkInterface);
      watch.on(plane, Network, (network, event) => {
        const current = planes.get(deps.hub);
        if (current === undefined || event.type === 'updated') return [];
        const { namespace = '', name: networkName } = network.metadata;
        return hubNamespacesOf(current, { project: plane.name, namespace })
          .flatMap(({ metadata }) =>
            current.informer(NetworkInterface).byIndex(byNetwork, networkValue(metadata.name, networkName)),
          )
          .map(({ metadata }) => ({ plane: plane.id, namespace, name: metadata.name }));
      });
      watch.on(plane, Namespace, ({ metadata }, event) => {
        const current = planes.get(deps.hub);
        if (current === undefined || event.type !== 'added') return [];
        return hubNamespacesOf(current, { project: plane.name, namespace: metadata.name })
          .flatMap((namespace) => current.informer(NetworkInterface).list(namespace.metadata.name))
          .map((source) => ({ plane: plane.id, namespace: metadata.name, name: source.metadata.name }));
      });
    },

    async reconcile(request, planes) {
      const project = planes.get(request.plane);
      const hub = planes.get(deps.hub);
      if (project === undefined || hub === undefined || project === hub) return undefined;
      if (!isSynced(hub, [Namespace, NetworkInterface])) return unsyncedRetry;
      const { namespace } = request;
      const copy = project.informer(NetworkInterface).get(namespace, request.name);
      const source = await sourceOf(hub, { project: project.name, namespace }, request.name, copy);
      const network = await networkOf(project, namespace, source, copy);
      const home = project.informer(Namespace).get('', namespace);
      const open = home !== undefined && !isTerminating(home);
      const key = `${request.plane}\0${namespace}\0${request.name}`;
      const left = (away.get(key) ?? 0) - deps.clock.monotonic();
      if (copy === undefined && source !== undefined && left > 0) return { requeueAfterMilliseconds: left };
      away.delete(key);
      const isMaker = (manager: string) => manager === name;
      const mark = await lostMark({
        client: project.client,
        type: NetworkInterface,
        copy,
        source,
        isMaker,
        isMarked: isCopy,
      });
      const steps = decide({ source, copy, mark, network, namespace, open, now: deps.clock.now() });
      await act(steps, copy, hub, project, deps);
      if (steps.some((step) => step.do === 'say-held')) away.set(key, deps.clock.monotonic() + awayMilliseconds);
      const wait = steps.find((step) => step.do === 'wait');
      return wait === undefined ? undefined : { requeueAfterMilliseconds: wait.milliseconds };
    },
  };
}

function networkValue(namespace: string | undefined, network: string): string {
  return `${namespace ?? ''}\0${network}`;
}

function requestsFor(hub: Plane, planes: Planes, source: NetworkInterface): Request[] {
  const target = targetOf(hub, planes, source.metadata.namespace ?? '');
  return target === undefined
    ? []
    : [{ plane: target.plane.id, namespace: target.namespace, name: source.metadata.name }];
}

/** The project's copies of what was in a hub namespace. */
function copiesBehind(planes: Planes, hubNamespace: Namespace): Request[] {
  const routing = routingOf(hubNamespace.metadata.labels);
  if (routing === undefined || !('to' in routing)) return [];
  const { project, namespace } = routing.to;
  const plane = planes.get(projectPlaneId(project));
  if (plane === undefined) return [];
  const copies = plane.informer(NetworkInterface).list(namespace);
  return copies.map(({ metadata }) => ({ plane: plane.id, namespace, name: metadata.name }));
}

/** The hub's copy; absence is believed only from live reads, and only matters where there is a copy in the project. */
async function sourceOf(
  hub: Plane,
  route: Route,
  interfaceName: string,
  copy: NetworkInterface | undefined,
): Promise<Stored<NetworkInterface> | undefined> {
  const namespaces = hubNamespacesOf(hub, route).map(({ metadata }) => metadata.name);
  const recorded = copy?.metadata.labels?.[networkingLabels.sourceNamespace];
  for (const namespace of namespaces) {
    const cached = hub.informer(NetworkInterface).get(namespace, interfaceName);
    if (cached !== undefined) return cached;
  }
  if (copy === undefined) return undefined;
  if (recorded !== undefined && !namespaces.includes(recorded)) {
    const live = await hub.client.get(Namespace, { namespace: '', name: recorded });
    const routing = routingOf(live?.metadata.labels);
    const leadsHere =
      routing !== undefined &&
      'to' in routing &&
      routing.to.project === route.project &&
      routing.to.namespace === route.namespace;
    if (leadsHere) namespaces.push(recorded);
  }
  for (const namespace of namespaces) {
    const live = await hub.client.get(NetworkInterface, { namespace, name: interfaceName });
    if (live !== undefined) return live;
  }
  return undefined;
}

/** Whether a copy was deleted by a person or went with its network is not told from a cache that may be late. */
async function networkOf(
  project: Plane,
  namespace: string,
  source: NetworkInterface | undefined,
  copy: NetworkInterface | undefined,
): Promise<Stored<Network> | undefined> {
  const network = (source ?? copy)?.spec.network.name;
  if (network === undefined) return undefined;
  return copy !== undefined && isTerminating(copy)
    ? project.client.get(Network, { namespace, name: network })
    : project.informer(Network).get(namespace, network);
}

async function act(
  steps: readonly Step[],
  copy: Stored<NetworkInterface> | undefined,
  hub: Plane,
  project: Plane,
  deps: NetworkDeps,
): Promise<void> {
  let current = copy;
  for (const step of steps) {
    switch (step.do) {
      case 'create':
        current = await project.client.create(NetworkInterface, step.object);
        break;
      case 'update':
        current = await replace(step.object, current, project);
        break;
      case 'status':
        if (current !== undefined) {
          current = await mergeStatus(project.client, NetworkInterface, current, step.status);
        }
        break;
      case 'hold':
        await addFinalizer(project.client, NetworkInterface, step.copy, networkingFinalizers.interfaceReturn);
        // The rest is written to what is there then.
        return;
      case 'let-go':
        await letGo(step.copy, project);
        break;
      case 'remove':
        await remove(step.copy, project);
        break;
      case 'ask-return': {
        const { namespace = '', name: interfaceName, uid } = step.source.metadata;
        const annotations = { [networkingAnnotations.returnRequested]: step.interfaceUid };
        const body = { metadata: { uid, annotations } };
        await hub.client.patch(NetworkInterface, { namespace, name: interfaceName }, { type: 'merge', body });
        break;
      }
      case 'tell-taken':
        tellTaken({ holder: step.holder, plane: project }, name, copyNameTaken, deps);
        break;
      case 'say-held': {
        const params = { interface: step.copy.metadata.name, holder: step.holder };
        const note = reasonMessage('InterfaceHeld', params);
        deps
          .recorder(project, name)
          .event(step.copy, { type: 'Warning', reason: 'InterfaceHeld', action: 'Return', note });
        break;
      }
    }
  }
}

async function letGo(copy: Stored<NetworkInterface>, project: Plane): Promise<void> {
  await removeFinalizer(project.client, NetworkInterface, copy, networkingFinalizers.interfaceReturn);
}

/** Our own deletion is nobody's return: the finalizer that says so goes first. */
async function remove(copy: Stored<NetworkInterface>, project: Plane): Promise<void> {
  await letGo(copy, project);
  const { namespace = '', name: interfaceName, uid } = copy.metadata;
  await project.client.delete(NetworkInterface, { namespace, name: interfaceName }, { preconditions: { uid } });
}

/** An edit the schema refuses (the name is used anew on another network) makes the copy go and come again (F34). */
async function replace(
  object: NetworkInterface,
  current: Stored<NetworkInterface> | undefined,
  project: Plane,
): Promise<Stored<NetworkInterface> | undefined> {
  try {
    return await project.client.update(NetworkInterface, object);
  } catch (error) {
    if (!isApiError(error, 'Invalid') || current === undefined) throw error;
    await remove(current, project);
    return undefined;
  }
}
