import { expect, test } from 'vitest';
import { compileSchema } from '../compile.ts';

const text = { type: 'string' };
const set = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };
const ports = {
  type: 'array',
  items: {
    type: 'object',
    properties: { 'host-port': { type: 'integer' }, protocol: text, name: text, tags: set },
  },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['host-port', 'protocol'],
};

const a = { 'host-port': 80, protocol: 'TCP', name: 'web', tags: ['x', 'y'] };
const b = { 'host-port': 80, protocol: 'UDP', name: 'quic' };

function ask(rule: string, now: unknown, old: unknown): string {
  const part = { type: 'object', properties: { set, ports } };
  const spec = {
    type: 'object',
    properties: { set, ports, list: { type: 'array', items: text }, part },
    'x-kubernetes-validations': [{ rule, message: 'refused' }],
  };
  const compiled = compileSchema({ type: 'object', properties: { spec } });
  return compiled
    .validate({ spec: now }, { spec: old })
    .map(({ message }) => message)
    .join();
}

const now = { set: ['p', 'q'], ports: [a, b], list: ['p', 'q'], part: { set: ['r', 's'], ports: [b, a] } };
const reordered = {
  set: ['q', 'p'],
  ports: [b, { ...a, tags: ['y', 'x'] }],
  list: ['q', 'p'],
  part: { set: ['s', 'r'], ports: [a, b] },
};

test.each([
  'self.set == oldSelf.set && !(self.set != oldSelf.set)',
  'self.ports == oldSelf.ports',
  'self.part == oldSelf.part',
  'self.?set == oldSelf.?set',
  'self.set in [oldSelf.set] && [self.set] == [oldSelf.set] && {"k": self.set} == {"k": oldSelf.set}',
  'self.list != oldSelf.list && self.set == ["q", "p"]',
  // A list that is no set decides by its order what is equal to it.
  '["q", "p"] != self.set',
])('%s: the order of what is a set or a map does not count', (rule) => {
  expect(ask(rule, now, reordered)).toBe('');
});

test.each([
  ['set', ['p', 'r']],
  ['set', ['p', 'q', 'r']],
  ['ports', [a, { ...b, name: 'other' }]],
  ['ports', [a, { ...b, protocol: 'SCTP' }]],
  ['ports', [{ ...a, tags: ['x'] }, b]],
  ['part', { set: ['r'], ports: [b, a] }],
])('%s of other content is not equal', (field, changed) => {
  expect(ask(`self.${field} == oldSelf.${field}`, { ...now, [field]: changed }, reordered)).toBe(
    'Invalid value: refused',
  );
});

test.each([
  // Places and items of what is added to are kept; what is new follows in its order.
  '(self.set + ["z", "p", "z", "y"]).map(x, x) == ["p", "q", "z", "y"]',
  '(self.set + oldSelf.set + ["z"]).size() == 3',
  '(self.list + self.set).size() == 4',
  '(self.ports + oldSelf.ports).map(x, x.protocol) == ["TCP", "UDP"]',
  // Where both have a key the later item is taken whole.
  '(self.ports + oldSelf.ports).map(x, x.name) == ["web", "new"]',
  'self.ports + oldSelf.ports == oldSelf.ports',
])('%s: what is added to a set or a map is merged', (rule) => {
  expect(ask(rule, now, { ...reordered, ports: [{ ...b, name: 'new' }, a] })).toBe('');
});

test('the same list is a set for one field and a list for another', () => {
  const shared = ['p', 'q'];
  expect(
    ask(
      'self.set == oldSelf.set && self.list != oldSelf.list',
      { set: shared, list: shared },
      {
        set: ['q', 'p'],
        list: ['q', 'p'],
      },
    ),
  ).toBe('');
});
