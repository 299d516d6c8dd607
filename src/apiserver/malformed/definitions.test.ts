import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { base, type Fixture, startServer } from '../testing/fixture.ts';
import { Judge, value, words } from './arbitraries.ts';

let api: Fixture;
let judge: Judge;
beforeAll(async () => {
  api = await startServer();
  judge = new Judge(api);
});
afterAll(async () => {
  console.log(`${judge.sent} requests about malformed definitions, ${judge.refused} refused, ${accepted} accepted`);
  await api.close();
});

const definitions = `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
const json = { 'content-type': 'application/json' };
let accepted = 0;

/** Keywords of schemas with values that fit, nearly fit, or do not. */
const number = fc.constantFrom<unknown>(0, 1, -1, 1.5, 2 ** 53, 1e308, -0, '1', null);
const pattern = fc.constantFrom('^a*$', '(a+)+$', '[', '(?=x)', '\\1', '\\p{L}', 'a{1,1001}', '', '(?i)x', '\\', 7);
const schema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>({ type: 'string' }, { type: 'integer', format: 'int32' }, {}, null, true),
    fc.record(
      {
        type: fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'boolean', 'null', 7, '__proto__'),
        properties: fc.dictionary(words, tie('schema'), { maxKeys: 3 }),
        additionalProperties: fc.oneof(tie('schema'), fc.boolean()),
        items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 2 })),
        required: fc.oneof(fc.array(words, { maxLength: 2 }), value),
        enum: fc.oneof(fc.array(value, { maxLength: 3 }), value),
        default: value,
        pattern,
        format: fc.constantFrom('date-time', 'int64', 'ipv4', 'cidr', 'uuid', '__proto__', 7),
        minimum: number,
        maximum: number,
        exclusiveMinimum: fc.constantFrom<unknown>(true, 5),
        multipleOf: number,
        minLength: number,
        maxItems: number,
        uniqueItems: fc.boolean(),
        nullable: fc.boolean(),
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        oneOf: fc.array(tie('schema'), { maxLength: 2 }),
        not: tie('schema'),
        $ref: words,
        'x-kubernetes-list-type': fc.constantFrom('map', 'set', 'atomic', 'no'),
        'x-kubernetes-list-map-keys': fc.array(words, { maxLength: 2 }),
        'x-kubernetes-map-type': fc.constantFrom('granular', 'atomic', 'no'),
        'x-kubernetes-int-or-string': fc.boolean(),
        'x-kubernetes-preserve-unknown-fields': fc.boolean(),
        'x-kubernetes-embedded-resource': fc.boolean(),
        'x-kubernetes-validations': fc.oneof(
          fc.array(fc.record({ rule: words, message: words }), { maxLength: 2 }),
          value,
        ),
      },
      { requiredKeys: ['type'] },
    ),
  ),
})).schema;

let next = 0;
function definition(plural: string, spec: unknown, more: object = {}): object {
  const root = { type: 'object', properties: { spec } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.odd.io` },
    spec: {
      group: 'odd.io',
      scope: 'Namespaced',
      names: { plural, kind: plural.toUpperCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: root }, ...more }],
    },
  };
}

