import { expect, test } from 'vitest';
import { type LabelSelector, selects } from './index.ts';

const labels = { pool: 'a', ready: 'true' };

test.each<[LabelSelector, boolean]>([
  [{}, true],
  [{ matchLabels: { pool: 'a' } }, true],
  [{ matchLabels: { pool: 'b' } }, false],
  [{ matchLabels: { toString: 'x' } }, false],
  [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['a', 'b'] }] }, true],
  [{ matchExpressions: [{ key: 'pool', operator: 'In' }] }, false],
  [{ matchExpressions: [{ key: 'pool', operator: 'NotIn', values: ['a'] }] }, false],
  [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, true],
  [{ matchExpressions: [{ key: 'ready', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'ready', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'ready', operator: 'exists' }] }, false],
  [{ matchLabels: { pool: 'a' }, matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, false],
])('%j selects: %s', (selector, selected) => {
  expect(selects(selector, labels)).toBe(selected);
});
