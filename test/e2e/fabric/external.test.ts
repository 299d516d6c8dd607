import { afterEach, expect, it } from 'vitest';
import {
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  VPC,
  VPCAttachment,
  Workload,
} from '../../../src/api/index.ts';
import { applyStatus, informerIdentity, mergeStatus } from '../../../src/kube/index.ts';
import {
  apiVersionOf,
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  controllerReference,
  type KubeObject,
  type ResourceType,
  type Stored,
} from '../../../src/meta/index.ts';
import { World } from '../compute/world.ts';
import { workloadObject } from '../support/objects.ts';

/** Somebody else realizes the interfaces, by the contract of docs/providers.md: here the test does, by hand. */

let world: World;
afterEach(() => world.stack.close());

const sourceAddresses = [{ family: 'IPv6' as const, address: '2001:db8:f00d:1::100', stability: 'Network' as const }];
const lastTransitionTime = '2026-01-01T00:00:00Z';

async function realize(networkInterface: Stored<NetworkInterface>): Promise<void> {
  const cell = world.stack.cell();
  const { name, namespace = '' } = networkInterface.metadata;
  const attachment = await cell.create(VPCAttachment, {
    apiVersion: apiVersionOf(VPCAttachment),
    kind: VPCAttachment.kind,
    metadata: { name, namespace, ownerReferences: [controllerReference(networkInterface)] },
    spec: { vpc: { name: 'of-another-kind' }, interface: { name: 'eth0', mode: 'Netns' } },
  });
  await mergeStatus(cell, VPCAttachment, attachment, { egress: { internet: { sourceAddresses } } });
  const says = (type: string, status: 'True' | 'Unknown', reason: string) => ({
    ...{ type, status, reason, message: 'said by another data plane' },
    ...{ lastTransitionTime, observedGeneration: networkInterface.metadata.generation ?? 1 },
  });
  const said = {
    conditions: [says('Prepared', 'True', 'AttachmentReady'), says('Programmed', 'Unknown', 'AwaitingDataPlane')],
    attachmentRef: { apiGroup: VPCAttachment.group, kind: VPCAttachment.kind, name },
    vpc: 'tenant-7',
  };
  await applyStatus(cell, NetworkInterface, networkInterface, said, 'another-data-plane');
}

it('instances wait for another data plane, start when it says so, and tell what it says of egress', async () => {
  world = await World.open({ dataPlane: 'external' });
  const cell = world.stack.cell();
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 2 }));
  const interfaces = await world.stack.until('interfaces', async () => {
    const { items } = await cell.list(NetworkInterface);
    return items.length === 2 && items.every(({ status }) => status?.phase === 'Bound') && items;
  });
  await world.stack.pass(5);
  for (const instance of await world.instances('web')) expect(World.readyOf(instance)).not.toContain('True');
  // The network has its number; what Berth's own fabric makes of it in a cell is not there.
  expect((await cell.list(NetworkContext)).items[0]?.spec?.fabricIdentity).toBe(1);
  for (const kind of [VPC, VPCAttachment, NetworkAttachmentDefinition] as ResourceType[]) {
    expect((await cell.list(kind)).items).toEqual([]);
  }

  for (const each of interfaces) await realize(each);
  await world.ready('web', 2);
  const copies = await world.stack.until('egress in the project', async () => {
    const { items } = await world.project.list(NetworkInterface, { namespace: 'default' });
    return items.length === 2 && items.every(({ status }) => status?.egress !== undefined) && items;
  });
  for (const { status } of copies) expect(status?.egress).toEqual({ internet: { sourceAddresses } });
});

const Port: ResourceType = {
  group: 'fabric.example.com',
  version: 'v1beta1',
  kind: 'Port',
  plural: 'ports',
  namespaced: true,
};

function portDefinition(): CustomResourceDefinition {
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: apiVersionOf(CustomResourceDefinition),
    kind: CustomResourceDefinition.kind,
    metadata: { name: `${Port.plural}.${Port.group}` },
    spec: {
      group: Port.group,
      scope: 'Namespaced',
      names: { plural: Port.plural, singular: 'port', kind: Port.kind, listKind: 'PortList' },
      versions: [
        {
          name: Port.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: free, status: free } } },
          subresources: { status: {} },
        },
      ],
    },
  };
}

it.each(['before', 'after'])('a kind of its own, defined %s interfaces name it, is read as well', async (when) => {
  world = await World.open({ dataPlane: 'external' });
  const cell = world.stack.cell();
  // Who brings a kind lets it be read: by Berth\u2019s informers, which all controllers share.
  const name = 'read-ports';
  const rules = [{ apiGroups: [Port.group], resources: [Port.plural], verbs: ['get', 'list', 'watch'] }];
  await cell.create(ClusterRole, {
    apiVersion: apiVersionOf(ClusterRole),
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  });
  await cell.create(ClusterRoleBinding, {
    apiVersion: apiVersionOf(ClusterRoleBinding),
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: informerIdentity, namespace: 'berth-system' }],
  });
  if (when === 'before') await cell.create(CustomResourceDefinition, portDefinition());
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1 }));
  const [networkInterface] = await world.stack.until('an interface', async () => {
    const { items } = await cell.list(NetworkInterface);
    return items.length === 1 && items[0]?.status?.phase === 'Bound' && items;
  });
  const { name: port, namespace = '' } = networkInterface!.metadata;
  const attachmentRef = { apiGroup: Port.group, kind: Port.kind, name: port };
  await applyStatus(cell, NetworkInterface, networkInterface!, { attachmentRef }, 'another-data-plane');
  await world.stack.pass(1);
  if (when === 'after') await cell.create(CustomResourceDefinition, portDefinition());
  const made = await world.stack.until('the kind is served', async () =>
    cell
      .create(Port, { apiVersion: apiVersionOf(Port), kind: Port.kind, metadata: { name: port, namespace } })
      .catch(() => false),
  );
  await mergeStatus(cell, Port, made as Stored<KubeObject>, { egress: { internet: { sourceAddresses } } });
  await world.stack.until('egress in the project', async () => {
    const { items } = await world.project.list(NetworkInterface, { namespace: 'default' });
    return items[0]?.status?.egress?.internet?.sourceAddresses?.[0]?.address === '2001:db8:f00d:1::100';
  });
});
