import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLabelSelector } from '../selectors.ts';
import type { Served } from '../served.ts';
import { selectionOf } from './selection.ts';

// What a selector of labels alone asks of a kind: nothing.
const served = {} as Served;
const encoder = new TextEncoder();

const keys = ['a', 'b', 'example.com/a', 'example.com/a-b', 'a.b_c'];
const values = ['', 'x', 'X', 'x-y', '7', '12'];
const labels = fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...values));
const key = fc.constantFrom(...keys, 'c');
const value = fc.constantFrom(...values, 'z');
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join('')),
  fc
    .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1, maxLength: 3 }))
    .map(([key, operator, values]) => `${key} ${operator} (${values.join(',')})`),
  fc.tuple(key, fc.constantFrom('>', '<'), fc.integer({ min: 0, max: 20 })).map((parts) => parts.join('')),
  key,
  key.map((key) => `!${key}`),
);
/** Where the same texts stand as well, and say nothing. */
const elsewhere = fc.dictionary(fc.constantFrom(...keys, 'labels', 'ü"\\'), fc.constantFrom(...values, '"a":"x"', 'ß'));

test('a label selector selects what has the labels, whatever else the bytes say', () => {
  fc.assert(
    fc.property(
      fc.option(labels, { nil: undefined }),
      elsewhere,
      fc.array(requirement, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')),
      (labels, annotations, labelSelector) => {
        const object = {
          spec: { selector: annotations },
          metadata: { name: 'o', annotations, labels },
          status: annotations,
        };
        const state = {
          key: { plane: 'p', resource: 'g/things', namespace: '', name: 'o' },
          value: encoder.encode(JSON.stringify(object)),
        };
        const { matches } = selectionOf(served, new URLSearchParams({ labelSelector }));
        const expected = parseLabelSelector(labelSelector)!(labels ?? {});
        expect(matches!(state)).toBe(expected);
        // Again, now that the labels may be remembered.
        expect(matches!(state)).toBe(expected);
      },
    ),
    { numRuns: 2000 },
  );
});
