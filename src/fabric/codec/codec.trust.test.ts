import { expect, test } from 'vitest';
import { randomFaults } from './testing.ts';

test('a million random identifiers come back from every text they are written as, all of them legal', () => {
  expect(randomFaults(1_000_000)).toEqual([]);
});
