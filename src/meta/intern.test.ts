import fc from 'fast-check';
import { expect, test } from 'vitest';
import { intern } from './intern.ts';

test('a string is answered by an equal one, however many there have been', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
      expect(intern(text)).toBe(text);
    }),
    { numRuns: 2000 },
  );
  for (let n = 0; n < 100_000; n += 1)
    expect(intern(`${n % 40_000} in a long enough string`)).toMatch(`${n % 40_000} in`);
});
