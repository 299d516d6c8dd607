import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DeleteOptions } from '../../kube/index.ts';
import {
  ConfigMap,
  CustomResourceDefinition,
  Event,
  type KubeObject,
  type ResourceType,
  type Stored,
} from '../../meta/index.ts';
import { make, openTestPlane, type TestPlane } from './testing.ts';

let plane: TestPlane;
beforeEach(async () => {
  plane = await openTestPlane();
});
afterEach(async () => {
  await plane.close();
  expect(plane.errors).toEqual([]);
});

const get = (name: string, namespace = 'default') => plane.client.get(ConfigMap, { namespace, name });
const remove = (name: string, propagationPolicy?: DeleteOptions['propagationPolicy']) =>
  plane.client.delete(ConfigMap, { namespace: 'default', name }, propagationPolicy ? { propagationPolicy } : {});
const release = (name: string) =>
  plane.client.patch(
    ConfigMap,
    { namespace: 'default', name },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
const setOwners = (name: string, owners: Stored<KubeObject>[]) =>
  plane.client.patch(
    ConfigMap,
    { namespace: 'default', name },
    {
      type: 'merge',
      body: {
        metadata: {
          ownerReferences: owners.map(({ apiVersion, kind, metadata }) => ({
            apiVersion,
            kind,
            name: metadata.name,
            uid: metadata.uid,
            blockOwnerDeletion: true,
          })),
        },
      },
    },
  );

async function names(): Promise<string[]> {
  await plane.settled();
  const { items } = await plane.client.list(ConfigMap, { namespace: 'default' });
  return items.map((item) => item.metadata.name).sort();
}

test('background: the owner goes at once, what it owned follows, all the way down', async () => {
  const owner = await make(plane, 'owner');
  const child = await make(plane, 'child', { owners: [{ owner }] });
  await make(plane, 'grandchild', { owners: [{ owner: child }] });
  await make(plane, 'bystander');
  expect(await names()).toEqual(['bystander', 'child', 'grandchild', 'owner']);
  await remove('owner', 'Background');
  expect(await get('owner')).toBeUndefined();
  expect(await names()).toEqual(['bystander']);
});

test('a hundred dependents of one owner go', async () => {
  const owner = await make(plane, 'owner');
  await Promise.all(Array.from({ length: 100 }, (_, index) => make(plane, `child-${index}`, { owners: [{ owner }] })));
  await remove('owner');
  expect(await names()).toEqual([]);
});

test('orphan: the dependents stay and lose the reference, then the owner goes', async () => {
  const owner = await make(plane, 'owner');
  const other = await make(plane, 'other');
  await make(plane, 'alone', { owners: [{ owner }] });
  await make(plane, 'shared', { owners: [{ owner }, { owner: other }] });
  await remove('owner', 'Orphan');
  expect(await names()).toEqual(['alone', 'other', 'shared']);
  expect((await get('alone'))?.metadata.ownerReferences ?? []).toEqual([]);
  expect((await get('shared'))?.metadata.ownerReferences?.map((reference) => reference.name)).toEqual(['other']);
});

test('foreground: the owner is there until the dependents that block it are gone', async () => {
  const owner = await make(plane, 'owner');
  await make(plane, 'blocking', { owners: [{ owner, block: true }], finalizers: ['example.com/hold'] });
  await make(plane, 'free', { owners: [{ owner, block: false }], finalizers: ['example.com/hold'] });
  await make(plane, 'plain', { owners: [{ owner, block: true }] });
  await remove('owner', 'Foreground');
  expect(await names()).toEqual(['blocking', 'free', 'owner']);
  expect((await get('owner'))?.metadata.finalizers).toEqual(['foregroundDeletion']);
  expect((await get('blocking'))?.metadata.deletionTimestamp).toBeDefined();
  expect((await get('free'))?.metadata.deletionTimestamp).toBeDefined();
  await release('blocking');
  expect(await names()).toEqual(['free']);
  await release('free');
  expect(await names()).toEqual([]);
});

test('foreground goes down: a dependent with dependents waits for them too', async () => {
  const owner = await make(plane, 'owner');
  const child = await make(plane, 'child', { owners: [{ owner, block: true }] });
  await make(plane, 'grandchild', { owners: [{ owner: child, block: true }], finalizers: ['example.com/hold'] });
  await remove('owner', 'Foreground');
  expect(await names()).toEqual(['child', 'grandchild', 'owner']);
  expect((await get('child'))?.metadata.finalizers).toEqual(['foregroundDeletion']);
  await release('grandchild');
  expect(await names()).toEqual([]);
});

test('a dependent made while its owner is in foreground deletion goes with it', async () => {
  const owner = await make(plane, 'owner');
  await make(plane, 'holding', { owners: [{ owner, block: true }], finalizers: ['example.com/hold'] });
  await remove('owner', 'Foreground');
  await plane.settled();
  await make(plane, 'late', { owners: [{ owner, block: true }] });
  expect(await names()).toEqual(['holding', 'owner']);
  await release('holding');
  expect(await names()).toEqual([]);
});

test('two owners, one deleted: the dependent stays with the other, until that goes too', async () => {
  const one = await make(plane, 'one');
  const two = await make(plane, 'two');
  await make(plane, 'child', { owners: [{ owner: one }, { owner: two }] });
  await remove('one');
  expect(await names()).toEqual(['child', 'two']);
  expect((await get('child'))?.metadata.ownerReferences?.map((reference) => reference.name)).toEqual(['two']);
  await remove('two');
  expect(await names()).toEqual([]);
});

test('two owners, one in foreground deletion: it does not wait for a dependent that has another owner', async () => {
  const one = await make(plane, 'one');
  const two = await make(plane, 'two');
  await make(plane, 'child', { owners: [{ owner: one, block: true }, { owner: two }] });
  await remove('one', 'Foreground');
  expect(await names()).toEqual(['child', 'two']);
});

test.each(['Background', 'Foreground'] as const)('a circle of three goes, %s', async (policy) => {
  const a = await make(plane, 'a');
  const b = await make(plane, 'b', { owners: [{ owner: a, block: true }] });
  const c = await make(plane, 'c', { owners: [{ owner: b, block: true }] });
  await setOwners('a', [c]);
  expect(await names()).toEqual(['a', 'b', 'c']);
  await remove('a', policy);
  expect(await names()).toEqual([]);
});

test('an object that owns itself goes', async () => {
  const self = await make(plane, 'self');
  await setOwners('self', [self]);
  expect(await names()).toEqual(['self']);
  await remove('self', 'Foreground');
  expect(await names()).toEqual([]);
});

test('an owner made anew under its name is another: dependents of the old one go', async () => {
  const owner = await make(plane, 'owner', { finalizers: ['example.com/hold'] });
  await make(plane, 'child', { owners: [{ owner }] });
  await remove('owner');
  expect(await names()).toEqual(['child', 'owner']);
  await release('owner');
  await make(plane, 'owner');
  expect(await names()).toEqual(['owner']);
});

test('a dependent whose owner was gone before it was made goes', async () => {
  const owner = await make(plane, 'owner');
  await remove('owner');
  await make(plane, 'child', { owners: [{ owner }] });
  expect(await names()).toEqual([]);
});

test('an owner that never had dependents, seen alive once, is not believed for ever', async () => {
  const owner = await make(plane, 'owner');
  await make(plane, 'first', { owners: [{ owner }] });
  await plane.settled();
  await setOwners('first', []);
  await remove('owner');
  await make(plane, 'second', { owners: [{ owner }] });
  expect(await names()).toEqual(['first']);
});

test('a dependent that gets a new owner at the last moment stays', async () => {
  const owner = await make(plane, 'owner');
  const rescuer = await make(plane, 'rescuer');
  await make(plane, 'child', { owners: [{ owner }] });
  await plane.settled();
  await Promise.all([setOwners('child', [rescuer]), remove('owner')]);
  expect(await names()).toEqual(['child', 'rescuer']);
});

test('what is there before the server starts is looked at: dangling objects go, half-done deletions finish', async () => {
  await plane.close();
  plane = await openTestPlane({ begin: false });
  const gone = await make(plane, 'gone');
  const waiting = await make(plane, 'waiting');
  const alive = await make(plane, 'alive');
  await make(plane, 'dangling', { owners: [{ owner: gone }] });
  await make(plane, 'held', { owners: [{ owner: waiting, block: true }] });
  await make(plane, 'kept', { owners: [{ owner: alive }] });
  await remove('gone');
  await remove('waiting', 'Foreground');
  expect((await plane.client.list(ConfigMap)).items).toHaveLength(5);
  await plane.lifecycle.openPlane(plane.plane);
  expect(await names()).toEqual(['alive', 'kept']);
});

const widgets: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: false,
};

