/** From a cell to the hub: what people may see of a cell's objects. Copies never influence their sources. */

import type { Controller, Plane } from '../kube/index.ts';
import {
  isApiError,
  isTerminating,
  jsonEqual,
  type KubeObject,
  type ResourceType,
  type Stored,
} from '../meta/index.ts';
import { type CarryOptions, cellOf, isLost, keyOf, saysLost } from './agent.ts';
import { sourceUidOf, updateOf } from './copy.ts';
import { sourceCell, sourceUid } from './keys.ts';
import { lostMark } from './mark.ts';
import { isSynced, unsyncedRetry } from './synced.ts';
import { isInTheWay, type Locations, takenRule, tellTaken } from './taken.ts';

/** Reads the hub's caches, for a copy that names hub objects (an owner). */
export type HubLookup = <T extends KubeObject>(type: ResourceType<T>, name: string) => Stored<T> | undefined;

export interface UpKind<T extends KubeObject = KubeObject> {
  type: ResourceType<T>;
  /**
   * Pure. What the hub shows of an object, status included, or undefined where it is not (or no longer) to be shown.
   * `lookup` finds objects in the hub namespace the copy goes to.
   */
  publish(object: Stored<T>, lookup: HubLookup): KubeObject | undefined;
  /** Kinds `publish` looks up; their changes on the hub are looked at again for the objects `affects` names. */
  lookups?: readonly { type: ResourceType; affects: { of: (object: Stored<T>) => readonly string[] } }[];
  /** How long after a change the hub is told of an object, of all that changed since; at once where absent. */
  settleMilliseconds?(object: Stored<T>): number;
  /** Annotations that people's requests leave on the hub copy, carried to the cell's object as they are. */
  requests?: readonly string[];
}

export interface UpSnapshot {
  /** The cell's object, read live where the cache did not have it. */
  source: Stored<KubeObject> | undefined;
  copy: Stored<KubeObject> | undefined;
  /** UID of the copy's source, where somebody took its marks off. */
  mark?: string | undefined;
  /** What the hub should show. */
  wanted: KubeObject | undefined;
  location: string;
}

export type UpStep =
  | { do: 'create'; object: KubeObject }
  | { do: 'update'; object: KubeObject }
  | { do: 'status'; status: unknown }
  | { do: 'delete'; copy: Stored<KubeObject> }
  /** An object that nobody carried has the name, or another cell's. */
  | { do: 'tell-taken'; holder: Stored<KubeObject>; source: Stored<KubeObject>; locations?: Locations }
  /** null takes an annotation off. */
  | { do: 'request'; source: Stored<KubeObject>; annotations: Record<string, string | null> };

function marked(
  wanted: KubeObject,
  source: Stored<KubeObject>,
  location: string,
  kept: Record<string, string>,
): KubeObject {
  const annotations = {
    ...wanted.metadata.annotations,
    ...kept,
    [sourceUid]: source.metadata.uid,
    [sourceCell]: location,
  };
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
}

