import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMap, findCondition, Namespace } from '../../meta/index.ts';
import { make, openTestPlane, type TestPlane } from './testing.ts';

let plane: TestPlane;
beforeEach(async () => {
  plane = await openTestPlane();
  await make(plane, 'team', { type: Namespace });
});
afterEach(async () => {
  await plane.close();
  expect(plane.errors).toEqual([]);
});

const secrets = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const team = () => plane.client.get(Namespace, { namespace: '', name: 'team' });
const remove = () => plane.client.delete(Namespace, { namespace: '', name: 'team' });

test('a namespace takes everything in it with it, and nothing else', async () => {
  await Promise.all(Array.from({ length: 40 }, (_, index) => make(plane, `map-${index}`, { namespace: 'team' })));
  await make(plane, 'secret', { namespace: 'team', type: secrets });
  await make(plane, 'elsewhere');
  await remove();
  await plane.settled();
  expect(await team()).toBeUndefined();
  const left = [...(await plane.client.list(ConfigMap)).items, ...(await plane.client.list(secrets)).items];
  expect(left.map((item) => item.metadata.name)).toEqual(['elsewhere']);
});

test('an empty namespace goes without being written to more than twice', async () => {
  await plane.settled();
  const before = plane.storage.revision;
  await remove();
  await plane.settled();
  expect(await team()).toBeUndefined();
  expect(plane.storage.revision - before).toBe(2);
});

test('it waits for what finalizers hold, says so, and goes when they are gone', async () => {
  await make(plane, 'held', { namespace: 'team', finalizers: ['example.com/hold'] });
  await make(plane, 'held', { namespace: 'team', type: secrets, finalizers: ['example.com/hold', 'example.com/more'] });
  await make(plane, 'free', { namespace: 'team' });
  await remove();
  await plane.settled();
  const waiting = await team();
  expect(waiting?.status?.phase).toBe('Terminating');
  const condition = (type: string) => {
    const { status, reason, message } = findCondition(waiting?.status?.conditions, type) ?? {};
    return [status, reason, message];
  };
  expect(condition('NamespaceContentRemaining')).toEqual([
    'True',
    'SomeResourcesRemain',
    'Some resources are remaining: configmaps. has 1 resource instances, secrets. has 1 resource instances',
  ]);
  expect(condition('NamespaceFinalizersRemaining')).toEqual([
    'True',
    'SomeFinalizersRemain',
    'Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances, example.com/more in 1 resource instances',
  ]);
  expect(condition('NamespaceDeletionContentFailure')).toEqual([
    'False',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ]);
  expect(waiting?.status?.conditions).toHaveLength(5);

  const release = { type: 'merge' as const, body: { metadata: { finalizers: null } } };
  await plane.client.patch(ConfigMap, { namespace: 'team', name: 'held' }, release);
  await plane.settled();
  expect(findCondition((await team())?.status?.conditions, 'NamespaceContentRemaining')?.message).toBe(
    'Some resources are remaining: secrets. has 1 resource instances',
  );
  await plane.client.patch(secrets, { namespace: 'team', name: 'held' }, release);
  await plane.settled();
  expect(await team()).toBeUndefined();
});

test('a namespace with a finalizer of its own is emptied, and shows that only that keeps it', async () => {
  await make(plane, 'map', { namespace: 'team' });
  await plane.client.patch(
    Namespace,
    { namespace: '', name: 'team' },
    { type: 'merge', body: { metadata: { finalizers: ['example.com/mine'] } } },
  );
  await remove();
  await plane.settled();
  const kept = await team();
  expect(kept?.spec?.finalizers ?? []).toEqual([]);
  expect(kept?.metadata.finalizers).toEqual(['example.com/mine']);
  expect(findCondition(kept?.status?.conditions, 'NamespaceContentRemaining')?.reason).toBe('ContentRemoved');
});

test('a deletion that was under way when the server stopped goes on', async () => {
  await plane.close();
  plane = await openTestPlane({ begin: false });
  await make(plane, 'team', { type: Namespace });
  await make(plane, 'map', { namespace: 'team' });
  await remove();
  expect(await team()).toBeDefined();
  await plane.lifecycle.openPlane(plane.plane);
  await plane.settled();
  expect(await team()).toBeUndefined();
});
