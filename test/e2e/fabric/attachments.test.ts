import { afterEach, expect, it } from 'vitest';
import {
  Instance,
  NetworkAttachmentDefinition,
  NetworkInterface,
  NetworkInterfaceClaim,
  VPCAttachment,
} from '../../../src/api/index.ts';
import { decidePod, type PodAnswer } from '../../../src/fabric/index.ts';
import { apiVersionOf, findCondition, isConditionTrue, type Stored, withCondition } from '../../../src/meta/index.ts';
import { World } from '../compute/world.ts';

/** Attachments through the lives of the instances that use them: every plane and controller, in virtual time. */

let world: World;
afterEach(() => world.stack.close());

/** What nodes read, by interface: UID and bytes of each definition, and the pair it records. */
async function definitions(): Promise<Record<string, string>> {
  const { items } = await world.stack.cell().list(NetworkAttachmentDefinition);
  return Object.fromEntries(
    items.map(({ metadata, spec }) => [
      metadata.name,
      [metadata.uid, metadata.annotations?.['k8s.v1.cni.cncf.io/host-interface'], spec?.config].join(' '),
    ]),
  );
}

const devices = async () => Object.values(await definitions()).map((text) => text.split(' ')[1]);
const count = (items: Record<string, string>) => Object.keys(items).length;

it('an instance that is replaced finds its attachment as the last one left it', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  await world.run({ name: 'web', replicas: 3 });
  const before = await definitions();
  expect(count(before)).toBe(3);
  const cell = world.stack.cell();
  const { items } = await cell.list(Instance);
  for (const { metadata } of items) {
    await cell.delete(Instance, { namespace: metadata.namespace ?? '', name: metadata.name });
  }
  const old = new Set(items.map(({ metadata }) => metadata.uid));
  await world.stack.until('other instances', async () => {
    const now = (await cell.list(Instance)).items;
    return now.length === 3 && now.every(({ metadata }) => !old.has(metadata.uid));
  });
  await world.ready('web', 3);
  expect(await definitions()).toEqual(before);
});

it('a retained interface keeps its attachment while nobody holds it, and is prepared anew for who does', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  await world.run({ name: 'web', replicas: 2, policy: 'Retain' });
  const before = await definitions();
  await world.scale('web', 0);
  await world.stack.until('nobody\u2019s', async () =>
    (await world.interfaces()).every(
      ({ status }) => status?.phase === 'Available' && status.attachmentRef === undefined,
    ),
  );
  await world.stack.pass(2);
  expect(await definitions()).toEqual(before);
  for (const { status } of await world.interfaces()) {
    expect(findCondition(status?.conditions, 'Prepared')?.status).toBe('Unknown');
  }
  await world.scale('web', 2);
  await world.ready('web', 2);
  expect(await definitions()).toEqual(before);
});

it('what is deleted takes its attachment along, and its device is not soon another one\u2019s', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  await world.run({ name: 'web', replicas: 3 });
  const before = await devices();
  await world.scale('web', 0);
  await world.stack.until('gone', async () => count(await definitions()) === 0);
  expect((await world.stack.cell().list(VPCAttachment)).items).toEqual([]);
  await world.scale('web', 3);
  await world.ready('web', 3);
  const after = await devices();
  expect(new Set([...before, ...after]).size).toBe(6);
});

it('what a node says on the attachment reaches the claim and the project; no node, nobody claims it works', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  await world.run({ name: 'web', replicas: 1 });
  const cell = world.stack.cell();
  const claim = async () => (await cell.list(NetworkInterfaceClaim)).items[0];
  expect(findCondition((await claim())?.status?.conditions, 'Ready')).toMatchObject({
    status: 'Unknown',
    reason: 'NotProgrammed',
  });
  const attachment = (await cell.list(VPCAttachment)).items[0]!;
  const programmed = {
    type: 'Programmed',
    status: 'True',
    reason: 'Advertised',
    message: 'node-a announces it',
  } as const;
  const conditions = withCondition(attachment.status?.conditions, programmed, world.stack.clock.now());
  await cell.update(
    VPCAttachment,
    { ...attachment, status: { ...attachment.status, conditions } },
    { subresource: 'status' },
  );
  await world.stack.until('the claim is ready', async () =>
    isConditionTrue((await claim())?.status?.conditions, 'Ready'),
  );
  await world.stack.until('the project sees it', async () => {
    const { items } = await world.project.list(NetworkInterface, { namespace: 'default' });
    return isConditionTrue(items[0]?.status?.conditions, 'Programmed');
  });
});

it('a pod of a running instance gets the definition of its interface', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  await world.run({ name: 'web', replicas: 1 });
  const cell = world.stack.cell();
  const instance = (await cell.list(Instance)).items[0]!;
  const { namespace = '' } = instance.metadata;
  const byName = <T extends { metadata: { name: string } }>(items: T[]) =>
    new Map(items.map((each) => [each.metadata.name, each]));
  const decided = (
    definitions: Stored<NetworkAttachmentDefinition>[],
    interfaces: Stored<NetworkInterface>[],
  ): PodAnswer => {
    const { name, uid } = instance.metadata;
    const owner = { apiVersion: apiVersionOf(Instance), kind: Instance.kind, name, uid, controller: true };
    const labels = { 'networking.datumapis.com/inject-interfaces': 'true' };
    return decidePod({
      pod: { metadata: { name, labels, ownerReferences: [owner] } },
      namespace,
      instance,
      interfaces: byName(interfaces),
      definitions: byName(definitions),
    });
  };
  const there = (await cell.list(NetworkAttachmentDefinition)).items;
  const interfaces = await world.interfaces();
  const entry = `${namespace}/${interfaces[0]?.metadata.name}`;
  expect(decided(there, interfaces)).toEqual({
    allowed: true,
    annotations: {
      'v1.multus-cni.io/default-network': entry,
      'networking.datumapis.com/injected-interfaces': entry,
    },
  });
  expect(decided([], interfaces)).toMatchObject({ allowed: false, reason: 'PodDefinitionMissing' });
});
