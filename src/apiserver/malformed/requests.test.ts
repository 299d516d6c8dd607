import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { base, type Fixture, startServer, widget, widgets } from '../testing/fixture.ts';
import { almost, body, Judge, methodAndType, patchOperations, value, words } from './arbitraries.ts';

let api: Fixture;
let judge: Judge;
beforeAll(async () => {
  api = await startServer();
  judge = new Judge(api);
  await api.send('POST', widgets, widget('there'));
});
afterAll(async () => {
  console.log(`${judge.sent} malformed requests, ${judge.refused} refused`);
  await api.close();
});

const parameter = fc.tuple(
  fc.constantFrom(
    'labelSelector',
    'fieldSelector',
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'force',
    'propagationPolicy',
    'pretty',
    'includeObject',
  ),
  fc.oneof(
    words,
    fc.string({ maxLength: 12 }),
    fc.constantFrom('true', 'All', 'Strict', 'Exact', 'a in (b)', 'x=y', '1'),
  ),
);
const path = fc.oneof(
  fc.constantFrom(
    widgets,
    `${widgets}/there`,
    `${widgets}/there/status`,
    `${widgets}/there/scale`,
    `${base}/api/v1/namespaces/default/configmaps/there`,
    `${base}/api/v1/namespaces/default/secrets`,
    `${base}/apis/events.k8s.io/v1/namespaces/default/events`,
    `${base}/apis/rbac.authorization.k8s.io/v1/clusterroles/there`,
    `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
  ),
  fc
    .array(fc.oneof(words, fc.constantFrom('api', 'apis', 'v1', 'namespaces', 'planes', 'hub', '%', '%00')), {
      maxLength: 7,
    })
    .map((parts) => `/${parts.map((part) => (part.startsWith('%') ? part : encodeURIComponent(part))).join('/')}`),
);

it('refuses malformed requests with a Status, whatever method, path, parameters and body', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      methodAndType,
      path,
      fc.array(parameter, { maxLength: 3 }),
      body,
      async ([method, type], where, parameters, text) => {
        // The definition everything else is about is not to go.
        if (method === 'DELETE' && /customresourcedefinitions|namespaces\/?[^/]*$/.test(where)) return;
        const query = new URLSearchParams(parameters).toString();
        await judge.send({ method, path: `${where}?${query}`, body: text, headers: { 'content-type': type } });
        // Requests that meet an object reach deeper than those that meet none.
        if (method === 'DELETE') await api.send('POST', widgets, widget('there'));
      },
    ),
    { numRuns: 6000 },
  );
});

const mediaType = fc.oneof(
  fc.constantFrom(
    'application/json',
    'application/yaml',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=Table;v=v9;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'application/json;as=__proto__;v=v1',
    'application/vnd.kubernetes.protobuf;stream=watch',
    'application/json;charset=utf-7',
    'application/apply-patch+yaml; as=Table',
    '*/*;q=2',
    'text/*;q=',
    ',,,;',
  ),
  fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?')),
);
const header = fc.tuple(
  fc.constantFrom('accept', 'content-type', 'content-encoding', 'accept-encoding', 'user-agent', 'if-match', 'range'),
  fc.oneof(
    mediaType,
    words.map((word) => word.replaceAll(/[^\x20-\x7e]/g, '?')),
    fc.constantFrom('gzip', 'br', 'identity;q=0'),
  ),
);

it('whatever the headers', { timeout: 120_000 }, async () => {
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'constructor');
  await fc.assert(
    fc.asyncProperty(methods, path, fc.array(header, { maxLength: 4 }), body, async (method, where, headers, text) => {
      const given = Object.fromEntries(headers) as Record<string, string>;
      await judge.send({ method, path: where, headers: given, ...(method === 'GET' ? {} : { body: text }) });
    }),
    { numRuns: 1500 },
  );
});

/** Pieces of the grammars of selectors, put together in any order. */
const selector = fc
  .array(
    fc.constantFrom(
      'a',
      'x/y',
      'example.com/a',
      'metadata.name',
      'spec.color',
      '=',
      '==',
      '!=',
      '!',
      ',',
      ' in ',
      ' notin ',
      '(',
      ')',
      '()',
      'there',
      '',
      '\\',
      '>',
      '<',
      '5',
      '*',
      '__proto__',
      'é',
      ' ',
    ),
    { maxLength: 9 },
  )
  .map((parts) => parts.join(''));

it('whatever the selectors, of lists, watches and deletions', { timeout: 120_000 }, async () => {
  const revision = fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '99999999999999999999',
    '1e3',
    ' 7',
    '0x10',
    'NaN',
    '18446744073709551615',
  );
  const kinds = fc.constantFrom('list', 'watch', 'delete');
  await fc.assert(
    fc.asyncProperty(
      kinds,
      path,
      selector,
      selector,
      revision,
      fc.boolean(),
      async (kind, where, labels, fields, version, initial) => {
        const query = new URLSearchParams({ labelSelector: labels, fieldSelector: fields });
        if (kind === 'watch') query.set('watch', 'true');
        if (kind === 'delete') query.set('dryRun', 'All');
        if (version !== '') query.set('resourceVersion', version);
        if (initial) query.set('sendInitialEvents', 'true');
        if (initial) query.set('resourceVersionMatch', 'NotOlderThan');
        await judge.send({ method: kind === 'delete' ? 'DELETE' : 'GET', path: `${where}?${query}` });
      },
    ),
    { numRuns: 1500 },
  );
});

it('whatever is made of a continue token', { timeout: 120_000 }, async () => {
  await api.send('POST', widgets, widget('another'));
  const page = await api.send('GET', `${widgets}?limit=1`);
  const { continue: token } = page.body.metadata as unknown as { continue: string };
  const plain = Buffer.from(token, 'base64url').toString('utf8');
  const spoiled = fc.oneof(
    fc
      .tuple(fc.nat(token.length), fc.string({ maxLength: 3 }))
      .map(([at, text]) => token.slice(0, at) + text + token.slice(at + 1)),
    fc
      .tuple(fc.nat(plain.length), fc.string({ maxLength: 3 }))
      .map(([at, text]) => Buffer.from(plain.slice(0, at) + text + plain.slice(at + 1)).toString('base64url')),
    value.map((some) => Buffer.from(JSON.stringify(some) ?? '').toString('base64url')),
  );
  await fc.assert(
    fc.asyncProperty(spoiled, async (text) => {
      await judge.send({ method: 'GET', path: `${widgets}?${new URLSearchParams({ limit: '1', continue: text })}` });
    }),
    { numRuns: 600 },
  );
});

/** FieldsV1, nearly. */
const fields = fc.letrec<{ fields: Record<string, unknown> }>((tie) => ({
  fields: fc.dictionary(
    fc.oneof(
      fc.constantFrom(
        'f:spec',
        'f:color',
        'f:metadata',
        'f:labels',
        '.',
        'k:{"type":"a"}',
        'k:{',
        'v:1',
        'v:',
        'i:0',
        'i:x',
        'f:__proto__',
        '__proto__',
      ),
      fc.string({ maxLength: 5 }),
    ),
    fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('fields'), value),
    { maxKeys: 3 },
  ),
})).fields;

it('whatever is applied and whoever is said to manage it', { timeout: 120_000 }, async () => {
  const entry = fc.record(
    {
      manager: words,
      operation: fc.constantFrom('Apply', 'Update', 'No', 7),
      apiVersion: words,
      time: words,
      fieldsType: fc.constantFrom('FieldsV1', 'No'),
      fieldsV1: fc.oneof(fields, value),
      subresource: words,
    },
    { requiredKeys: ['manager'] },
  );
  const manager = fc.constantFrom('me', '', 'x'.repeat(200), '\u0000', '__proto__');
  await fc.assert(
    fc.asyncProperty(
      almost,
      fc.array(fc.oneof(entry, value), { maxLength: 3 }),
      manager,
      fc.constantFrom('true', 'false', 'maybe'),
      async (object, managedFields, fieldManager, force) => {
        const said = typeof object.metadata === 'object' && object.metadata !== null ? object.metadata : {};
        const whole = {
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          ...object,
          metadata: { ...said, name: 'there', managedFields },
        };
        const query = new URLSearchParams({ fieldManager, force });
        const headers = { 'content-type': 'application/apply-patch+yaml' };
        await judge.send({ method: 'PATCH', path: `${widgets}/there?${query}`, headers, body: JSON.stringify(whole) });
        await judge.send({
          method: 'PUT',
          path: `${widgets}/there`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(whole),
        });
      },
    ),
    { numRuns: 400 },
  );
});

it('whatever a patch does to an object that is there', { timeout: 120_000 }, async () => {
  const types = fc.constantFrom('application/merge-patch+json', 'application/strategic-merge-patch+json');
  const directive = fc.dictionary(
    fc.constantFrom(
      '$patch',
      '$retainKeys',
      '$deleteFromPrimitiveList/finalizers',
      '$setElementOrder/data',
      'data',
      'metadata',
      'finalizers',
      '__proto__',
    ),
    fc.oneof(value, fc.constantFrom<unknown>('delete', 'replace', ['a'], {})),
    { maxKeys: 4 },
  );
  await api.send('POST', `${base}/api/v1/namespaces/default/configmaps`, { metadata: { name: 'there' } });
  const targets = fc.constantFrom(`${widgets}/there`, `${base}/api/v1/namespaces/default/configmaps/there`);
  await fc.assert(
    fc.asyncProperty(targets, types, directive, patchOperations, async (target, type, patch, operations) => {
      await judge.send({
        method: 'PATCH',
        path: target,
        headers: { 'content-type': type },
        body: JSON.stringify(patch),
      });
      await judge.send({
        method: 'PATCH',
        path: target,
        headers: { 'content-type': 'application/json-patch+json' },
        body: JSON.stringify(operations),
      });
    }),
    { numRuns: 600 },
  );
});

it('whatever bytes come as protobuf or as text', { timeout: 120_000 }, async () => {
  const prefix = Buffer.from('k8s\0');
  const types = fc.constantFrom(
    'application/vnd.kubernetes.protobuf',
    'application/json',
    'application/yaml',
    'application/apply-patch+yaml',
  );
  const where = fc.constantFrom(
    `${base}/api/v1/namespaces/default/configmaps`,
    `${base}/api/v1/namespaces/default/events`,
    `${base}/apis/coordination.k8s.io/v1/namespaces/default/leases`,
    widgets,
  );
  await fc.assert(
    fc.asyncProperty(types, where, fc.uint8Array({ maxLength: 60 }), async (type, path, bytes) => {
      const whole = type.endsWith('protobuf') ? Buffer.concat([prefix, bytes]) : bytes;
      await judge.send({ method: 'POST', path, headers: { 'content-type': type }, body: whole });
    }),
    { numRuns: 1000 },
  );
});

it('and what was there is served as ever', async () => {
  expect((await api.send('GET', `${widgets}/there`)).status).toBe(200);
  expect(judge.sent).toBeGreaterThanOrEqual(11_000);
  expect(judge.refused).toBeGreaterThan(judge.sent / 2);
});
