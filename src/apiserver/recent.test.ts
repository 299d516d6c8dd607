import { expect, test } from 'vitest';
import { Recent } from './recent.ts';

test('what was set last is there, as much as is asked for', () => {
  const recent = new Recent<number, string>(3);
  for (let n = 0; n < 10; n += 1) recent.set(n, `${n}`);
  recent.set(9, 'again');
  expect([5, 6, 7, 8, 9].map((n) => recent.get(n))).toEqual([undefined, undefined, '7', '8', 'again']);
});
