import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  IPClaim,
  IPClass,
  IPPool,
  NetworkContext,
  NetworkInterfaceClaim,
  ServingLocation,
} from '../../../src/api/index.ts';
import { verbAndResource } from '../../../src/apiserver/testing/index.ts';
import { Namespace } from '../../../src/meta/index.ts';
import { isTrue, said } from '../support/conditions.ts';
import { alpha, World } from './world.ts';

/** The order of the line. */
const order = ({ metadata }: { metadata: { creationTimestamp: string; name: string } }) =>
  `${metadata.creationTimestamp} ${metadata.name}`;

let world: World;
beforeEach(async () => {
  world = await World.open();
  world.start();
  await world.context('net', ['IPv4', 'IPv6']);
});
afterEach(() => world.close());

const isBound = async (name: string) => isTrue(await world.getClaim(name), 'Allocated');
const reasonOf = async (name: string) => said(await world.getClaim(name), 'Ready')?.reason;

function refused(name: string, reason: string) {
  return world.stack.until(`${name} refused for ${reason}`, async () => (await reasonOf(name)) === reason);
}

/** The pool of external addresses with room for so many. */
async function smallPool(length: number): Promise<void> {
  await world.project().delete(IPPool, { namespace: '', name: 'public' });
  await world.pool('project-alpha', 'small', `203.0.113.0/${length}`, 'datum-public-v4');
}

const external = { ipFamilies: ['IPv4'] as 'IPv4'[], classes: ['datum-public-v4'] };

