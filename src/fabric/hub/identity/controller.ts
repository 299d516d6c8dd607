import {
  fabricIdentityName,
  isProjectGone,
  Network,
  NetworkContext,
  NetworkFabricIdentity,
  networkingLabels,
  projectOfClusterLabel,
  reasonMessage,
  upstreamLabels,
} from '../../../api/index.ts';
import type { Controller, Plane, Planes, Request, Result } from '../../../kube/index.ts';
import { Event, isApiError, Namespace, type Stored } from '../../../meta/index.ts';
import type { FabricHubDeps } from '../../shared/deps.ts';
import { decide, identityOf, type NetworkPlace } from './decide.ts';
import { type Held, Numbers, numbersRule } from './numbers.ts';

const controllerName = 'fabric-hub-identity';
const reads = ['get', 'list', 'watch'];
const byNetworkUid = 'fabric/network-uid';
const byPlace = 'fabric/network';
const byProject = 'fabric/project';
/** When to look again while a plane has not listed what is asked of it: it has no event to wait for. */
const unsyncedRetry = { requeueAfterMilliseconds: 200 };
const disengagedRetry = { requeueAfterMilliseconds: 10_000 };

/** A smaller range than the API allows. */
export interface IdentityOptions {
  largest?: number;
  blockSize?: number;
}

/**
 * One number for each network, the same in all cells: a NetworkFabricIdentity `id-<number>`, made when the network is and
 * gone when it is.
 *
 * A request is a network of a project; or, in the hub's plane, an identity whose project is not engaged.
 */
