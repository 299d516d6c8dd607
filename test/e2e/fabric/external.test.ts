import { afterEach, expect, it } from 'vitest';
import {
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  VPC,
  VPCAttachment,
  Workload,
} from '../../../src/api/index.ts';
import { applyStatus, mergeStatus } from '../../../src/kube/index.ts';
import { apiVersionOf, controllerReference, type ResourceType, type Stored } from '../../../src/meta/index.ts';
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
