/** The hub's namespaces in a cell: there as soon as something is carried into them, gone when the hub's is. */

import type { Controller, Plane } from '../kube/index.ts';
import { isApiError, isTerminating, jsonEqual, type KubeObject, Namespace, type Stored } from '../meta/index.ts';
import { type AgentOptions, keyOf } from './agent.ts';
import { sourceUidOf } from './copy.ts';
import { sourceUid } from './keys.ts';
import { lostMark } from './mark.ts';

/** `spec` of a namespace is its own finalizer list and is not carried. */
function namespaceCopy(source: Stored<Namespace>): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: source.metadata.name,
      labels: { ...source.metadata.labels },
      annotations: { [sourceUid]: source.metadata.uid },
    },
  };
}

/** Makes sure the namespace of a copy exists in the cell, with the labels that route it to its project. */
export async function ensureNamespace(name: string, cell: Plane, hub: Plane): Promise<void> {
  if (cell.informer(Namespace).get('', name) !== undefined) return;
  const source = hub.informer(Namespace).get('', name) ?? (await hub.client.get(Namespace, { namespace: '', name }));
  if (source === undefined || isTerminating(source)) return;
  try {
    await cell.client.create(Namespace, namespaceCopy(source));
  } catch (error) {
    // A sibling being carried at the same moment made it.
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}

export type NamespaceStep =
  | { do: 'delete'; copy: Stored<Namespace> }
  | { do: 'relabel'; labels: Record<string, string>; annotations: Record<string, string> };

/**
 * Pure. Only namespaces the agent made are touched (`mark`: of whom, where somebody took that off it); a namespace of
 * another UID goes, and comes back with what it holds.
 */
export function decideNamespace(
  source: Stored<Namespace> | undefined,
  copy: Stored<Namespace> | undefined,
  mark?: string,
): NamespaceStep | undefined {
  if (copy === undefined || isTerminating(copy)) return undefined;
  const of = sourceUidOf(copy) ?? mark;
  if (of === undefined) return undefined;
  if (source === undefined || source.metadata.uid !== of) return { do: 'delete', copy };
  const labels = source.metadata.labels ?? {};
  if (jsonEqual(labels, copy.metadata.labels ?? {}) && sourceUidOf(copy) === of) return undefined;
  return { do: 'relabel', labels, annotations: { ...copy.metadata.annotations, [sourceUid]: of } };
}

export function carryNamespaces(options: AgentOptions): Controller {
  return {
    name: 'federation-down-namespaces',
    rules: {
      hub: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] }],
      cell: [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
      ],
    },

    engage(plane, planes, watch) {
      if (plane.role === 'cell') watch.on(plane, Namespace);
      else if (plane.id === options.hub) {
        for (const cell of planes.byRole('cell')) {
          for (const copy of cell.informer(Namespace).list()) watch.enqueue({ plane: cell.id, ...keyOf(copy) });
        }
        watch.on(plane, Namespace, (object: KubeObject) =>
          planes.byRole('cell').map((cell) => ({ plane: cell.id, ...keyOf(object) })),
        );
      }
    },

    async reconcile(request, planes) {
      const cell = planes.get(request.plane);
      const hub = planes.get(options.hub);
      if (cell === undefined || hub === undefined) return undefined;
      const copy = cell.informer(Namespace).get('', request.name);
      if (copy === undefined) return undefined;
      const source = hub.informer(Namespace).get('', request.name) ?? (await hub.client.get(Namespace, request));
      const isMaker = (manager: string) => manager.startsWith('federation-down-');
      const mark = await lostMark({ client: cell.client, type: Namespace, copy, source, isMaker });
      const step = decideNamespace(source, copy, mark);
      if (step?.do === 'delete') {
        await cell.client.delete(Namespace, keyOf(copy), { preconditions: { uid: copy.metadata.uid } });
      } else if (step?.do === 'relabel') {
        const { labels, annotations } = step;
        await cell.client.update(Namespace, { ...copy, metadata: { ...copy.metadata, labels, annotations } });
      }
      return undefined;
    },
  };
}
