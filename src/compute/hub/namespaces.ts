import { hubNamespaceName, projectOfClusterLabel, upstreamLabels } from '../../api/index.ts';
import type { Controller, Planes } from '../../kube/index.ts';
import { isTerminating, Namespace, type Stored } from '../../meta/index.ts';

const reads = ['get', 'list', 'watch'];

/** The project namespace a hub namespace stands for, by its labels; undefined where it stands for none. */
function upstreamOf(namespace: Namespace): { plane: string; name: string } | undefined {
  const labels = namespace.metadata.labels;
  const project = projectOfClusterLabel(labels?.[upstreamLabels.clusterName]);
  const name = labels?.[upstreamLabels.namespace];
  return project === undefined || name === undefined ? undefined : { plane: `project/${project}`, name };
}

/**
 * Pure. A hub namespace goes when the project namespace it stands for is gone, or is another one of that name: what
 * is left in it (retained interfaces, in the cells) is then nobody's. `upstream` was read live.
 */
export function outlived(namespace: Stored<Namespace>, upstream: Stored<Namespace> | undefined): boolean {
  return upstream === undefined || hubNamespaceName(upstream.metadata.uid) !== namespace.metadata.name;
}

/** The end of hub namespaces. They are made by the federator, with the first deployment in them. */
export function hubNamespaceController(deps: { hub: string }): Controller {
  return {
    name: 'compute-hub-namespace',
    rules: {
      project: [{ apiGroups: [''], resources: ['namespaces'], verbs: reads }],
      hub: [{ apiGroups: [''], resources: ['namespaces'], verbs: [...reads, 'delete'] }],
    },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) watch.on(plane, Namespace);
      if (plane.role !== 'project') return;
      watch.on(plane, Namespace, (namespace, event) =>
        event.type === 'updated' || planes.get(deps.hub) === undefined
          ? []
          : [{ plane: deps.hub, namespace: '', name: hubNamespaceName(namespace.metadata.uid) }],
      );
    },

    async reconcile(request, planes: Planes) {
      const hub = planes.get(request.plane);
      const namespace = hub?.informer(Namespace).get('', request.name);
      if (hub === undefined || namespace === undefined || isTerminating(namespace)) return undefined;
      const upstream = upstreamOf(namespace);
      // A project that is not served here may be so again; one that is deleted takes its hub namespaces along itself.
      const project = upstream === undefined ? undefined : planes.get(upstream.plane);
      if (upstream === undefined || project === undefined) return undefined;
      const cached = project.informer(Namespace).get('', upstream.name);
      if (cached !== undefined && !outlived(namespace, cached)) return undefined;
      const live = await project.client.get(Namespace, { namespace: '', name: upstream.name });
      if (!outlived(namespace, live)) return undefined;
      const { name, uid } = namespace.metadata;
      await hub.client.delete(Namespace, { namespace: '', name }, { preconditions: { uid } });
      return undefined;
    },
  };
}
