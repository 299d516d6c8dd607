import { NetworkContext, NetworkInterface, networkingFinalizers } from '../../../api/index.ts';
import { addFinalizer, type Controller, mergeStatus, type Plane, removeFinalizer } from '../../../kube/index.ts';
import type { Stored } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { countTerminating } from '../../shared/terminating.ts';
import { reads, requestOf } from '../cell.ts';
import { decide } from './decide.ts';

const byNetwork = 'network/network';
const { group } = NetworkContext;

/** The cell's hold on a presence whose addresses are in use here. */
export function holdController(deps: NetworkDeps): Controller {
  return {
    name: 'network-cell-context-hold',
    rules: {
      cell: [
        { apiGroups: [group], resources: ['networkcontexts'], verbs: [...reads, 'patch'] },
        { apiGroups: [group], resources: ['networkcontexts/status'], verbs: ['patch'] },
        { apiGroups: [group], resources: ['networkinterfaces'], verbs: reads },
      ],
    },

    engage(plane, _planes, watch) {
      countTerminating(plane, deps.metrics, deps.clock);
      const contexts = plane.informer(NetworkContext);
      const interfaces = plane.informer(NetworkInterface);
      contexts.addIndex(byNetwork, ({ metadata, spec }) =>
        spec === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.network.name}`],
      );
      interfaces.addIndex(byNetwork, ({ metadata, spec }) => [`${metadata.namespace ?? ''}/${spec.network.name}`]);
      watch.on(plane, NetworkContext);
      // An interface matters to a hold by coming and by going; nothing it becomes in between does.
      watch.on(plane, NetworkInterface, (object, event) =>
        event.type === 'updated'
          ? []
          : contexts.byIndex(byNetwork, networkKey(object)).map((context) => requestOf(plane, context)),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const context = plane?.informer(NetworkContext).get(request.namespace, request.name);
      if (plane === undefined || context === undefined || context.spec === undefined) return undefined;
      const key = `${request.namespace}/${context.spec.network.name}`;
      const interfaces = plane.informer(NetworkInterface).byIndex(byNetwork, key);
      const now = deps.clock.now();
      const step = decide({ context, interfaces, now });
      switch (step.do) {
        case 'rest':
          break;
        case 'hold':
          await addFinalizer(plane.client, NetworkContext, context, networkingFinalizers.contextInUse);
          break;
        case 'say':
          await mergeStatus(plane.client, NetworkContext, context, step.status);
          break;
        case 'let-go':
          await letGo(plane, context, now);
          break;
      }
      return undefined;
    },
  };
}

/** Nobody uses it as far as the cache knows: it is let go on what is there. */
async function letGo(plane: Plane, context: Stored<NetworkContext>, now: number): Promise<void> {
  const { items } = await plane.client.list(NetworkInterface, { namespace: context.metadata.namespace ?? '' });
  if (decide({ context, interfaces: items, now }).do !== 'let-go') return;
  await removeFinalizer(plane.client, NetworkContext, context, networkingFinalizers.contextInUse);
}

function networkKey({ metadata, spec }: Stored<NetworkInterface>): string {
  return `${metadata.namespace ?? ''}/${spec.network.name}`;
}
