import { expect, it } from 'vitest';
import { seededRandom } from './seeded-random.ts';

it('gives the same for the same seed and something else for another', () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return [random.next(), random.uuid(), Buffer.from(random.bytes(4)).toString('hex')];
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
});

it('gives numbers in [0, 1) spread evenly, and version 4 UUIDs', () => {
  const random = seededRandom('even');
  const buckets = new Array<number>(10).fill(0);
  for (let n = 0; n < 10_000; n++) buckets[Math.floor(random.next() * 10)]!++;
  for (const count of buckets) expect(count).toBeGreaterThan(850);
  expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
