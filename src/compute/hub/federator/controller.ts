import {
  computeAnnotations,
  computeFinalizers,
  copyNameTaken,
  hubNamespaceName,
  NetworkBinding,
  projectOfClusterLabel,
  upstreamLabels,
  WorkloadDeployment,
} from '../../../api/index.ts';
import { isSynced, lostMark, type TakenDeps, takenRule, tellTaken, unsyncedRetry } from '../../../federation/index.ts';
import {
  addFinalizer,
  type Clock,
  type Controller,
  mergeStatus,
  type Plane,
  type Request,
  removeFinalizer,
} from '../../../kube/index.ts';
import { isApiError, isTerminating, type KubeObject, Namespace, type Stored } from '../../../meta/index.ts';
import { companionKinds, type DataReference, typeOf } from '../../shared/data.ts';
import { decide, keyOf, type Snapshot, type Step } from './decide.ts';
import { observeData, watchCompanions, watchSources } from './observe-data.ts';

export interface FederatorDeps extends TakenDeps {
  clock: Clock;
  /** Id of the hub's plane. */
  hub: string;
  /** Feature gate NetworkingIntegration: without it no binding is read or written. */
  networkingIntegration: boolean;
  /** Feature gate ReferencedData: without it no ConfigMap and no Secret is read or written. */
  referencedData: boolean;
}

const reads = ['get', 'list', 'watch'];

const controllerName = 'compute-hub-federator';
const isMaker = (manager: string) => manager === controllerName;

