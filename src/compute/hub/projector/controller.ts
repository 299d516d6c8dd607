import {
  copyNameTaken,
  hubNamespaceName,
  Instance,
  projectOfClusterLabel,
  upstreamLabels,
  WorkloadDeployment,
} from '../../../api/index.ts';
import {
  isSynced,
  lostMark,
  sourceUidOf,
  type TakenDeps,
  takenRule,
  tellTaken,
  unsyncedRetry,
} from '../../../federation/index.ts';
import type { Controller, Plane, Planes, Request } from '../../../kube/index.ts';
import { mergeStatus } from '../../../kube/index.ts';
import { Namespace, type Stored } from '../../../meta/index.ts';
import { announcement, decide } from './decide.ts';

const byDeployment = 'compute/deployment';
const reads = ['get', 'list', 'watch'];

const controllerName = 'compute-hub-instance-projector';
const isMaker = (manager: string) => manager === controllerName;

export interface ProjectorDeps extends TakenDeps {
  /** Id of the hub's plane. */
  hub: string;
}

/** Shows a project its instances: the hub's copies, mirrored into the project namespace they belong to. */
export function instanceProjector(deps: ProjectorDeps): Controller {
  return {
    name: controllerName,
    rules: {
      hub: [
        { apiGroups: [Instance.group], resources: ['instances'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
      ],
      project: [
        { apiGroups: [Instance.group], resources: ['instances'], verbs: [...reads, 'create', 'update', 'delete'] },
        { apiGroups: [Instance.group], resources: ['instances/status'], verbs: ['patch'] },
        { apiGroups: [Instance.group], resources: ['workloaddeployments'], verbs: reads },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        takenRule,
      ],
    },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) {
        plane
          .informer(Instance)
          .addIndex(byDeployment, (instance) => [
            `${instance.metadata.namespace ?? ''}/${deploymentOf(instance) ?? ''}`,
          ]);
        watch.on(plane, Instance);
        // A namespace says by its labels whose instances those in it are.
        watch.on(plane, Namespace, ({ metadata }) => requestsFor(plane, metadata.name));
        return;
      }
      if (plane.role !== 'project') return;
      // Of what came before its namespace nobody knew where on the hub it belongs.
      watch.on(plane, Namespace, ({ metadata }, event) => {
        const hub = planes.get(deps.hub);
        if (hub === undefined || event.type === 'updated') return [];
        const namespace = hubNamespaceName(metadata.uid);
        const copies = plane.informer(Instance).list(metadata.name);
        const named = copies.map((copy) => ({ plane: hub.id, namespace, name: copy.metadata.name }));
        return [...requestsFor(hub, namespace), ...named];
      });
      // A copy that a person removed comes back; one whose source went unseen is found.
      watch.on(plane, Instance, (copy) => {
        const hub = planes.get(deps.hub);
        const namespace = hub === undefined ? undefined : hubNamespaceOf(plane, copy.metadata.namespace ?? '');
        return namespace === undefined ? [] : [{ plane: deps.hub, namespace, name: copy.metadata.name }];
      });
      watch.on(plane, WorkloadDeployment, (deployment, event) => {
        const hub = planes.get(deps.hub);
        if (hub === undefined || event.type === 'updated') return [];
        const namespace = hubNamespaceOf(plane, deployment.metadata.namespace ?? '');
        return hub
          .informer(Instance)
          .byIndex(byDeployment, `${namespace}/${deployment.metadata.name}`)
          .map((instance) => requestOf(hub, instance));
      });
    },

    async reconcile(request, planes) {
      const hub = planes.get(request.plane);
      const target = hub === undefined ? undefined : targetOf(hub, planes, request.namespace);
      if (hub === undefined || target === undefined) return undefined;
      const { plane, namespace } = target;
      if (!isSynced(plane, [Instance, WorkloadDeployment])) return unsyncedRetry;
      const copy = plane.informer(Instance).get(namespace, request.name);
      const cached = hub.informer(Instance).get(request.namespace, request.name);
      const source = cached ?? (copy === undefined ? undefined : await hub.client.get(Instance, request));
      const owner = source === undefined ? undefined : deploymentOf(source);
      const deployment = owner === undefined ? undefined : plane.informer(WorkloadDeployment).get(namespace, owner);
      const uid = source && (sourceUidOf(source) ?? source.metadata.uid);
      const mark = await lostMark({ client: plane.client, type: Instance, copy, source, uid, isMaker });
      await act(decide({ source, copy, mark, deployment, namespace }), plane, copy, deps);
      return undefined;
    },
  };
}

function requestOf(plane: Plane, instance: Instance): Request {
  return { plane: plane.id, namespace: instance.metadata.namespace ?? '', name: instance.metadata.name };
}

function requestsFor(hub: Plane, namespace: string): Request[] {
  return hub
    .informer(Instance)
    .list(namespace)
    .map((instance) => requestOf(hub, instance));
}

/** Name of the deployment that owns the hub's copy; its label may carry only a hash of it. */
function deploymentOf(copy: Instance): string | undefined {
  return copy.metadata.ownerReferences?.find((ref) => ref.kind === WorkloadDeployment.kind)?.name;
}

/** The hub namespace that stands for a project's. */
function hubNamespaceOf(project: Plane, namespace: string): string | undefined {
  const uid = project.informer(Namespace).get('', namespace)?.metadata.uid;
  return uid === undefined ? undefined : hubNamespaceName(uid);
}

function targetOf(hub: Plane, planes: Planes, hubNamespace: string): { plane: Plane; namespace: string } | undefined {
  const labels = hub.informer(Namespace).get('', hubNamespace)?.metadata.labels;
  const project = projectOfClusterLabel(labels?.[upstreamLabels.clusterName]);
  const plane = project === undefined ? undefined : planes.get(`project/${project}`);
  const namespace = labels?.[upstreamLabels.namespace];
  return plane === undefined || namespace === undefined ? undefined : { plane, namespace };
}

async function act(
  steps: ReturnType<typeof decide>,
  plane: Plane,
  copy: Stored<Instance> | undefined,
  deps: ProjectorDeps,
): Promise<void> {
  let current = copy;
  for (const step of steps) {
    switch (step.do) {
      case 'create':
        current = await plane.client.create(Instance, step.object);
        break;
      case 'update':
        current = await plane.client.update(Instance, step.object);
        break;
      case 'status':
        if (current !== undefined) {
          await mergeStatus(plane.client, Instance, current, step.status);
          const said = announcement(copy?.status, step.status);
          if (said !== undefined) deps.recorder(plane, controllerName).event(current, { ...said, action: 'Report' });
        }
        break;
      case 'tell-taken': {
        const about = { object: step.deployment, plane };
        tellTaken({ holder: step.holder, plane, about }, controllerName, copyNameTaken, deps);
        break;
      }
      case 'delete': {
        const { namespace = '', name, uid } = step.copy.metadata;
        await plane.client.delete(Instance, { namespace, name }, { preconditions: { uid } });
        break;
      }
    }
  }
}
