import { afterEach, expect, test } from 'vitest';
import { seededRandom, systemRandom } from '../../../src/kube/index.ts';
import type { Policy } from '../support/objects.ts';
import { overlapping, World } from './world.ts';

// Ten instances, none, ten again, two hundred times, without waiting for either: no address twice, none left behind.

let world: World;
afterEach(() => world.stack.close());

/** A pause that is sometimes nothing, sometimes within the life of a write, sometimes long enough to come to rest. */
function pause(next: () => number): number {
  const kind = next();
  if (kind < 0.2) return 0;
  return Math.floor(next() * (kind < 0.9 ? 60 : 1500));
}

/** Most of a minute where others use the machine: only a guard against standing still. */
const limitMilliseconds = 900_000;

test.each<[policy: Policy, restSeconds: number, rounds: number]>([
  ['Delete', 0, 200],
  ['Delete', 60, 200],
  ['Retain', 0, 60],
])(
  '%s, addresses that rest for %i s: %i times',
  { timeout: limitMilliseconds },
  async (policy, restSeconds, rounds) => {
    const seed = process.env.LOOP_SEED ?? systemRandom.uuid();
    const { next } = seededRandom(seed);
    try {
      world = await World.open({ restSeconds });
      const before = await world.run({ name: 'loop', replicas: 10, policy });
      for (let round = 1; round <= rounds; round++) {
        await world.scale('loop', 0);
        await world.stack.clock.advance(pause(next));
        await world.scale('loop', 10);
        await world.stack.clock.advance(pause(next));
        expect(overlapping(await world.allocated()), `round ${round}`).toBeUndefined();
        if (round % 20 !== 0) continue;
        const now = await world.ready('loop', 10);
        if (policy === 'Retain') expect([now.shown, now.claims]).toEqual([before.shown, before.claims]);
        // Two addresses for each of ten instances, and nothing else.
        expect((await world.allocated()).length, `round ${round}`).toBe(20);
      }
      await world.scale('loop', 0);
      await world.stack.until('no claim is left', async () => (await world.claims()).length === 0);
      await world.agrees();
      expect((await world.allocated()).length).toBe(policy === 'Retain' ? 20 : 0);
    } catch (error) {
      throw new Error(`with LOOP_SEED=${seed}: ${(error as Error).message}`, { cause: error });
    }
  },
);
