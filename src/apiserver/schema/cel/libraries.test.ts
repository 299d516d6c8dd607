import { describe, expect, test } from 'vitest';
import { compileSchema } from '../compile.ts';

/** What a rule about an object with a text, a list and a map answers; '' where it holds. */
function ask(rule: string): string {
  const text = { type: 'string' };
  const compiled = compileSchema({
    type: 'object',
    properties: {
      v: {
        type: 'object',
        properties: {
          s: text,
          l: { type: 'array', items: text },
          m: { type: 'object', additionalProperties: text },
          o: { type: 'array', items: { type: 'object', properties: { a: text } } },
        },
        'x-kubernetes-validations': [{ rule }],
      },
    },
  });
  const value = { s: 'hello', l: ['b', 'a', 'b'], m: { p: '1', q: '2' }, o: [{ a: 'z' }, { a: 'y' }] };
  return compiled
    .validate({ v: value })
    .map((error) => error.message)
    .join('\n');
}

describe('two-variable comprehensions', () => {
  test.each([
    "self.l.all(i, v, i < 3 && v != 'c')",
    "self.l.exists(i, v, i == 1 && v == 'a') && !self.l.exists(i, v, i == 0 && v == 'a')",
    "self.m.all(k, v, k != v) && self.m.existsOne(k, v, v == '2') && self.m.exists_one(k, v, k == 'p')",
    "self.l.transformList(i, v, v + string(i)) == ['b0', 'a1', 'b2']",
    "self.l.transformList(i, v, i > 0, v) == ['a', 'b'] && self.m.transformList(k, v, k) == ['p', 'q']",
    "self.m.transformMap(k, v, v + v) == {'p': '11', 'q': '22'} && self.m.transformMap(k, v, k == 'p', v).size() == 1",
    "self.m.transformMapEntry(k, v, {v: k}) == {'1': 'p', '2': 'q'}",
    "self.o.all(i, e, e.a != '' && self.l.exists(j, w, j == i))",
    // One that decides hides one that fails.
    'self.l.exists(i, v, i == 0 ? 1 / i == 1 : true)',
    '!self.l.all(i, v, i == 0 ? 1 / i == 1 : false)',
  ])('%s', (rule) => {
    expect(ask(rule)).toBe('');
  });

  test.each([
    ['self.l.all(i, v, 1 / i >= 0)', 'division by zero'],
    ["self.l.transformMapEntry(i, v, {'k': v}).size() == 1", 'key k already exists'],
    ['self.l.all(i, v, v)', 'no matching overload'],
    ['self.s.all(i, v, true)', 'cannot be a range'],
    ['self.l.all(1, v, true)', 'must be a simple identifier'],
  ])('%s is refused', (rule, why) => {
    expect(ask(rule)).toContain(why);
  });

  test('are charged for what they do', () => {
    const deep = 'lists.range(1000).all(i, v, lists.range(1000).all(j, w, lists.range(1000).all(k, x, true)))';
    expect(ask(deep)).toContain('cost');
  });
});

describe('lists', () => {
  test.each([
    "self.l.slice(1, 3) == ['a', 'b'] && self.l.slice(0, 0) == []",
    '[[1], [2, 3]].flatten() == [1, 2, 3] && [[[1]], [[2]]].flatten(2) == [1, 2]',
    "self.l.sort() == ['a', 'b', 'b'] && [3, 1, 2].sort() == [1, 2, 3]",
    "self.l.distinct() == ['b', 'a'] && self.l.reverse()[1] == 'a'",
    "self.o.sortBy(e, e.a).map(e, e.a) == ['y', 'z']",
    'lists.range(3) == [0, 1, 2]',
  ])('%s', (rule) => {
    expect(ask(rule)).toBe('');
  });

  test.each([
    ['self.l.slice(2, 1) == []', 'start index must be less than or equal to end index'],
    ['self.l.slice(0, 9) == []', 'list is length 3'],
    ['[[1], [2]].sort() == []', 'must be comparable'],
    ['lists.range(-1) == []', 'must be non-negative'],
    ['lists.range(2000000).size() == 1', 'exceeds maximum'],
  ])('%s fails', (rule, why) => {
    expect(ask(rule)).toContain(why);
  });
});

describe('semver', () => {
  test.each([
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('2.0.0').isGreaterThan(semver('2.0.0-rc.1'))",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    "semver('1.0.0-alpha').compareTo(semver('1.0.0-alpha.1')) == -1",
    "semver('1.0.0-2').compareTo(semver('1.0.0-10')) == -1 && semver('1.0.0-9').compareTo(semver('1.0.0-a')) == -1",
    "semver('1.0.0+a') == semver('1.0.0+b') && isSemver('1.0.0-x.y+z')",
    "!isSemver('1.0') && !isSemver('v1.0.0') && !isSemver('01.0.0') && !isSemver('1.0.0-01') && !isSemver('1.0.0-')",
    "isSemver('v1', true) && semver('v01.02', true) == semver('1.2.0') && !isSemver('1.0-x', true)",
  ])('%s', (rule) => {
    expect(ask(rule)).toBe('');
  });
});

test('optional values are equal by what they hold', () => {
  expect(ask("self.?s == optional.of('hello') && self.m[?'x'] == optional.none() && self.?s != optional.none()")).toBe(
    '',
  );
});
