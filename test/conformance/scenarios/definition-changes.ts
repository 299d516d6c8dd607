import { crds, makeNamespace, served } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Json, Session } from '../harness/session.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const name = 'parts.change.test';
const parts = (version: string): string => `/apis/change.test/${version}/namespaces/changes/parts`;

interface Version {
  name: string;
  properties: object;
  more?: object;
}

const definition = (versions: readonly Version[], stored: string): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group: 'change.test',
    scope: 'Namespaced',
    names: { plural: 'parts', kind: 'Part' },
    versions: versions.map((version) => ({
      name: version.name,
      served: true,
      storage: version.name === stored,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: version.properties },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
      ...version.more,
    })),
  },
});

const part = (version: string, its: object, partName = 'one'): Json => ({
  apiVersion: `change.test/${version}`,
  kind: 'Part',
  metadata: { name: partName },
  spec: its,
});

/** Puts another definition, and waits until requests are answered by it. */
async function change(api: Session, next: Json, path: string, inForce: (body: Json) => boolean): Promise<void> {
  const now = (await api.quiet('GET', `${crds}/${name}`)).body;
  const answer = await api.quiet('PUT', `${crds}/${name}`, { body: { ...now, spec: next.spec } });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  await api.until(path, ({ body }) => inForce(body));
  // Lists and watches may hear of it a little later than gets.
  await api.pause(500);
}

const text = { type: 'string' };

scenario('CRDs: what is stored under a schema that changes', async (api) => {
  await makeNamespace(api, 'changes');
  const first = definition([{ name: 'v1', properties: { a: text, b: text, n: { type: 'integer' } } }], 'v1');
  await api.quiet('POST', crds, { body: first });
  await served(api, first);
  await api.post(parts('v1'), part('v1', { a: 'x', b: 'y', n: 5 }));
  await api.post(parts('v1'), part('v1', { b: 'z' }, 'two'));

  const second = definition(
    [{ name: 'v1', properties: { a: { ...text, default: 'new' }, n: text, c: { ...text, default: 'here' } } }],
    'v1',
  );
  await change(api, second, `${parts('v1')}/two`, (body) => body.spec?.c === 'here');
  await api.get(`${parts('v1')}/one`, { note: 'a field gone, a default added' });
  await api.get(parts('v1'), { note: 'a field gone, a default added' });
  const { body: one } = await api.quiet('GET', `${parts('v1')}/one`);
  await api.put(`${parts('v1')}/one`, one, { note: 'as it is read' });
  await api.patch('merge', `${parts('v1')}/two`, { metadata: { labels: { x: '1' } } });
  await api.patch('apply', `${parts('v1')}/two?fieldManager=m`, part('v1', { a: 'mine' }, 'two'));
  await api.patch('merge', `${parts('v1')}/one`, { spec: { n: 'text' } }, { note: 'of the new type' });
  const third = definition(
    [
      {
        name: 'v1',
        properties: { a: text },
        more: { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }] },
      },
      {
        name: 'v2',
        properties: { a: { ...text, default: 'two' }, d: { ...text, default: 'v2' } },
        more: { subresources: { status: {} } },
      },
    ],
    'v2',
  );
  await change(api, third, `${parts('v2')}/one`, (body) => body.kind === 'Part');
  await api.get(`${parts('v1')}/one`, { note: 'two versions' });
  await api.get(`${parts('v2')}/one`, { note: 'two versions' });
  await api.get(parts('v1'), { accept: table });
  await api.get(parts('v2'), { accept: table });
  await api.post(parts('v2'), { ...part('v2', {}, 'three'), status: { dropped: 1 } });
  await api.get(`${parts('v1')}/three`);
  await api.patch('merge', `${parts('v1')}/one`, { status: { s: 3 }, spec: { d: 'pruned' } });
  await api.get(`${crds}/${name}`, { note: 'stored in two', view: (body) => body.status.storedVersions });

  const fourth = definition(
    [
      { name: 'v1', properties: { a: text, d: text }, more: { served: false } },
      { name: 'v2', properties: { a: text, d: text } },
    ],
    'v2',
  );
  await change(api, fourth, '/apis/change.test', (body) => body.versions?.length === 1);
  await api.get(parts('v1'), { note: 'no longer served' });
  await api.get('/apis/change.test');
  await api.get('/apis/change.test/v2');
  await api.patch(
    'merge',
    `${crds}/${name}/status`,
    { status: { storedVersions: ['v2'] } },
    { view: (body) => body.status?.storedVersions ?? body },
  );
  await api.put(
    `${crds}/${name}`,
    {
      ...(await api.quiet('GET', `${crds}/${name}`)).body,
      spec: definition([{ name: 'v2', properties: { a: text } }], 'v2').spec,
    },
    { note: 'v1 dropped', view: (body) => body.spec?.versions?.map((version: Json) => version.name) ?? body },
  );
  // kube-apiserver does not finish the deletion of a kind one of whose versions is not served.
  await change(api, third, parts('v1'), (body) => body.kind === 'PartList');
  await api.delete(`${crds}/${name}`, undefined, { view: (body) => body.kind });
  await api.until(`${crds}/${name}`, ({ status }) => status === 404, 20_000);
  await api.until(parts('v2'), ({ status }) => status === 404);
  await api.get(parts('v2'), { note: 'after' });
});
