import { afterEach, beforeEach, expect, test } from 'vitest';
import { IpAddress, IpPrefix } from '../../../src/address/index.ts';
import {
  Instance,
  IPClass,
  IPPool,
  Network,
  NetworkInterface,
  NetworkInterfaceClaim,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { apiVersionOf, findCondition, isTerminating, type Stored } from '../../../src/meta/index.ts';
import { scarceClass, workloadObject } from '../support/objects.ts';
import { here, World } from './world.ts';

// Faults that services of this kind have had (reference F), each by its number: none of them is here.

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.stack.close());

const first = `web-here-${here}-0`;
const inCell = (name: string) => ({ namespace: world.namespace, name });

function instance(name = first): Promise<Stored<Instance> | undefined> {
  return world.stack.cell(here).get(Instance, inCell(name));
}

function claim(name = `${first}-eth0`) {
  return world.stack.cell(here).get(NetworkInterfaceClaim, inCell(name));
}

test('F1: a claim is the slot\u2019s, and a replacement finds it, under Delete as well', async () => {
  const before = await world.run({ name: 'web', replicas: 1 });
  const held = await claim();
  expect(held?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual([WorkloadDeployment.kind]);
  const former = await instance();
  await world.stack.cell(here).delete(Instance, inCell(first));
  await world.stack.until('another instance', async () => {
    const now = await instance();
    return now !== undefined && now.metadata.uid !== former?.metadata.uid;
  });
  const after = await world.ready('web', 1);
  expect([after.shown, after.claims]).toEqual([before.shown, before.claims]);
  expect((await claim())?.metadata.uid).toBe(held?.metadata.uid);
});

test('F2: no instance starts on a claim that is on its way out', async () => {
  const before = await world.run({ name: 'web', replicas: 1 });
  const cell = world.stack.cell(here);
  const hold = { op: 'add' as const, path: '/metadata/finalizers/-', value: 'e2e.test/hold' };
  await cell.patch(NetworkInterfaceClaim, inCell(`${first}-eth0`), { type: 'json', body: [hold] });
  const former = await claim();
  await cell.delete(NetworkInterfaceClaim, inCell(`${first}-eth0`));
  await cell.delete(Instance, inCell(first));
  await world.stack.pass(30);
  expect(isTerminating((await claim())!)).toBe(true);
  // Its slot has no instance, or one behind its gate.
  expect((await instance())?.spec?.controller?.schedulingGates).not.toEqual([]);
  const { finalizers = [] } = (await claim())!.metadata;
  const rest = finalizers.filter((each) => each !== 'e2e.test/hold');
  await cell.patch(NetworkInterfaceClaim, inCell(`${first}-eth0`), {
    type: 'merge',
    body: { metadata: { finalizers: rest } },
  });
  const after = await world.ready('web', 1);
  expect((await claim())?.metadata.uid).not.toBe(former?.metadata.uid);
  expect(Object.values(after.claims).some((uid) => Object.values(before.claims).includes(uid))).toBe(false);
});

test('a claim in use gets its protection back; one that was torn out takes its instance with it, and renumbers nobody', async () => {
  const cell = world.stack.cell(here);
  const name = `${first}-eth0`;
  const strip = () =>
    cell.patch(NetworkInterfaceClaim, inCell(name), { type: 'merge', body: { metadata: { finalizers: null } } });
  const before = await world.run({ name: 'web', replicas: 2 });
  const { finalizers } = (await claim())!.metadata;
  await strip();
  await world.stack.until('it is protected again', async () => {
    const held = (await claim())?.metadata.finalizers ?? [];
    return finalizers?.every((each) => held.includes(each));
  });
  expect(await world.ready('web', 2)).toEqual(before);

  // The way stuck objects are got rid of: deleted, and its finalizers taken off.
  const former = await instance();
  const addressOf = (each: Instance | undefined) => each?.status?.networkInterfaces?.[0]?.assignments?.networkIP;
  const shown = new Set<string | undefined>();
  world.stack.wire.afterWrite = async ({ path }) => {
    if (!path.includes(`/instances/${first}`)) return;
    const now = await instance();
    if (now?.metadata.uid === former?.metadata.uid) shown.add(addressOf(now));
  };
  await cell.delete(NetworkInterfaceClaim, inCell(name));
  await strip();
  await world.stack.until('another instance', async () => {
    const now = await instance();
    return now !== undefined && now.metadata.uid !== former?.metadata.uid;
  });
  world.stack.wire.afterWrite = undefined;
  expect([...shown].filter((each) => each !== addressOf(former))).toEqual([]);
  const after = await world.ready('web', 2);
  expect(after.shown[`web-here-${here}-1`]).toEqual(before.shown[`web-here-${here}-1`]);
  expect(after.instances[`web-here-${here}-1`]).toEqual(before.instances[`web-here-${here}-1`]);
});

test('F64, F73: of two instances one gets the last address; the other alone waits, and says why in IPAM\u2019s words', async () => {
  const { ipClass, pool } = scarceClass('one', '192.0.2.1/32');
  await world.project.create(IPClass, ipClass);
  await world.project.create(IPPool, pool);
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 2, classes: ['one'] }));
  await world.stack.until('one runs, one says why', async () => {
    const said = (await world.instances('web')).map(World.readyOf).sort();
    return said.join() === 'False AddressPoolExhausted,True Available';
  });
  await world.stack.pass(10);
  const objects = [
    ...(await world.stack.cell(here).list(Instance)).items,
    ...(await world.instances('web')),
    ...(await world.deployments()),
    await world.workload('web'),
  ];
  const reasons = objects.flatMap((each) => (each?.status?.conditions ?? []).map(({ reason }) => reason));
  expect(reasons).toContain('AddressPoolExhausted');
  for (const wrong of ['NetworkFailedToCreate', 'NoMatchingLocation', 'SchedulingGatesPresent']) {
    expect(reasons).not.toContain(wrong);
  }
});

