import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IPClass, IPPool } from '../../../src/api/index.ts';
import { formatTime, parseTime } from '../../../src/meta/index.ts';
import { interfacePublication } from '../../../src/network/index.ts';
import { isTrue, said } from '../support/conditions.ts';
import { type ClaimOptions, World } from './world.ts';

/** Retained means returnable: what nobody takes up again goes back by itself, where a class says so. */

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const unheldSince = 'networking.datumapis.com/unheld-since';
const retained: ClaimOptions = { ipFamilies: ['IPv6', 'IPv4'], classes: ['datum-public-v4'], reclaimPolicy: 'Retain' };

async function lease(className: string, retentionLease: string | null): Promise<void> {
  const patch = { type: 'merge', body: { spec: { retentionLease } } } as const;
  await world.project().patch(IPClass, { namespace: '', name: className }, patch);
}

const bound = (name: string) =>
  world.stack.until(`${name} bound`, async () => isTrue(await world.getClaim(name), 'Allocated'));

async function letGo(name: string): Promise<void> {
  await world.deleteClaim(name);
  await world.stack.until(`${name} unheld`, async () => {
    const left = await world.getInterface(name);
    return left !== undefined && left.spec.claimRef === undefined && said(left, 'Allocated')?.status === 'True';
  });
}

async function retain(name: string): Promise<void> {
  await world.context('net', ['IPv4', 'IPv6']);
  await world.claim(name, 'net', retained);
  await bound(name);
  await letGo(name);
}

describe('an interface nobody holds', () => {
  it('expires with the shortest lease of its classes: it is told ahead, then released, with an Event', async () => {
    // The default class of a family the claim asked for by family; the other classes keep for longer, or for ever.
    await lease('datum-endpoint-v4', '5s');
    await lease('datum-public-v4', '1h');
    world.start();
    await retain('nic');
    expect(Object.keys(await world.held('nic'))).toHaveLength(3);
    const since = parseTime((await world.getInterface('nic'))?.metadata.annotations?.[unheldSince])!;
    const told = await world.stack.until('told that it expires', async () => {
      const seen = await world.getInterface('nic');
      return isTrue(seen, 'Expiring') && seen;
    });
    expect(world.stack.clock.now()).toBeGreaterThanOrEqual(since + 4_500);
    expect(said(told, 'Expiring')?.message).toContain(formatTime(since + 5_000));
    const shown = interfacePublication.publish(told, () => undefined);
    expect(said(shown, 'Expiring')?.status).toBe('True');
    await world.stack.until('released', async () => (await world.getInterface('nic')) === undefined);
    expect(world.stack.clock.now()).toBeGreaterThanOrEqual(since + 5_000);
    expect(await world.held('nic')).toEqual({});
    await world.stack.until(
      'the Event',
      async () => (await world.events('nic', 'LeaseExpired', 'Normal')).length === 1,
    );
  });

  it('that is taken up again keeps its addresses, and nothing is left of the lease', async () => {
    await lease('datum-public-v4', '6s');
    world.start();
    await retain('nic');
    const held = await world.held('nic');
    await world.stack.until('told that it expires', async () => isTrue(await world.getInterface('nic'), 'Expiring'));
    await world.claim('nic', 'net', retained);
    await bound('nic');
    const taken = await world.stack.until('nothing is left of the lease', async () => {
      const seen = await world.getInterface('nic');
      return said(seen, 'Expiring') === undefined && seen;
    });
    expect(taken.metadata.annotations?.[unheldSince]).toBeUndefined();
    expect(taken.metadata.deletionTimestamp).toBeUndefined();
    await world.stack.pass(1.5);
    expect(await world.held('nic')).toEqual(held);
    expect((await world.getInterface('nic'))?.metadata.uid).toBe(taken.metadata.uid);
  });

  it('is kept as the platform says where no class does, and no longer than a pool allows', async () => {
    world.start({ retentionSeconds: 3600 });
    const pool = { type: 'merge', body: { spec: { maxRetentionLease: '3s' } } } as const;
    await world.project().patch(IPPool, { namespace: '', name: 'public' }, pool);
    await retain('nic');
    await world.claim('other', 'net', { ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy: 'Retain' });
    await bound('other');
    await letGo('other');
    await world.stack.until('released', async () => (await world.getInterface('nic')) === undefined);
    expect(Object.keys(await world.held('other'))).toHaveLength(2);
  });

  it('is not released while IPAM can not say for how long it is kept, and is right after', async () => {
    await lease('datum-public-v4', '2s');
    world.start();
    await world.context('net', ['IPv4', 'IPv6']);
    await world.claim('nic', 'net', retained);
    await bound('nic');
    world.stack.ipamDown = true;
    await letGo('nic');
    await world.stack.pass(4);
    expect((await world.getInterface('nic'))?.metadata.deletionTimestamp).toBeUndefined();
    await world.stack.stop();
    world.stack.ipamDown = false;
    world.start();
    await world.stack.until('released', async () => (await world.getInterface('nic')) === undefined);
    expect(await world.held('nic')).toEqual({});
  });

  it('and has no lease is shown since when, and written no more', async () => {
    world.start();
    await retain('nic');
    const seen = (await world.getInterface('nic'))!;
    const stamp = seen.metadata.annotations?.[unheldSince];
    expect(Math.abs(parseTime(stamp)! - world.stack.clock.now())).toBeLessThan(10_000);
    const shown = interfacePublication.publish(seen, () => undefined);
    expect(shown?.metadata.annotations).toEqual({ [unheldSince]: stamp });
    await world.stack.pass(0.3);
    world.stack.wire.writes.length = 0;
    await world.stack.pass(2);
    expect(world.stack.wire.writes).toEqual([]);
    await world.claim('nic', 'net', retained);
    await bound('nic');
  });
});
