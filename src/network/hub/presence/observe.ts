import {
  contextName,
  LocationBinding,
  labelValue,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  upstreamLabels,
} from '../../../api/index.ts';
import type { Plane } from '../../../kube/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import { fabricFacts } from '../fabric.ts';
import { hubNamespacesOf } from '../routing.ts';
import type { Snapshot } from './decide.ts';
import { type Pair, pairName } from './key.ts';

const byPair = 'presence/pair';
const byNetwork = 'presence/network';
const byLocation = 'presence/location';

/** Kinds a presence is decided from, by plane. */
export const projectKinds = [Network, NetworkContext, LocationBinding, NetworkBinding] as const;
export const hubKinds = [NetworkBinding, NetworkInterface] as const;

const inNamespace = (namespace: string | undefined, rest: string): string => `${namespace ?? ''}\0${rest}`;

export function pairOfBinding({ spec }: NetworkBinding): Pair {
  return { network: spec.network.name, location: spec.location.name };
}

export function pairOfContext({ spec }: NetworkContext): Pair | undefined {
  return spec === undefined ? undefined : { network: spec.network.name, location: spec.location.name };
}

/** A copy says its location in a label; one too long for a label is only told by the record beside it. */
export function pairOfInterface({ metadata, spec }: NetworkInterface): Pair | undefined {
  const location =
    metadata.annotations?.[networkingAnnotations.recordedLocation] ?? metadata.labels?.[networkingLabels.location];
  return location === undefined ? undefined : { network: spec.network.name, location };
}

export function locationOf({ metadata, spec }: LocationBinding): string {
  const name = spec?.locationRef.name;
  return name === undefined || name === '' ? metadata.name : name;
}

export function indexHub(hub: Plane): void {
  const bindings = hub.informer(NetworkBinding);
  bindings.addIndex(byPair, (binding) => [inNamespace(binding.metadata.namespace, pairName(pairOfBinding(binding)))]);
  bindings.addIndex(byNetwork, (binding) => [inNamespace(binding.metadata.namespace, binding.spec.network.name)]);
  bindings.addIndex(byLocation, (binding) => [binding.spec.location.name]);
  hub.informer(NetworkInterface).addIndex(byPair, (copy) => {
    const pair = pairOfInterface(copy);
    return pair === undefined ? [] : [inNamespace(copy.metadata.namespace, pairName(pair))];
  });
}

export function indexProject(project: Plane): void {
  project.informer(NetworkContext).addIndex(byPair, (context) => {
    const pair = pairOfContext(context);
    return pair === undefined ? [] : [inNamespace(context.metadata.namespace, pairName(pair))];
  });
  project
    .informer(NetworkContext)
    .addIndex(byNetwork, ({ metadata, spec }) =>
      spec === undefined ? [] : [inNamespace(metadata.namespace, spec.network.name)],
    );
  project.informer(LocationBinding).addIndex(byLocation, (binding) => [locationOf(binding)]);
  project
    .informer(NetworkBinding)
    .addIndex(byPair, (binding) => [inNamespace(binding.metadata.namespace, pairName(pairOfBinding(binding)))]);
}

/** Bindings on the hub that name a network of a project namespace. */
export function bindingsOfNetwork(hub: Plane, hubNamespace: string, network: string): Stored<NetworkBinding>[] {
  return hub.informer(NetworkBinding).byIndex(byNetwork, inNamespace(hubNamespace, network));
}

export function bindingsOfLocation(hub: Plane, location: string): Stored<NetworkBinding>[] {
  return hub.informer(NetworkBinding).byIndex(byLocation, location);
}

export function contextsOfNetwork(project: Plane, namespace: string, network: string): Stored<NetworkContext>[] {
  return project.informer(NetworkContext).byIndex(byNetwork, inNamespace(namespace, network));
}

/** Whether the presence is on its way out: its quiet period runs. */
export function isQuiet(project: Plane, namespace: string, pair: Pair): boolean {
  return project
    .informer(NetworkContext)
    .byIndex(byPair, inNamespace(namespace, pairName(pair)))
    .some(({ metadata }) => metadata.annotations?.[networkingAnnotations.unclaimedSince] !== undefined);
}