/** Carries a project's deployments to the hub, their bindings beside them, and their status back. */
export function federatorController(deps: FederatorDeps): Controller {
  const bindings = [
    {
      apiGroups: [NetworkBinding.group],
      resources: ['networkbindings'],
      verbs: [...reads, 'create', 'patch', 'delete'],
    },
  ];
  const sources = { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: reads };
  const companions = { ...sources, verbs: [...reads, 'create', 'update', 'delete'] };
  return {
    name: controllerName,
    rules: {
      project: [
        { apiGroups: [WorkloadDeployment.group], resources: ['workloaddeployments'], verbs: [...reads, 'patch'] },
        { apiGroups: [WorkloadDeployment.group], resources: ['workloaddeployments/status'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        ...(deps.referencedData ? [sources] : []),
        takenRule,
      ],
      hub: [
        {
          apiGroups: [WorkloadDeployment.group],
          resources: ['workloaddeployments'],
          verbs: [...reads, 'create', 'update', 'delete'],
        },
        { apiGroups: [''], resources: ['namespaces'], verbs: [...reads, 'create', 'patch'] },
        ...(deps.networkingIntegration ? bindings : []),
        ...(deps.referencedData ? [companions] : []),
        takenRule,
      ],
    },

    engage(plane, planes, watch) {
      if (plane.role === 'project') {
        watch.on(plane, WorkloadDeployment);
        watch.on(plane, Namespace, (namespace) =>
          plane
            .informer(WorkloadDeployment)
            .list(namespace.metadata.name)
            .map((deployment) => ({ plane: plane.id, ...keyOf(deployment) })),
        );
        if (deps.referencedData) watchSources(plane, watch);
        return;
      }
      if (plane.id !== deps.hub) return;
      // A hub that joins later than its projects is sent what they have.
      for (const project of planes.byRole('project')) {
        for (const deployment of project.informer(WorkloadDeployment).list()) {
          watch.enqueue({ plane: project.id, ...keyOf(deployment) });
        }
      }
      const sourceOf = (namespace: Stored<Namespace> | undefined, name: string): Request[] => {
        const source = upstreamOf(namespace);
        return source === undefined || planes.get(source.plane) === undefined ? [] : [{ ...source, name }];
      };
      const fromHub = ({ metadata }: KubeObject): Request[] =>
        sourceOf(plane.informer(Namespace).get('', metadata.namespace ?? ''), metadata.name);
      // Of what came before its namespace nobody knew whose it is; what lost its namespace, or the labels on it, gets
      // them again.
      watch.on(plane, Namespace, (namespace, event) => {
        const told = event.type === 'updated' ? event.old : namespace;
        const upstream = upstreamOf(told);
        const project = upstream === undefined ? undefined : planes.get(upstream.plane);
        if (upstream === undefined || project === undefined) return [];
        const copies = plane.informer(WorkloadDeployment).list(namespace.metadata.name);
        const deployments = project.informer(WorkloadDeployment).list(upstream.namespace);
        return [...copies, ...deployments].flatMap(({ metadata }) => sourceOf(told, metadata.name));
      });
      watch.on(plane, WorkloadDeployment, fromHub);
      // A binding has the name of the deployment it is for.
      if (deps.networkingIntegration) watch.on(plane, NetworkBinding, fromHub);
      if (deps.referencedData) watchCompanions(plane, watch, sourceOf);
    },

    async reconcile(request, planes) {
      const project = planes.get(request.plane);
      const hub = planes.get(deps.hub);
      if (project === undefined || hub === undefined) return undefined;
      const kinds = [
        Namespace,
        WorkloadDeployment,
        ...(deps.networkingIntegration ? [NetworkBinding] : []),
        ...(deps.referencedData ? companionKinds : []),
      ];
      if (!isSynced(hub, kinds)) return unsyncedRetry;
      const snapshot = await observe(request, project, hub, deps);
      if (snapshot === undefined) return undefined;
      let source = snapshot.source;
      for (const step of decide(snapshot)) {
        if (step.do === 'tell-taken') {
          const about = snapshot.source && { object: snapshot.source, plane: project };
          tellTaken({ holder: step.holder, plane: hub, about }, controllerName, copyNameTaken, deps);
          continue;
        }
        const answer = await act(step, source, project, hub);
        if (answer !== undefined) source = answer;
      }
      return undefined;
    },
  };
}

/** The project namespace a hub namespace stands for. */
function upstreamOf(namespace: Stored<Namespace> | undefined): { plane: string; namespace: string } | undefined {
  const labels = namespace?.metadata.labels;
  const project = projectOfClusterLabel(labels?.[upstreamLabels.clusterName]);
  const upstream = labels?.[upstreamLabels.namespace];
  return project === undefined || upstream === undefined
    ? undefined
    : { plane: `project/${project}`, namespace: upstream };
}

async function observe(
  request: Request,
  project: Plane,
  hub: Plane,
  deps: FederatorDeps,
): Promise<Snapshot | undefined> {
  const sourceNamespace = project.informer(Namespace).get('', request.namespace);
  const cached = project.informer(WorkloadDeployment).get(request.namespace, request.name);
  // Never by the annotation on the deployment: whoever may edit that would choose whose namespace is written to.
  const hubNamespace =
    sourceNamespace === undefined ? leftBehind(request, project, hub) : hubNamespaceName(sourceNamespace.metadata.uid);
  if (hubNamespace === undefined) return undefined;
  const key = { namespace: hubNamespace, name: request.name };
  const cachedCopy = hub.informer(WorkloadDeployment).get(hubNamespace, request.name);
  const source =
    cached ?? (cachedCopy === undefined ? undefined : await project.client.get(WorkloadDeployment, request));
  // Whether the copy is really gone decides whether the name is free.
  const ending = source !== undefined && isTerminating(source);
  const copy = cachedCopy ?? (ending ? await hub.client.get(WorkloadDeployment, key) : undefined);
  const mark = await lostMark({ client: hub.client, type: WorkloadDeployment, copy, source, isMaker });
  return {
    project: project.name,
    mark,
    source,
    sourceNamespace,
    hubNamespace,
    hub,
    now: deps.clock.now(),
    namespace: hub.informer(Namespace).get('', hubNamespace),
    copy,
    binding: deps.networkingIntegration ? hub.informer(NetworkBinding).get(hubNamespace, request.name) : undefined,
    networking: deps.networkingIntegration,
    data:
      deps.referencedData && source !== undefined
        ? await observeData(source, hubNamespace, project, hub, isMaker)
        : undefined,
  };
}

/** The hub namespace that still has a copy of what is gone together with its namespace. */
function leftBehind(request: Request, project: Plane, hub: Plane): string | undefined {
  const copies = hub.informer(WorkloadDeployment);
  return hub
    .informer(Namespace)
    .list()
    .find((namespace) => {
      const upstream = upstreamOf(namespace);
      const its = upstream?.plane === project.id && upstream.namespace === request.namespace;
      return its && copies.get(namespace.metadata.name, request.name) !== undefined;
    })?.metadata.name;
}

/** Answers the project's deployment as it is after the step, where the step changed it. */
async function act(
  step: Exclude<Step, { do: 'tell-taken' }>,
  source: Stored<WorkloadDeployment> | undefined,
  project: Plane,
  hub: Plane,
): Promise<Stored<WorkloadDeployment> | undefined> {
  switch (step.do) {
    case 'hold':
      return addFinalizer(project.client, WorkloadDeployment, source ?? step.source, computeFinalizers.federator);
    case 'let-go':
      await removeFinalizer(project.client, WorkloadDeployment, source ?? step.source, computeFinalizers.federator);
      return undefined;
    case 'record-namespace': {
      const body = { metadata: { annotations: { [computeAnnotations.federationNamespace]: step.namespace } } };
      return project.client.patch(WorkloadDeployment, keyOf(step.source), { type: 'merge', body });
    }
    case 'create-namespace':
      try {
        await hub.client.create(Namespace, step.object);
      } catch (error) {
        // A deployment beside this one made it.
        if (!isApiError(error, 'AlreadyExists')) throw error;
      }
      return undefined;
    case 'label-namespace': {
      const key = { namespace: '', name: step.name };
      await hub.client.patch(Namespace, key, { type: 'merge', body: { metadata: { labels: step.labels } } });
      return undefined;
    }
    case 'create-copy':
      await hub.client.create(WorkloadDeployment, step.object);
      return undefined;
    case 'update-copy':
      await hub.client.update(WorkloadDeployment, step.object);
      return undefined;
    case 'delete-copy':
      await hub.client.delete(WorkloadDeployment, keyOf(step.copy), { preconditions: { uid: step.copy.metadata.uid } });
      return undefined;
    case 'create-companion':
      await hub.client.create(typeOf(step.object.kind as DataReference['kind']), step.object);
      return undefined;
    case 'update-companion':
      await hub.client.update(typeOf(step.object.kind as DataReference['kind']), step.object);
      return undefined;
    case 'delete-companion': {
      const { kind, metadata } = step.companion;
      const preconditions = { uid: metadata.uid };
      await hub.client.delete(typeOf(kind as DataReference['kind']), keyOf(step.companion), { preconditions });
      return undefined;
    }
    case 'create-binding':
      await hub.client.create(NetworkBinding, step.object);
      return undefined;
    case 'delete-binding': {
      const { uid } = step.binding.metadata;
      await hub.client.delete(NetworkBinding, keyOf(step.binding), { preconditions: { uid } });
      return undefined;
    }
    case 'label-binding': {
      const { uid } = step.binding.metadata;
      const body = { metadata: { uid, labels: step.labels } };
      await hub.client.patch(NetworkBinding, keyOf(step.binding), { type: 'merge', body });
      return undefined;
    }
    case 'report':
      return mergeStatus(project.client, WorkloadDeployment, source ?? step.source, step.status);
  }
}
