import { afterEach, beforeEach, expect, test } from 'vitest';
import { Instance, Workload, WorkloadDeployment } from '../../../src/api/index.ts';
import { sourceUid } from '../../../src/federation/index.ts';
import { ConfigMap, Event, findCondition, Secret, type Stored } from '../../../src/meta/index.ts';
import { workloadObject } from '../support/objects.ts';
import { here, World } from './world.ts';

// What a template takes from ConfigMaps and Secrets comes to the cell before any instance starts.

let world: World;
beforeEach(async () => {
  world = await World.open({ referencedData: true });
});
afterEach(() => world.stack.close());

function workload(name = 'web', replicas = 2): Workload {
  const object = workloadObject({ name, replicas });
  const [container] = object.spec.template.spec.runtime.sandbox?.containers ?? [];
  container!.envFrom = [{ configMapRef: { name: 'settings' } }, { configMapRef: { name: 'extra', optional: true } }];
  container!.env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }];
  return object;
}

const settings = (colour: string, name = 'settings'): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', annotations: { 'example.com/own': 'not carried' } },
  data: { colour },
});

const password = (type = 'Opaque'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'default' },
  type,
  data: { password: Buffer.from('secret').toString('base64') },
});

async function carried(): Promise<(Stored<ConfigMap> | Stored<Secret>)[]> {
  const where = { namespace: world.namespace, labelSelector: 'compute.datumapis.com/referenced-data=true' };
  const cell = world.stack.cell(here);
  return [...(await cell.list(ConfigMap, where)).items, ...(await cell.list(Secret, where)).items];
}

const inCell = async () => (await world.stack.cell(here).list(Instance, { namespace: world.namespace })).items;

/** Waits until all instances and the counts say this of what they wait for. */
async function says(reason: string, part: string): Promise<void> {
  await world.stack.until(`all say ${reason}`, async () => {
    const ready = (await world.instances('web')).map(({ status }) => findCondition(status?.conditions, 'Ready'));
    const said = findCondition((await world.workload('web'))?.status?.conditions, 'ReplicasReady');
    const all = ready.length === 2 && ready.every((each) => each?.reason === reason && each.message.includes(part));
    return all && said?.reason === reason && said.message.startsWith(`2 of 2 instances wait: ${reason}: `);
  });
  const [deployment] = await world.deployments();
  const condition = findCondition(deployment?.status?.conditions, 'ReferencedDataReady');
  expect([condition?.status, condition?.reason]).toEqual(['False', reason]);
}

test('instances wait for what does not exist, by name, and start when it has come to their cell', async () => {
  await world.project.create(Workload, workload());
  await says('SourceNotFound', 'ConfigMap settings does not exist');
  for (const { spec } of await inCell()) {
    expect(spec?.controller?.schedulingGates?.map(({ name }) => name)).toContain('ReferencedData');
  }
  await world.project.create(ConfigMap, settings('blue'));
  await says('SourceNotFound', 'Secret db does not exist');
  await world.project.create(Secret, password());
  await world.ready('web', 2);
  const found = (await carried()).map(({ kind, metadata, data }) => [kind, metadata.name, data]);
  expect(found).toEqual([
    ['ConfigMap', `web-here-${here}-configmap-settings`, { colour: 'blue' }],
    ['Secret', `web-here-${here}-secret-db`, { password: Buffer.from('secret').toString('base64') }],
  ]);
  expect((await carried())[0]?.metadata.annotations).not.toHaveProperty(['example.com/own']);
  const [deployment] = await world.deployments();
  const condition = findCondition(deployment?.status?.conditions, 'ReferencedDataReady');
  expect([condition?.status, condition?.reason]).toEqual(['True', 'Ready']);
});

test('a change of a source reaches the cell, one made anew as well; what runs is not disturbed when it goes', async () => {
  await world.project.create(ConfigMap, settings('blue'));
  await world.project.create(ConfigMap, settings('more', 'extra'));
  await world.project.create(Secret, password());
  await world.project.create(Workload, workload());
  const before = await world.ready('web', 2);
  expect((await carried()).length).toBe(3);
  const key = { namespace: 'default', name: 'settings' };
  await world.project.patch(ConfigMap, key, { type: 'merge', body: { data: { colour: 'red' } } });
  await world.stack.until('the change there', async () => (await carried())[1]?.data?.colour === 'red');
  await world.project.delete(Secret, { namespace: 'default', name: 'db' });
  await world.project.create(Secret, password('example.com/other'));
  await world.stack.until('the new one there', async () => {
    const secret = (await carried()).find(({ kind }) => kind === 'Secret') as Secret | undefined;
    return secret?.type === 'example.com/other';
  });
  await world.project.delete(ConfigMap, key);
  await world.stack.pass(30);
  expect(await world.ready('web', 2)).toEqual(before);
});

