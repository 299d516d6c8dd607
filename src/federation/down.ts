/** From the hub to a cell: the cell's agent pulls what is meant for its location. */

import { addFinalizer, type Controller, type Plane, type Request, removeFinalizer } from '../kube/index.ts';
import { isTerminating, jsonEqual, type KubeObject, Namespace, type ResourceType, type Stored } from '../meta/index.ts';
import { type CarryOptions, cellOf, keyOf } from './agent.ts';
import { copyOf, sourceUidOf, updateOf } from './copy.ts';
import { carriedFinalizer } from './keys.ts';
import { lostMark } from './mark.ts';
import { ensureNamespace } from './namespaces.ts';
import { isInTheWay, takenRule, tellTaken } from './taken.ts';

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
  /** UID of the copy's source, where somebody took its mark off. */
  mark?: string | undefined;
  location: string;
}

export type Step =
  | { do: 'hold-source' | 'let-source-go'; source: Stored<KubeObject> }
  | { do: 'create'; object: KubeObject }
  | { do: 'update'; object: KubeObject }
  | { do: 'delete'; copy: Stored<KubeObject> }
  /** An object that nobody carried has the name. */
  | { do: 'tell-taken'; holder: Stored<KubeObject>; source: Stored<KubeObject> }
  | { do: 'report-status'; source: Stored<KubeObject>; status: unknown };

function locationOf(kind: DownKind, object: KubeObject): string | undefined {
  return kind.selectedBy === 'name' ? object.metadata.name : object.metadata.labels?.[kind.selectedBy.label];
}

/**
 * Pure. A terminating copy, or a copy of another source, is never taken over: it goes first, and the next look creates
 * anew. An object in the cell that no agent brought is not ours: it is left alone, and that is told where it is in the way.
 */
export function decide(kind: DownKind, { source, copy, mark, location }: Snapshot): Step[] {
  const of = copy === undefined ? undefined : (sourceUidOf(copy) ?? mark);
  const ours = of !== undefined;
  const meant = source === undefined ? undefined : locationOf(kind, source);
  const wanted = source !== undefined && !isTerminating(source) && meant === location;
  const held = source?.metadata.finalizers?.includes(carriedFinalizer) === true;

  if (!wanted) {
    if (copy !== undefined && ours) {
      // Without its label a source does not say that it has left: somebody took that off.
      const unsaid = source !== undefined && !isTerminating(source) && meant === undefined;
      if (unsaid && of === source.metadata.uid) return [];
      if (!isTerminating(copy)) return [{ do: 'delete', copy }];
      // While it drains, what it says of that is still the truth about the hub's object.
      const drained = source !== undefined && meant === location && of === source.metadata.uid;
      return drained ? report(kind, source, copy) : [];
    }
    // The finalizer of an object that has moved to another location is that cell's to take off.
    const othersToLetGo = meant !== undefined && meant !== location;
    return source !== undefined && held && !othersToLetGo ? [{ do: 'let-source-go', source }] : [];
  }
  if (copy === undefined) {
    const create: Step = { do: 'create', object: copyOf(source) };
    return kind.drains && !held ? [{ do: 'hold-source', source }, create] : [create];
  }
  if (isInTheWay(of, copy)) return [{ do: 'tell-taken', holder: copy, source }];
  if (!ours || isTerminating(copy)) return [];
  if (of !== source.metadata.uid) return [{ do: 'delete', copy }];

  const steps: Step[] = [];
  if (kind.drains && !held) steps.push({ do: 'hold-source', source });
  const object = updateOf(copyOf(source), copy);
  if (object !== undefined) steps.push({ do: 'update', object });
  return [...steps, ...report(kind, source, copy)];
}

function report(kind: DownKind, source: Stored<KubeObject>, copy: Stored<KubeObject>): Step[] {
  return kind.drains && copy.status !== undefined && !jsonEqual(copy.status, source.status)
    ? [{ do: 'report-status', source, status: copy.status }]
    : [];
}

