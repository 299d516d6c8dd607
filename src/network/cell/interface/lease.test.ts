import { describe, expect, it } from 'vitest';
import { unheld } from '../claim/testing.ts';
import { type Lease, leaseState, unheldAt, unheldStamp } from './lease.ts';

const hour = 3_600_000;
const since = 1_767_225_600_000;

describe('a retention lease', () => {
  for (const [what, lease, after, state, again] of [
    ['is told nothing of at first', hour, 0, 'kept', 600_000],
    ['is looked at again when it is to be told', hour, 0.9 * hour - 5_000, 'kept', 5_000],
    ['is told of a tenth ahead', hour, 0.9 * hour, 'expiring', 360_000],
    ['is told of until it ends', hour, hour - 1, 'expiring', 1],
    ['ends', hour, hour, 'expired', 0],
    ['ended while nobody looked', hour, 40 * hour, 'expired', 0],
    ['of no length is for ever', 'forever', 4_000 * hour, 'kept', 600_000],
    ['that can not be read ends nothing', 'unknown', 4_000 * hour, 'unknown', 60_000],
  ] as const) {
    it(`${what}`, () => {
      expect(leaseState(since, lease as Lease, since + after)).toMatchObject({ state, again });
    });
  }

  it('begins no earlier than nobody held the interface', () => {
    const now = since + 1;
    const stamped = unheld({ metadata: { annotations: unheldStamp(now) } });
    expect(unheldAt(stamped, now)).toBe(since + 1_000);
    expect(unheldAt(stamped, now + hour)).toBe(since + 1_000);
  });

  for (const [what, text] of [
    ['nobody can read', 'yesterday'],
    ['that lies ahead', '2026-01-01T01:00:00Z'],
    ['that is empty', ''],
  ] as const) {
    it(`is not believed with a stamp ${what}`, () => {
      const annotations = { 'networking.datumapis.com/unheld-since': text };
      expect(unheldAt(unheld({ metadata: { annotations } }), since)).toBeUndefined();
    });
  }
});
