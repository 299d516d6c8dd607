import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IPClass, NetworkInterface } from '../../../src/api/index.ts';
import { isTrue } from '../support/conditions.ts';
import { alpha, World } from './world.ts';

/**
 * The controllers' process ends at every single write of each life of a claim, before the write and after it was made but
 * before its answer came. A fresh process comes to the same end as one that was never disturbed.
 */

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const spec = { ipFamilies: ['IPv6', 'IPv4'] as ('IPv6' | 'IPv4')[], classes: ['datum-public-v4'] };

async function bound(name: string) {
  return world.stack.until(`${name} bound`, async () => {
    const claim = await world.getClaim(name);
    const networkInterface = await world.getInterface(name);
    const same = networkInterface?.spec.claimRef?.uid === claim?.metadata.uid;
    return (
      isTrue(claim, 'Bound') &&
      isTrue(claim, 'Allocated') &&
      same &&
      networkInterface?.status?.phase === 'Bound' &&
      claim
    );
  });
}

const gone = (name: string) =>
  world.stack.until(`claim ${name} gone`, async () => (await world.getClaim(name)) === undefined);

interface Life {
  /** With a process that is not disturbed. */
  prepare?: (name: string) => Promise<void>;
  /** What the disturbed process is to do. */
  begin(name: string): Promise<void>;
  /** Waits for what it comes to, and checks it. */
  end(name: string): Promise<void>;
}

async function everythingGone(name: string): Promise<void> {
  await gone(name);
  await world.stack.until('interface gone', async () => (await world.getInterface(name)) === undefined);
  expect(await world.held(name)).toEqual({});
}

async function oneOfEach(name: string): Promise<void> {
  const claim = await bound(name);
  const held = Object.values(await world.held(name)).sort();
  const published = [
    ...(claim.status?.addresses ?? []).map((each) => each.address),
    ...(claim.status?.externalAddresses ?? []).map((each) => `${each.address}/32`),
  ].sort();
  expect(held).toEqual(published);
  expect(held).toHaveLength(3);
}

let before: Record<string, string> = {};
let deleted: string | undefined;

async function claimed(name: string, reclaimPolicy: 'Delete' | 'Retain'): Promise<void> {
  await world.claim(name, 'net', { ...spec, reclaimPolicy });
  await bound(name);
  before = await world.held(name);
}

async function keptUnheld(name: string): Promise<void> {
  await gone(name);
  const kept = await world.stack.until('interface kept, unheld', async () => {
    const found = await world.getInterface(name);
    return found?.status?.phase === 'Available' && found.spec.claimRef === undefined && found;
  });
  expect(await world.held(name)).toEqual(before);
  expect(kept.spec.addresses?.map((each) => each.address).sort()).toEqual(
    Object.values(before)
      .filter((cidr) => !cidr.startsWith('198.'))
      .sort(),
  );
}

const lives: Record<string, Life> = {
  'allocate, make, publish': {
    async begin(name) {
      await world.claim(name, 'net', spec);
    },
    end: oneOfEach,
  },
  'release under Delete': {
    prepare: (name) => claimed(name, 'Delete'),
    async begin(name) {
      await world.deleteClaim(name);
    },
    end: everythingGone,
  },
  'unbind under Retain': {
    prepare: (name) => claimed(name, 'Retain'),
    async begin(name) {
      await world.deleteClaim(name);
    },
    end: keptUnheld,
  },
  rebind: {
    async prepare(name) {
      await claimed(name, 'Retain');
      await world.deleteClaim(name);
      await keptUnheld(name);
    },
    async begin(name) {
      await world.claim(name, 'net', { ...spec, reclaimPolicy: 'Retain' });
    },
    async end(name) {
      await oneOfEach(name);
      expect(await world.held(name)).toEqual(before);
    },
  },
  'rebuild of a deleted interface': {
    prepare: (name) => claimed(name, 'Delete'),
    async begin(name) {
      deleted = (await world.getInterface(name))?.metadata.uid;
      await world.deleteInterface(name);
    },
    async end(name) {
      const another = async () => {
        const uid = (await world.getInterface(name))?.metadata.uid;
        return uid !== undefined && uid !== deleted;
      };
      await world.stack.until('another interface', another);
      await oneOfEach(name);
      expect(await world.held(name)).toEqual(before);
    },
  },
  'interface deleted, then its Retain claim': {
    prepare: (name) => claimed(name, 'Retain'),
    async begin(name) {
      const key = { namespace: alpha, name };
      // Held back, so that the claim's deletion comes before the interface is gone.
      await world.cell.patch(NetworkInterface, key, {
        type: 'json',
        body: [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/wait' }],
      });
      await world.deleteInterface(name);
      await world.deleteClaim(name);
      const { metadata } = (await world.getInterface(name))!;
      await world.cell.patch(NetworkInterface, key, {
        type: 'json',
        body: [{ op: 'remove', path: `/metadata/finalizers/${metadata.finalizers!.indexOf('example.com/wait')}` }],
      });
    },
    end: keptUnheld,
  },
  'a retained interface given back': {
    async prepare(name) {
      await claimed(name, 'Retain');
      await world.deleteClaim(name);
      await keptUnheld(name);
    },
    async begin(name) {
      await world.deleteInterface(name);
    },
    end: everythingGone,
  },
  'a lease that ends': {
    async prepare(name) {
      await lease(null);
      await claimed(name, 'Retain');
      await world.deleteClaim(name);
      await keptUnheld(name);
      // Ended by the time the next process, which has read no class yet, looks at it.
      await lease('1ms');
    },
    async begin() {},
    end: everythingGone,
  },
};

async function lease(retentionLease: string | null): Promise<void> {
  const patch = { type: 'merge', body: { spec: { retentionLease } } } as const;
  await world.project().patch(IPClass, { namespace: '', name: 'datum-public-v4' }, patch);
}

describe('a process that ends at any write', () => {
  for (const [what, life] of Object.entries(lives)) {
    for (const applied of [false, true]) {
      it(`${what}: the write ${applied ? 'made, its answer lost' : 'not made'}`, async () => {
        await world.context('net', ['IPv4', 'IPv6']);
        let at = 1;
        for (; at < 30; at++) {
          const name = `nic-${at}`;
          world.start();
          await life.prepare?.(name);
          await world.stack.stop();

          const { wire } = world.stack;
          wire.writes.length = 0;
          wire.crash = { at, applied };
          world.start();
          await life.begin(name);
          await life.end(name).catch((error) => {
            if (!wire.crashed) throw error;
          });
          // What is still to be written after the end came in sight is met as well.
          if (!wire.crashed) await world.stack.quiet();
          const { crashed } = wire;
          wire.crash = undefined;
          await world.stack.stop();
          if (!crashed) break;
          world.start();
          await life.end(name);
          await world.stack.stop();
        }
        // Every write was met: the last round ended without one at that place.
        expect(at).toBeGreaterThan(2);
        expect(at).toBeLessThan(30);
      });
    }
  }
});
