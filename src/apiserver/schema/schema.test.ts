import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSchema } from './index.ts';
import type { JsonSchema } from './schema.ts';

const compile = (v: JsonSchema) => compileSchema({ type: 'object', properties: { v } });

function errors(v: JsonSchema, value: unknown): string[] {
  return compile(v)
    .validate({ v: value })
    .map((error) => `${error.field}: ${error.message}`);
}

describe('validation speaks as kube-apiserver does', () => {
  test.each<[JsonSchema, unknown, string]>([
    [{ type: 'integer' }, 'x', 'v: Invalid value: "string": v in body must be of type integer: "string"'],
    [{ type: 'integer' }, 1.5, 'v: Invalid value: "number": v in body must be of type integer: "number"'],
    [{ type: 'string' }, null, 'v: Invalid value: "null": v in body must be of type string: "null"'],
    [{ type: 'object' }, [], 'v: Invalid value: "array": v in body must be of type object: "array"'],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'v: Invalid value: "boolean": v in body must be of type integer,string: "boolean"',
    ],
    [{ type: 'string', maxLength: 3 }, 'abcd', 'v: Too long: may not be more than 3 bytes'],
    [{ type: 'string', minLength: 3 }, 'ab', 'v: Invalid value: "ab": v in body should be at least 3 chars long'],
    [{ type: 'string', pattern: '^a$' }, 'b"', 'v: Invalid value: "b\\"": v in body should match \'^a$\''],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'v: Unsupported value: "c": supported values: "a", "b"'],
    [{ type: 'integer', enum: [1, 2] }, 3, 'v: Unsupported value: 3: supported values: "1", "2"'],
    [
      { type: 'string', format: 'date-time' },
      'yesterday',
      'v: Invalid value: "yesterday": v in body must be of type date-time: "yesterday"',
    ],
    [{ type: 'integer', minimum: 1 }, 0, 'v: Invalid value: 0: v in body should be greater than or equal to 1'],
    [{ type: 'integer', maximum: 1 }, 2, 'v: Invalid value: 2: v in body should be less than or equal to 1'],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      'v: Invalid value: 1: v in body should be greater than 1',
    ],
    [{ type: 'integer', multipleOf: 4 }, 6, 'v: Invalid value: 6: v in body should be a multiple of 4'],
    [
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      [],
      'v: Invalid value: 0: v in body should have at least 1 items',
    ],
    [
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 'b'],
      'v: Too many: 2: must have at most 1 items',
    ],
    [
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ['a', 'b', 'a'],
      'v[2]: Duplicate value: "a"',
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
        items: { type: 'object', properties: { type: { type: 'string' } } },
      },
      [{ type: 'Ready' }, { type: 'Ready' }],
      'v[1]: Duplicate value: {"type":"Ready"}',
    ],
    [{ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, {}, 'v.a: Required value'],
    [
      { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      [{}, { a: 1 }],
      'v[1].a: Invalid value: "integer": v[1].a in body must be of type string: "integer"',
    ],
    [
      { type: 'object', additionalProperties: { type: 'string' } },
      { 'k/x': 1 },
      'v.k/x: Invalid value: "integer": v.k/x in body must be of type string: "integer"',
    ],
    [
      { type: 'object', properties: { a: { type: 'integer' } }, not: { required: ['a'] } },
      { a: 1 },
      '<nil>: Invalid value: "": "v" must not validate the schema (not)',
    ],
  ])('%j on %j', (schema, value, message) => {
    expect(errors(schema, value)).toEqual([message]);
  });

  test('oneOf and anyOf say how many held', () => {
    const properties = { a: { type: 'string' }, b: { type: 'string' } };
    const oneOf = { type: 'object', properties, oneOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(errors(oneOf, {})[0]).toBe(
      '<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found none valid',
    );
    expect(errors(oneOf, { a: '', b: '' })).toEqual([
      '<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ]);
    expect(errors({ type: 'object', properties, anyOf: [{ required: ['a'] }] }, {})).toEqual([
      '<nil>: Invalid value: "": "v" must validate at least one schema (anyOf)',
      'v.a: Required value',
    ]);
  });

  test('nullable, int32 range, and lengths in characters', () => {
    expect(errors({ type: 'string', nullable: true }, null)).toEqual([]);
    expect(errors({ type: 'integer', format: 'int32' }, 2 ** 31)).toHaveLength(1);
    expect(errors({ type: 'integer', format: 'int32' }, -(2 ** 31))).toEqual([]);
    expect(errors({ type: 'string', maxLength: 2 }, '😀😀')).toEqual([]);
    expect(errors({ type: 'string', minLength: 3 }, '😀😀')).toHaveLength(1);
  });

  test.each([
    ['date-time', '2026-02-28T23:59:59Z', '2026-02-29T00:00:00Z'],
    ['date-time', '2024-02-29T00:00:00.123+02:00', '2026-01-01'],
    ['date', '2026-01-31', '2026-04-31'],
    ['ipv4', '10.0.0.1', '10.0.0.256'],
    ['ipv6', 'fd20::1', '10.0.0.1'],
    ['cidr', '10.0.0.0/8', '10.0.0.0/33'],
    ['cidr', 'fd20::/48', 'fd20::1'],
    ['duration', '1h30m', 'soon'],
    ['byte', 'YWJj', 'YWJ'],
    ['uuid', '0f8fad5b-d9cb-469f-a165-70867728950e', '0f8fad5b'],
    ['hostname', 'a.example.com', 'a..b'],
    ['uri', 'https://a/b', 'a b'],
    ['mac', '00:1b:44:11:3a:b7', '00:1b:44:11:3a'],
  ])('format %s takes %s, not %s', (format, good, bad) => {
    expect(errors({ type: 'string', format }, good)).toEqual([]);
    expect(errors({ type: 'string', format }, bad)).toHaveLength(1);
  });

  test('an unchanged invalid value does not stop an update elsewhere', () => {
    const schema = compileSchema({
      type: 'object',
      properties: {
        a: { type: 'integer', maximum: 5 },
        b: { type: 'string' },
        c: { type: 'array', items: { type: 'integer', maximum: 5 } },
      },
    });
    expect(schema.validate({ a: 9, b: 'y', c: [9] }, { a: 9, b: 'x', c: [9] })).toEqual([]);
    expect(schema.validate({ a: 8, b: 'y' }, { a: 9, b: 'x' }).map((error) => error.field)).toEqual(['a']);
    expect(schema.validate({ c: [9, 1] }, { c: [9] }).map((error) => error.field)).toEqual(['c[0]']);
  });

  describe('of an update of what is known to be right', () => {
    const schema = compileSchema({
      type: 'object',
      required: ['spec'],
      properties: {
        spec: { type: 'object', properties: { a: { type: 'integer', maximum: 5 } } },
        status: {
          type: 'object',
          properties: { n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 5' }] } },
        },
        moving: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] },
      },
      'x-kubernetes-validations': [{ rule: '!has(self.status) || self.spec.a != self.status.n' }],
    });
    const fields = (object: object, old: object) =>
      schema.validate(object as never, old as never, [], true).map(({ field }) => field);

    test('what is the very same is not gone through again, and everything else is', () => {
      // Wrong on purpose: that it is not said shows that it was not looked at.
      const spec = { a: 9 };
      const status = { n: 9 };
      expect(fields({ spec, status: { n: 1 } }, { spec, status })).toEqual([]);
      expect(fields({ spec, status: { n: 7 } }, { spec, status })).toEqual(['status.n']);
      expect(fields({ spec: { a: 8 }, status }, { spec, status })).toEqual(['spec.a']);
    });

    test('rules of the whole and rules that read the old value are asked all the same', () => {
      const spec = { a: 1 };
      expect(fields({ spec, status: { n: 1 } }, { spec })).toEqual(['']);
      expect(fields({ spec, moving: 3 }, { spec, moving: 3 })).toEqual(['moving']);
    });
  });

  test('rules are asked only where the structure is right', () => {
    const schema = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5', message: 'too small' }] };
    expect(errors(schema, 'x')).toEqual([
      expect.stringMatching(/must be of type integer/),
      expect.stringMatching(/^<nil>: .* some validation rules were not checked/),
    ]);
    expect(errors(schema, 3)).toEqual(['v: Invalid value: 3: too small']);
  });
});

