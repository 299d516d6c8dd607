import { expect, it } from 'vitest';
import { Crowd } from './crowd.ts';

it('counts for each those that were there when it came and those that came since, gone or not', () => {
  const crowd = new Crowd();
  for (const key of ['a/1', 'a/2', 'b/1']) crowd.enter(key);
  expect(['a/1', 'a/2', 'b/1'].map((key) => crowd.others(key))).toEqual([2, 2, 2]);
  crowd.enter('a/1');
  expect(crowd.others('a/1')).toBe(2);
  crowd.leave('a/1');
  crowd.enter('a/3');
  expect(['a/1', 'a/2', 'a/3'].map((key) => crowd.others(key))).toEqual([0, 3, 2]);
  crowd.leaveAll('a/');
  crowd.enter('b/2');
  expect(['a/2', 'b/1', 'b/2'].map((key) => crowd.others(key))).toEqual([0, 4, 1]);
});
