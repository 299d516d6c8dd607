import { describe, expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../../meta/index.ts';
import { checkCustomResourceDefinition } from './index.ts';

function definition(schema: Record<string, unknown>, version: Record<string, unknown> = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  };
}

const spec = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...more } },
});

const at = 'spec.validation.openAPIV3Schema.properties[spec]';
const check = (schema: Record<string, unknown>, version?: Record<string, unknown>) =>
  checkCustomResourceDefinition(definition(schema, version)).map((error) => `${error.field}: ${error.message}`);

describe('checkCustomResourceDefinition', () => {
  test('says the same when it is asked again, and of a spec that is right looks at the name it comes under', () => {
    const right = definition(spec({ size: { type: 'integer' } }));
    const wrong = definition(spec({ size: { type: 'number of' } }));
    const misnamed = { ...right, metadata: { name: 'others.example.com' } };
    const told = [right, wrong, misnamed].map(checkCustomResourceDefinition);
    expect(told.map((errors) => errors.map(({ field }) => field.split('.')[0]))).toEqual([[], ['spec'], ['metadata']]);
    expect([right, wrong, misnamed].map(checkCustomResourceDefinition)).toEqual(told);
  });

  test('a structural schema with defaults, lists and rules is served', () => {
    const conditions = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
    };
    const schema = spec(
      {
        mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        conditions,
      },
      { 'x-kubernetes-validations': [{ rule: 'self.mode == "A" || has(self.port)' }] },
    );
    const columns = [{ name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' }];
    expect(check(schema, { additionalPrinterColumns: columns })).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    [
      'a missing type',
      { a: {} },
      `${at}.properties[a].type: Required value: must not be empty for specified object fields`,
    ],
    [
      'an array without items',
      { a: { type: 'array' } },
      `${at}.properties[a].items: Required value: must be specified`,
    ],
    [
      'a reference',
      { a: { type: 'object', $ref: '#/x' } },
      `${at}.properties[a].$ref: Forbidden: $ref is not supported`,
    ],
    [
      'a misspelt keyword',
      { a: { type: 'string', maxLenght: 3 } },
      `${at}.properties[a].maxLenght: Invalid value: unknown field "maxLenght"`,
    ],
    [
      'a default of another type',
      { a: { type: 'integer', default: 'x' } },
      `${at}.properties[a].default: Invalid value: "string": ${at}.properties[a].default in body must be of type integer: "string"`,
    ],
    [
      'a default that would be pruned',
      { a: { type: 'object', properties: { b: { type: 'string' } }, default: { c: 1 } } },
      `${at}.properties[a].default: Invalid value: {"c":1}: must not have unknown fields: c`,
    ],
    [
      'a pattern RE2 does not have',
      { a: { type: 'string', pattern: '^(?=a)' } },
      `${at}.properties[a].pattern: Invalid value: "^(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=a\``,
    ],
    [
      'a map key that may be absent',
      {
        a: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' } } },
        },
      },
      `${at}.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
    [
      'a type inside anyOf',
      { a: { type: 'string', anyOf: [{ type: 'string' }] } },
      `${at}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
    [
      'properties beside additionalProperties',
      { a: { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } } },
      `${at}.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
    ],
    [
      'a rule that does not compile',
      { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.b' }] } },
      `${at}.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: Cannot index type 'string'`,
    ],
  ])('%s', (_, properties, message) => {
    expect(check(spec(properties))).toEqual([message]);
  });

  test('metadata at the root can only restrict names', () => {
    const schema = {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    };
    expect(check(schema)).toHaveLength(1);
    const named = { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 20 } } } };
    expect(check({ type: 'object', properties: named })).toEqual([]);
  });

  test('names, versions and columns', () => {
    const broken = definition({ type: 'object' }, { storage: false });
    broken.metadata.name = 'other.example.com';
    broken.spec!.versions[0]!.additionalPrinterColumns = [{ name: 'A', type: 'text', jsonPath: 'status' }];
    expect(checkCustomResourceDefinition(broken).map((error) => error.field)).toEqual([
      'metadata.name',
      'spec.versions',
      'spec.additionalPrinterColumns[0].type',
      'spec.additionalPrinterColumns[0].JSONPath',
    ]);
  });

  test('selectable fields lead to a string, boolean or integer, once each, outside metadata', () => {
    const fields = ['.spec.a', '.spec.none', '.spec', '.metadata.name', '.spec.a', 'spec.a'];
    const selectableFields = fields.map((jsonPath) => ({ jsonPath }));
    const schema = spec({ a: { type: 'string' } });
    expect(check(schema, { selectableFields }).map((text) => text.replace(/^.*jsonPath: /, ''))).toEqual([
      'Invalid value: ".spec.none": is an invalid path: does not refer to a valid field',
      expect.stringMatching(/^Invalid value: ".spec": must point to a field of type string, boolean or integer/),
      'Invalid value: ".metadata.name": must not point to fields in metadata',
      expect.stringMatching(/^Invalid value: ".metadata.name": must point to/),
      'Duplicate value: ".spec.a"',
      expect.stringMatching(/^Invalid value: "spec.a": is an invalid path/),
    ]);
  });

  test('rules are declared with one-line messages, known reasons and paths that lead somewhere', () => {
    const rules = [
      { rule: 'true', message: 'a\nb' },
      { rule: 'true', reason: 'Odd' },
      { rule: 'true', fieldPath: '.nothing' },
      { rule: 'true', fieldPath: '.a' },
      { rule: ' ' },
    ];
    const schema = spec({ a: { type: 'string' } }, { 'x-kubernetes-validations': rules });
    expect(check(schema).map((text) => text.replace(`${at}.x-kubernetes-validations`, ''))).toEqual([
      '[0].message: Invalid value: "a\\nb": must not contain line breaks',
      '[1].reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      '[2].fieldPath: Invalid value: ".nothing": must be a valid path',
      '[4].rule: Required value: rule is not specified',
    ]);
  });

  test('only a deprecated version warns', () => {
    const [first] = check(spec({}), { deprecationWarning: 'old' });
    expect(first).toBe(
      'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
    );
    expect(check(spec({}), { deprecated: true, deprecationWarning: 'old' })).toEqual([]);
  });

  test.each([{}, { spec: null }, { spec: { versions: 3, names: [] } }, { spec: { versions: [null, 7] } }])(
    'never throws: %j',
    (value) => {
      expect(checkCustomResourceDefinition(value as unknown as CustomResourceDefinition).length).toBeGreaterThan(0);
    },
  );
});
