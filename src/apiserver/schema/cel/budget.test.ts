import { describe, expect, test } from 'vitest';
import { compileSchema } from '../compile.ts';

/**
 * Rules that read much again and again. Where it is not done again the rule holds; where it is, the budget ends it. Before
 * either was so, one of these rules about one object of 500 KB held the server for minutes.
 */
const count = 20_000;
const texts = Array.from({ length: count }, (_, index) => `${index}`);
const numbers = texts.map(Number);
const mapOf = (value: unknown) => Object.fromEntries(texts.map((key) => [`k${key}`, value]));

const text = { type: 'string' };
const integer = { type: 'integer' };
const map = (value: unknown) => ({ type: 'object', additionalProperties: value });
const list = (items: unknown) => ({ type: 'array', items });
const same = () => ({ deep: [texts.map((a) => ({ a })), texts.map((a) => ({ a }))] });

const schema = {
  type: 'object',
  properties: {
    l: list(text),
    numbers: list(integer),
    counts: map(integer),
    words: map(text),
    long: text,
    bytes: { type: 'string', format: 'byte' },
    set: { ...list(text), 'x-kubernetes-list-type': 'set' },
    one: { type: 'object', properties: { deep: list(list({ type: 'object', properties: { a: text } })) } },
    unseen: { type: 'object', properties: { any: { 'x-kubernetes-preserve-unknown-fields': true } } },
  },
};

const value = {
  l: texts,
  numbers,
  counts: mapOf(1),
  words: mapOf('x'),
  long: `${'a'.repeat(200_000)}é`,
  bytes: 'eHh4'.repeat(50_000),
  set: texts,
  one: same(),
  unseen: { any: same() },
};

function ask(rule: string): string {
  const compiled = compileSchema({
    type: 'object',
    properties: { v: { ...schema, 'x-kubernetes-validations': [{ rule }] } },
  });
  // Only what reads the old value is asked for it: any other rule is excused where nothing changed.
  const old = { v: { ...value, one: same(), unseen: { any: same() } } };
  return compiled
    .validate({ v: value }, rule.includes('oldSelf') ? old : undefined)
    .map(({ message }) => message)
    .join();
}

describe('what was converted or counted is not converted or counted again', () => {
  test.each([
    'self.l.all(x, self.numbers.size() > 0 && self.set.size() > 0)',
    'self.l.all(x, size(self.counts) > 0)',
    'self.l.all(x, self.words.size() == 20000)',
    'self.l.all(x, self.bytes.size() == 150000)',
    "self.l.all(x, self.words.exists(k, k == 'k0'))",
  ])('%s', (rule) => {
    expect(ask(rule)).toBe('');
  });
});

describe('what is looked at again is charged again', () => {
  test.each([
    'self.l.all(x, self.one == oldSelf.one)',
    'self.l.all(x, [self.one] == [oldSelf.one])',
    'self.l.all(x, self.one in [oldSelf.one])',
    'self.l.all(x, self.unseen == oldSelf.unseen)',
    'self.l.all(x, size(self.long) > 0)',
    'self.l.all(x, [self.l].distinct().size() == 1)',
    'self.l.all(x, [self.one].indexOf(oldSelf.one) == 0)',
    'self.l.all(x, self.set + [x] == self.set)',
    "self.l.all(x, self.words.exists(k, v, k == 'k0'))",
    `self.l.all(x, !self.long.matches("${'(a|b)?'.repeat(20)}c"))`,
    "self.l.all(x, self.long.find('b') == '')",
  ])('%s', (rule) => {
    const named = `'${rule}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`;
    expect(ask(rule)).toBe(`Invalid value: ${named}`);
  });

  test('and none of it goes unseen where something hides the refusal', () => {
    expect(ask('self.l.all(x, self.one == oldSelf.one) || true')).toContain('call cost exceeds limit');
  });
});

test('each item of a long list finds what it was before', () => {
  const count = 60_000;
  const change = { rule: 'self.size >= oldSelf.size', message: 'never less' };
  const item = {
    type: 'object',
    properties: { name: text, zone: integer, size: integer },
    'x-kubernetes-validations': [change],
  };
  const keyed = { ...list(item), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name', 'zone'] };
  const compiled = compileSchema({ type: 'object', properties: { v: keyed } });
  const items = (size: (index: number) => number) =>
    Array.from({ length: count }, (_, index) => ({ name: `n${index}`, zone: index % 3, size: size(index) }));
  const old = items(() => 5).reverse();
  expect(compiled.validate({ v: items(() => 5) }, { v: old })).toEqual([]);
  expect(compiled.validate({ v: items((index) => (index === 7 ? 4 : 6)) }, { v: old })).toEqual([
    { reason: 'FieldValueInvalid', field: 'v[7]', message: 'Invalid value: never less' },
  ]);
});

test('an expression is charged for its length each time it is evaluated', () => {
  const long = Array.from({ length: 1_200 }, () => "x != 'no'").join(' && ');
  expect(ask(`self.l.all(x, ${long})`)).toContain('call cost exceeds limit');
  expect(ask(`self.l.all(i, x, ${long})`)).toContain('call cost exceeds limit');
});

test('rules of many items end with the budget of the object, which is told once', () => {
  const rules = Array.from({ length: 200 }, (_, index) => ({ rule: `self != 'no${index}'` }));
  const compiled = compileSchema({
    type: 'object',
    properties: { v: list({ ...text, 'x-kubernetes-validations': rules }) },
  });
  expect(compiled.validate({ v: texts.slice(0, 3_000) })).toEqual([]);
  expect(compiled.validate({ v: texts }).map(({ message }) => message)).toEqual([
    'Invalid value: "3930": validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
});
