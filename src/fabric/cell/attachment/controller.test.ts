import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  fabricAnnotations,
  fabricLabels,
  NetworkContext,
  NetworkInterface,
  VPCAttachment,
} from '../../../api/index.ts';
import { type Environment, verbAndResource } from '../../../apiserver/testing/index.ts';
import type { Client } from '../../../kube/index.ts';
import { findCondition, type Stored } from '../../../meta/index.ts';
import { fabricCellControllers } from '../index.ts';
import { boundInterface, context, get, identify, namespace, openCell, vpc } from '../testing.ts';

let environment: Environment;
let client: Client;
beforeEach(async () => {
  environment = await openCell(fabricCellControllers);
  client = environment.cell();
  environment.start();
});
afterEach(() => environment.close());

const condition = (object: { status?: unknown } | undefined, type: string) => {
  const { status, reason } = findCondition((object?.status as NetworkInterface['status'])?.conditions, type) ?? {};
  return `${status}/${reason}`;
};

function prepared(name: string): Promise<Stored<NetworkInterface>> {
  return environment.until(`${name} prepared`, async () => {
    const found = await get.interface(client, name);
    return condition(found, 'Prepared') === 'True/AttachmentReady' && found;
  });
}

it('an interface gets its attachment and its definition, and is prepared; programmed it is not until a node says so', async () => {
  await context(client, 'net');
  await vpc(client, 'net', 28200);
  await boundInterface(client, 'web-0-eth0');
  const networkInterface = await prepared('web-0-eth0');
  expect(networkInterface.status).toMatchObject({
    vpc: '7kQ',
    attachmentRef: { apiGroup: 'cloud.datumapis.com', kind: 'VPCAttachment', name: 'web-0-eth0' },
    phase: 'Bound',
  });
  expect(condition(networkInterface, 'Programmed')).toBe('Unknown/AwaitingDataPlane');
  expect(condition(networkInterface, 'Allocated')).toBe('True/Allocated');

  const attachment = (await get.attachment(client, 'web-0-eth0'))!;
  expect(attachment.spec).toEqual({
    vpc: { name: 'net-us-central-1' },
    interfaceRef: { name: 'web-0-eth0' },
    interface: { name: 'eth0', mode: 'Netns', addresses: ['fd5a:9:2:0:c::/96', '10.70.3.9/32'] },
  });
  expect(attachment.metadata.ownerReferences).toMatchObject([{ uid: networkInterface.metadata.uid, controller: true }]);
  expect(attachment.status).toMatchObject({
    vpc: '7kQ',
    vpcAttachment: '1',
    networkAttachmentDefinition: 'web-0-eth0',
  });
  expect(condition(attachment, 'Ready')).toBe('True/AttachmentDefinitionReady');
  expect(attachment.status).not.toHaveProperty('egress');

  const definition = (await get.definition(client, 'web-0-eth0'))!;
  expect(definition.metadata).toMatchObject({
    labels: { [fabricLabels.vpc]: '7kQ', [fabricLabels.vpcAttachment]: '1' },
    annotations: { [fabricAnnotations.hostInterface]: 'G0000007kQ001H' },
    ownerReferences: [
      { uid: attachment.metadata.uid, kind: 'VPCAttachment', controller: true, blockOwnerDeletion: true },
    ],
  });
  expect(definition.spec?.config).toBe(
    '{"cniVersion":"1.0.0","name":"web-0-eth0","plugins":[{"type":"galactic-veth","vpc":"7kQ","vpcattachment":"1","namespace":"galactic-system","mtu":1440,"ipam":{"type":"galactic-ipam","addresses":[{"address":"fd5a:9:2:0:c::/96","gateway":"fd5a:9:2::1"},{"address":"10.70.3.9/32","gateway":"10.70.0.1"}]}},{"type":"galactic-bgp","vpc":"7kQ","vpcattachment":"1","namespace":"galactic-system"}]}',
  );
});

it('says what it waits for, in order: the VPC, its identifier; each passes by itself', async () => {
  await context(client, 'net');
  await boundInterface(client, 'web-0-eth0');
  const waits = (reason: string) =>
    environment.until(reason, async () => {
      const found = findCondition((await get.interface(client, 'web-0-eth0'))?.status?.conditions, 'Prepared');
      return found?.reason === reason && found;
    });
  expect((await waits('AwaitingVPC')).message).toContain('Waiting for VPC net-us-central-1');
  expect(await get.attachment(client, 'web-0-eth0')).toBeUndefined();
  const made = await vpc(client, 'net', undefined);
  expect((await waits('AwaitingVPCIdentifier')).status).toBe('False');
  await identify(client, made, 42);
  expect((await prepared('web-0-eth0')).status?.vpc).toBe('G');
});

