import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { base, type Fixture, startServer, textOf, widget, widgets } from './testing/fixture.ts';

let api: Fixture;
beforeAll(async () => {
  api = await startServer();
  await api.send('POST', widgets, widget('there'));
});
afterAll(() => api.close());

const words = fc.constantFrom(
  'there',
  'default',
  'metadata',
  'name',
  'labels',
  'spec',
  'color',
  'status',
  '__proto__',
  'constructor',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'resourceVersion',
  'apiVersion',
  'kind',
  'example.com/v1',
  'Widget',
  '',
  '0',
  '-1',
  '\u0000',
  '💥',
  'a'.repeat(300),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, 3.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(words, tie('value'), { maxKeys: 5 }),
  ),
})).value;

/** An object that is almost right: one that gets past the first checks. */
const almost = fc.record(
  {
    apiVersion: fc.constantFrom<unknown>('example.com/v1', 'example.com/v1', 'example.com/v1', 'v1', 7),
    kind: fc.constantFrom<unknown>('Widget', 'Widget', 'Widget', 'ConfigMap', null),
    metadata: fc.oneof(
      value,
      fc.record(
        { name: words, labels: value, ownerReferences: value, finalizers: value, managedFields: value },
        { requiredKeys: ['name'] },
      ),
    ),
    spec: value,
    status: value,
  },
  { requiredKeys: [] },
);
const patchOperations = fc.array(
  fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'no'),
      path: fc.array(words, { maxLength: 4 }).map((parts) => parts.map((part) => `/${part}`).join('')),
      from: fc.array(words, { maxLength: 3 }).map((parts) => parts.map((part) => `/${part}`).join('')),
      value,
    },
    { requiredKeys: ['op'] },
  ),
  { maxLength: 4 },
);
const body = fc.oneof(
  { weight: 5, arbitrary: almost.map((object) => JSON.stringify(object)) },
  value.map((object) => JSON.stringify(object)),
  { weight: 2, arbitrary: patchOperations.map((operations) => JSON.stringify(operations)) },
  fc.string(),
  fc.constantFrom('{', '[]', 'null', '', '&a [*a]', '{"a":1,"a":2}', '["__proto__"]'),
);
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
  'application/strategic-merge-patch+json',
];
const wholeTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const methodAndType = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('PATCH'), fc.constantFrom(...patchTypes)) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('POST', 'PUT'), fc.constantFrom(...wholeTypes)) },
  fc.tuple(fc.constantFrom('GET', 'DELETE', 'PUT', 'PATCH'), fc.constantFrom('text/plain', ';;;', ...wholeTypes)),
);
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

it('answers every malformed request with a Status, never with a crash or a 500', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      methodAndType,
      path,
      fc.array(parameter, { maxLength: 3 }),
      body,
      async ([method, type], where, parameters, text) => {
        // What is there stays there, for the requests to come.
        const all = method === 'DELETE' ? [...parameters, ['dryRun', 'All']] : parameters;
        const query = new URLSearchParams(all).toString();
        const response = await api.request(method, `${where}?${query}`, {
          body: text,
          headers: { 'content-type': type },
        });
        const answer = await textOf(response);
        expect({
          status: response.status,
          answer: response.status >= 500 && response.status !== 504 ? answer : '',
        }).toEqual({
          status: expect.any(Number),
          answer: '',
        });
        if (response.status === 404 && answer === '404 page not found\n') return;
        if (response.status >= 400) expect(JSON.parse(answer)).toMatchObject({ kind: 'Status', code: response.status });
        expect(Object.keys(Object.prototype)).toEqual([]);
      },
    ),
    { numRuns: 3000 },
  );
});
