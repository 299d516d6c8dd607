import { crds, makeNamespace, served } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Json } from '../harness/session.ts';

const schema = (more: object = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' } }, ...more } },
  },
});
const version = (name: string, more: object = {}) => ({ name, served: true, storage: true, schema: schema(), ...more });

function crd(plural: string, change: (spec: Json) => void = () => {}): Json {
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1, -1)}`;
  const spec: Json = { group: 'life.test', scope: 'Namespaced', names: { plural, kind }, versions: [version('v1')] };
  change(spec);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.life.test` },
    spec,
  };
}

scenario('CRDs: made, changed, deleted', async (api) => {
  await makeNamespace(api, 'life');
  const things = '/apis/life.test/v1/namespaces/life/things';
  const thing = (name: string, more: object = {}) => ({
    apiVersion: 'life.test/v1',
    kind: 'Thing',
    metadata: { name },
    spec: { a: 'x' },
    ...more,
  });
  await api.get(things, { note: 'before' });
  await api.post(crds, crd('things'));
  await served(api, crd('things'));
  await api.get(`${crds}/things.life.test`);
  await api.get(`${crds}/things.life.test/status`);
  await api.post(crds, crd('things'), { note: 'again' });
  await api.post(things, thing('one'));
  const now = (await api.quiet('GET', `${crds}/things.life.test`)).body;
  await api.put(`${crds}/things.life.test`, { ...now, spec: { ...now.spec, scope: 'Cluster' } });
  await api.put(`${crds}/things.life.test`, { ...now, spec: { ...now.spec, group: 'other.test' } });
  await api.put(`${crds}/things.life.test`, {
    ...now,
    spec: { ...now.spec, names: { ...now.spec.names, plural: 'others' } },
  });
  await api.put(
    `${crds}/things.life.test`,
    { ...now, spec: { ...now.spec, versions: [version('v2')] } },
    { note: 'stored version dropped' },
  );
  const changed = await api.patch('merge', `${crds}/things.life.test`, {
    spec: {
      names: { shortNames: ['th'], categories: ['all'] },
      versions: [version('v1', { subresources: { status: {} } }), version('v2', { storage: false })],
    },
  });
  await served(api, changed.body);
  await api.until('/apis/life.test', ({ body }) => body.versions?.length === 2);
  await api.until(`${crds}/things.life.test`, ({ body }) => body.status?.acceptedNames?.shortNames?.length === 1);
  await api.get(`${crds}/things.life.test`);
  await api.get('/apis/life.test');
  await api.get('/apis/life.test/v1/namespaces/life/things/one');
  await api.get('/apis/life.test/v2/namespaces/life/things/one');
  await api.post('/apis/life.test/v2/namespaces/life/things', {
    ...thing('two'),
    apiVersion: 'life.test/v2',
    status: { dropped: true },
  });
  await api.get('/apis/life.test/v1/namespaces/life/things/one/status');
  await api.patch('merge', `${crds}/things.life.test/status`, { status: { storedVersions: [] } });
  await api.post(
    crds,
    crd('thangs', (spec) => {
      spec.names.kind = 'Thing';
    }),
    { note: 'kind of another' },
  );
  await api.until(`${crds}/thangs.life.test`, ({ body }) => body.status?.conditions?.length > 0);
  await api.get(`${crds}/thangs.life.test`);
  await api.delete(`${crds}/thangs.life.test`);
  await api.until(`${crds}/thangs.life.test`, ({ status }) => status === 404);
  await api.patch('merge', `${things}/two`, { metadata: { finalizers: ['example.com/hold'] } });
  await api.delete(`${crds}/things.life.test`);
  await api.until(`${things}/two`, ({ body }) => body.metadata?.deletionTimestamp !== undefined);
  await api.until(`${crds}/things.life.test`, ({ body }) =>
    body.status?.conditions?.some((c: Json) => c.type === 'Terminating' && c.status === 'True'),
  );
  await api.post(things, thing('three'), { note: 'while terminating' });
  await api.get(`${things}/two`);
  await api.patch('merge', `${things}/two`, { metadata: { finalizers: null } });
  await api.until(`${crds}/things.life.test`, ({ status }) => status === 404);
  await api.until(things, ({ status }) => status === 404);
  await api.get(things, { note: 'after' });
  await api.get('/apis/life.test/v1', { note: 'after' });
});

