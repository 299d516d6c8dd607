import { describe, expect, test } from 'vitest';
import { compileSchema } from '../compile.ts';

/** The message of `rule` asked about `value`, or '' where it holds. */
function ask(
  rule: string | Record<string, unknown>,
  schema: Record<string, unknown>,
  value: unknown,
  old?: unknown,
): string {
  const rules = [typeof rule === 'string' ? { rule } : rule];
  const compiled = compileSchema({
    type: 'object',
    properties: { v: { ...schema, 'x-kubernetes-validations': rules } },
  });
  const errors = compiled.validate({ v: value }, old === undefined ? undefined : { v: old });
  return errors.map((error) => `${error.field}: ${error.message}`).join('\n');
}

const string = { type: 'string' };
const strings = { type: 'array', items: string };

describe('the Kubernetes libraries', () => {
  test.each([
    ['ip(self).family() == 4', '10.0.0.1'],
    ['isIP(self) && !isIP("300.1.1.1") && !isIP("::ffff:1.2.3.4")', 'fd20::1'],
    ['ip.isCanonical(self) && !ip.isCanonical("2001:DB8::1")', '2001:db8::1'],
    ['ip(self).isLoopback()', '::1'],
    ['string(ip(self)) == "2001:db8::1:0:0:1"', '2001:db8:0:0:1:0:0:1'],
    ['ip(self) == ip("fd20:0:0::1")', 'fd20::1'],
    ['cidr(self).containsIP("10.0.0.3") && !cidr(self).containsIP(ip("10.0.1.3"))', '10.0.0.0/24'],
    ['cidr(self).containsCIDR("fd20::/64") && cidr(self).prefixLength() == 48', 'fd20::/48'],
    ['string(cidr(self).masked()) == "10.0.0.0/8"', '10.1.2.3/8'],
    ['isCIDR(self) && !isCIDR("10.0.0.0/33")', '10.0.0.0/8'],
    ['url(self).getHost() == "example.com:80" && url(self).getPort() == "80"', 'http://example.com:80/p?q=1'],
    ['url(self) == url("HTTP://h/") && url(self) != url("http://h") && !isURL("http://h/%zz")', 'http://h/'],
    ['url(self).getQuery()["q"] == ["1", "2"] && url(self).getEscapedPath() == "/p"', 'https://h/p?q=1&q=2'],
    ['isQuantity(self) && quantity(self).isGreaterThan(quantity("1G"))', '1Gi'],
    ['quantity(self).add(quantity("500m")).compareTo(quantity("2")) == 0', '1500m'],
    ['quantity(self).asInteger() == 2000', '2k'],
    ['self.find("[0-9]+") == "12" && self.findAll("[0-9]+") == ["12", "3"]', 'a12b3'],
    ['self.matches("^[a-z]+$") && !self.matches("^[0-9]")', 'abc'],
    ['"%s is %d, %.1f".format([self, 3, 2.25]) == "x is 3, 2.3" || "%s is %d".format([self, 3]) == "x is 3"', 'x'],
    ['self.replace("a", "b") == "bbb" && self.replace("a", "b", 1) == "bba"', 'aba'],
    ['self.lowerAscii() == "abc" && self.charAt(0) == "A" && self.substring(1) == "BC"', 'ABC'],
    ['self.split(".").map(x, int(x)).sum() == 6', '1.2.3'],
    ['format.dns1123Label().validate(self).hasValue() == false', 'a-b'],
    [String.raw`strings.quote(self) == "\"a\\n\\\"b\\\"\\\\\""`, 'a\n"b"\\'],
    ['["x"].all(strings, strings == self)', 'x'],
    ['duration(self) == duration("60s")', '1m'],
    ['self.size() == 2', 'é€'],
  ])('%s', (rule, value) => {
    expect(ask(rule, string, value)).toBe('');
  });

  test.each([
    ['self.isSorted() && self.max() == "b" && self.min() == "a"', ['a', 'b']],
    ['self.indexOf("b") == 1 && self.lastIndexOf("z") == -1', ['a', 'b']],
    [
      'sets.contains(self, ["a"]) && sets.equivalent(self, ["b", "a", "a"]) && !sets.intersects(self, ["c"])',
      ['a', 'b'],
    ],
    ['self.exists_one(x, x == "a") && self.all(x, x in ["a", "b"]) && self.filter(x, x != "a") == ["b"]', ['a', 'b']],
    ['self[?5].orValue("none") == "none"', ['a']],
  ])('%s', (rule, value) => {
    expect(ask(rule, strings, value)).toBe('');
  });

  test('optional fields', () => {
    const schema = { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'integer' } } } } };
    expect(ask('self.?a.?b.orValue(0) == 0', schema, {})).toBe('');
    expect(ask('self.?a.?b.optMap(x, x + 1).orValue(0) == 6', schema, { a: { b: 5 } })).toBe('');
  });
});