test('F74: what is refused after an address was bound is said on the instance, which goes on and may be replaced', async () => {
  const before = await world.run({ name: 'web', replicas: 1 });
  await world.project.patch(
    Network,
    { namespace: 'default', name: 'default' },
    { type: 'merge', body: { spec: { ipFamilies: ['IPv6'] } } },
  );
  await world.stack.until('the instance says so', async () => {
    const [shown] = await world.instances('web');
    const ready = findCondition(shown?.status?.networkInterfaces?.[0]?.conditions, 'Ready');
    return ready?.reason === 'AddressFamilyNotCarried' && ready.message.includes('does not carry IPv4');
  });
  expect((await world.instances('web')).map(World.readyOf)).toEqual(['True Available']);
  const former = await instance();
  await world.stack.cell(here).delete(Instance, inCell(first));
  await world.stack.until('another runs', async () => {
    const now = await instance();
    return now !== undefined && now.metadata.uid !== former?.metadata.uid && World.readyOf(now) === 'True Available';
  });
  const after = await world.ready('web', 1);
  expect([after.shown, after.claims]).toEqual([before.shown, before.claims]);
  await world.project.patch(
    Network,
    { namespace: 'default', name: 'default' },
    { type: 'merge', body: { spec: { ipFamilies: ['IPv6', 'IPv4'] } } },
  );
  await world.stack.until('nothing is said any more', async () => {
    const [shown] = await world.instances('web');
    return findCondition(shown?.status?.networkInterfaces?.[0]?.conditions, 'Ready') === undefined;
  });
});

test('F75: a network of another namespace is refused, and not taken for one\u2019s own', async () => {
  const object = workloadObject({ name: 'web', replicas: 1 });
  object.spec.template.spec.networkInterfaces![0]!.network.namespace = 'elsewhere';
  await world.project.create(Workload, object);
  await world.stack.until('the workload says so', async () => {
    const said = findCondition((await world.workload('web'))?.status?.conditions, 'Available');
    return said?.reason === 'NetworkReferenceInvalid' && said.message.includes('elsewhere');
  });
  await world.stack.pass(10);
  expect([await world.deployments(), await world.allocated()]).toEqual([[], []]);
});

test('F76: a field that prints one address prints an address, of IPv6 as well', async () => {
  await world.run({ name: 'web', replicas: 2, families: ['IPv6'], classes: [] });
  for (const { status } of await world.instances('web')) {
    const [shown] = status?.networkInterfaces ?? [];
    const block = shown?.addresses?.[0]?.address ?? '';
    expect(block).toMatch(/\/96$/);
    expect(shown?.assignments?.networkIP).toBe(IpAddress.parse(shown?.assignments?.networkIP ?? '').toString());
    expect(shown?.assignments?.networkIP).toBe(IpPrefix.parse(block).first.toString());
  }
});

test('F79: a first slot that gets no network holds back none behind it', async () => {
  await world.run({ name: 'anchor', replicas: 1 });
  await world.stack.cell(here).create(NetworkInterface, {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: { name: `${first}-eth0`, namespace: world.namespace },
    spec: { network: { name: 'other' } } as NetworkInterface['spec'],
  });
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 4 }));
  await world.stack.until('three run', async () => {
    const said = (await world.instances('web')).map(World.readyOf);
    return said.join() === 'False NetworkMismatch,True Available,True Available,True Available';
  });
});

test('more instances than anybody means are refused by workload and scale; too many all the same are taken back at once', async () => {
  await expect(
    world.project.create(Workload, workloadObject({ name: 'web', replicas: 2_147_483_647 })),
  ).rejects.toThrow('spec.placements[0].scaleSettings.minReplicas in body should be less than or equal to 100000');
  await world.run({ name: 'web', replicas: 2 });
  const [deployment] = await world.deployments();
  const body = { spec: { replicas: 2_147_483_647 } };
  const key = { namespace: 'default', name: deployment!.metadata.name };
  await expect(world.project.patch(WorkloadDeployment, key, { type: 'merge', body })).rejects.toThrow(
    'spec.replicas in body should be less than or equal to 100000',
  );
  world.stack.wire.writes.length = 0;
  await world.scale('web', 3000);
  await world.stack.until('some are made', async () => (await world.claims()).length > 2);
  await world.scale('web', 2);
  await world.ready('web', 2);
  expect((await world.claims()).length).toBe(2);
  const made = world.stack.wire.writes.filter(
    ({ method, path }) => method === 'POST' && path.endsWith('/networkinterfaceclaims'),
  );
  expect(made.length).toBeLessThan(2000);
});
