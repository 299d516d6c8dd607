/** What is left on the hub of a cell that is gone for good: nobody is there any more who could take it away. */

import { type Controller, type Request, removeFinalizer } from '../kube/index.ts';
import { isTerminating, type KubeObject, type ResourceType } from '../meta/index.ts';
import { type AgentOptions, cellOf, isLost, keyOf, saysLost } from './agent.ts';
import { carriedFinalizer, sourceCell } from './keys.ts';

export interface LostKind {
  type: ResourceType;
  /**
   * Label whose value is the location of objects that the cell was to drain: one that is being deleted waits for it no
   * longer. Without one these are copies of the cell's objects, and go.
   */
  drainedBy?: string;
}

export interface LostOptions extends Pick<AgentOptions, 'hub'> {
  /** Cluster-scoped kind of the hub that stands for a location; operators say on it that its cell is lost. */
  record: ResourceType;
}

export type LostStep = 'let-go' | 'delete' | undefined;

/** Pure. What becomes of an object of a cell that is lost. */
export function decideLost({ drainedBy }: LostKind, object: KubeObject): LostStep {
  if (drainedBy === undefined) return isTerminating(object) ? undefined : 'delete';
  return isTerminating(object) && object.metadata.finalizers?.includes(carriedFinalizer) === true
    ? 'let-go'
    : undefined;
}

/** The controller that clears away one kind. It believes an operator's word alone; a cell that is reached is not lost. */
export function clearLost(kind: LostKind, { hub: hubId, record }: LostOptions): Controller {
  const { type, drainedBy } = kind;
  const locationOf = ({ metadata }: KubeObject): string | undefined =>
    drainedBy === undefined ? metadata.annotations?.[sourceCell] : metadata.labels?.[drainedBy];
  return {
    name: `federation-lost-${type.plural}`,
    rules: {
      hub: [
        {
          apiGroups: [type.group],
          resources: [type.plural],
          verbs: ['get', 'list', 'watch', drainedBy === undefined ? 'delete' : 'patch'],
        },
        { apiGroups: [record.group], resources: [record.plural], verbs: ['get', 'list', 'watch'] },
      ],
    },

    engage(plane, _planes, watch) {
      if (plane.id !== hubId) return;
      const requestOf = (object: KubeObject): Request => ({ plane: plane.id, ...keyOf(object) });
      watch.on(plane, type, (object) => [requestOf(object)]);
      watch.on(plane, record, (location) => {
        if (!saysLost(location)) return [];
        const here = plane.informer(type).list();
        return here.filter((object) => locationOf(object) === location.metadata.name).map(requestOf);
      });
    },

    async reconcile(request, planes) {
      const hub = planes.get(request.plane);
      const object = hub?.informer(type).get(request.namespace, request.name);
      const location = object && locationOf(object);
      if (hub === undefined || object === undefined || location === undefined) return undefined;
      if (!isLost(hub, record, location) || planes.get(cellOf(location)) !== undefined) return undefined;
      const step = decideLost(kind, object);
      if (step === 'let-go') await removeFinalizer(hub.client, type, object, carriedFinalizer);
      if (step === 'delete') {
        await hub.client.delete(type, keyOf(object), { preconditions: { uid: object.metadata.uid } });
      }
      return undefined;
    },
  };
}