describe('names and types', () => {
  test('fields that are reserved words or hold other characters are escaped', () => {
    const schema = {
      type: 'object',
      properties: { namespace: string, 'a-b': string, 'c.d': string, 'e/f': string, g__h: string, toString: string },
    };
    const rule =
      'self.__namespace__ == "1" && self.namespace == "1" && has(self.namespace) && self.a__dash__b == "2" && self.c__dot__d == "3" && self.e__slash__f == "4" && self.g__underscores__h == "5" && !has(self.toString)';
    expect(ask(rule, schema, { namespace: '1', 'a-b': '2', 'c.d': '3', 'e/f': '4', g__h: '5' })).toBe('');
  });

  test('no name of a field is one of our own', () => {
    const schema = { type: 'object', properties: { raw: string, json: string, wrap: string } };
    expect(ask('self.raw == "1" && !has(self.json) && self.wrap == "3"', schema, { raw: '1', wrap: '3' })).toBe('');
  });

  test('integers are int, numbers double, int-or-string either, date-time a timestamp, byte bytes', () => {
    expect(ask('self + 1 == 3 && type(self) == int', { type: 'integer' }, 2)).toBe('');
    expect(ask('self == 2.0 && self > 1', { type: 'number' }, 2)).toBe('');
    const either = { 'x-kubernetes-int-or-string': true };
    const rule = 'type(self) == int ? self > 10 : self.endsWith("%")';
    expect(ask(rule, either, 20)).toBe('');
    expect(ask(rule, either, '5%')).toBe('');
    expect(ask(rule, either, 5)).toContain('failed rule');
    expect(
      ask('self > timestamp("2020-01-01T00:00:00Z")', { type: 'string', format: 'date-time' }, '2026-01-01T00:00:00Z'),
    ).toBe('');
    expect(ask('size(self) == 3', { type: 'string', format: 'byte' }, 'YWJj')).toBe('');
  });

  test('maps of any key, __proto__ included', () => {
    const schema = { type: 'object', additionalProperties: { type: 'integer' } };
    expect(ask('self.all(k, self[k] > 0) && self.size() == 2', schema, JSON.parse('{"a": 1, "__proto__": 2}'))).toBe(
      '',
    );
  });
});

