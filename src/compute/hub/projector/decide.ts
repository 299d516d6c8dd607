import { computeLabels, Instance, upstreamLabels, type WorkloadDeployment } from '../../../api/index.ts';
import { isInTheWay, sourceUid, sourceUidOf, updateOf } from '../../../federation/index.ts';
import { apiVersionOf, findCondition, isTerminating, jsonEqual, type Stored } from '../../../meta/index.ts';
import { observedGenerationOf } from '../../shared/generation.ts';

export interface Snapshot {
  /** The hub's copy; read live where the cache did not have it. */
  source: Stored<Instance> | undefined;
  /** The project's copy. */
  copy: Stored<Instance> | undefined;
  /** What the copy's mark should be, where somebody took it off. */
  mark?: string | undefined;
  /** The project's deployment the instance is of, which owns the copy. */
  deployment: Stored<WorkloadDeployment> | undefined;
  /** The project namespace. */
  namespace: string;
}

export type Step =
  | { do: 'create' | 'update'; object: Instance }
  | { do: 'status'; status: NonNullable<Instance['status']> }
  | { do: 'delete'; copy: Stored<Instance> }
  /** An instance that nobody carried has the name. */
  | { do: 'tell-taken'; holder: Stored<Instance>; deployment: Stored<WorkloadDeployment> };

/**
 * Pure. A copy in the project for every copy on the hub, owned by the project's deployment, so that it goes with it.
 * Never one without an owner: it would be left behind. An object of this name that is not a copy is left alone,
 * which is told.
 */
export function decide({ source, copy, mark, deployment, namespace }: Snapshot): Step[] {
  const of = copy === undefined ? undefined : (sourceUidOf(copy) ?? mark);
  const ours = of !== undefined;
  if (source === undefined || isTerminating(source)) {
    return copy !== undefined && ours && !isTerminating(copy) ? [{ do: 'delete', copy }] : [];
  }
  if (deployment === undefined) return [];
  const wanted = projected(source, deployment, namespace);
  if (copy === undefined) {
    const create: Step = { do: 'create', object: wanted };
    const status = statusOn(source, 1);
    return status === undefined ? [create] : [create, { do: 'status', status }];
  }
  if (isInTheWay(of, copy)) return [{ do: 'tell-taken', holder: copy, deployment }];
  if (!ours || isTerminating(copy)) return [];
  if (of !== sourceUidOf(wanted)) return [{ do: 'delete', copy }];
  const steps: Step[] = [];
  const object = updateOf(wanted, copy);
  if (object !== undefined) steps.push({ do: 'update', object: object as Instance });
  const { generation = 1 } = copy.metadata;
  const changed = object !== undefined && !jsonEqual(wanted.spec, copy.spec);
  const status = statusOn(source, changed ? generation + 1 : generation);
  if (status !== undefined && !jsonEqual(status, copy.status)) steps.push({ do: 'status', status });
  return steps;
}

/**
 * The status as it is said of a copy of this generation: what was observed of the cell's instance as it is now was
 * observed of the copy as it is now; anything else is of an earlier one.
 */
function statusOn(source: Stored<Instance>, generation: number): Instance['status'] {
  const { conditions } = source.status ?? {};
  if (conditions === undefined) return source.status;
  const current = observedGenerationOf(source);
  return {
    ...source.status,
    conditions: conditions.map((condition) =>
      condition.observedGeneration === undefined
        ? condition
        : { ...condition, observedGeneration: condition.observedGeneration >= current ? generation : generation - 1 },
    ),
  };
}

export interface Announcement {
  type: 'Normal' | 'Warning';
  reason: string;
  note: string;
}

/**
 * Pure. What a project is told as an Event when its instance comes to say `status`: one per change of what Ready says, since
 * the cell's own Events are not to be seen there. Nothing where nobody has looked at the instance yet.
 */
export function announcement(
  before: Instance['status'],
  status: NonNullable<Instance['status']>,
): Announcement | undefined {
  const was = findCondition(before?.conditions, 'Ready');
  const ready = findCondition(status.conditions, 'Ready');
  if (ready === undefined || ready.status === 'Unknown') return undefined;
  if (was?.status === ready.status && was.reason === ready.reason) return undefined;
  return { type: ready.status === 'True' ? 'Normal' : 'Warning', reason: ready.reason, note: ready.message };
}

/** Labels that route on the hub say nothing in the project. */
const routing: readonly string[] = Object.values(upstreamLabels);

function projected(source: Stored<Instance>, deployment: Stored<WorkloadDeployment>, namespace: string): Instance {
  const labels = Object.fromEntries(
    Object.entries(source.metadata.labels ?? {}).filter(([key]) => !routing.includes(key)),
  );
  return {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: {
      name: source.metadata.name,
      namespace,
      labels: { ...labels, [computeLabels.deploymentUID]: deployment.metadata.uid },
      // The UID of the cell's object, as the hub's copy has it: a copy made again on the hub is still the same instance.
      annotations: { [sourceUid]: sourceUidOf(source) ?? source.metadata.uid },
      ownerReferences: [
        {
          apiVersion: deployment.apiVersion,
          kind: deployment.kind,
          name: deployment.metadata.name,
          uid: deployment.metadata.uid,
        },
      ],
    },
    ...(source.spec === undefined ? {} : { spec: source.spec }),
  };
}