describe('refused claims', () => {
  it('wait in line: each freed address goes to the oldest, at once, and only the head asks', async () => {
    await smallPool(31);
    for (const name of ['held-a', 'held-b']) {
      await world.claim(name, 'net', external);
      await world.stack.until(`${name} bound`, () => isBound(name));
    }
    for (let index = 0; index < 20; index++) {
      await world.claim(`wait-${String(index).padStart(2, '0')}`, 'net', external);
      await refused(`wait-${String(index).padStart(2, '0')}`, 'AddressPoolExhausted');
    }
    const told = said(await world.getClaim('wait-00'), 'Bound');
    expect(told).toMatchObject({ status: 'False', reason: 'AddressPoolExhausted' });
    for (const part of ['datum-public-v4', 'small', 'us-central-1']) expect(told?.message).toContain(part);
    // What was taken beside the refused address was given back.
    expect(Object.keys(await world.held('wait-'))).toEqual([]);

    for (const [freed, next] of [
      ['held-a', 'wait-00'],
      ['held-b', 'wait-01'],
      ['wait-00', 'wait-02'],
    ] as const) {
      world.stack.asked.length = 0;
      const from = world.stack.clock.monotonic();
      await world.deleteClaim(freed);
      await world.stack.until(`${next} bound`, () => isBound(next), 3);
      expect(world.stack.clock.monotonic() - from).toBeLessThan(2_000);
      const asked = world.stack.asked.filter(({ method }) => method === 'POST').length;
      expect(asked).toBeLessThan(12);
    }
    await world.pool('project-alpha', 'more', '192.0.2.0/28', 'datum-public-v4');
    await world.stack.until('all but two more bound', async () => (await isBound('wait-18')) || undefined, 5);
  });

  it('a thousand of them: whatever comes free is the oldest one’s at once, and few ask', async () => {
    await smallPool(31);
    for (const name of ['held-a', 'held-b']) {
      await world.claim(name, 'net', external);
      await world.stack.until(`${name} bound`, () => isBound(name));
    }
    const nameOf = (index: number) => `wait-${String(index).padStart(4, '0')}`;
    for (let index = 0; index < 1_000; index += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, offset) => world.claim(nameOf(index + offset), 'net', external)),
      );
      // So that age tells more of them apart than names do.
      await world.stack.pass(0.25);
    }
    const refusedNow = async () =>
      (await world.cell.list(NetworkInterfaceClaim, { namespace: alpha })).items.filter(
        (each) => said(each, 'Ready')?.reason === 'AddressPoolExhausted',
      );
    await world.stack.until('all refused', async () => (await refusedNow()).length === 1_000, 120);
    const oldestFirst = (await refusedNow())
      .sort((a, b) => (order(a) < order(b) ? -1 : 1))
      .map((each) => each.metadata.name);

    const asked: number[] = [];
    for (const [index, freed] of ['held-a', 'held-b', ...oldestFirst.slice(0, 8)].entries()) {
      world.stack.asked.length = 0;
      const next = oldestFirst[index]!;
      await world.deleteClaim(freed);
      await world.stack.until(`${next} bound`, () => isBound(next), 2);
      asked.push(world.stack.asked.filter(({ method }) => method === 'POST').length);
    }
    // Both addresses of the claim that is served, and of the one after it that is refused.
    expect(Math.max(...asked)).toBeLessThan(12);
    await world.pool('project-alpha', 'more', '192.0.2.0/28', 'datum-public-v4');
    const last = oldestFirst[10 + 15]!;
    await world.stack.until(`${last} bound`, () => isBound(last), 5);
    expect(await isBound(oldestFirst[10 + 16]!)).toBe(false);
    console.info(`requests for an address, for each that came free: ${asked.join(', ')}`);
  });

  it('are served of what comes free within the second in which it was taken, which no pool shows', async () => {
    await smallPool(32);
    await world.stack.pass(2);
    await world.claim('held', 'net', external);
    await world.stack.until('held bound', () => isBound('held'));
    await world.claim('wait', 'net', external);
    await refused('wait', 'AddressPoolExhausted');
    await world.deleteClaim('held');
    await world.stack.until('wait bound', () => isBound('wait'), 2);
  });

  it('are left alone while nothing changes', async () => {
    await smallPool(32);
    await world.claim('held', 'net', external);
    await world.stack.until('held bound', () => isBound('held'));
    for (const name of ['wait-a', 'wait-b', 'wait-c']) {
      await world.claim(name, 'net', external);
      await refused(name, 'AddressPoolExhausted');
    }
    await world.stack.pass(2);
    world.stack.wire.writes.length = 0;
    world.stack.asked.length = 0;
    await world.stack.pass(20);
    expect(world.stack.wire.writes).toEqual([]);
    expect(world.stack.asked.map(verbAndResource)).toEqual([]);
    await world.deleteClaim('held');
    await world.stack.until('wait-a bound', () => isBound('wait-a'), 3);
  });

  it('a class that is made serves those who asked for it', async () => {
    await world.claim('early', 'net', { ipFamilies: ['IPv4'], classes: ['late-class'] });
    await refused('early', 'AddressAllocationRejected');
    await world.project().create(IPClass, {
      apiVersion: 'ipam.miloapis.com/v1alpha1',
      kind: 'IPClass',
      metadata: { name: 'late-class' },
      spec: { ipFamily: 'IPv4', defaultPrefixLength: 32 },
    });
    await world.stack.until('asked again', async () =>
      said(await world.getClaim('early'), 'Ready')?.message.includes('no IPPool'),
    );
    await world.pool('project-alpha', 'late', '192.0.2.0/28', 'late-class');
    await world.stack.until('early bound', () => isBound('early'), 3);
  });

  it('a presence that comes, and labels that come, are noticed', async () => {
    await world.claim('early', 'later', { ipFamilies: ['IPv4'] });
    await refused('early', 'NetworkNotAvailableInLocation');
    expect(said(await world.getClaim('early'), 'Bound')?.message).toContain('later-us-central-1');
    await world.context('later', ['IPv4']);
    await world.stack.until('early bound', () => isBound('early'), 2);

    const namespace = 'ipam-e2e-unlabeled';
    await world.context('net', ['IPv4'], { namespace });
    await world.claim('lost', 'net', { namespace, ipFamilies: ['IPv4'] });
    await world.stack.until(
      'lost refused',
      async () => said(await world.getClaim('lost', namespace), 'Ready')?.reason === 'ProjectUnresolved',
    );
    const labels = (await world.cell.get(Namespace, { namespace: '', name: alpha }))?.metadata.labels;
    await world.cell.patch(
      Namespace,
      { namespace: '', name: namespace },
      { type: 'merge', body: { metadata: { labels } } },
    );
    await world.stack.until('lost bound', async () => isTrue(await world.getClaim('lost', namespace), 'Allocated'), 2);
  });

  it('a cell that does not know its location, or knows two, says so and recovers', async () => {
    await world.cell.delete(ServingLocation, { namespace: '', name: 'us-central-1' });
    await world.stack.pass(0.05);
    await world.claim('nowhere', 'net', { ipFamilies: ['IPv4'] });
    await refused('nowhere', 'NoLocationIdentity');
    await world.serve('us-central-1');
    await world.stack.until('nowhere bound', () => isBound('nowhere'), 2);
    await world.serve('eu-west-1');
    await world.stack.pass(0.05);
    await world.claim('twice', 'net', { ipFamilies: ['IPv4'] });
    await refused('twice', 'AmbiguousLocationIdentity');
    expect(said(await world.getClaim('twice'), 'Bound')?.message).toContain('eu-west-1, us-central-1');
    // Who was bound before is not touched by it.
    expect(said(await world.getClaim('nowhere'), 'Ready')?.reason).toBe('NotPrepared');
  });

  it('an IPAM that can not be reached is told, tried again, and changes nothing for who is bound', async () => {
    await world.claim('held', 'net', { ipFamilies: ['IPv4'] });
    await world.stack.until('held bound', () => isBound('held'));
    world.stack.ipamDown = true;
    await world.claim('early', 'net', { ipFamilies: ['IPv4'] });
    await refused('early', 'AllocationFailed');
    const key = { namespace: alpha, name: 'held' };
    await world.cell.patch(NetworkInterfaceClaim, key, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    await world.deleteClaim('held');
    await world.stack.pass(0.1);
    expect(await isBound('held')).toBe(true);
    expect(await world.held('held')).not.toEqual({});
    world.stack.ipamDown = false;
    await world.stack.until('early bound', () => isBound('early'), 12);
    await world.stack.until('held gone', async () => (await world.getClaim('held')) === undefined, 12);
    expect(await world.held('held')).toEqual({});
  });

  it('a bound claim that is refused later keeps all it has', async () => {
    await world.claim('held', 'net', { ipFamilies: ['IPv6', 'IPv4'] });
    await world.stack.until('held bound', () => isBound('held'));
    const before = await world.getClaim('held');
    const key = { namespace: alpha, name: 'net-us-central-1' };
    await world.cell.patch(NetworkContext, key, { type: 'merge', body: { spec: { ipFamilies: ['IPv4'] } } });
    await refused('held', 'AddressFamilyNotCarried');
    const after = await world.getClaim('held');
    expect(after?.status?.addresses).toEqual(before?.status?.addresses);
    for (const type of ['Bound', 'Allocated']) expect(said(after, type)).toEqual(said(before, type));
    await world.cell.patch(NetworkContext, key, { type: 'merge', body: { spec: { ipFamilies: ['IPv6', 'IPv4'] } } });
    await refused('held', 'NotPrepared');
  });

  it('a claim costs four writes in the cell and one request to IPAM for each address', async () => {
    await world.claim('warm', 'net', { ipFamilies: ['IPv6', 'IPv4'], classes: ['datum-public-v4'] });
    await world.stack.until('warm bound', () => isBound('warm'));
    await world.stack.pass(0.1);
    world.stack.wire.writes.length = 0;
    world.stack.asked.length = 0;
    await world.claim('counted', 'net', { ipFamilies: ['IPv6', 'IPv4'], classes: ['datum-public-v4'] });
    await world.stack.until('counted bound', () => isBound('counted'));
    await world.stack.pass(0.2);
    expect(world.stack.asked.map(verbAndResource)).toEqual(['POST ipclaims', 'POST ipclaims', 'POST ipclaims']);
    expect(world.stack.wire.writes.filter(({ plane }) => plane === 'cell/us-central-1').map(verbAndResource)).toEqual([
      'PATCH networkinterfaceclaims',
      'POST networkinterfaces',
      'PATCH networkinterfaces/status',
      'PATCH networkinterfaceclaims/status',
    ]);
    const { items } = await world.project().list(IPClaim, { namespace: 'default' });
    for (const claim of items) expect(claim.spec?.reclaimPolicy).toBe('Delete');
  });
});