/** The controller that carries one kind down to every cell engaged in this process (one, on a real cluster). */
export function carryDown(kind: DownKind, options: CarryOptions): Controller {
  const { type } = kind;
  const resources = [type.plural];
  const hubVerbs = kind.drains ? ['get', 'list', 'watch', 'patch'] : ['get', 'list', 'watch'];
  const name = `federation-down-${type.plural}`;
  return {
    name,
    rules: {
      hub: [
        { apiGroups: [type.group], resources, verbs: hubVerbs },
        ...(kind.drains ? [{ apiGroups: [type.group], resources: [`${type.plural}/status`], verbs: ['update'] }] : []),
        ...(type.namespaced ? [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] }] : []),
        takenRule,
      ],
      cell: [
        { apiGroups: [type.group], resources, verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
        ...(type.namespaced
          ? [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create'] }]
          : []),
        takenRule,
      ],
    },

    engage(plane, planes, watch) {
      if (plane.role === 'cell') {
        watch.on(plane, type);
        // What was to go into a namespace that was on its way out is carried when that has gone.
        if (type.namespaced) {
          watch.on(plane, Namespace, ({ metadata }, event) =>
            event.type === 'deleted' ? meantFor(kind, plane, planes.get(options.hub), metadata.name) : [],
          );
        }
        const hub = planes.get(options.hub);
        // A cell that joins later than the hub still sees everything that is meant for it.
        for (const request of meantFor(kind, plane, hub)) watch.enqueue(request);
        return;
      }
      if (plane.id !== options.hub) return;
      // A hub that joins later than its cells finds copies there whose source has gone meanwhile.
      for (const cell of planes.byRole('cell')) {
        for (const copy of cell.informer(type).list()) watch.enqueue(requestFor(cell.id, copy));
      }
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
      const snapshot = await observe(type, request, cell, hub, name);
      let { source } = snapshot;
      for (const step of decide(kind, snapshot)) {
        if (step.do === 'tell-taken') {
          const about = { object: step.source, plane: hub };
          tellTaken({ holder: step.holder, plane: cell, about }, name, options.nameTaken, options);
        } else source = (await act(step, source, type, cell, hub)) ?? source;
      }
      return undefined;
    },
  };
}

function requestFor(plane: string, object: KubeObject): Request {
  return { plane, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

/** What the hub has for a cell. */
function meantFor(kind: DownKind, cell: Plane, hub: Plane | undefined, namespace?: string): Request[] {
  return (hub?.informer(kind.type).list(namespace) ?? [])
    .filter((object) => locationOf(kind, object) === cell.name)
    .map((object) => requestFor(cell.id, object));
}

/** Absence is believed only from a live read: a copy is never deleted on a cache that has not caught up. */
async function observe(type: ResourceType, request: Request, cell: Plane, hub: Plane, name: string): Promise<Snapshot> {
  const copy = cell.informer(type).get(request.namespace, request.name);
  const cached = hub.informer(type).get(request.namespace, request.name);
  const source = cached ?? (copy === undefined ? undefined : await hub.client.get(type, request));
  const mark = await lostMark({ client: cell.client, type, copy, source, isMaker: (manager) => manager === name });
  return { source, copy, mark, location: cell.name };
}

/** Answers the hub's object as it is after the step, where the step changed it. */
async function act(
  step: Exclude<Step, { do: 'tell-taken' }>,
  source: Stored<KubeObject> | undefined,
  type: ResourceType,
  cell: Plane,
  hub: Plane,
): Promise<Stored<KubeObject> | undefined> {
  switch (step.do) {
    case 'hold-source':
      return addFinalizer(hub.client, type, step.source, carriedFinalizer);
    case 'let-source-go':
      // The finalizer is what keeps the hub's object until the cell has drained: it goes only on the cell's own word.
      if ((await cell.client.get(type, keyOf(step.source))) === undefined) {
        await removeFinalizer(hub.client, type, step.source, carriedFinalizer);
      }
      return undefined;
    case 'create':
      if (type.namespaced) await ensureNamespace(step.object.metadata.namespace ?? '', cell, hub);
      await cell.client.create(type, step.object);
      return undefined;
    case 'update':
      await cell.client.update(type, step.object);
      return undefined;
    case 'delete':
      await cell.client.delete(type, keyOf(step.copy), { preconditions: { uid: step.copy.metadata.uid } });
      return undefined;
    case 'report-status':
      return hub.client.update(type, { ...(source ?? step.source), status: step.status }, { subresource: 'status' });
  }
}