/** Of another namespace than the project's own: nothing can be bound there (F19). */
export function isMisreferenced({ spec }: NetworkBinding, namespace: string): boolean {
  const named = spec.network.namespace;
  return named !== undefined && named !== '' && named !== namespace;
}

export interface Observed {
  snapshot: Snapshot;
  /** Bindings of the pair that name a network of another namespace. */
  misreferenced: readonly Stored<NetworkBinding>[];
}

/** From the caches of the hub and of the project; both are to be synced. */
export function observe(
  hub: Plane,
  project: Plane,
  namespace: string,
  pair: Pair,
  settings: { now: number; quietPeriodMilliseconds: number; fabric: boolean },
): Observed {
  const { fabric, ...time } = settings;
  const network = project.informer(Network).get(namespace, pair.network);
  const hubNamespaces = hubNamespacesOf(hub, { project: project.name, namespace });
  const asked = hubNamespaces
    .flatMap(({ metadata }) => hub.informer(NetworkBinding).byIndex(byPair, inNamespace(metadata.name, pairName(pair))))
    .filter((binding) => !isTerminating(binding));
  const labels = hubNamespaces[0]?.metadata.labels;
  const held = project.informer(NetworkContext).get(namespace, contextName(pair.network, pair.location));
  const heldBy = held === undefined ? undefined : pairOfContext(held);
  const snapshot: Snapshot = {
    pair,
    project: project.name,
    namespace,
    upstream:
      labels === undefined
        ? undefined
        : {
            [upstreamLabels.clusterName]: labels[upstreamLabels.clusterName] ?? '',
            [upstreamLabels.namespace]: labels[upstreamLabels.namespace] ?? '',
          },
    bindings: asked.filter((binding) => !isMisreferenced(binding, namespace)),
    inUse:
      hubNamespaces.some(({ metadata }) => isHeld(hub, metadata.name, pair)) ||
      project.informer(NetworkBinding).byIndex(byPair, inNamespace(namespace, pairName(pair))).length > 0,
    locationAvailable: project
      .informer(LocationBinding)
      .byIndex(byLocation, pair.location)
      .some((binding) => !isTerminating(binding)),
    network,
    fabric: fabric && network !== undefined ? fabricFacts(hub, network) : undefined,
    contexts: project.informer(NetworkContext).byIndex(byPair, inNamespace(namespace, pairName(pair))),
    nameTaken: held !== undefined && (heldBy?.network !== pair.network || heldBy.location !== pair.location),
    ...time,
  };
  return { snapshot, misreferenced: asked.filter((binding) => isMisreferenced(binding, namespace)) };
}

function isHeld(hub: Plane, hubNamespace: string, { network, location }: Pair): boolean {
  const names = new Set([location, labelValue(location)]);
  return [...names].some((name) => {
    const value = inNamespace(hubNamespace, pairName({ network, location: name }));
    return hub.informer(NetworkInterface).byIndex(byPair, value).length > 0;
  });
}

/** The same question as the caches were asked, put to the servers: nothing is torn down on a cache that is late. */
export async function isUnneeded(hub: Plane, project: Plane, namespace: string, pair: Pair): Promise<boolean> {
  const same = (other: Pair | undefined): boolean =>
    other?.network === pair.network &&
    (other.location === pair.location || other.location === labelValue(pair.location));
  const listed = hubNamespacesOf(hub, { project: project.name, namespace }).map(async ({ metadata }) => {
    const [bindings, interfaces] = await Promise.all([
      hub.client.list(NetworkBinding, { namespace: metadata.name }),
      hub.client.list(NetworkInterface, { namespace: metadata.name }),
    ]);
    const asked = bindings.items.some(
      (binding) => !isTerminating(binding) && same(pairOfBinding(binding)) && !isMisreferenced(binding, namespace),
    );
    return !asked && !interfaces.items.some((copy) => same(pairOfInterface(copy)));
  });
  const own = await project.client.list(NetworkBinding, { namespace });
  const unneeded = await Promise.all(listed);
  return unneeded.every(Boolean) && !own.items.some((binding) => same(pairOfBinding(binding)));
}
