import { afterEach, beforeEach, expect, test } from 'vitest';
import { Network, Workload } from '../../../src/api/index.ts';
import { findCondition } from '../../../src/meta/index.ts';
import { networkObject, workloadObject } from '../support/objects.ts';
import { World } from './world.ts';

// `ipFamilies: []` is valid. Nobody can have an address of such a network, and whoever looks is told that it is the network's doing.

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.stack.close());

const key = { namespace: 'default', name: 'bare' };
const message =
  'Network bare carries no address family (NetworkContext bare-us-central-1 names none): add IPv6, IPv4 or both to spec.ipFamilies of the network (see reasons.md#addressfamiliesunknown)';

async function carries(ipFamilies: ('IPv4' | 'IPv6')[]): Promise<void> {
  await world.project.patch(Network, key, { type: 'merge', body: { spec: { ipFamilies } } });
}

async function refused(name: string): Promise<void> {
  await world.stack.until(`${name} says why`, async () => {
    const [instance] = await world.instances(name);
    const ready = findCondition(instance?.status?.conditions, 'Ready');
    const available = findCondition((await world.workload(name))?.status?.conditions, 'Available');
    return [ready, available].every((each) => each?.reason === 'AddressFamiliesUnknown' && each.message === message);
  });
}

test('a network without families says so to its instances, which start once it has one', async () => {
  const network = networkObject('bare');
  await world.project.create(Network, { ...network, spec: { ...network.spec, ipFamilies: [] } });
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1, network: 'bare' }));
  await refused('web');
  await carries(['IPv6', 'IPv4']);
  await world.ready('web', 1);
});

test('a network whose last family is taken off keeps what runs, and refuses what is new', async () => {
  await world.project.create(Network, networkObject('bare'));
  const before = await world.run({ name: 'web', replicas: 1, network: 'bare' });
  await carries([]);
  await world.stack.settle();
  await world.project.create(Workload, workloadObject({ name: 'late', replicas: 1, network: 'bare' }));
  await refused('late');
  expect((await world.held(await world.instances('web'))).shown).toEqual(before.shown);
  await carries(['IPv6', 'IPv4']);
  await world.ready('late', 1);
});
