/** From the hub to a cell: the cell's agent pulls what is meant for its location. */

import type { Controller, Plane, Request } from '../kube/index.ts';
import { isTerminating, jsonEqual, type KubeObject, type ResourceType, type Stored } from '../meta/index.ts';
import { type AgentOptions, cellOf, keyOf } from './agent.ts';
import { copyOf, sourceUidOf, updateOf } from './copy.ts';
import { carriedFinalizer } from './keys.ts';
import { ensureNamespace } from './namespaces.ts';

export interface DownKind {
  type: ResourceType;
  /** Label of the hub object whose value is the location, or `name`: the object's name is the location. */
  selectedBy: { label: string } | 'name';
  /**
   * The hub object keeps a finalizer until the cell's copy is gone: deleting it drains something in the cell. Status of
   * the copy, which belongs to the cell, is written to the hub object whole.
   */
  drains: boolean;
}

export interface Snapshot {
  /** The hub's object, read live where the cache did not have it. */
  source: Stored<KubeObject> | undefined;
  copy: Stored<KubeObject> | undefined;
  location: string;
}

export type Step =
  | { do: 'hold-source' | 'let-source-go'; source: Stored<KubeObject> }
  | { do: 'create'; object: KubeObject }
  | { do: 'update'; object: KubeObject }
  | { do: 'delete'; copy: Stored<KubeObject> }
  | { do: 'report-status'; source: Stored<KubeObject>; status: unknown };

function locationOf(kind: DownKind, object: KubeObject): string | undefined {
  return kind.selectedBy === 'name' ? object.metadata.name : object.metadata.labels?.[kind.selectedBy.label];
}

/**
 * Pure. A terminating copy, or a copy of another source, is never taken over: it goes first, and the next look creates
 * anew. An object in the cell that carries no source UID is not ours and is left alone.
 */
export function decide(kind: DownKind, { source, copy, location }: Snapshot): Step[] {
  const ours = copy !== undefined && sourceUidOf(copy) !== undefined;
  const wanted = source !== undefined && !isTerminating(source) && locationOf(kind, source) === location;
  const held = source?.metadata.finalizers?.includes(carriedFinalizer) === true;

  if (!wanted) {
    if (copy !== undefined && ours) return isTerminating(copy) ? [] : [{ do: 'delete', copy }];
    return source !== undefined && held ? [{ do: 'let-source-go', source }] : [];
  }
  if (copy === undefined) {
    const create: Step = { do: 'create', object: copyOf(source) };
    return kind.drains && !held ? [{ do: 'hold-source', source }, create] : [create];
  }
  if (!ours || isTerminating(copy)) return [];
  if (sourceUidOf(copy) !== source.metadata.uid) return [{ do: 'delete', copy }];

  const steps: Step[] = [];
  if (kind.drains && !held) steps.push({ do: 'hold-source', source });
  const object = updateOf(copyOf(source), copy);
  if (object !== undefined) steps.push({ do: 'update', object });
  if (kind.drains && copy.status !== undefined && !jsonEqual(copy.status, source.status)) {
    steps.push({ do: 'report-status', source, status: copy.status });
  }
  return steps;
}

