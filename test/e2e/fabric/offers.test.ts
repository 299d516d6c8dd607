import { afterEach, expect, it } from 'vitest';
import { NetworkInterface, NetworkInterfaceClaim, Workload } from '../../../src/api/index.ts';
import { findCondition, isConditionTrue } from '../../../src/meta/index.ts';
import { World } from '../compute/world.ts';
import { workloadObject } from '../support/objects.ts';

/** A claim and the copies of its interface are told of both, addresses and attachment, and never wait for long. */

let world: World;
afterEach(() => world.stack.close());

async function claimed() {
  const { items } = await world.stack.cell().list(NetworkInterfaceClaim);
  return items.find(({ status }) => isConditionTrue(status?.conditions, 'Bound'));
}

it('a fabric that says nothing keeps neither a claim nor the project from its addresses', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  world.stack.wire.beforeWrite = async ({ by }) => {
    if (by === 'fabric-cell-attachment') throw new Error('it is not at work');
  };
  const { clock } = world.stack;
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 1 }));
  const made = await world.stack.until('an interface', async () => (await world.interfaces())[0]);
  const since = clock.monotonic();
  const claim = await world.stack.until('a claim that is told', claimed);
  expect(clock.monotonic() - since).toBeLessThan(1_500);
  expect(claim.status?.addresses).toEqual(made.spec.addresses);
  expect(findCondition(claim.status?.conditions, 'Prepared')?.status).toBe('Unknown');
  const { items } = await world.stack.until('a copy in the project', async () => {
    const list = await world.project.list(NetworkInterface, { namespace: 'default' });
    return list.items.length === 1 && list;
  });
  expect(clock.monotonic() - since).toBeLessThan(3_000);
  expect(items[0]?.spec.addresses).toEqual(made.spec.addresses);
});

it('a claim is told once: of its addresses and its attachment', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  await world.run({ name: 'anchor', replicas: 1 });
  await world.stack.pass(5);
  world.stack.wire.writes.length = 0;
  await world.run({ name: 'web', replicas: 1 });
  const told = world.stack.wire.writes.filter(({ path }) => /\/networkinterfaceclaims\/[^/]+\/status$/.test(path));
  expect(told.map(({ by }) => by)).toEqual(['network-cell-claim']);
  const { items } = await world.stack.cell().list(NetworkInterfaceClaim);
  for (const { status } of items) expect(isConditionTrue(status?.conditions, 'Prepared')).toBe(true);
});
