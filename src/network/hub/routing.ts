import { projectOfClusterLabel, upstreamLabels } from '../../api/index.ts';
import type { Plane, Planes } from '../../kube/index.ts';
import { Namespace, type ObjectMeta, type Stored } from '../../meta/index.ts';

/** The project namespace a hub namespace stands for. */
export interface Route {
  project: string;
  namespace: string;
}

/** What the labels of a hub namespace say; `undefined` for a namespace that stands for none. */
export type Routing = { to: Route } | { missing: string } | undefined;

/** Both upstream labels, or neither: a namespace with one of them still claims to stand for a project's (C.2). */
export function routingOf(labels: ObjectMeta['labels']): Routing {
  const cluster = labels?.[upstreamLabels.clusterName];
  const namespace = labels?.[upstreamLabels.namespace];
  if (cluster === undefined && namespace === undefined) return undefined;
  const project = projectOfClusterLabel(cluster);
  if (project === undefined) return { missing: upstreamLabels.clusterName };
  if (namespace === undefined || namespace === '') return { missing: upstreamLabels.namespace };
  return { to: { project, namespace } };
}

const byRoute = 'network/upstream';
const indexValue = ({ project, namespace }: Route): string => `${project}\0${namespace}`;

/** To be called when the hub is engaged: makes hub namespaces findable by the project namespace they stand for. */
export function indexRoutes(hub: Plane): void {
  hub.informer(Namespace).addIndex(byRoute, ({ metadata }) => {
    const routing = routingOf(metadata.labels);
    return routing !== undefined && 'to' in routing ? [indexValue(routing.to)] : [];
  });
}

/** The hub namespaces that stand for a project namespace, in order of name: one, but for namespaces made by hand. */
export function hubNamespacesOf(hub: Plane, route: Route): Stored<Namespace>[] {
  return hub
    .informer(Namespace)
    .byIndex(byRoute, indexValue(route))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

export function projectPlaneId(project: string): string {
  return `project/${project}`;
}

/** The engaged plane, and the namespace in it, that a hub namespace stands for. */
export function targetOf(
  hub: Plane,
  planes: Planes,
  hubNamespace: string,
): { plane: Plane; namespace: string } | undefined {
  const routing = routingOf(hub.informer(Namespace).get('', hubNamespace)?.metadata.labels);
  if (routing === undefined || !('to' in routing)) return undefined;
  const plane = planes.get(projectPlaneId(routing.to.project));
  return plane === undefined ? undefined : { plane, namespace: routing.to.namespace };
}