describe('refusals', () => {
  test('message, messageExpression, reason and fieldPath', () => {
    const schema = { type: 'object', properties: { min: { type: 'integer' }, 'x-y': string } };
    expect(ask({ rule: 'self.min < 5', message: 'min is too large' }, schema, { min: 9 })).toBe(
      'v: Invalid value: min is too large',
    );
    expect(ask({ rule: 'self.min < 5', messageExpression: '"min is " + string(self.min)' }, schema, { min: 9 })).toBe(
      'v: Invalid value: min is 9',
    );
    expect(
      ask({ rule: 'self.min < 5', reason: 'FieldValueForbidden', fieldPath: '.min', message: 'no' }, schema, {
        min: 9,
      }),
    ).toBe('v.min: Forbidden: no');
    expect(ask({ rule: 'false', fieldPath: '["x-y"]' }, schema, {})).toBe('v.x-y: Invalid value: failed rule: false');
    expect(ask('self == "a"', string, 'b')).toBe('v: Invalid value: "b": failed rule: self == "a"');
  });

  test('a rule that fails to evaluate refuses, and says why', () => {
    expect(ask('self.min < 5', { type: 'object', properties: { min: { type: 'integer' } } }, {})).toBe(
      'v: Invalid value: "object": no such key: min evaluating rule: self.min < 5',
    );
  });

  test('a rule that does not compile refuses every object', () => {
    expect(ask('self.nope == 1', { type: 'object', properties: { a: string } }, {})).toContain('compilation failed');
    expect(ask('self +', string, 'a')).toContain('compilation failed');
    expect(ask('self', string, 'a')).toContain('must evaluate to a bool, found string');
  });

  test.each([
    ['has(self.s.x)', "Cannot index type 'string'"],
    ['has(self.o.nope)', 'No such key: nope'],
    ['has(self.o.a.b)', "Cannot index type 'string'"],
    ['has(self.l.x)', 'List index must be int'],
    ['self.l.all(i, has(i.x))', "Cannot index type 'string'"],
    ['[self.o].all(i, o, has(o.nope))', 'No such key: nope'],
    ['self.?o.optMap(o, has(o.nope)).orValue(true)', 'No such key: nope'],
  ])('%s does not compile: nothing has such a field', (rule, why) => {
    const o = { type: 'object', properties: { a: string } };
    const schema = { type: 'object', properties: { s: string, o, l: strings, m: { type: 'object' } } };
    expect(ask(rule, schema, {})).toContain(`compilation failed: ${why}`);
  });

  test('has() of what may be there', () => {
    const o = { type: 'object', properties: { a: string } };
    const m = { type: 'object', additionalProperties: string };
    const schema = { type: 'object', properties: { o, m, l: { type: 'array', items: o } } };
    const rule =
      'has(self.o.a) && !has(self.m.z) && has(self.m.k) && has(self.?o.a) && self.l.exists(i, !has(i.a)) && self.l.exists(i, v, has(v.a))';
    expect(ask(rule, schema, { o: { a: '1' }, m: { k: '2' }, l: [{}, { a: '3' }] })).toBe('');
  });
});

describe('transition rules', () => {
  const immutable = { rule: 'self == oldSelf', message: 'is immutable' };

  test('run on update only', () => {
    expect(ask(immutable, string, 'a')).toBe('');
    expect(ask(immutable, string, 'a', 'a')).toBe('');
    expect(ask(immutable, string, 'a', 'b')).toBe('v: Invalid value: "a": is immutable');
  });

  test('optionalOldSelf runs on create too', () => {
    const rule = { rule: 'oldSelf.hasValue() || self == "first"', optionalOldSelf: true };
    expect(ask(rule, string, 'first')).toBe('');
    expect(ask(rule, string, 'second')).toContain('failed rule');
    expect(ask(rule, string, 'second', 'first')).toBe('');
  });

  test('items of a map list are correlated by key, items of other lists not at all', () => {
    const item = {
      type: 'object',
      properties: { name: string, size: { type: 'integer', 'x-kubernetes-validations': [immutable] } },
    };
    const map = { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
    const check = (list: Record<string, unknown>, now: unknown, old: unknown) =>
      compileSchema({ type: 'object', properties: { v: list } })
        .validate({ v: now }, { v: old })
        .map((error) => error.field);
    const old = [
      { name: 'a', size: 1 },
      { name: 'b', size: 2 },
    ];
    expect(
      check(
        map,
        [
          { name: 'b', size: 2 },
          { name: 'a', size: 9 },
          { name: 'c', size: 1 },
        ],
        old,
      ),
    ).toEqual(['v[1].size']);
    expect(check({ type: 'array', items: item }, [{ name: 'a', size: 9 }], old)).toEqual([]);
  });
});

describe('what a rule may spend', () => {
  const numbers = Array.from({ length: 3_000 }, (_, i) => `${i}`);
  const refused = /call cost exceeds limit/;

  test.each([
    ['nested iterations', 'self.all(a, self.all(b, a != b || true))'],
    ['a refusal hidden by ||', 'self.all(a, self.all(b, a != b || true)) || true'],
    ['membership inside an iteration', 'self.all(a, !(a in self.map(x, x + "!")))'],
    [
      'lists that double',
      '[self + self].all(a, [a + a].all(b, [b + b].all(c, [c + c].all(d, [d + d].all(e, [e + e].all(f, [f + f].all(g, [g + g].all(h, [h + h].all(i, size(i) > 0)))))))))',
    ],
  ])('%s', (_, rule) => {
    expect(ask(rule, strings, numbers)).toMatch(refused);
  });

  test('patterns that make a backtracking engine hang take linear time', () => {
    expect(ask('!self.matches("^(a+)+$")', string, `${'a'.repeat(50_000)}b`)).toBe('');
  });
});