/** The controller that carries one kind down to every cell engaged in this process (one, on a real cluster). */
export function carryDown(kind: DownKind, options: AgentOptions): Controller {
  const { type } = kind;
  const resources = [type.plural];
  const hubVerbs = kind.drains ? ['get', 'list', 'watch', 'patch'] : ['get', 'list', 'watch'];
  return {
    name: `federation-down-${type.plural}`,
    rules: {
      hub: [
        { apiGroups: [type.group], resources, verbs: hubVerbs },
        ...(kind.drains ? [{ apiGroups: [type.group], resources: [`${type.plural}/status`], verbs: ['update'] }] : []),
        ...(type.namespaced ? [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] }] : []),
      ],
      cell: [
        { apiGroups: [type.group], resources, verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
        ...(type.namespaced
          ? [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create'] }]
          : []),
      ],
    },

    engage(plane, planes, watch) {
      if (plane.role === 'cell') {
        watch.on(plane, type);
        const hub = planes.get(options.hub);
        // A cell that joins later than the hub still sees everything that is meant for it.
        for (const object of hub?.informer(type).list() ?? []) {
          if (locationOf(kind, object) === plane.name) watch.enqueue(requestFor(plane.id, object));
        }
        return;
      }
      if (plane.id !== options.hub) return;
      watch.on(plane, type, (object, event) => {
        const locations = new Set([locationOf(kind, object)]);
        // An object moved to another location leaves the cell it was in.
        if (event.type === 'updated') locations.add(locationOf(kind, event.old));
        return [...locations].flatMap((location) =>
          location === undefined || planes.get(cellOf(location)) === undefined
            ? []
            : [requestFor(cellOf(location), object)],
        );
      });
    },

    async reconcile(request, planes) {
      const cell = planes.get(request.plane);
      const hub = planes.get(options.hub);
      if (cell === undefined || hub === undefined) return undefined;
      const snapshot = await observe(type, request, cell, hub);
      for (const step of decide(kind, snapshot)) await act(step, type, cell, hub);
      return undefined;
    },
  };
}

function requestFor(plane: string, object: KubeObject): Request {
  return { plane, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

/** Absence is believed only from a live read: a copy is never deleted on a cache that has not caught up. */
async function observe(type: ResourceType, request: Request, cell: Plane, hub: Plane): Promise<Snapshot> {
  const copy = cell.informer(type).get(request.namespace, request.name);
  const cached = hub.informer(type).get(request.namespace, request.name);
  const source = cached ?? (copy === undefined ? undefined : await hub.client.get(type, request));
  return { source, copy, location: cell.name };
}

async function act(step: Step, type: ResourceType, cell: Plane, hub: Plane): Promise<void> {
  switch (step.do) {
    case 'hold-source':
      await holdSource(hub, type, step.source);
      return;
    case 'let-source-go':
      await letSourceGo(cell, hub, type, step.source);
      return;
    case 'create':
      if (type.namespaced) await ensureNamespace(step.object.metadata.namespace ?? '', cell, hub);
      await cell.client.create(type, step.object);
      return;
    case 'update':
      await cell.client.update(type, step.object);
      return;
    case 'delete':
      await cell.client.delete(type, keyOf(step.copy), { preconditions: { uid: step.copy.metadata.uid } });
      return;
    case 'report-status':
      await hub.client.update(type, { ...step.source, status: step.status }, { subresource: 'status' });
      return;
  }
}

async function holdSource(hub: Plane, type: ResourceType, source: Stored<KubeObject>): Promise<void> {
  const before = source.metadata.finalizers;
  await hub.client.patch(type, keyOf(source), {
    type: 'json',
    body: [
      { op: 'test', path: '/metadata/uid', value: source.metadata.uid },
      before === undefined || before.length === 0
        ? { op: 'add', path: '/metadata/finalizers', value: [carriedFinalizer] }
        : { op: 'add', path: '/metadata/finalizers/-', value: carriedFinalizer },
    ],
  });
}

async function letSourceGo(cell: Plane, hub: Plane, type: ResourceType, source: Stored<KubeObject>): Promise<void> {
  // The finalizer is what keeps the hub's object until the cell has drained: it goes only on the cell's own word.
  if ((await cell.client.get(type, keyOf(source))) !== undefined) return;
  const index = source.metadata.finalizers?.indexOf(carriedFinalizer) ?? -1;
  if (index < 0) return;
  await hub.client.patch(type, keyOf(source), {
    type: 'json',
    body: [
      { op: 'test', path: `/metadata/finalizers/${index}`, value: carriedFinalizer },
      { op: 'remove', path: `/metadata/finalizers/${index}` },
    ],
  });
}
