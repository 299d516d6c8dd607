import { InternetEgressClass, Network, NetworkContext } from '../../../api/index.ts';
import { type Controller, mergeStatus, type Request } from '../../../kube/index.ts';
import { isTerminating } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { classesOf, contextsNaming, type Found, indexClasses, indexNetworks, networksOfClass } from '../fabric.ts';
import { isSynced, unsyncedRetry } from '../synced.ts';
import { decide } from './decide.ts';
import { resolveEgress } from './resolve.ts';

const reads = ['get', 'list', 'watch'];

/** Tells in projects which wishes for internet egress are refused. What is not refused, presence carries to the cells. */
export function egressController(deps: NetworkDeps): Controller {
  return {
    name: 'network-hub-egress',
    rules: {
      hub: [{ apiGroups: [InternetEgressClass.group], resources: ['internetegressclasses'], verbs: reads }],
      project: [
        { apiGroups: [Network.group], resources: ['networks', 'networkcontexts'], verbs: reads },
        { apiGroups: [Network.group], resources: ['networks/status', 'networkcontexts/status'], verbs: ['patch'] },
      ],
    },

    engage(plane, planes, watch) {
      if (plane.id === deps.hub) {
        indexClasses(plane);
        watch.on(plane, InternetEgressClass, (changed, event) =>
          networksOfClass(planes, changed, event).map(requestOf),
        );
        return;
      }
      if (plane.role !== 'project') return;
      indexNetworks(plane);
      watch.on(plane, Network);
      watch.on(plane, NetworkContext, ({ metadata, spec }, event) =>
        event.type === 'deleted'
          ? []
          : [{ plane: plane.id, namespace: metadata.namespace ?? '', name: spec?.network.name ?? '' }],
      );
    },

    async reconcile(request, planes) {
      const hub = planes.get(deps.hub);
      const plane = planes.get(request.plane);
      if (hub === undefined || plane === undefined || plane === hub) return undefined;
      if (!isSynced(hub, [InternetEgressClass])) return unsyncedRetry;
      const network = plane.informer(Network).get(request.namespace, request.name);
      if (network === undefined || isTerminating(network)) return undefined;
      const resolution = resolveEgress(network, classesOf(hub));
      const contexts = contextsNaming(plane, network);
      const plan = decide({ network, contexts, resolution, now: deps.clock.now() });
      if (plan.network !== undefined) await mergeStatus(plane.client, Network, network, plan.network);
      for (const { context, status } of plan.contexts) {
        await mergeStatus(plane.client, NetworkContext, context, status);
      }
      return undefined;
    },
  };
}

function requestOf({ plane, network }: Found): Request {
  return { plane: plane.id, namespace: network.metadata.namespace ?? '', name: network.metadata.name };
}
