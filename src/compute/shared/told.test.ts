import { expect, it } from 'vitest';
import { toldBy, toldText } from './told.ts';

const object = (text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', annotations: { why: text } },
});

it('tells what was written', () => {
  const told = { reason: 'NetworkNotFound', message: 'Network "x" does not exist' } as const;
  expect(toldBy(object(toldText(told)), 'why')).toEqual(told);
});

it.each([
  '',
  'text',
  'null',
  '[]',
  '{"reason":"NetworkNotFound"}',
  '{"reason":"Invented","message":"m"}',
  '{"message":"m"}',
])('tells nothing by %s', (text) => {
  expect(toldBy(object(text), 'why')).toBeUndefined();
});

it('tells nothing where nothing is written', () => {
  expect([toldBy(object('{}'), 'other'), toldBy(undefined, 'why')]).toEqual([undefined, undefined]);
});
