import { computeFinalizers, LocationBinding, Workload, WorkloadDeployment } from '../../api/index.ts';
import {
  addFinalizer,
  type Clock,
  type Controller,
  mergeStatus,
  type Plane,
  type Request,
  removeFinalizer,
} from '../../kube/index.ts';
import { isTerminating, type Stored } from '../../meta/index.ts';
import { decide, type Snapshot, type Step } from './decide.ts';

const byWorkload = 'compute/workload';

/** Workloads to deployments, and what the deployments say back to the workload. */
export function workloadController(deps: { clock: Clock }): Controller {
  return {
    name: 'compute-project-workload',
    rules: {
      project: [
        { apiGroups: [Workload.group], resources: ['workloads'], verbs: ['get', 'list', 'watch', 'patch'] },
        { apiGroups: [Workload.group], resources: ['workloads/status'], verbs: ['patch'] },
        // blockOwnerDeletion on what the workload owns needs this where it is enforced.
        { apiGroups: [Workload.group], resources: ['workloads/finalizers'], verbs: ['update'] },
        {
          apiGroups: [Workload.group],
          resources: ['workloaddeployments'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
        },
        { apiGroups: [LocationBinding.group], resources: ['locationbindings'], verbs: ['get', 'list', 'watch'] },
      ],
    },

    engage(plane, _planes, watch) {
      watch.on(plane, Workload);
      plane
        .informer(WorkloadDeployment)
        .addIndex(byWorkload, (deployment) => [
          `${deployment.metadata.namespace ?? ''}/${deployment.spec?.workloadRef.name ?? ''}`,
        ]);
      watch.on(plane, WorkloadDeployment, (deployment) => [
        {
          plane: plane.id,
          namespace: deployment.metadata.namespace ?? '',
          name: deployment.spec?.workloadRef.name ?? '',
        },
      ]);
      watch.on(plane, LocationBinding, () =>
        plane
          .informer(Workload)
          .list()
          .map((workload) => requestOf(plane, workload)),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const workload = plane?.informer(Workload).get(request.namespace, request.name);
      if (plane === undefined || workload === undefined) return undefined;
      const plan = decide(await observe(plane, workload, deps.clock.now()));
      let current: Stored<Workload> | undefined = workload;
      for (const step of plan.steps) {
        current = await act(step, plane, current);
        if (current === undefined) return undefined;
      }
      await mergeStatus(plane.client, Workload, current, plan.status);
      return undefined;
    },
  };
}

function requestOf(plane: Plane, workload: Workload): Request {
  return { plane: plane.id, namespace: workload.metadata.namespace ?? '', name: workload.metadata.name };
}

async function observe(plane: Plane, workload: Stored<Workload>, now: number): Promise<Snapshot> {
  const namespace = workload.metadata.namespace ?? '';
  const cached = plane.informer(WorkloadDeployment);
  const bindings = plane.informer(LocationBinding).list();
  let deployments = cached.list(namespace);
  const mine = cached
    .byIndex(byWorkload, `${namespace}/${workload.metadata.name}`)
    .filter(({ spec }) => spec?.workloadRef.uid === workload.metadata.uid);
  if (isTerminating(workload) && mine.length === 0) {
    // Nothing left to release is believed only from a live read.
    deployments = (await plane.client.list(WorkloadDeployment, { namespace })).items;
  }
  return { workload, bindings, deployments, now };
}

/** Answers the workload as it is now, or undefined once it is gone. */
async function act(step: Step, plane: Plane, workload: Stored<Workload>): Promise<Stored<Workload> | undefined> {
  switch (step.do) {
    case 'hold':
      return addFinalizer(plane.client, Workload, workload, computeFinalizers.workload);
    case 'let-go':
      await removeFinalizer(plane.client, Workload, workload, computeFinalizers.workload);
      return undefined;
    case 'create':
      await plane.client.create(WorkloadDeployment, step.object);
      return workload;
    case 'update':
      await plane.client.update(WorkloadDeployment, step.object);
      return workload;
    case 'delete': {
      const { namespace = '', name, uid } = step.object.metadata;
      await plane.client.delete(WorkloadDeployment, { namespace, name }, { preconditions: { uid } });
      return workload;
    }
  }
}
