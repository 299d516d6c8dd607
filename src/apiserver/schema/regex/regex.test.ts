import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Regex } from './regex.ts';

describe('Regex', () => {
  test.each([
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a-b', true],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a-', false],
    ['b', 'abc', true],
    ['^$', '', true],
    ['a{2,3}$', 'aaaa', true],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{2,}$', 'aaaa', true],
    ['a{,3}', 'a{,3}', true],
    ['\\bcat\\b', 'a cat.', true],
    ['\\bcat\\b', 'concat', false],
    ['(?i)^ABC$', 'aBc', true],
    ['(?i:a)b', 'Ab', true],
    ['(?i:a)b', 'AB', false],
    ['(?m)^b$', 'a\nb\nc', true],
    ['^b$', 'a\nb\nc', false],
    ['a.c', 'a\nc', false],
    ['(?s)a.c', 'a\nc', true],
    ['^\\p{Lu}\\P{Lu}$', 'Éé', true],
    ['^\\p{Greek}+$', 'αβγ', true],
    ['^.$', '😀', true],
    ['^[^a]$', '😀', true],
    ['^[[:alpha:]_]+$', 'ab_', true],
    ['^[[:^digit:]]$', '1', false],
    ['^[\\w.-]+$', 'a.b-c_1', true],
    ['^[]a]+$', ']a', true],
    ['^\\Qa.b\\E$', 'a.b', true],
    ['^\\x41\\x{1F600}$', 'A😀', true],
    ['^(?P<year>\\d{4})-(?<month>\\d\\d)$', '2026-01', true],
    ['\\Aab\\z', 'ab', true],
    ['^(a|b|)c$', 'c', true],
    ['^\\d+\\s\\S\\D$', '12 ab', true],
  ])('%s on %j is %s', (source, text, expected) => {
    expect(new Regex(source).test(text)).toBe(expected);
  });

  test.each([
    '(?=a)',
    '(?<!a)b',
    '(a)\\1',
    'a**',
    '[z-a]',
    '(',
    'a)',
    '[a',
    '\\',
    'a{2000}',
    '*a',
    '\\pXx',
    '(((a{100}){100}){100})',
    '\\8',
  ])('%s is not RE2', (source) => {
    expect(() => new Regex(source)).toThrow(/^error parsing regexp: /);
  });

  test('time does not explode on patterns and texts made for it', () => {
    const text = `${'a'.repeat(20_000)}!`;
    for (const source of ['^(a+)+$', '^(a|aa)+$', '^(a*)*$', '(x+x+)+y|a*a*a*a*b', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
      expect(new Regex(source).test(text)).toBe(false);
    }
  });

  test('finds the leftmost match a backtracking matcher prefers', () => {
    expect(new Regex('a+').find('baaa')).toEqual([1, 4]);
    expect(new Regex('a+?').find('baaa')).toEqual([1, 2]);
    expect(new Regex('ab|abc').find('xabc')).toEqual([1, 3]);
    expect(new Regex('z').find('abc')).toBeUndefined();
    expect(new Regex('\\d+').findAll('1 22 333', 2)).toEqual(['1', '22']);
    expect(new Regex('x*').findAll('axb')).toEqual(['', 'x', '', '']);
  });

  // JavaScript's engine is the oracle, for expressions both understand alike.
  const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '\\d', '(?:ab)', '(?:a|bc)', '(?:a*)', '^', '$', '\\b');
  const quantified = fc
    .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '*?', '+?', '{1,2}'))
    .map(([one, quantifier]) => (/^[\^$]$|^\\b$/.test(one) ? one : one + quantifier));
  const sequence = fc.array(quantified, { maxLength: 5 }).map((parts) => parts.join(''));
  const expression = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((options) => options.join('|'));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', 'é'), maxLength: 8 });

  test('agrees with JavaScript on whether and where', () => {
    fc.assert(
      fc.property(expression, text, (source, value) => {
        const regex = new Regex(source);
        const found = new RegExp(source, 'u').exec(value);
        expect(regex.test(value)).toBe(found !== null);
        const match = regex.find(value);
        if (found === null) expect(match).toBeUndefined();
        else expect(match?.[0]).toBe(found.index);
      }),
      { numRuns: 2_000 },
    );
  });
});