it('a VPC without its network\u2019s presence is waited on as well', async () => {
  await vpc(client, 'net', 42);
  await boundInterface(client, 'web-0-eth0');
  await environment.until('waits', async () => {
    return condition(await get.interface(client, 'web-0-eth0'), 'Prepared') === 'False/AwaitingNetworkContext';
  });
});

it('an interface nobody holds, or without its addresses, gets none; what is held comes to rest without a write', async () => {
  await context(client, 'net');
  await vpc(client, 'net', 42);
  const bound = await boundInterface(client, 'web-0-eth0');
  await prepared('web-0-eth0');
  await client.create(NetworkInterface, {
    ...bound,
    metadata: { name: 'other', namespace },
    spec: { ...bound.spec, claimRef: { name: 'other', uid: 'other' } },
  });
  await environment.quiet();
  expect(await get.attachment(client, 'other')).toBeUndefined();
  environment.wire.writes.length = 0;
  await client.patch(
    NetworkContext,
    { namespace, name: 'net-us-central-1' },
    {
      type: 'merge',
      body: { spec: { networkGeneration: 7 } },
    },
  );
  await environment.stop();
  environment.start();
  await environment.quiet();
  expect(environment.wire.writes.map(verbAndResource)).toEqual([]);
  // It is at work all the same.
  await client.patch(
    NetworkInterface,
    { namespace, name: 'web-0-eth0' },
    { type: 'merge', body: { spec: { mtu: 1400 } } },
  );
  await environment.until('an edit arrives', async () => {
    return (await get.definition(client, 'web-0-eth0'))?.spec?.config?.includes('"mtu":1400');
  });
});

it('MTU, gateway, mode and addresses follow the interface; a hypervisor gets a tap', async () => {
  await context(client, 'net');
  await vpc(client, 'net', 42);
  await boundInterface(client, 'vm-0-eth0', { mtu: undefined });
  await prepared('vm-0-eth0');
  await client.patch(
    NetworkInterface,
    { namespace, name: 'vm-0-eth0' },
    {
      type: 'merge',
      body: {
        spec: {
          mtu: 1400,
          attachmentMode: 'Hypervisor',
          addresses: [{ family: 'IPv6', address: 'fd5a:9:2:0:d::/96', primary: true }],
        },
      },
    },
  );
  await environment.until('followed', async () => {
    const config = (await get.definition(client, 'vm-0-eth0'))?.spec?.config;
    return (
      config ===
      '{"cniVersion":"1.0.0","name":"vm-0-eth0","plugins":[{"type":"galactic-tap","vpc":"G","vpcattachment":"1","namespace":"galactic-system","mtu":1400,"ipam":{"type":"galactic-ipam","addresses":[{"address":"fd5a:9:2:0:d::/96"}]}},{"type":"galactic-bgp","vpc":"G","vpcattachment":"1","namespace":"galactic-system"}]}'
    );
  });
  expect((await get.attachment(client, 'vm-0-eth0'))?.spec.interface).toEqual({
    name: 'eth0',
    mode: 'Hypervisor',
    addresses: ['fd5a:9:2:0:d::/96'],
  });
});

it('what the node says on the attachment is said on the interface', async () => {
  await context(client, 'net');
  await vpc(client, 'net', 42);
  await boundInterface(client, 'web-0-eth0');
  await prepared('web-0-eth0');
  const attachment = (await get.attachment(client, 'web-0-eth0'))!;
  const programmed = {
    type: 'Programmed',
    status: 'True',
    reason: 'Advertised',
    message: 'node-a announces it',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  await client.update(
    VPCAttachment,
    {
      ...attachment,
      status: { ...attachment.status, node: 'node-a', conditions: [...attachment.status!.conditions!, programmed] },
    },
    { subresource: 'status' },
  );
  await environment.until('programmed', async () => {
    return condition(await get.interface(client, 'web-0-eth0'), 'Programmed') === 'True/Advertised';
  });
  expect((await get.attachment(client, 'web-0-eth0'))?.status?.node).toBe('node-a');
});
