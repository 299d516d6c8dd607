import { expect, it } from 'vitest';
import { crowdPatienceMilliseconds, Offers, patienceMilliseconds } from './offers.ts';

it('a data plane has its time from the first offer on, and longer where it was offered many', () => {
  const offers = new Offers();
  expect(offers.left('a', 500)).toBe(patienceMilliseconds);
  offers.made('a', 500);
  offers.made('a', 900);
  expect(offers.left('a', 900)).toBe(patienceMilliseconds - 400);
  offers.made('b', 900);
  expect(offers.left('a', 900)).toBe(patienceMilliseconds - 400 + crowdPatienceMilliseconds);
  // Who was served before it has taken its time all the same.
  offers.forget('b');
  expect(offers.left('a', 500 + patienceMilliseconds)).toBe(crowdPatienceMilliseconds);
  expect(offers.left('a', 90_000)).toBe(0);
});
