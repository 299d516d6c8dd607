import {
  computeLabels,
  type Instance,
  reasonMessage,
  schedulingGates,
  type WorkloadDeployment,
} from '../../../api/index.ts';
import {
  type Condition,
  findCondition,
  isConditionTrue,
  isTerminating,
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import { observedGenerationOf } from '../../shared/generation.ts';
import { leadingReason, mergeWaiting, rankOf, replicasReady, type Waiting } from '../../shared/replicas.ts';
import { interfaceRequest, templateHashOf } from '../../shared/template.ts';
import type { DataState } from '../data.ts';
import type { LocationIdentity } from '../location.ts';

interface View {
  deployment: Stored<WorkloadDeployment>;
  location: LocationIdentity;
  /** The instance of each slot. */
  instances: readonly Stored<Instance>[];
  data: DataState;
  now: number;
}

interface Said {
  reason: string;
  message: string;
}

/** Pure. Counts, and one true reason, for as long as not every instance is ready. */
export function deploymentStatus(
  view: View,
  desired: number,
  hash: string,
  refusal: Said | undefined,
): NonNullable<WorkloadDeployment['status']> {
  const { deployment, instances, location, now } = view;
  const generation = observedGenerationOf(deployment);
  const updated = instances.filter((instance) => templateHashOf(instance) === hash);
  const ready = instances.filter(isReady);
  const counts = {
    replicas: instances.length,
    currentReplicas: updated.filter((each) => isConditionTrue(each.status?.conditions, 'Programmed')).length,
    updatedReplicas: updated.length,
    desiredReplicas: desired,
    readyReplicas: ready.length,
  };
  const waiting = waitingIn(instances);
  // Instances that a refusal keeps from being made wait for the same reason.
  const unmade = Math.max(0, desired - instances.length);
  const missing = refusal === undefined || unmade === 0 ? [] : [{ ...refusal, count: unmade }];
  const available = availableOf(ready, waiting, refusal, deployment, counts);
  const before = deployment.status?.conditions?.filter(
    ({ type }) => view.data !== undefined || type !== 'ReferencedDataReady',
  );
  let conditions = withCondition(before, { ...available, observedGeneration: generation }, now);
  conditions = withCondition(conditions, replicasReady(counts, mergeWaiting([waiting, missing]), generation), now);
  if (view.data !== undefined) {
    conditions = withCondition(conditions, { ...dataReady(view.data), observedGeneration: generation }, now);
  }
  const [served] = location;
  return {
    ...counts,
    selector: `${computeLabels.deploymentUID}=${deployment.metadata.uid}`,
    observedGeneration: generation,
    // The binding on the hub waits for this: it is said once the cell knows, and only where it is true.
    ...(location.length === 1 && served !== undefined && refusal === undefined ? { location: { name: served } } : {}),
    conditions,
  };
}

function dataReady(data: NonNullable<DataState>): Omit<Condition, 'lastTransitionTime' | 'observedGeneration'> {
  const type = 'ReferencedDataReady';
  if (data !== 'there') return { type, status: 'False', ...data };
  return { type, status: 'True', reason: 'Ready', message: reasonMessage('Ready', { name: 'Referenced data' }) };
}

function isReady(instance: Instance): boolean {
  return !isTerminating(instance) && isConditionTrue(instance.status?.conditions, 'Ready');
}

function waitingIn(instances: readonly Stored<Instance>[]): Waiting[] {
  const entries = instances.flatMap((instance) => {
    const ready = findCondition(instance.status?.conditions, 'Ready');
    // Unknown: nobody has looked yet. That is on its way, and no reason to tell.
    if (ready === undefined || ready.status !== 'False') return [];
    return [{ reason: ready.reason, count: 1, message: ready.message }];
  });
  return mergeWaiting([entries]);
}

function availableOf(
  ready: readonly Stored<Instance>[],
  waiting: readonly Waiting[],
  refusal: Said | undefined,
  deployment: WorkloadDeployment,
  counts: { desiredReplicas: number; readyReplicas: number },
): Omit<Condition, 'lastTransitionTime' | 'observedGeneration'> {
  const type = 'Available';
  let first = ready[0];
  for (const each of ready) if (first !== undefined && each.metadata.name < first.metadata.name) first = each;
  if (first !== undefined) {
    const message = reasonMessage('StableInstanceFound', { instance: first.metadata.name });
    return { type, status: 'True', reason: 'StableInstanceFound', message };
  }
  if (refusal !== undefined) return { type, status: 'False', reason: refusal.reason, message: refusal.message };
  const worst = Math.min(...waiting.map(({ reason }) => rankOf(reason)));
  const leading = leadingReason(waiting.filter(({ reason }) => rankOf(reason) === worst));
  if (leading !== undefined && leading.reason !== 'SchedulingGatesPresent') {
    return { type, status: 'False', reason: leading.reason, message: leading.message };
  }
  const network = deployment.spec === undefined ? undefined : interfaceRequest(deployment.spec.template.spec);
  if (leading?.message.includes(schedulingGates.network) === true && network !== undefined) {
    const message = reasonMessage('NetworkProvisioning', {
      network: network.spec.network.name,
      location: deployment.spec?.locationRef.name ?? '',
    });
    return { type, status: 'False', reason: 'NetworkProvisioning', message };
  }
  const { desiredReplicas: total, readyReplicas } = counts;
  if (total === 0) return { type, status: 'False', reason: 'ScaledToZero', message: reasonMessage('ScaledToZero') };
  const message = reasonMessage('InstancesProvisioning', { waiting: total - readyReplicas, total });
  return { type, status: 'False', reason: 'InstancesProvisioning', message };
}