/** Makes the definition; where it is taken, objects of it are made, and it goes again. */
async function tryOut(make: (plural: string) => object, specs: readonly unknown[]): Promise<void> {
  const plural = `odd${next++}`;
  const { status } = await judge.send({
    method: 'POST',
    path: definitions,
    headers: json,
    body: JSON.stringify(make(plural)),
  });
  if (status !== 201) return;
  accepted++;
  const path = `${base}/apis/odd.io/v1/namespaces/default/${plural}`;
  for (const [n, spec] of specs.entries()) {
    const object = { apiVersion: 'odd.io/v1', kind: plural.toUpperCase(), metadata: { name: `o${n}` }, spec };
    await judge.send({ method: 'POST', path, headers: json, body: JSON.stringify(object) });
    const changed = { ...object, spec: specs[n + 1] ?? {} };
    const type = { 'content-type': 'application/merge-patch+json' };
    await judge.send({ method: 'PATCH', path: `${path}/o${n}`, headers: type, body: JSON.stringify(changed) });
  }
  await judge.send({ method: 'GET', path, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  await judge.send({ method: 'DELETE', path: `${definitions}/${plural}.odd.io` });
}

it('malformed schemas are refused or served, and so are objects by them', { timeout: 180_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(schema, fc.array(value, { maxLength: 2 }), (odd, specs) =>
      tryOut((plural) => definition(plural, odd), specs),
    ),
    { numRuns: 500 },
  );
});

it('and malformed definitions around them', { timeout: 180_000 }, async () => {
  const more = fc.record(
    {
      name: words,
      served: value,
      storage: value,
      deprecated: value,
      subresources: fc.oneof(value, fc.record({ status: value, scale: value }, { requiredKeys: [] })),
      additionalPrinterColumns: fc.oneof(
        value,
        fc.array(
          fc.record({
            name: words,
            type: fc.constantFrom('string', 'integer', 'date', 'no', 7),
            jsonPath: fc.constantFrom(
              '.spec',
              '.spec[',
              '.spec[*].a',
              "['a']",
              '.a[?(@.b==1)]',
              '..',
              '$',
              '',
              '.__proto__',
            ),
          }),
          { maxLength: 2 },
        ),
      ),
      selectableFields: fc.oneof(value, fc.array(fc.record({ jsonPath: words }), { maxLength: 2 })),
      schema: value,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(more, fc.dictionary(words, value, { maxKeys: 2 }), (odd, extra) =>
      tryOut(
        (plural) => {
          const whole = definition(plural, { type: 'string' }, odd) as { spec: object };
          return { ...whole, spec: { ...whole.spec, ...extra } };
        },
        ['text'],
      ),
    ),
    { numRuns: 300 },
  );
});

/** Pieces of CEL put together in any order, some of which are expressions. */
const piece = fc.constantFrom(
  'self',
  'oldSelf',
  'self.a',
  'self.b',
  'self.list',
  'self.map',
  '.all(',
  '.exists(x, ',
  '.map(x, ',
  'x',
  '.size()',
  'has(',
  'size(',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '?',
  '.',
  ' == ',
  ' != ',
  ' < ',
  ' + ',
  ' - ',
  ' * ',
  ' / ',
  ' % ',
  ' && ',
  ' || ',
  '!',
  ' in ',
  'true',
  'false',
  'null',
  '0',
  '1',
  '-1',
  '9223372036854775807',
  '1u',
  '1.5',
  '1e400',
  "'a'",
  '"',
  "b'x'",
  "'\\u0000'",
  '"""',
  '//',
  ".matches('(a+)+$')",
  ".split(',')",
  ".replace('', 'xx', -1)",
  "duration('1h')",
  "timestamp('x')",
  "url('x')",
  "ip('1.2.3.4')",
  "quantity('1Gi')",
  'type(',
  'dyn(',
  '__proto__',
  'constructor',
  'optional.of(',
  '.orValue(',
  '?.a',
  "'%s'.format([",
  '])',
  'cel.bind(',
  'sets.contains(',
  '.sum()',
  '.indexOf(',
  '.charAt(9)',
  '.substring(-1)',
);
const garbage = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(''));
const sound = fc.constantFrom(
  'self.a / self.a == 1',
  'self.a % 0 == 0',
  'self.list[5] == 1',
  "self.map['no'] == 1",
  'self.a + 9223372036854775807 > 0',
  'self.b.matches(self.b)',
  'self.list.all(x, self.list.all(y, self.list.all(z, x + y + z >= 0)))',
  'int(self.b) == 1',
  'timestamp(self.b) > timestamp(self.b)',
  'duration(self.b) == duration(self.b)',
  'oldSelf.a <= self.a',
  'self.b.charAt(7) == self.b',
  "self.b.split('').size() > 0",
  'self.map.all(k, self.map[k] == k)',
  "quantity(self.b).isGreaterThan(quantity('1'))",
  'self.list.sum() > 3',
  "self.b.replace('', self.b).size() < 5",
  "url(self.b).getHost() == ''",
  'format.dns1123Label().validate(self.b).hasValue()',
);

it('malformed CEL rules are refused, and those that fail on an object refuse it', { timeout: 180_000 }, async () => {
  const properties = {
    a: { type: 'integer' },
    b: { type: 'string' },
    list: { type: 'array', maxItems: 50, items: { type: 'integer' } },
    map: { type: 'object', maxProperties: 50, additionalProperties: { type: 'string' } },
  };
  const spec = fc.record(
    {
      a: fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER),
      b: fc.constantFrom('', 'a'.repeat(5_000), '1', '\u0000', '💥', '2026-01-01T00:00:00Z'),
      list: fc.constantFrom(
        [],
        [1],
        Array.from({ length: 50 }, (_, n) => n),
      ),
      map: fc.constantFrom({}, { no: 'no' }, JSON.parse('{"__proto__":"x"}') as object),
    },
    { requiredKeys: [] },
  );
  const rule = fc.record(
    {
      rule: fc.oneof(garbage, garbage, sound),
      message: words,
      messageExpression: garbage,
      reason: fc.constantFrom('FieldValueInvalid', 'No'),
      fieldPath: fc.constantFrom('.a', '.list[0]', '.no', '', "['a']"),
      optionalOldSelf: fc.boolean(),
    },
    { requiredKeys: ['rule'] },
  );
  await fc.assert(
    fc.asyncProperty(rule, fc.array(spec, { minLength: 1, maxLength: 3 }), (one, specs) =>
      tryOut((plural) => definition(plural, { type: 'object', properties, 'x-kubernetes-validations': [one] }), specs),
    ),
    { numRuns: 900 },
  );
});

it('and the server goes on: definitions were taken and refused, and the last is gone', async () => {
  expect((await api.send('GET', definitions)).status).toBe(200);
  expect(judge.sent).toBeGreaterThanOrEqual(1_700);
  expect(accepted).toBeGreaterThan(50);
});
