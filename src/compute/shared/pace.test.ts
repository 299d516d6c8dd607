import { expect, it } from 'vitest';
import { Pace } from './pace.ts';

it('says the first thing at once, what follows an interval later, and the next after quiet at once again', () => {
  const pace = new Pace();
  expect([0, 10, 99, 100, 150, 200, 900].map((now) => pace.turn('a', now, 100))).toEqual([0, 90, 1, 0, 50, 0, 0]);
});

it('keeps what it says apart, and forgets what is gone', () => {
  const pace = new Pace();
  expect([pace.turn('a', 0, 100), pace.turn('b', 1, 100), pace.turn('a', 2, 100)]).toEqual([0, 0, 98]);
  pace.forget('a');
  expect([pace.turn('a', 3, 100), pace.turn('b', 3, 100)]).toEqual([0, 98]);
});