/** Pure. A copy of another source, or from another cell, is not ours: only one that names this cell is ever deleted. */
export function decideUp(snapshot: UpSnapshot, requests: readonly string[] = []): UpStep[] {
  const { source, copy, mark, wanted, location } = snapshot;
  const ours = (copy?.metadata.annotations?.[sourceCell] ?? (mark === undefined ? undefined : location)) === location;
  if (source === undefined || wanted === undefined) {
    return copy !== undefined && ours && !isTerminating(copy) ? [{ do: 'delete', copy }] : [];
  }
  if (copy === undefined) {
    const object = marked(wanted, source, location, {});
    return wanted.status === undefined
      ? [{ do: 'create', object }]
      : [
          { do: 'create', object },
          { do: 'status', status: wanted.status },
        ];
  }
  const from = copy.metadata.annotations?.[sourceCell];
  if (isInTheWay(from ?? sourceUidOf(copy) ?? mark, copy)) return [{ do: 'tell-taken', holder: copy, source }];
  if (from !== undefined && !ours && !isTerminating(copy)) {
    return [{ do: 'tell-taken', holder: copy, source, locations: { own: location, other: from } }];
  }
  if (!ours || isTerminating(copy)) return [];
  if ((sourceUidOf(copy) ?? mark) !== source.metadata.uid) return [{ do: 'delete', copy }];

  const steps: UpStep[] = [];
  const asked: Record<string, string> = Object.fromEntries(
    requests.flatMap((key) => {
      const value = copy.metadata.annotations?.[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
  // A request that was taken back is taken back from the source, too: it must not be heard later.
  const unheard = requests.flatMap((key) => {
    const value = asked[key] ?? null;
    return (source.metadata.annotations?.[key] ?? null) === value ? [] : [[key, value] as const];
  });
  if (unheard.length > 0) steps.push({ do: 'request', source, annotations: Object.fromEntries(unheard) });
  const object = updateOf(marked(wanted, source, location, asked), copy);
  if (object !== undefined) steps.push({ do: 'update', object });
  if (wanted.status !== undefined && !jsonEqual(wanted.status, copy.status))
    steps.push({ do: 'status', status: wanted.status });
  return steps;
}

function isFullyMarked(copy: Stored<KubeObject>): boolean {
  return sourceUidOf(copy) !== undefined && sourceCell in copy.metadata.annotations!;
}

const byLookup = (type: ResourceType): string => `federation-up/${type.plural}`;

/** The controller that publishes one kind of every cell engaged in this process. */
export function carryUp<T extends KubeObject>(kind: UpKind<T>, options: CarryOptions): Controller {
  const { type } = kind;
  const { record } = options;
  const resources = [type.plural];
  const lookups = kind.lookups ?? [];
  const name = `federation-up-${type.plural}`;
  return {
    name,
    rules: {
      cell: [
        {
          apiGroups: [type.group],
          resources,
          verbs: kind.requests === undefined ? ['get', 'list', 'watch'] : ['get', 'list', 'watch', 'patch'],
        },
        takenRule,
      ],
      hub: [
        { apiGroups: [type.group], resources, verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
        { apiGroups: [type.group], resources: [`${type.plural}/status`], verbs: ['update'] },
        ...lookups.map((lookup) => ({
          apiGroups: [lookup.type.group],
          resources: [lookup.type.plural],
          verbs: ['get', 'list', 'watch'],
        })),
        takenRule,
        ...(record === undefined
          ? []
          : [{ apiGroups: [record.group], resources: [record.plural], verbs: ['get', 'list', 'watch'] }]),
      ],
    },

    engage(plane, planes, watch) {
      if (plane.role === 'cell') {
        watch.on(plane, type, (object) => {
          watch.enqueue({ plane: plane.id, ...keyOf(object) }, kind.settleMilliseconds?.(object));
          return [];
        });
        // A cell that joins later than the hub finds copies there whose source has gone meanwhile.
        for (const copy of planes.get(options.hub)?.informer(type).list() ?? []) {
          if (copy.metadata.annotations?.[sourceCell] === plane.name)
            watch.enqueue({ plane: plane.id, ...keyOf(copy) });
        }
        for (const { type: lookedUp, affects } of lookups) {
          plane
            .informer(type)
            .addIndex(byLookup(lookedUp), (object) =>
              affects.of(object).map((name) => `${object.metadata.namespace ?? ''}/${name}`),
            );
        }
        return;
      }
      if (plane.id !== options.hub) return;
      for (const cell of planes.byRole('cell')) {
        for (const object of cell.informer(type).list()) watch.enqueue({ plane: cell.id, ...keyOf(object) });
      }
      // Copies whose source went while nobody looked are found by their own mark.
      watch.on(plane, type, (copy, event) => {
        const before = event.type === 'updated' ? event.old : copy;
        const location = copy.metadata.annotations?.[sourceCell] ?? before.metadata.annotations?.[sourceCell];
        const key = keyOf(copy);
        const of = location === undefined ? undefined : planes.get(cellOf(location));
        const own = of === undefined ? [] : [{ plane: of.id, ...key }];
        if (event.type !== 'deleted') return own;
        // What another cell published, or none, has kept it away.
        const waiting = planes
          .byRole('cell')
          .filter((cell) => cell !== of && cell.informer(type).get(key.namespace, key.name) !== undefined);
        return [...own, ...waiting.map((cell) => ({ plane: cell.id, ...key }))];
      });
      if (record !== undefined) {
        // A cell that is there after all is published again when nobody says any more that it is lost.
        watch.on(plane, record, (location, event) => {
          if (event.type !== 'updated' || saysLost(event.old) === saysLost(location)) return [];
          const cell = planes.get(cellOf(location.metadata.name));
          return (cell?.informer(type).list() ?? []).map((object) => ({ plane: cell!.id, ...keyOf(object) }));
        });
      }
      for (const { type: lookedUp } of lookups) {
        watch.on(plane, lookedUp, (object, event) => {
          if (event.type === 'updated') return [];
          const value = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
          return planes.byRole('cell').flatMap((cell) =>
            cell
              .informer(type)
              .byIndex(byLookup(lookedUp), value)
              .map((source) => ({ plane: cell.id, ...keyOf(source) })),
          );
        });
      }
    },

    async reconcile(request, planes) {
      const cell = planes.get(request.plane);
      const hub = planes.get(options.hub);
      if (cell === undefined || hub === undefined) return undefined;
      // What is not to be shown without an owner is not taken down because the owners have not been listed yet.
      const records = record === undefined ? [] : [record];
      if (!isSynced(hub, [type, ...lookups.map((lookup) => lookup.type), ...records])) return unsyncedRetry;
      if (record !== undefined && isLost(hub, record, cell.name)) return undefined;
      const copy = hub.informer(type).get(request.namespace, request.name);
      const cached = cell.informer(type).get(request.namespace, request.name);
      // Absence is believed only from a live read: no copy goes because a cache is late.
      const source = cached ?? (copy === undefined ? undefined : await cell.client.get(type, request));
      const lookup: HubLookup = (other, name) => hub.informer(other).get(request.namespace, name);
      const wanted = source === undefined || isTerminating(source) ? undefined : kind.publish(source, lookup);
      const isMaker = (manager: string) => manager === name;
      // Which cell a copy is of is told by its source alone: without one it is left to whoever marked it.
      const mark =
        source === undefined
          ? undefined
          : await lostMark({ client: hub.client, type, copy, source, isMaker, isMarked: isFullyMarked });
      const steps = decideUp({ source, copy, mark, wanted, location: cell.name }, kind.requests);
      await act(steps, type, copy, cell, hub);
      for (const step of steps) {
        if (step.do !== 'tell-taken') continue;
        const { holder, source: object, locations } = step;
        tellTaken({ holder, plane: hub, about: { object, plane: cell }, locations }, name, options.nameTaken, options);
      }
      return undefined;
    },
  };
}

async function act(
  steps: readonly UpStep[],
  type: ResourceType,
  copy: Stored<KubeObject> | undefined,
  cell: Plane,
  hub: Plane,
): Promise<void> {
  let current = copy;
  for (const step of steps) {
    switch (step.do) {
      case 'create':
        current = await hub.client.create(type, step.object);
        break;
      case 'update':
        current = await replace(type, step.object, current, hub);
        break;
      case 'status':
        if (current === undefined) return;
        await hub.client.update(type, { ...current, status: step.status }, { subresource: 'status' });
        break;
      case 'delete':
        await hub.client.delete(type, keyOf(step.copy), { preconditions: { uid: step.copy.metadata.uid } });
        break;
      case 'request':
        await cell.client.patch(type, keyOf(step.source), {
          type: 'merge',
          body: { metadata: { resourceVersion: step.source.metadata.resourceVersion, annotations: step.annotations } },
        });
        break;
    }
  }
}

/** An edit the schema refuses (an immutable field changed: the name is used anew) makes the copy go and come again. */
async function replace(
  type: ResourceType,
  object: KubeObject,
  current: Stored<KubeObject> | undefined,
  hub: Plane,
): Promise<Stored<KubeObject> | undefined> {
  try {
    return await hub.client.update(type, object);
  } catch (error) {
    if (!isApiError(error, 'Invalid') || current === undefined) throw error;
    await hub.client.delete(type, keyOf(current), { preconditions: { uid: current.metadata.uid } });
    return undefined;
  }
}