scenario('CRDs: refused', async (api) => {
  const cases: [string, (spec: Json, whole: Json) => void][] = [
    [
      'no versions',
      (spec) => {
        spec.versions = [];
      },
    ],
    [
      'two storage versions',
      (spec) => {
        spec.versions = [version('v1'), version('v2')];
      },
    ],
    [
      'no storage version',
      (spec) => {
        spec.versions = [version('v1', { storage: false })];
      },
    ],
    [
      'same version twice',
      (spec) => {
        spec.versions = [version('v1'), version('v1', { storage: false })];
      },
    ],
    [
      'bad version',
      (spec) => {
        spec.versions = [version('V_1')];
      },
    ],
    [
      'no schema',
      (spec) => {
        delete spec.versions[0].schema;
      },
    ],
    [
      'no type',
      (spec) => {
        delete spec.versions[0].schema.openAPIV3Schema.type;
      },
    ],
    [
      'no type below',
      (spec) => {
        spec.versions[0].schema = { openAPIV3Schema: { type: 'object', properties: { a: {} } } };
      },
    ],
    [
      'bad scope',
      (spec) => {
        spec.scope = 'Everywhere';
      },
    ],
    [
      'no scope',
      (spec) => {
        delete spec.scope;
      },
    ],
    [
      'no kind',
      (spec) => {
        delete spec.names.kind;
      },
    ],
    [
      'bad kind',
      (spec) => {
        spec.names.kind = 'bad kind';
      },
    ],
    [
      'bad short name',
      (spec) => {
        spec.names.shortNames = ['Bad Name'];
      },
    ],
    [
      'bad category',
      (spec) => {
        spec.names.categories = ['Bad'];
      },
    ],
    [
      'other name',
      (_, whole) => {
        whole.metadata.name = 'others.life.test';
      },
    ],
    [
      'no group',
      (spec) => {
        spec.group = '';
      },
    ],
    [
      'one-word group',
      (spec) => {
        spec.group = 'life';
      },
    ],
    [
      'unknown list type',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: { l: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'odd' } },
        });
      },
    ],
    [
      'map without keys',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: { l: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' } },
        });
      },
    ],
    [
      'map key not there',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: {
            l: {
              type: 'array',
              items: { type: 'object', properties: { a: { type: 'string' } } },
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['b'],
            },
          },
        });
      },
    ],
    [
      'map key optional',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: {
            l: {
              type: 'array',
              items: { type: 'object', properties: { a: { type: 'string' } } },
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['a'],
            },
          },
        });
      },
    ],
    [
      'set of objects',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: { l: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' } },
        });
      },
    ],
    [
      'wrong default',
      (spec) => {
        spec.versions[0].schema = schema({ properties: { n: { type: 'integer', default: 'x' } } });
      },
    ],
    [
      'default with unknown fields',
      (spec) => {
        spec.versions[0].schema = schema({ properties: { n: { type: 'object', default: { x: 1 }, properties: {} } } });
      },
    ],
    [
      'bad pattern',
      (spec) => {
        spec.versions[0].schema = schema({ properties: { n: { type: 'string', pattern: '(' } } });
      },
    ],
    [
      'array without items',
      (spec) => {
        spec.versions[0].schema = schema({ properties: { n: { type: 'array' } } });
      },
    ],
    [
      'both maps',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: {
            n: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
          },
        });
      },
    ],
    [
      'uniqueItems',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: { n: { type: 'array', uniqueItems: true, items: { type: 'string' } } },
        });
      },
    ],
    [
      'forbidden in anyOf',
      (spec) => {
        spec.versions[0].schema = schema({ anyOf: [{ properties: { a: { type: 'string' } } }] });
      },
    ],
    [
      'unknown type',
      (spec) => {
        spec.versions[0].schema = schema({ properties: { n: { type: 'thing' } } });
      },
    ],
    [
      'CEL syntax',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'self.a ==' }] });
      },
    ],
    [
      'CEL unknown field',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: "self.b == 'x'" }] });
      },
    ],
    [
      'CEL not boolean',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'self.a' }] });
      },
    ],
    [
      'CEL empty',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: '' }] });
      },
    ],
    [
      'CEL wrong types',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'self.a > 5' }] });
      },
    ],
    [
      'CEL bad fieldPath',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.nothing' }] });
      },
    ],
    [
      'CEL bad reason',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'true', reason: 'Odd' }] });
      },
    ],
    [
      'CEL message on two lines',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }] });
      },
    ],
    [
      'CEL messageExpression of a number',
      (spec) => {
        spec.versions[0].schema = schema({ 'x-kubernetes-validations': [{ rule: 'true', messageExpression: '1' }] });
      },
    ],
    [
      'CEL too costly',
      (spec) => {
        spec.versions[0].schema = schema({
          properties: {
            l: {
              type: 'array',
              items: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
              'x-kubernetes-validations': [{ rule: 'self.all(x, x.all(y, y.all(z, self.all(w, w == w))))' }],
            },
          },
        });
      },
    ],
    [
      'column without path',
      (spec) => {
        spec.versions[0].additionalPrinterColumns = [{ name: 'A', type: 'string' }];
      },
    ],
    [
      'column of odd type',
      (spec) => {
        spec.versions[0].additionalPrinterColumns = [{ name: 'A', type: 'thing', jsonPath: '.spec.a' }];
      },
    ],
    [
      'column with bad path',
      (spec) => {
        spec.versions[0].additionalPrinterColumns = [{ name: 'A', type: 'string', jsonPath: 'spec.a' }];
      },
    ],
    [
      'scale without path',
      (spec) => {
        spec.versions[0].subresources = { scale: { statusReplicasPath: '.status.n' } };
      },
    ],
    [
      'scale with a path elsewhere',
      (spec) => {
        spec.versions[0].subresources = { scale: { specReplicasPath: '.metadata.n', statusReplicasPath: '.status.n' } };
      },
    ],
    [
      'selectable field not there',
      (spec) => {
        spec.versions[0].selectableFields = [{ jsonPath: '.spec.nothing' }];
      },
    ],
    [
      'selectable object',
      (spec) => {
        spec.versions[0].selectableFields = [{ jsonPath: '.spec' }];
      },
    ],
    [
      'selectable metadata',
      (spec) => {
        spec.versions[0].selectableFields = [{ jsonPath: '.metadata.name' }];
      },
    ],
    [
      'deprecation warning without deprecated',
      (spec) => {
        spec.versions[0].deprecationWarning = 'x';
      },
    ],
    [
      'webhook without client',
      (spec) => {
        spec.conversion = { strategy: 'Webhook' };
      },
    ],
    [
      'odd conversion',
      (spec) => {
        spec.conversion = { strategy: 'Odd' };
      },
    ],
    [
      'preserveUnknownFields',
      (spec) => {
        spec.preserveUnknownFields = true;
      },
    ],
    [
      'metadata with rules',
      (spec) => {
        spec.versions[0].schema.openAPIV3Schema.properties.metadata = {
          type: 'object',
          properties: { labels: { type: 'object' } },
        };
      },
    ],
    [
      'metadata name pattern',
      (spec) => {
        spec.versions[0].schema.openAPIV3Schema.properties.metadata = {
          type: 'object',
          properties: { name: { type: 'string', pattern: '^a' } },
        };
      },
    ],
    [
      'unknown field',
      (spec) => {
        spec.bogus = 1;
      },
    ],
  ];
  for (const [note, change] of cases) {
    const whole = crd('frogs');
    change(whole.spec, whole);
    await api.post(`${crds}?dryRun=All`, whole, { note });
  }
});
