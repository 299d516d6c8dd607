import { computeLabels, Instance, WorkloadDeployment } from '../../api/index.ts';
import type { UpKind } from '../../federation/index.ts';
import { apiVersionOf, findCondition, type KubeObject } from '../../meta/index.ts';
import { sourceGeneration } from '../shared/generation.ts';

/**
 * What the hub shows of a cell's instances: all of it, owned by the hub's deployment, so that it goes with that. Shown
 * only while the hub has the deployment (an instance nobody asked for is nobody's to see), and once its cell has said
 * of it whether it is ready: with its addresses, or with why there are none.
 */
export const instancePublication: UpKind<Instance> = {
  type: Instance,
  lookups: [
    {
      type: WorkloadDeployment,
      affects: {
        of: (instance) => {
          const owner = deploymentOf(instance);
          return owner === undefined ? [] : [owner];
        },
      },
    },
  ],
  publish(instance, lookup) {
    const owner = deploymentOf(instance);
    const deployment = owner === undefined ? undefined : lookup(WorkloadDeployment, owner);
    if (deployment === undefined || !isTold(instance)) return undefined;
    return {
      apiVersion: apiVersionOf(Instance),
      kind: Instance.kind,
      metadata: {
        name: instance.metadata.name,
        namespace: instance.metadata.namespace ?? '',
        labels: { ...instance.metadata.labels, [computeLabels.deploymentUID]: deployment.metadata.uid },
        annotations: { [sourceGeneration]: String(instance.metadata.generation ?? 1) },
        ownerReferences: [
          {
            apiVersion: deployment.apiVersion,
            kind: deployment.kind,
            name: deployment.metadata.name,
            uid: deployment.metadata.uid,
          },
        ],
      },
      ...(instance.spec === undefined ? {} : { spec: instance.spec }),
      ...(instance.status === undefined ? {} : { status: instance.status }),
    };
  },
};

function isTold({ status }: Instance): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready !== undefined && ready.status !== 'Unknown';
}

/** Name of the deployment that controls an instance; its label may carry only a hash of it. */
function deploymentOf(instance: KubeObject): string | undefined {
  return instance.metadata.ownerReferences?.find((ref) => ref.controller === true)?.name;
}