export function identityController(deps: FabricHubDeps, options: IdentityOptions = {}): Controller {
  const numbers = new Numbers(options);

  return {
    name: controllerName,
    rules: {
      hub: [
        {
          apiGroups: [NetworkFabricIdentity.group],
          resources: ['networkfabricidentities'],
          verbs: [...reads, 'create', 'delete'],
        },
        { apiGroups: [NetworkContext.group], resources: ['networkcontexts'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        numbersRule,
      ],
      project: [
        { apiGroups: [Network.group], resources: ['networks'], verbs: reads },
        { apiGroups: [Event.group], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) {
        const identities = plane.informer(NetworkFabricIdentity);
        identities.addIndex(byNetworkUid, ({ spec }) => [spec.networkUID]);
        identities.addIndex(byPlace, (identity) => placeOf(identity).map(placeKey));
        identities.addIndex(byProject, (identity) => placeOf(identity).map(({ project }) => project));
        // Asked for here, so that it has been listed when somebody needs it.
        plane.informer(Namespace);
        plane.informer(NetworkContext).addIndex(byNetworkUid, ({ metadata }) => {
          const uid = metadata.labels?.[networkingLabels.networkUID];
          return uid === undefined ? [] : [uid];
        });
        watch.on(plane, NetworkFabricIdentity, (identity, event) =>
          event.type === 'updated' ? [] : requestsOf(identity, plane, planes),
        );
        return;
      }
      if (plane.role !== 'project') return;
      watch.on(plane, Network, ({ metadata }, event) =>
        event.type === 'updated' ? [] : [{ plane: plane.id, namespace: metadata.namespace ?? '', name: metadata.name }],
      );
      // Of networks that went while nobody looked, and of those of a project that goes now.
      const identities = () =>
        planes.get(deps.hub)?.informer(NetworkFabricIdentity).byIndex(byProject, plane.name) ?? [];
      for (const identity of identities()) {
        for (const { namespace, name } of placeOf(identity)) watch.enqueue({ plane: plane.id, namespace, name });
      }
      plane.signal.addEventListener('abort', () => {
        for (const { metadata } of identities()) {
          watch.enqueue({ plane: deps.hub, namespace: '', name: metadata.name });
        }
      });
    },

    async reconcile(request, planes) {
      const hub = planes.get(deps.hub);
      const plane = planes.get(request.plane);
      if (hub === undefined || plane === undefined) return undefined;
      if (plane === hub) return orphaned(hub, request.name, planes, deps);
      return network(hub, plane, request, numbers, deps);
    },
  };
}

async function network(
  hub: Plane,
  plane: Plane,
  request: Request,
  numbers: Numbers,
  deps: FabricHubDeps,
): Promise<Result> {
  const identities = hub.informer(NetworkFabricIdentity);
  const others = [hub.informer(NetworkContext).synced, hub.informer(Namespace).synced];
  if (!identities.synced || others.includes(false)) return unsyncedRetry;
  const place: NetworkPlace = { project: plane.name, namespace: request.namespace, name: request.name };
  const object = plane.informer(Network).get(request.namespace, request.name);
  const named = identities.byIndex(byPlace, placeKey(place));
  const own = object === undefined ? [] : identities.byIndex(byNetworkUid, object.metadata.uid);
  const plan = decide({ network: object, identities: [...new Set([...named, ...own])] });
  if (plan.abandoned.length > 0) {
    const live = await plane.client.get(Network, request);
    for (const identity of plan.abandoned) {
      if (identity.spec.networkUID !== live?.metadata.uid) await release(hub, identity);
    }
  }
  for (const identity of plan.surplus) await release(hub, identity);
  return plan.allocate && object !== undefined ? allocate(hub, plane, object, place, numbers, deps) : undefined;
}

async function allocate(
  hub: Plane,
  plane: Plane,
  object: Stored<Network>,
  place: NetworkPlace,
  numbers: Numbers,
  deps: FabricHubDeps,
): Promise<Result> {
  const { uid } = object.metadata;
  // An answer that was lost may have made one.
  const labelSelector = `${networkingLabels.networkUID}=${uid}`;
  const made = await hub.client.list(NetworkFabricIdentity, { labelSelector });
  if (made.items.length > 0) return undefined;
  const identities = hub.informer(NetworkFabricIdentity);
  const held: Held = {
    has: (number) => identities.get('', fabricIdentityName(number)) !== undefined,
    count: () => identities.list().length,
  };
  // A number somebody took away by hand comes back to whom the cells know by it.
  const known = numbersToldOf(hub, place, uid).find((number) => !held.has(number));
  let number = known ?? (await numbers.take(hub.client, held));
  while (number !== undefined) {
    try {
      await hub.client.create(NetworkFabricIdentity, identityOf(number, place, uid));
      return undefined;
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
      number = await numbers.take(hub.client, held);
    }
  }
  const reason = 'FabricIdentityExhausted';
  const note = reasonMessage(reason, { network: object.metadata.name });
  deps.recorder(plane, controllerName).event(object, { type: 'Warning', reason, action: 'Allocate', note });
  throw new Error(note);
}

/** What cells were told of a network. The UID alone could be written by anybody, the labels of hub namespaces not. */
function numbersToldOf(hub: Plane, { project, namespace, name }: NetworkPlace, uid: string): number[] {
  return hub
    .informer(NetworkContext)
    .byIndex(byNetworkUid, uid)
    .filter(({ metadata, spec }) => {
      const labels = hub.informer(Namespace).get('', metadata.namespace ?? '')?.metadata.labels;
      return (
        spec?.network.name === name &&
        projectOfClusterLabel(labels?.[upstreamLabels.clusterName]) === project &&
        labels?.[upstreamLabels.namespace] === namespace
      );
    })
    .flatMap(({ spec }) => spec?.fabricIdentity ?? []);
}

/** An identity whose project is not engaged: it goes where the network, or the project with it, is known to be gone. */
async function orphaned(hub: Plane, name: string, planes: Planes, deps: FabricHubDeps): Promise<Result> {
  const identity = hub.informer(NetworkFabricIdentity).get('', name);
  const place = identity === undefined ? undefined : placeOf(identity)[0];
  if (identity === undefined || place === undefined) return undefined;
  // Engaged meanwhile: it has been asked for there.
  if (planes.get(planeIdOf(place)) !== undefined) return undefined;
  // A project that is going is let go of first and gone a little later, and nobody tells of that.
  if (await isThere(place, identity.spec.networkUID, deps)) return disengagedRetry;
  await release(hub, identity);
  return undefined;
}

async function isThere({ project, namespace, name }: NetworkPlace, uid: string, deps: FabricHubDeps): Promise<boolean> {
  try {
    const live = await deps.projectClient(controllerName, project).get(Network, { namespace, name });
    return live?.metadata.uid === uid;
  } catch (error) {
    if (isProjectGone(error)) return false;
    throw error;
  }
}

async function release(hub: Plane, { metadata }: Stored<NetworkFabricIdentity>): Promise<void> {
  const key = { namespace: '', name: metadata.name };
  await hub.client.delete(NetworkFabricIdentity, key, { preconditions: { uid: metadata.uid } });
}

function requestsOf(identity: Stored<NetworkFabricIdentity>, hub: Plane, planes: Planes): Request[] {
  return placeOf(identity).map((place) => {
    const plane = planes.get(planeIdOf(place));
    return plane === undefined
      ? { plane: hub.id, namespace: '', name: identity.metadata.name }
      : { plane: plane.id, namespace: place.namespace, name: place.name };
  });
}

function planeIdOf({ project }: NetworkPlace): string {
  return `project/${project}`;
}

/** One made by hand may say nothing of where its network is: it is used, and never released. */
function placeOf({ spec }: NetworkFabricIdentity): NetworkPlace[] {
  const { project, namespace, name } = spec.networkRef ?? {};
  return project === undefined || namespace === undefined || name === undefined ? [] : [{ project, namespace, name }];
}

function placeKey({ project, namespace, name }: NetworkPlace): string {
  return `${project}\0${namespace}\0${name}`;
}
