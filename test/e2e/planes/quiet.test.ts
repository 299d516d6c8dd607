import { afterEach, expect, it } from 'vitest';
import { IPClass, IPPool, NetworkInterface, NetworkInterfaceClaim, Workload } from '../../../src/api/index.ts';
import { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { scarceClass, workloadObject } from '../support/objects.ts';
import { createLocation, location, Tenant } from './world.ts';

// Every controller of the platform, a thousand claims of which fifty are refused, and five minutes in which nothing happens.

let stack: Stack;
afterEach(() => stack.close());

const served = 950;
const refused = 50;

it('with nothing changing, no controller writes anything: 1,000 claims, 50 of them refused, for 5 minutes', async () => {
  stack = await Stack.open({ projects: ['project-alpha'] });
  await createLocation(stack, location);
  const alpha = await Tenant.open(stack);
  await alpha.locationBinding(location);
  await alpha.network('net', ['IPv6', 'IPv4']);
  await alpha.bind('consumer', 'net');
  await stack.until('the presence', () => alpha.cellContext(`net-${location}`));
  const scarce = scarceClass('scarce-v4', '192.0.2.0/31');
  await alpha.project.create(IPClass, scarce.ipClass);
  await alpha.project.create(IPPool, scarce.pool);
  await alpha.project.create(Workload, workloadObject({ name: 'web', replicas: 2, location, network: 'net' }));

  const ipFamilies = ['IPv6', 'IPv4'];
  for (let index = 0; index < served - 4; index++) {
    await alpha.claim(`served-${index}`, 'net', { ipFamilies, reclaimPolicy: index % 2 === 0 ? 'Retain' : 'Delete' });
  }
  // Two addresses for fifty-two of them.
  const addresses = [{ class: 'scarce-v4' }];
  for (let index = 0; index < refused + 2; index++)
    await alpha.claim(`scarce-${index}`, 'net', { ipFamilies, addresses });
  const claims = async () => (await stack.cell().list(NetworkInterfaceClaim)).items;
  const counts = async () => {
    const all = await claims();
    const of = (type: string, is: (reason: string | undefined, status: string | undefined) => boolean) =>
      all.filter((claim) => is(said(claim, type)?.reason, said(claim, type)?.status)).length;
    return {
      allocated: of('Allocated', (_, status) => status === 'True'),
      exhausted: of('Ready', (reason) => reason === 'AddressPoolExhausted'),
    };
  };
  await stack.until('all is said', async () => {
    const { allocated, exhausted } = await counts();
    return allocated === served && exhausted === refused;
  });
  await stack.until(
    'copies in the project',
    async () => (await alpha.project.list(NetworkInterface, { namespace: 'default' })).items.length === served,
  );
  await stack.pass(30);

  stack.wire.writes.splice(0);
  const before = (await claims()).map(({ metadata }) => metadata.resourceVersion);
  await stack.pass(300);
  expect(stack.wire.writes.filter(({ status = 0 }) => status < 400)).toEqual([]);
  // Of those who wait, the first one asks again now and then, lest something went by unseen; IPAM says no.
  expect(new Set(stack.wire.writes.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`))).toEqual(
    new Set(['POST ipclaims']),
  );
  expect(stack.wire.writes.length).toBeLessThan(15);
  expect((await claims()).map(({ metadata }) => metadata.resourceVersion)).toEqual(before);

  // They are all at work: what is asked for now is served, and an address that comes free goes to who waits.
  await alpha.claim('canary', 'net');
  await alpha.allocated('canary');
  await alpha.deleteClaim('scarce-0');
  await stack.until('one more served', async () => (await counts()).exhausted === refused - 1);
  expect(await counts()).toEqual({ allocated: served + 1, exhausted: refused - 1 });
  expect(stack.wire.writes.length).toBeGreaterThan(0);
});
