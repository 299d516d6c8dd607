import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WireEvent } from '../kube/index.ts';
import type { KubeObject } from '../meta/index.ts';
import { type Fixture, startServer, textOf, widget, widgetDefinition, widgets } from './testing/fixture.ts';

/** Objects that come parsed say what the bytes say, whoever reads them and whatever becomes of them later. */

let fixture: Fixture;

beforeEach(async () => {
  fixture = await startServer();
});

afterEach(() => fixture.close());

type Widget = KubeObject & { spec: Record<string, unknown> };

async function ask(method: string, path: string, body?: object, type = 'application/merge-patch+json') {
  const headers = { 'content-type': method === 'PATCH' ? type : 'application/json' };
  const response = await fixture.request(method, path, {
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { object: response.object as Widget, bytes: JSON.parse(await textOf(response)) as Widget };
}

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

test('answers to every write and read come as objects that say what their bytes say, frozen to the last', async () => {
  const answers = [
    await ask('POST', widgets, widget('a', { replicas: 1 }, { labels: { x: '1' }, finalizers: ['example.com/f'] })),
    await ask('PATCH', `${widgets}/a`, { spec: { replicas: null, color: 'blue' } }),
    await ask('PATCH', `${widgets}/a/status`, { status: { phase: 'Up' } }),
    await ask('GET', `${widgets}/a`),
    await ask('PATCH', `${widgets}/a`, [{ op: 'remove', path: '/metadata/labels' }], 'application/json-patch+json'),
  ];
  for (const { object, bytes } of answers) {
    expect(object).toStrictEqual(bytes);
    expect(isFrozen(object)).toBe(true);
  }
  expect(answers.map(({ object }) => object.spec)).toEqual([
    { color: 'red', replicas: 1 },
    { color: 'blue' },
    { color: 'blue' },
    { color: 'blue' },
    { color: 'blue' },
  ]);
});

test('events of a watch come as objects that say what its lines say', async () => {
  const path = `${widgets}?watch=true&resourceVersion=0`;
  const lines = await fixture.watch(path);
  const { events } = await fixture.request('GET', path);
  const seen: WireEvent[] = [];
  await ask('POST', widgets, widget('a'));
  await ask('PATCH', `${widgets}/a`, { spec: { replicas: 3 } });
  await ask('DELETE', `${widgets}/a`);
  for await (const together of events!) {
    seen.push(...together);
    if (seen.length === 3) break;
  }
  expect(seen).toStrictEqual(await lines.until(3));
  expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  expect(seen.every(({ object }) => isFrozen(object))).toBe(true);
  lines.close();
});

test('leaving the loop of events ends the watch', async () => {
  const { events, body } = await fixture.request('GET', `${widgets}?watch=true&sendInitialEvents=false`);
  expect(events).toBeUndefined();
  expect(JSON.parse(await textOf({ body } as never)).code).toBe(422);
  await ask('POST', widgets, widget('a'));
  const watch = await fixture.request('GET', `${widgets}?watch=true`);
  for await (const [event] of watch.events!) {
    expect(event!.type).toBe('ADDED');
    break;
  }
  const rest: unknown[] = [];
  for await (const chunk of watch.body) rest.push(chunk);
  expect(rest).toEqual([]);
});

test('a schema that changed is applied to what was written a moment before', async () => {
  await ask('POST', widgets, widget('a', { replicas: 2, fixed: 'x' }));
  const definitions = '/planes/hub/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com';
  const [version] = widgetDefinition.spec!.versions;
  const schema = structuredClone(version!.schema) as {
    openAPIV3Schema: { properties: { spec: { properties: Record<string, object> } } };
  };
  const { properties } = schema.openAPIV3Schema.properties.spec;
  delete properties.fixed;
  properties.size = { type: 'string', default: 'small' };
  await ask('PATCH', definitions, { spec: { versions: [{ ...version, schema }] } });
  const read = await ask('GET', `${widgets}/a`);
  expect(read.object).toStrictEqual(read.bytes);
  expect(read.object.spec).toEqual({ color: 'red', replicas: 2, size: 'small' });
  const patched = await ask('PATCH', `${widgets}/a`, { metadata: { labels: { y: '2' } } });
  expect(patched.object).toStrictEqual(patched.bytes);
  expect(patched.object.spec).toEqual({ color: 'red', replicas: 2, size: 'small' });
});

test('an answer keeps what it said when the object is written again', async () => {
  const first = await ask('POST', widgets, widget('a', { replicas: 1 }));
  await ask('PATCH', `${widgets}/a`, { spec: { replicas: 2 } });
  expect(first.object.spec.replicas).toBe(1);
  expect(first.object.metadata.generation).toBe(1);
});