test('a million refusals are not collected', () => {
  const list = { type: 'array', items: { type: 'string' } };
  expect(errors(list, Array(1_000_000).fill(1))).toHaveLength(1_000);
});

describe('pruning', () => {
  test('unknown fields and nulls go; what is preserved stays, its known children are pruned', () => {
    const schema = compileSchema({
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            known: { type: 'string' },
            maybe: { type: 'string', nullable: true },
            open: {
              type: 'object',
              'x-kubernetes-preserve-unknown-fields': true,
              properties: { closed: { type: 'object', properties: { a: { type: 'string' } } } },
            },
            list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
            map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
            template: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              properties: { spec: { type: 'object' } },
            },
          },
        },
      },
    });
    const object = {
      apiVersion: 'a/v1',
      kind: 'A',
      metadata: { name: 'a', labels: { x: 'y' }, nonsense: 1 },
      extra: 1,
      spec: {
        known: null,
        maybe: null,
        open: { anything: 1, closed: { a: 'a', b: 'b' } },
        list: [{ a: '1', b: 1 }],
        map: { k: { a: '1', c: 1 } },
        template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', odd: 1 }, spec: { gone: 1 }, gone: 1 },
      },
    };
    expect(schema.prune(object)).toEqual([
      'extra',
      'metadata.nonsense',
      'spec.list[0].b',
      'spec.map.k.c',
      'spec.open.closed.b',
      'spec.template.gone',
      'spec.template.metadata.odd',
      'spec.template.spec.gone',
    ]);
    expect(object).toEqual({
      apiVersion: 'a/v1',
      kind: 'A',
      metadata: { name: 'a', labels: { x: 'y' } },
      spec: {
        maybe: null,
        open: { anything: 1, closed: { a: 'a' } },
        list: [{ a: '1' }],
        map: { k: { a: '1' } },
        template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} },
      },
    });
  });

  test('__proto__ is a field like any other, and unknown', () => {
    const object = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<string, unknown>;
    expect(compileSchema({ type: 'object' }).prune(object)).toEqual(['__proto__', 'constructor']);
    expect(Object.keys(object)).toEqual([]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('defaults', () => {
  const schema = compileSchema({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          mode: { type: 'string', default: 'A' },
          nested: { type: 'object', default: {}, properties: { depth: { type: 'integer', default: 2 } } },
          absent: { type: 'object', properties: { depth: { type: 'integer', default: 2 } } },
          maybe: { type: 'string', nullable: true, default: 'x' },
          list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string', default: 'a' } } } },
        },
      },
      status: { type: 'object', default: { conditions: [{ type: 'Ready' }] } },
    },
  });
  const fill = (object: Record<string, unknown>) => {
    schema.applyDefaults(object);
    return object;
  };

  test('fill absent fields of objects that are there, then what is inside them', () => {
    expect(fill({ spec: { mode: null, maybe: null, list: [{}, { a: 'b' }] } })).toEqual({
      spec: { mode: 'A', nested: { depth: 2 }, maybe: null, list: [{ a: 'a' }, { a: 'b' }] },
      status: { conditions: [{ type: 'Ready' }] },
    });
    expect(fill({ status: {} })).toEqual({ status: {} });
  });

  test('are copied each time', () => {
    const first = fill({}) as { status: { conditions: unknown[] } };
    first.status.conditions.push('changed');
    expect(fill({})).toEqual({ status: { conditions: [{ type: 'Ready' }] } });
  });
});

