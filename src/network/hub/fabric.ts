import {
  InternetEgressClass,
  Network,
  NetworkContext,
  NetworkFabricIdentity,
  oldestIdentity,
} from '../../api/index.ts';
import type { InformerEvent, Plane, Planes } from '../../kube/index.ts';
import { isTerminating, jsonEqual, type Stored } from '../../meta/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { type Classes, classNameOf, isDefaultClass, type Resolution, resolveEgress } from './egress/resolve.ts';
import { projectPlaneId } from './routing.ts';

/** What the hub knows of networks for the fabric's sake: read only where cells have a data plane. */

const byDefault = 'fabric/default';
const byNetworkUid = 'fabric/network-uid';
const byClass = 'fabric/class';
const byUid = 'fabric/uid';
const byNetwork = 'fabric/network';
const reads = ['get', 'list', 'watch'];

/** A network in the plane of its project. */
export interface Found {
  plane: Plane;
  network: Stored<Network>;
}

export interface FabricFacts {
  /** The network's number; undefined as long as it has none. */
  identity: number | undefined;
  egress: Resolution;
}

export function hasFabric({ dataPlane }: NetworkDeps): boolean {
  return dataPlane !== 'none';
}

/** Kinds of the hub, and rules to read them. */
export const fabricKinds = [InternetEgressClass, NetworkFabricIdentity] as const;
export const fabricRules = [
  { apiGroups: [InternetEgressClass.group], resources: ['internetegressclasses'], verbs: reads },
  { apiGroups: [NetworkFabricIdentity.group], resources: ['networkfabricidentities'], verbs: reads },
];

export function indexClasses(hub: Plane): void {
  hub.informer(InternetEgressClass).addIndex(byDefault, (each) => (isDefaultClass(each) ? ['true'] : []));
}

export function indexIdentities(hub: Plane): void {
  hub.informer(NetworkFabricIdentity).addIndex(byNetworkUid, ({ spec }) => [spec.networkUID]);
}

export function indexNetworks(project: Plane): void {
  const networks = project.informer(Network);
  networks.addIndex(byUid, ({ metadata }) => [metadata.uid]);
  networks.addIndex(byClass, (network) => {
    const name = classNameOf(network);
    return name === undefined ? [] : [name];
  });
  project
    .informer(NetworkContext)
    .addIndex(byNetwork, ({ metadata, spec }) => [networkKey(metadata.namespace, spec?.network.name)]);
  project
    .informer(NetworkContext)
    .addIndex(byClass, ({ spec }) => [spec?.egress?.internet?.className ?? ''].filter((name) => name !== ''));
}

export function classesOf(hub: Plane): Classes {
  const classes = hub.informer(InternetEgressClass);
  return { get: (name) => classes.get('', name), defaults: classes.byIndex(byDefault, 'true') };
}

export function identityOf(hub: Plane, networkUid: string): number | undefined {
  return oldestIdentity(hub.informer(NetworkFabricIdentity).byIndex(byNetworkUid, networkUid))?.spec.identity;
}

/** From the hub's caches, which are to be synced. */
export function fabricFacts(hub: Plane, network: Stored<Network>): FabricFacts {
  return { identity: identityOf(hub, network.metadata.uid), egress: resolveEgress(network, classesOf(hub)) };
}

/** Networks that a change of a class may concern: those that name it, and, where it is or was a default, those that name none. */
export function networksOfClass(
  planes: Planes,
  changed: Stored<InternetEgressClass>,
  event: InformerEvent<InternetEgressClass>,
): Found[] {
  const old = event.type === 'updated' ? event.old : changed;
  const same =
    event.type === 'updated' &&
    jsonEqual(old.spec, changed.spec) &&
    isDefaultClass(old) === isDefaultClass(changed) &&
    isTerminating(old) === isTerminating(changed);
  if (same) return [];
  const names = [changed.metadata.name, ...(isDefaultClass(changed) || isDefaultClass(old) ? [''] : [])];
  return planes.byRole('project').flatMap((plane) =>
    names.flatMap((name) =>
      plane
        .informer(Network)
        .byIndex(byClass, name)
        .map((network) => ({ plane, network })),
    ),
  );
}

/** The network a number is of. */
export function networksOfIdentity(planes: Planes, { spec }: NetworkFabricIdentity): Found[] {
  const { project } = spec.networkRef ?? {};
  const named = project === undefined ? undefined : planes.get(projectPlaneId(project));
  const searched = project === undefined ? planes.byRole('project') : named === undefined ? [] : [named];
  return searched.flatMap((plane) =>
    plane
      .informer(Network)
      .byIndex(byUid, spec.networkUID)
      .map((network) => ({ plane, network })),
  );
}

/** Contexts of a project that name the network. */
export function contextsNaming(plane: Plane, { metadata }: Network): Stored<NetworkContext>[] {
  return plane.informer(NetworkContext).byIndex(byNetwork, networkKey(metadata.namespace, metadata.name));
}

/** Contexts of a project that say they are of the class. */
export function contextsOfClass(project: Plane, className: string): Stored<NetworkContext>[] {
  return project.informer(NetworkContext).byIndex(byClass, className);
}

function networkKey(namespace = '', name = ''): string {
  return `${namespace}/${name}`;
}
