import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deepFreeze, jsonEqual } from './json.ts';

const keys = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString');
const values = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, fc.integer({ min: 0, max: 1 }), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('any'), { maxLength: 2 }),
  map: fc.dictionary(keys, tie('any'), { maxKeys: 3 }),
})).any;

it('two values are equal where Node says so, whatever their keys are called', () => {
  fc.assert(
    fc.property(values, values, (a, b) => {
      const [left, right] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      expect(jsonEqual(left, right)).toBe(isDeepStrictEqual(left, right));
      expect(jsonEqual(left, JSON.parse(JSON.stringify(left)))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
  'a key %s that only one has is a difference',
  (key) => {
    const one = JSON.parse(`{"a":1,${JSON.stringify(key)}:{}}`);
    expect([jsonEqual(one, { a: 1 }), jsonEqual({ a: 1 }, one)]).toEqual([false, false]);
  },
);

it('what is undefined is absent', () => {
  expect(jsonEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(jsonEqual({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  expect(jsonEqual({ a: undefined }, { b: 1 })).toBe(false);
  expect(jsonEqual({ a: 1 }, { b: 1 })).toBe(false);
});

it('what is frozen is what it was, all the way down, whatever its keys are called', () => {
  const texts = fc.constantFrom('short', 'a text that is not short', 'another text that is not short');
  const any = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, texts, fc.constant(null), tie('list'), tie('map')),
    list: fc.array(tie('any'), { maxLength: 3 }),
    map: fc.dictionary(keys, tie('any'), { maxKeys: 3 }),
  })).any;
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  fc.assert(
    fc.property(any, (value) => {
      const text = JSON.stringify(value);
      const frozen = deepFreeze(JSON.parse(text));
      expect(JSON.stringify(frozen)).toBe(text);
      expect(isFrozen(frozen)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