test('schemas of equal content are one, whatever the order of their keys', () => {
  expect(compileSchema({ type: 'object', properties: {} })).toBe(compileSchema({ properties: {}, type: 'object' }));
});

// ajv is the oracle for plain JSON Schema: both must agree on what is valid.
describe('agrees with ajv', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.record(
        {
          type: fc.constant('string'),
          minLength: fc.nat(3),
          maxLength: fc.nat(3),
          pattern: fc.constantFrom('^a', 'b$', '^[ab]*$'),
          enum: fc.constant(['a', 'ab']),
        },
        { requiredKeys: ['type'] },
      ),
      fc.record(
        {
          type: fc.constantFrom('integer', 'number'),
          minimum: fc.integer({ min: -2, max: 2 }),
          maximum: fc.nat(3),
          multipleOf: fc.constantFrom(1, 2),
        },
        { requiredKeys: ['type'] },
      ),
      fc.constant({ type: 'boolean' }),
      fc.record(
        { type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2), maxItems: fc.nat(2) },
        { requiredKeys: ['type', 'items'] },
      ),
      fc.record(
        {
          type: fc.constant('object'),
          properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
          required: fc.uniqueArray(name, { minLength: 1, maxLength: 2 }),
          minProperties: fc.nat(2),
          maxProperties: fc.nat(3),
          not: fc.record({ required: fc.tuple(name) }),
          anyOf: fc.tuple(fc.record({ required: fc.tuple(name) }), fc.record({ required: fc.tuple(name) })),
          oneOf: fc.tuple(fc.record({ required: fc.tuple(name) }), fc.record({ required: fc.tuple(name) })),
        },
        { requiredKeys: ['type', 'properties'] },
      ),
    ) as fc.Arbitrary<JsonSchema>,
  }));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 4 }),
      fc.integer({ min: -3, max: 4 }),
      fc.constantFrom(0.5, true, false, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    ),
  }));

  test('on any schema and any value', () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (one, values) => {
        const oracle = ajv.compile(one);
        const mine = compile(one);
        for (const each of values)
          expect([each, mine.validate({ v: each }).length === 0]).toEqual([each, oracle(each)]);
      }),
      { numRuns: 300 },
    );
  });
});