test('what a workload no longer references, or leaves behind, is taken out of hub and cell', async () => {
  await world.project.create(ConfigMap, settings('blue'));
  await world.project.create(Secret, password());
  await world.project.create(Workload, workload());
  await world.ready('web', 2);
  const path = '/spec/template/spec/runtime/sandbox/containers/0/env';
  await world.project.patch(
    Workload,
    { namespace: 'default', name: 'web' },
    { type: 'json', body: [{ op: 'remove', path }] },
  );
  await world.stack.until(
    'the secret gone',
    async () => (await carried()).map(({ kind }) => kind).join() === 'ConfigMap',
  );
  await world.ready('web', 2);
  await world.project.delete(Workload, { namespace: 'default', name: 'web' });
  await world.stack.until('all gone', async () => {
    const hub = (await world.stack.hub.list(ConfigMap, { namespace: world.namespace })).items;
    const mine = hub.filter(({ metadata }) => metadata.labels?.['compute.datumapis.com/referenced-data'] === 'true');
    return (await carried()).length === 0 && mine.length === 0;
  });
  expect((await world.project.get(ConfigMap, { namespace: 'default', name: 'settings' }))?.data).toEqual({
    colour: 'blue',
  });
  expect((await world.stack.hub.list(WorkloadDeployment)).items).toEqual([]);
});

test.each([
  ['the hub', 'hub', () => world.stack.hub],
  ['the cell', `cell/${here}`, () => world.stack.cell(here)],
] as const)(
  'what on %s has the name of a companion stays, is told, and clears once it is gone',
  async (_, plane, of) => {
    await world.project.create(ConfigMap, settings('blue'));
    await world.project.create(Secret, password());
    await world.project.create(Workload, workload());
    await world.ready('web', 2);
    await world.project.delete(Workload, { namespace: 'default', name: 'web' });
    await world.stack.until('all gone', async () => (await carried()).length === 0 && (await inCell()).length === 0);
    const name = `web-here-${here}-configmap-settings`;
    const key = { namespace: world.namespace, name };
    await of().create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { colour: 'own' } });
    await world.project.create(Workload, workload());

    const told = `ConfigMap ${name} in namespace ${world.namespace} of plane ${plane} was not made by the platform`;
    await world.stack.until('an Event says so', async () =>
      (await of().list(Event)).items.some(({ note, regarding }) => regarding?.name === name && note?.startsWith(told)),
    );
    if (plane === 'hub') await says('CopyNameTaken', told);
    expect((await of().get(ConfigMap, key))?.data).toEqual({ colour: 'own' });

    await of().delete(ConfigMap, key);
    await world.ready('web', 2);
    await world.stack.until('the companion is there', async () => (await carried())[0]?.data?.colour === 'blue');
  },
);

test('a companion whose marks were taken off gets them again', async () => {
  await world.project.create(ConfigMap, settings('blue'));
  await world.project.create(Secret, password());
  await world.project.create(Workload, workload());
  const before = await world.ready('web', 2);
  const marks = await carried();
  for (const client of [world.stack.hub, world.stack.cell(here)]) {
    const key = { namespace: world.namespace, name: `web-here-${here}-configmap-settings` };
    const body = { metadata: { labels: null, annotations: null } };
    await client.patch(ConfigMap, key, { type: 'merge', body });
    await world.stack.until('it has them again', async () => {
      const now = await carried();
      return now.length === marks.length && now[0]?.metadata.annotations !== undefined;
    });
    expect(Object.keys((await client.get(ConfigMap, key))?.metadata.annotations ?? {})).toContain(sourceUid);
  }
  expect(await world.ready('web', 2)).toEqual(before);
});

test('without the feature gate nothing is carried, and nothing waits', async () => {
  await world.stack.close();
  world = await World.open();
  await world.project.create(ConfigMap, settings('blue'));
  await world.project.create(Workload, workload());
  await world.ready('web', 2);
  expect(await carried()).toEqual([]);
  const [deployment] = await world.deployments();
  expect(findCondition(deployment?.status?.conditions, 'ReferencedDataReady')).toBeUndefined();
});
