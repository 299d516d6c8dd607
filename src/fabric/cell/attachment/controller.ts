import { NetworkAttachmentDefinition, NetworkInterface, VPC, VPCAttachment } from '../../../api/index.ts';
import type { Controller } from '../../../kube/index.ts';
import type { FabricDeps } from '../../shared/deps.ts';
import { reads } from '../cell.ts';
import { egressRules } from '../egress/follow.ts';
import { act } from './act.ts';
import { decide } from './decide.ts';
import { Identifiers } from './identifiers.ts';
import { observe, watchAttachments } from './observe.ts';
import { recordedPair } from './pair.ts';
import type { Snapshot } from './snapshot.ts';

/** A decision that goes on longer than any attachment's whole life takes, races lost included, is a fault, not work. */
const mostSteps = 24;

/** Makes an attachment a node can read of every interface that has its addresses: VPCAttachment and its definition. */
export function attachmentController({ clock }: FabricDeps, identifiers = new Identifiers()): Controller {
  return {
    name: 'fabric-cell-attachment',
    concurrency: 16,
    rules: {
      cell: [
        { apiGroups: [NetworkInterface.group], resources: ['networkinterfaces'], verbs: reads },
        { apiGroups: [NetworkInterface.group], resources: ['networkinterfaces/status'], verbs: ['patch'] },
        { apiGroups: [VPC.group], resources: ['vpcs'], verbs: [...reads, 'patch'] },
        { apiGroups: [VPCAttachment.group], resources: ['vpcattachments'], verbs: [...reads, 'create', 'patch'] },
        { apiGroups: [VPCAttachment.group], resources: ['vpcattachments/status'], verbs: ['update'] },
        {
          apiGroups: [NetworkAttachmentDefinition.group],
          resources: [NetworkAttachmentDefinition.plural],
          verbs: [...reads, 'create', 'patch'],
        },
        ...egressRules,
      ],
    },

    engage(plane, _planes, watch) {
      watchAttachments(plane, watch);
      watch.on(plane, NetworkInterface, ({ metadata }, event) => {
        if (event.type === 'deleted') identifiers.forgetInterface(plane, metadata.uid);
        return [];
      });
      plane.signal.addEventListener('abort', () => identifiers.forget(plane));
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const networkInterface = plane?.informer(NetworkInterface).get(request.namespace, request.name);
      if (plane === undefined || networkInterface === undefined) return undefined;
      let snapshot: Snapshot = observe(plane, networkInterface, clock.now());
      let taken: { vpc: number; attachment: number } | undefined;
      try {
        for (let steps = 0; steps < mostSteps; steps++) {
          const step = decide(snapshot);
          if (step.do === 'rest') return undefined;
          snapshot = await act(step, snapshot, plane, identifiers);
          if (step.do === 'publish') return undefined;
          const { identifier } = snapshot;
          if (step.do === 'identify' && typeof identifier === 'number') {
            taken = { vpc: step.vpcId, attachment: identifier };
          }
        }
      } finally {
        if (taken !== undefined) identifiers.settle(plane, taken);
        const pair = snapshot.definition === undefined ? undefined : recordedPair(snapshot.definition);
        if (pair !== undefined) identifiers.note(plane, networkInterface.metadata.uid, pair);
      }
      throw new Error(`attachment ${request.namespace}/${request.name} does not come to rest`);
    },
  };
}
