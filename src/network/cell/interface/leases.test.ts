import { describe, expect, it } from 'vitest';
import { shortestLease } from './leases.ts';

describe('the lease of an interface', () => {
  for (const [what, said, limits, fallback, lease] of [
    ['is for ever where nobody says', [undefined, undefined], [undefined], undefined, 'forever'],
    ['is the default where no class says', [undefined], [undefined], 90, 90_000],
    ['is the shortest of the classes of its addresses', [7_000, 3_000, undefined], [], undefined, 3_000],
    ['is what a class says, though the default is shorter', [7_000, undefined], [], 1, 7_000],
    ['is no longer than a pool allows', [7_000], [5_000, undefined], undefined, 5_000],
    ['is no longer than a pool allows, though no class says', [undefined], [5_000], undefined, 5_000],
    ['is the default where a pool allows more', [undefined], [5_000], 2, 2_000],
  ] as const) {
    it(what, () => {
      expect(shortestLease(said, limits, fallback)).toBe(lease);
    });
  }
});
