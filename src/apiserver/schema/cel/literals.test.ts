import { expect, test } from 'vitest';
import { compileRules, type RuleProblem } from './rules.ts';

/** Why a rule about a text, a list and a map is refused before there is any object; '' where it is not. */
function refusal(declared: object): string {
  const text = { type: 'string' };
  const problems: RuleProblem[] = [];
  const properties = {
    s: text,
    t: { type: 'string', format: 'date-time' },
    l: { type: 'array', items: text },
    m: { type: 'object', additionalProperties: text },
  };
  compileRules({ type: 'object', properties, 'x-kubernetes-validations': [declared] }, problems);
  return problems.map(({ field, message }) => `${field}: ${message}`).join('\n');
}

// Each is refused by kube-apiserver as well: a definition that is taken here is to be taken there.
test.each([
  ["timestamp('nonsense') == self.t", 'invalid timestamp argument'],
  ["duration('x') == duration('1s')", 'invalid duration argument'],
  ["self.s.matches('(')", 'invalid matches argument'],
  ["int('x') == 1", 'rule: compilation failed'],
  ["[1, 'x'].size() == 2", "expected type 'int' but found 'string'"],
  ["{'a': 1, 'b': 'x'}.size() == 2", "expected type 'int' but found 'string'"],
  ["self.m[1] == 'x'", "no matching overload for '_[_]'"],
  ["'%d'.format(['x']) == 'x'", '%d does not accept string'],
  ['cel.bind(x, self.s, x.size() == 1)', "undeclared reference to 'cel'"],
  ["self.s.reverse() == 'x'", 'reverse'],
  ["self.l.all(x, timestamp('nonsense') < self.t)", 'invalid timestamp argument'],
])('%s is refused', (rule, why) => {
  expect(refusal({ rule })).toContain(why);
});

test('optionalOldSelf needs a rule that reads it', () => {
  expect(refusal({ rule: 'self.s.size() > 5', optionalOldSelf: true })).toContain(
    'may not be set if oldSelf is not used',
  );
});

test.each([
  "'%s has %d'.format([self.s, 1]) == 'x'",
  "timestamp('2001-01-01T00:00:00Z') < self.t && duration('1h') > duration('1m')",
  "[[1], []].size() == 2 && {'a': [1]}.a[0] == 1 && [self.s, 'x'].size() == 2",
  "self.m['a'] == 'x' && int('12') == 12 && self.s.matches('^a$')",
])('%s is taken', (rule) => {
  expect(refusal({ rule })).toBe('');
});
