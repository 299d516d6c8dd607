import { NetworkContext } from '../../../api/index.ts';
import type { Controller } from '../../../kube/index.ts';
import { jsonEqual } from '../../../meta/index.ts';
import type { FabricDeps } from '../../shared/deps.ts';
import { requestOf } from '../cell.ts';
import type { Finding } from './finding.ts';
import { egressRules, followEgress, observeEgress } from './follow.ts';
import { resolveEgress } from './resolve.ts';

const name = 'fabric-cell-egress';

/**
 * Tells operators, in events on a cell's NetworkContexts, which way the traffic of a network takes to the internet, or
 * why none: what a consumer is not told (F: shards, parameters). One event for each change.
 */
export function egressController({ recorder }: FabricDeps): Controller {
  /** What was told last, by plane and UID of the context. */
  const told = new Map<string, Finding>();
  return {
    name,
    rules: {
      cell: [...egressRules, { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] }],
    },

    engage(plane, _planes, watch) {
      followEgress(plane, watch, (context) => [requestOf(plane, context)]);
      watch.on(plane, NetworkContext, (context, event) => {
        if (event.type === 'deleted') told.delete(`${plane.id}/${context.metadata.uid}`);
        return [];
      });
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const context = plane?.informer(NetworkContext).get(request.namespace, request.name);
      if (plane === undefined || context === undefined) return undefined;
      const key = `${plane.id}/${context.metadata.uid}`;
      const { finding } = resolveEgress(observeEgress(plane, context));
      if (finding === undefined) {
        told.delete(key);
        return undefined;
      }
      if (jsonEqual(told.get(key), finding)) return undefined;
      recorder(plane, name).event(context, { ...finding, action: 'ResolveEgress' });
      told.set(key, finding);
      return undefined;
    },
  };
}
