import { labelValue, networkingLabels } from '../../../api/index.ts';
import { copyOf, isInTheWay, sourceUidOf, updateOf } from '../../../federation/index.ts';
import { isTerminating, type KubeObject, type Stored } from '../../../meta/index.ts';

/** What is replicated says in `spec` where it is. */
export type Located = KubeObject<{ location: { name: string } }>;

export interface Snapshot {
  /** The project's object; read live where the cache did not have it. */
  source: Stored<Located> | undefined;
  copy: Stored<KubeObject> | undefined;
  /** UID of the copy's source, where somebody took its mark off. */
  mark?: string | undefined;
  hubNamespace: string;
  /** Whether the hub namespace is being deleted: nothing can be made in it, and what is there goes with it. */
  ending: boolean;
}

export type Step =
  | { do: 'create' | 'update'; object: KubeObject }
  | { do: 'delete'; copy: Stored<KubeObject> }
  /** An object that nobody carried has the name. */
  | { do: 'tell-taken'; holder: Stored<KubeObject>; source: Stored<Located> };

/**
 * Pure. A copy on the hub of what a project has in a location, gone as soon as its source is going: nothing new is to
 * begin on it. A terminating copy, or one of another source, is never taken over; what is no copy is left
 * alone, which is told.
 */
export function decide({ source, copy, mark, hubNamespace, ending }: Snapshot): Step[] {
  const of = copy === undefined ? undefined : (sourceUidOf(copy) ?? mark);
  const ours = of !== undefined;
  if (source === undefined || isTerminating(source) || source.spec === undefined) {
    return copy !== undefined && ours && !isTerminating(copy) ? [{ do: 'delete', copy }] : [];
  }
  const wanted = replica(source, source.spec.location.name, hubNamespace);
  if (copy === undefined) return ending ? [] : [{ do: 'create', object: wanted }];
  if (isInTheWay(of, copy)) return [{ do: 'tell-taken', holder: copy, source }];
  if (!ours || isTerminating(copy)) return [];
  if (of !== source.metadata.uid) return [{ do: 'delete', copy }];
  const object = updateOf(wanted, copy);
  return object === undefined ? [] : [{ do: 'update', object }];
}

/** Cells pull by the label, which older Subnets do not have. */
function replica(source: Stored<Located>, location: string, namespace: string): KubeObject {
  const copy = copyOf(source);
  const labels = { ...copy.metadata.labels, [networkingLabels.location]: labelValue(location) };
  return { ...copy, metadata: { ...copy.metadata, namespace, labels } };
}
