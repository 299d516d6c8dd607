import { describe, expect, it } from 'vitest';
import { Arrivals } from './arrivals.ts';
import { claimOf, now } from './testing.ts';

const allocated = (status: 'True' | 'False') =>
  claimOf({
    status: {
      networkInterfaceRef: { name: 'nic' },
      conditions: [{ type: 'Allocated', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });

/** creationTimestamp is `now`, cut to the second. */
function took(seenAfter: number, servedAfter: number, seen = claimOf(), after = allocated('True')) {
  const arrivals = new Arrivals();
  arrivals.saw(seen, now + seenAfter);
  const took = arrivals.served(claimOf(), after.status?.conditions, now + servedAfter);
  if (took !== undefined) {
    expect(arrivals.served(claimOf(), after.status?.conditions, now + servedAfter)).toBeUndefined();
  }
  return took;
}

describe('the time from a claim to its addresses', () => {
  for (const [what, seen, served, expected] of [
    ['begins when the claim was seen, within the second it was made in', 700, 730, 30],
    ['begins at the end of that second where it was seen later', 90_000, 100_999, 100_000],
    ['is never less than nothing', 700, 600, 0],
  ] as const) {
    it(what, () => {
      expect(took(seen, served)).toBe(expected);
    });
  }

  it('is counted once, and only when there are addresses', () => {
    expect(took(0, 50, allocated('True'))).toBeUndefined();
    expect(took(0, 50, claimOf(), allocated('False'))).toBeUndefined();
  });
});
