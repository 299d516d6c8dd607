import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../meta/index.ts';
import { base, type Fixture, startServer } from '../testing/fixture.ts';

/** A kind in two versions, the newer of which is stored: what each has, and what each fills in, is its own. */

const crds = `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
const text = { type: 'string' };
const version = (name: string, stored: boolean, properties: object): object => ({
  name,
  served: true,
  storage: stored,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
});

let api: Fixture;
beforeAll(async () => {
  api = await startServer();
  await api.send('POST', crds, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'parts.two.test' },
    spec: {
      group: 'two.test',
      scope: 'Cluster',
      names: { plural: 'parts', kind: 'Part' },
      versions: [
        version('v1', false, { a: { ...text, default: 'one' } }),
        version('v2', true, { a: text, b: { ...text, default: 'two' } }),
      ],
    },
  } as unknown as KubeObject);
});
afterAll(() => api.close());

const path = (of: string, name = ''): string => `${base}/apis/two.test/${of}/parts${name === '' ? '' : `/${name}`}`;
const part = (of: string, name: string, spec: object): KubeObject =>
  ({ apiVersion: `two.test/${of}`, kind: 'Part', metadata: { name }, spec }) as KubeObject;

it('defaults are those of the version written and of the one stored; what a version does not have it does not show', async () => {
  expect((await api.send('POST', path('v1'), part('v1', 'x', {}))).body.spec).toEqual({ a: 'one' });
  expect((await api.send('GET', path('v2', 'x'))).body.spec).toEqual({ a: 'one', b: 'two' });
  expect((await api.send('POST', path('v2'), part('v2', 'y', {}))).body.spec).toEqual({ b: 'two' });
  expect((await api.send('GET', path('v1', 'y'))).body.spec).toEqual({});
});

it('a write that changes nothing writes nothing, in either version', async () => {
  for (const version of ['v1', 'v2']) {
    const { body } = await api.send('GET', path(version, 'x'));
    const again = await api.send('PUT', path(version, 'x'), body);
    expect([again.status, again.body.metadata.resourceVersion]).toEqual([200, body.metadata.resourceVersion]);
  }
});
