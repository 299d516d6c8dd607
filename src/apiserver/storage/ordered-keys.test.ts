import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrderedKeys } from './ordered-keys.ts';

describe('OrderedKeys', () => {
  it('holds the same keys in the same order as a sorted list, through chunk splits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), { minLength: 1000, maxLength: 5000 }),
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 0, max: 3000 }),
        (steps, low, high) => {
          const keys = new OrderedKeys();
          const model = new Set<string>();
          for (const [add, number] of steps) {
            const key = `k${number}`;
            if (add && !model.has(key)) {
              keys.add(key);
              model.add(key);
            } else if (!add && model.has(key)) {
              keys.delete(key);
              model.delete(key);
            }
          }
          const sorted = [...model].sort();
          const [from, to] = [`k${low}`, `k${high}`];
          expect([...keys.range('')]).toEqual(sorted);
          expect(keys.size).toBe(sorted.length);
          expect([...keys.range(from, to)]).toEqual(sorted.filter((key) => key >= from && key < to));
          expect(keys.rank(from)).toBe(sorted.filter((key) => key < from).length);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('takes ten thousand ascending and descending keys, and forgets them', () => {
    const keys = new OrderedKeys();
    for (let n = 0; n < 10_000; n += 1) keys.add(`${100_000 + n}`);
    for (let n = 0; n < 10_000; n += 1) keys.add(`${99_999 - n}`);
    expect([...keys.range('99998', '99999')]).toEqual(['99998']);
    expect(keys.rank('109999')).toBe(19_999 - [...keys.range('11')].length);
    for (const key of [...keys.range('')]) keys.delete(key);
    expect([...keys.range('')]).toEqual([]);
    keys.delete('nothing');
    expect(keys.size).toBe(0);
  });
});
