import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiError } from '../../meta/index.ts';
import type { ApiRequest } from '../http/message.ts';
import { acceptProtobuf } from './request.ts';

/** A field of wire type 2 (text, bytes, message). */
function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as never);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
}
function number(field: number, value: number): Buffer {
  const bytes = [field * 8];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}
const message = (...fields: Buffer[]) => Buffer.concat(fields);

function request(body: Uint8Array, contentType = 'application/vnd.kubernetes.protobuf'): ApiRequest {
  return {
    method: 'POST',
    path: '/',
    query: new URLSearchParams(),
    headers: { 'content-type': contentType },
    body,
    identity: { user: 'u', groups: [] },
  };
}

function enveloped(apiVersion: string, kind: string, raw: Buffer): ApiRequest {
  const type = field(1, message(field(1, apiVersion), field(2, kind)));
  return request(message(Buffer.from('k8s\0'), type, field(2, raw), field(3, ''), field(4, '')));
}

function decoded(apiVersion: string, kind: string, raw: Buffer): unknown {
  const { body, headers } = acceptProtobuf(enveloped(apiVersion, kind, raw));
  expect(headers['content-type']).toBe('application/json');
  return JSON.parse(body as string);
}

test('an object comes out as the JSON one would have sent: nothing that has no value', () => {
  const owner = message(field(1, 'Widget'), field(3, 'w'), field(4, 'u-1'), field(5, 'example.com/v1'), number(6, 0));
  const metadata = message(
    field(1, 'settings'),
    field(2, ''),
    field(3, 'default'),
    number(7, 0),
    field(8, ''),
    field(11, message(field(1, 'app'), field(2, 'x'))),
    field(11, message(field(1, '__proto__'), field(2, ''))),
    field(13, owner),
    field(14, 'a'),
    field(14, 'b'),
    field(15, 'unknown'),
  );
  const data = message(field(1, 'key'), field(2, 'wörth'));
  const binary = message(field(1, 'bin'), field(2, Buffer.from([0, 255])));
  expect(decoded('v1', 'ConfigMap', message(field(1, metadata), field(2, data), field(3, binary)))).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'settings',
      namespace: 'default',
      labels: JSON.parse('{"app": "x", "__proto__": ""}'),
      ownerReferences: [{ kind: 'Widget', name: 'w', uid: 'u-1', apiVersion: 'example.com/v1', controller: false }],
      finalizers: ['a', 'b'],
    },
    data: { key: 'wörth' },
    binaryData: { bin: 'AP8=' },
  });
});

test('times keep their microseconds, an empty group in a rule stays', () => {
  const time = message(number(1, 1_767_225_600), number(2, 123_456_789));
  expect(decoded('coordination.k8s.io/v1', 'Lease', field(2, message(field(1, 'me'), field(4, time))))).toMatchObject({
    spec: { holderIdentity: 'me', renewTime: '2026-01-01T00:00:00.123456Z' },
  });
  const rule = message(field(1, 'get'), field(2, ''), field(3, 'secrets'));
  expect(decoded('rbac.authorization.k8s.io/v1', 'Role', field(2, rule))).toMatchObject({
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }],
  });
});

test('what is not protobuf is left as it is', () => {
  const json = request(Buffer.from('{}'), 'application/json');
  expect(acceptProtobuf(json)).toBe(json);
});

test('a kind without a protobuf form is refused, saying what is taken', () => {
  expect(() => acceptProtobuf(enveloped('example.com/v1', 'Widget', Buffer.alloc(0)))).toThrow(
    'accepted media types include: application/json, application/yaml',
  );
});

test('bytes that are none are refused, never anything worse', () => {
  expect(() => acceptProtobuf(request(Buffer.from('{}')))).toThrow('does not appear to be a protobuf message');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, inside) => {
      const raw = Buffer.from(bytes);
      try {
        acceptProtobuf(inside ? enveloped('v1', 'Event', raw) : request(message(Buffer.from('k8s\0'), raw)));
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        expect([400, 415]).toContain((error as ApiError).code);
      }
    }),
    { numRuns: 1000 },
  );
});
