import { fabricFinalizers, NetworkContext, Subnet, VPC, VPCAttachment } from '../../../api/index.ts';
import {
  addFinalizer,
  type Controller,
  mergeStatus,
  type Plane,
  type Request,
  removeFinalizer,
} from '../../../kube/index.ts';
import { Event, type Stored } from '../../../meta/index.ts';
import { formatIdentifier, isIdentifier, vpcIdentifier } from '../../codec/index.ts';
import type { FabricDeps } from '../../shared/deps.ts';
import { decide, type Snapshot, type Step } from './decide.ts';

const controllerName = 'fabric-cell-vpc';
const reads = ['get', 'list', 'watch'];
const byContext = 'fabric/context';
const byIdentifier = 'fabric/identifier';

/** A VPC for each network that is present in the cell, under the network's number. */
export function vpcController(deps: FabricDeps): Controller {
  return {
    name: controllerName,
    rules: {
      cell: [
        { apiGroups: [NetworkContext.group], resources: ['networkcontexts', 'subnets'], verbs: reads },
        { apiGroups: [NetworkContext.group], resources: ['networkcontexts/finalizers'], verbs: ['update'] },
        { apiGroups: [VPC.group], resources: ['vpcs'], verbs: [...reads, 'create', 'patch', 'delete'] },
        { apiGroups: [VPC.group], resources: ['vpcs/status'], verbs: ['patch'] },
        { apiGroups: [VPC.group], resources: ['vpcattachments'], verbs: reads },
        { apiGroups: [Event.group], resources: ['events'], verbs: ['create', 'patch'] },
      ],
    },

    engage(plane, _planes, watch) {
      const request = (namespace: string | undefined, name: string): Request => ({
        plane: plane.id,
        namespace: namespace ?? '',
        name,
      });
      plane
        .informer(Subnet)
        .addIndex(byContext, ({ metadata, spec }) => [
          `${metadata.namespace ?? ''}/${spec?.networkContext.name ?? ''}`,
        ]);
      const vpcs = plane.informer(VPC);
      vpcs.addIndex(byIdentifier, ({ status }) => [status?.vpc ?? '']);
      watch.on(plane, NetworkContext);
      watch.on(plane, VPC, ({ metadata }, event) => {
        const own = request(metadata.namespace, metadata.name);
        if (event.type !== 'deleted') return [own];
        // The number it had is free for one that was refused it.
        const waiting = vpcs.byIndex(byIdentifier, '').map((vpc) => request(vpc.metadata.namespace, vpc.metadata.name));
        return [own, ...waiting];
      });
      watch.on(plane, Subnet, ({ metadata, spec }) => [request(metadata.namespace, spec?.networkContext.name ?? '')]);
      watch.on(plane, VPCAttachment, ({ metadata, spec }, event) =>
        event.type === 'deleted' ? [request(metadata.namespace, spec.vpc.name)] : [],
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      if (plane === undefined) return undefined;
      const snapshot = await observe(plane, request, deps.clock.now());
      await act(decide(snapshot), plane, deps);
      return undefined;
    },
  };
}

async function observe(plane: Plane, { namespace, name }: Request, now: number): Promise<Snapshot> {
  const vpc = plane.informer(VPC).get(namespace, name);
  const cached = plane.informer(NetworkContext).get(namespace, name);
  // Nothing is taken down on a cache that is late.
  const context =
    cached === undefined && vpc !== undefined ? await plane.client.get(NetworkContext, { namespace, name }) : cached;
  const subnets = plane.informer(Subnet).byIndex(byContext, `${namespace}/${name}`);
  return { context, vpc, subnets, heldBy: vpc && holderOf(plane, vpc, context?.spec?.fabricIdentity), now };
}

function holderOf(plane: Plane, vpc: Stored<VPC>, identity: number | undefined): string | undefined {
  if (identity === undefined || !isIdentifier(vpcIdentifier, identity)) return undefined;
  const holders = plane.informer(VPC).byIndex(byIdentifier, formatIdentifier(vpcIdentifier, identity));
  const other = holders.find(({ metadata }) => metadata.uid !== vpc.metadata.uid);
  return other === undefined ? undefined : `${other.metadata.namespace}/${other.metadata.name}`;
}

async function act(step: Step, plane: Plane, deps: FabricDeps): Promise<void> {
  switch (step.do) {
    case 'nothing':
      return;
    case 'create':
      await plane.client.create(VPC, step.object);
      return;
    case 'publish':
      await mergeStatus(plane.client, VPC, step.vpc, step.status);
      return;
    case 'refuse': {
      const event = { type: 'Warning', reason: 'VPCIdentifierHeld', action: 'Publish', note: step.message } as const;
      deps.recorder(plane, controllerName).event(step.vpc, event);
      return;
    }
    case 'hold':
      await addFinalizer(plane.client, VPC, step.vpc, fabricFinalizers.vpc);
      return;
    case 'delete': {
      const { namespace = '', name, uid } = step.vpc.metadata;
      await plane.client.delete(VPC, { namespace, name }, { preconditions: { uid } });
      return;
    }
    case 'let-go': {
      const { namespace = '', name } = step.vpc.metadata;
      const { items } = await plane.client.list(VPCAttachment, { namespace });
      if (items.some(({ spec }) => spec.vpc.name === name)) return;
      await removeFinalizer(plane.client, VPC, step.vpc, fabricFinalizers.vpc);
    }
  }
}