async function defineWidgets() {
  await plane.client.create(CustomResourceDefinition, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
}

test('kinds defined at run time own and are owned; a cluster-scoped owner may own namespaced objects', async () => {
  await defineWidgets();
  const owner = await make(plane, 'widget', { type: widgets });
  await make(plane, 'part', { type: widgets, owners: [{ owner, block: true }] });
  await make(plane, 'child', { owners: [{ owner, block: true }] });
  expect(await names()).toEqual(['child']);
  await plane.client.delete(widgets, { namespace: '', name: 'widget' }, { propagationPolicy: 'Foreground' });
  expect(await names()).toEqual([]);
  expect((await plane.client.list(widgets)).items).toEqual([]);
});

test('an owner of a kind that is not served decides nothing', async () => {
  const owner = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', uid: 'u-1' } };
  await make(plane, 'child', { owners: [{ owner: owner as Stored<KubeObject> }] });
  expect(await names()).toEqual(['child']);
});

async function warnings(namespace: string) {
  const { items } = await plane.client.list(Event, { namespace });
  return items.map((event) => [event.reason, event.regarding?.name, event.note]);
}

test('an owner in another namespace is absent: the object goes, and an event says why', async () => {
  const namespace = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
  await make(plane, 'other', { type: namespace });
  const owner = await make(plane, 'owner', { namespace: 'other' });
  await make(plane, 'child', { owners: [{ owner }] });
  expect(await names()).toEqual([]);
  expect(await get('owner', 'other')).toBeDefined();
  const identity = `[v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}]`;
  expect(await warnings('default')).toEqual([
    ['OwnerRefInvalidNamespace', 'child', `ownerRef ${identity} does not exist in namespace "default"`],
  ]);
});

test('a namespaced owner of a cluster-scoped object is invalid: nothing is deleted, and an event says so', async () => {
  await defineWidgets();
  const owner = await make(plane, 'owner');
  await make(plane, 'widget', { type: widgets, owners: [{ owner }] });
  await plane.settled();
  await remove('owner');
  await plane.settled();
  expect(await plane.client.get(widgets, { namespace: '', name: 'widget' })).toBeDefined();
  expect((await warnings('default')).map(([reason, name]) => [reason, name])).toEqual([
    ['OwnerRefInvalidNamespace', 'widget'],
  ]);
});

test('an owner made a moment before is not asked for, and is believed no longer than it is there', async () => {
  const other = await openTestPlane({ begin: false });
  let asked = 0;
  await other.lifecycle.openPlane({
    ...other.plane,
    client: (account) => {
      const client = other.plane.client(account);
      const get: typeof client.get = (...args) => {
        asked++;
        return client.get(...args);
      };
      return { ...client, get };
    },
  });
  try {
    const owner = await make(other, 'owner');
    await make(other, 'child', { owners: [{ owner }] });
    await other.settled();
    expect(asked).toBe(0);
    await other.client.delete(ConfigMap, { namespace: 'default', name: 'owner' });
    await make(other, 'late', { owners: [{ owner }] });
    await other.settled();
    expect((await other.client.list(ConfigMap, { namespace: 'default' })).items).toEqual([]);
  } finally {
    await other.close();
  }
});

test('a quiet plane is not written to', async () => {
  const owner = await make(plane, 'owner');
  await make(plane, 'child', { owners: [{ owner, block: true }] });
  await plane.settled();
  const { revision } = plane.storage;
  await plane.settled();
  expect(plane.storage.revision).toBe(revision);
});
