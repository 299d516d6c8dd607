import { describe, expect, test } from 'vitest';
import { compileSchema } from '../schema/index.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { type Described, openApiV2, openApiV3, openApiV3Index } from './index.ts';
import { toV2 } from './v2.ts';

const source = {
  type: 'object',
  description: 'A thing.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1, default: 3 },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        note: { type: 'string', nullable: true },
      },
      'x-kubernetes-validations': [{ rule: 'self.size > 0' }],
    },
  },
};

function resource(more: Partial<Described> = {}): Described {
  return {
    group: 'things.example.com',
    version: 'v1alpha',
    kind: 'Thing',
    plural: 'things',
    listKind: 'ThingList',
    namespaced: true,
    subresources: { status: true },
    schema: compileSchema(source),
    ...more,
  };
}

const json = (document: { bytes: Uint8Array }) => JSON.parse(Buffer.from(document.bytes).toString('utf8'));
const groupVersion = { group: 'things.example.com', version: 'v1alpha' };
const gvk = { group: 'things.example.com', kind: 'Thing', version: 'v1alpha' };
const name = 'com.example.things.v1alpha.Thing';

describe('OpenAPI v3', () => {
  test('the index names every group and version below the plane, with the hash of its document', () => {
    const all = [resource(), resource({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces' })];
    const { hash } = openApiV3(groupVersion, all);
    expect(json(openApiV3Index(all, '/planes/hub'))).toEqual({
      paths: {
        'api/v1': {
          serverRelativeURL: expect.stringMatching(/^\/planes\/hub\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{64}$/),
        },
        'apis/things.example.com/v1alpha': {
          serverRelativeURL: `/planes/hub/openapi/v3/apis/things.example.com/v1alpha?hash=${hash}`,
        },
      },
    });
  });

  test('a document holds the schema under its group, version and kind, and no other group', () => {
    const document = json(openApiV3(groupVersion, [resource(), resource({ group: 'other.example.com' })]));
    const { schemas } = document.components;
    expect(schemas[name]['x-kubernetes-group-version-kind']).toEqual([gvk]);
    expect(schemas[name].properties.spec).toEqual(source.properties.spec);
    expect(Object.keys(schemas).filter((key) => key.includes('other'))).toEqual([]);
    const references = JSON.stringify(document).match(/#\/components\/schemas\/[^"]+/g) ?? [];
    for (const reference of references)
      expect(schemas).toHaveProperty([reference.slice('#/components/schemas/'.length)]);
  });

  test('what kubectl looks for: get has the kind, patch takes fieldValidation', () => {
    const { paths } = json(openApiV3(groupVersion, [resource()]));
    const root = '/apis/things.example.com/v1alpha';
    expect(Object.keys(paths)).toEqual([
      `${root}/namespaces/{namespace}/things`,
      `${root}/namespaces/{namespace}/things/{name}`,
      `${root}/namespaces/{namespace}/things/{name}/status`,
      `${root}/things`,
    ]);
    const one = paths[`${root}/namespaces/{namespace}/things/{name}`];
    expect(one.get['x-kubernetes-group-version-kind']).toEqual(gvk);
    expect(one.patch['x-kubernetes-action']).toBe('patch');
    expect(one.patch.parameters.map((parameter: { name: string }) => parameter.name)).toContain('fieldValidation');
    expect(paths[`${root}/things`].get['x-kubernetes-action']).toBe('list');
  });

  test('the same content is the same document, a changed schema another', () => {
    const first = openApiV3(groupVersion, [resource()]);
    expect(openApiV3(groupVersion, [resource({ schema: compileSchema(structuredClone(source)) })])).toBe(first);
    const changed = openApiV3(groupVersion, [resource({ schema: compileSchema({ type: 'object' }) })]);
    expect(changed.hash).not.toBe(first.hash);
  });

  test('verbs that are not offered have no operations', () => {
    const { paths } = json(openApiV3(groupVersion, [resource({ verbs: ['get', 'list'] })]));
    for (const item of Object.values<Record<string, unknown>>(paths)) {
      expect(Object.keys(item).filter((key) => key !== 'parameters')).toEqual(['get']);
    }
  });
});

describe('OpenAPI v2', () => {
  test('says nothing where Swagger cannot say it', () => {
    expect(toV2(source.properties.spec as JsonSchema)).toEqual({
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1, default: 3 },
        port: { 'x-kubernetes-int-or-string': true },
        note: {},
      },
    });
  });

  test('every reference is defined', () => {
    const document = json(openApiV2([resource()]));
    expect(document.swagger).toBe('2.0');
    expect(document.definitions[name]['x-kubernetes-group-version-kind']).toEqual([gvk]);
    const references = JSON.stringify(document).match(/#\/definitions\/[^"]+/g) ?? [];
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references)
      expect(document.definitions).toHaveProperty([reference.slice('#/definitions/'.length)]);
  });

  test('the protobuf form holds the same definitions', () => {
    const document = decode(openApiV2([resource()], 'protobuf').bytes);
    expect(text(document, 1)).toBe('2.0');
    const definitions = decode(bytes(document, 9));
    const names = definitions.map(([, value]) => text(decode(value as Uint8Array), 1));
    expect(names).toEqual(Object.keys(json(openApiV2([resource()])).definitions));
    const thing = decode(bytes(decode(definitions[names.indexOf(name)]![1] as Uint8Array), 2));
    expect(text(thing, 4)).toBe('A thing.');
    expect(text(thing, 19)).toBe('spec');
    expect(text(decode(bytes(thing, 22)), 1)).toBe('object');
    const extension = decode(bytes(thing, 31));
    expect(text(extension, 1)).toBe('x-kubernetes-group-version-kind');
    expect(JSON.parse(text(decode(bytes(extension, 2)), 2))).toEqual([gvk]);
  });
});

type Field = [number: number, value: Uint8Array | number];

/** Protobuf's wire format, read without knowing the message. */
function decode(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    if (tag % 8 === 0) fields.push([field, varint()]);
    else {
      const size = tag % 8 === 1 ? 8 : varint();
      fields.push([field, message.subarray(at, at + size)]);
      at += size;
    }
  }
  return fields;
}

function bytes(fields: Field[], field: number): Uint8Array {
  const value = fields.find(([number]) => number === field)?.[1];
  if (!(value instanceof Uint8Array)) throw new Error(`no field ${field}`);
  return value;
}

const text = (fields: Field[], field: number) => Buffer.from(bytes(fields, field)).toString('utf8');
