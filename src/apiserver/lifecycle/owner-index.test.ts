import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject, OwnerReference } from '../../meta/index.ts';
import { OwnerIndex } from './owner-index.ts';

const resource = '/configmaps';
const key = (name: string) => ({ plane: 'hub', resource, namespace: 'default', name });
const bytes = (object: unknown) => Buffer.from(JSON.stringify(object));

function object(name: string, uid: string, owners: Partial<OwnerReference>[], extra: object = {}) {
  return {
    metadata: { name, uid, ...(owners.length === 0 ? {} : { ownerReferences: owners.map(reference) }), ...extra },
  } as KubeObject;
}

function reference(owner: Partial<OwnerReference>): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u', ...owner };
}

test('an update that leaves owners alone means nothing; one that changes them is found', () => {
  const index = new OwnerIndex();
  const first = object('a', '1', [{ uid: 'x' }]);
  expect(index.apply({ type: 'put', key: key('a'), value: bytes(first) }).map((found) => found.type)).toEqual([
    'owners',
  ]);
  const next = { ...first, spec: { replicas: 2 } };
  const put = (after: unknown) => index.apply({ type: 'put', key: key('a'), value: bytes(after) });
  expect(put(next)).toEqual([]);
  const moved = object('a', '1', [{ uid: 'y' }]);
  expect(put(moved)).toMatchObject([{ type: 'owners', dependent: { uid: '1', owners: [{ uid: 'y' }] } }]);
  expect([index.dependentsOf('x').length, index.dependentsOf('y').length]).toEqual([0, 1]);
});

test('an owner in foreground deletion hears when a dependent no longer stands in its way', () => {
  const index = new OwnerIndex();
  const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };
  index.apply({ type: 'put', key: key('owner'), value: bytes(object('owner', 'o', [])) });
  index.apply({ type: 'put', key: key('child'), value: bytes(object('child', 'c', [{ uid: 'o' }])) });
  const waiting = index.apply({ type: 'put', key: key('owner'), value: bytes(object('owner', 'o', [], deleting)) });
  expect(waiting).toEqual([{ type: 'waiting', uid: 'o', object: { resource, namespace: 'default', name: 'owner' } }]);
  const gone = index.apply({ type: 'delete', key: key('child'), value: bytes(object('child', 'c', [{ uid: 'o' }])) });
  expect(gone[0]).toEqual({ type: 'released', owner: { resource, namespace: 'default', name: 'owner' } });
});

test.each([null, 'text', [null, 7, {}, { uid: 5 }], { uid: 'o' }])(
  'owner references %j are nobody',
  (ownerReferences) => {
    const index = new OwnerIndex();
    const value = bytes({ metadata: { name: 'a', uid: '1', ownerReferences } });
    expect(index.apply({ type: 'put', key: key('a'), value })).toEqual([]);
  },
);

/** What is to be told from the text alone must be what parsing tells, whatever the objects look like. */
test('after any history the index is what the objects say', () => {
  const names = fc.constantFrom('a', 'b', 'c');
  const owner = fc.record({
    uid: fc.constantFrom('a0', 'b0', 'c0', 'a1'),
    name: fc.constantFrom('owner', 'odd]', '}]', '"ownerReferences":[', 'ü'),
    blockOwnerDeletion: fc.boolean(),
  });
  const shape = fc.record({
    owners: fc.array(owner, { maxLength: 2 }),
    deleting: fc.boolean(),
    finalizers: fc.subarray(['foregroundDeletion', 'orphan', 'example.com/hold']),
    // Things in an object that look like owner references and are not.
    note: fc.constantFrom('', '"ownerReferences"', '"ownerReferences":[{"uid":"a0"}]', 'foregroundDeletion'),
    template: fc.boolean(),
    metadataLast: fc.boolean(),
  });
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('put' as const), name: names, shape }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('delete' as const), name: names }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const index = new OwnerIndex();
      const live = new Map<string, KubeObject>();
      const generation = new Map<string, number>();
      for (const change of steps) {
        const before = live.get(change.name);
        if (change.type === 'delete') {
          if (before === undefined) continue;
          index.apply({ type: 'delete', key: key(change.name), value: bytes(before) });
          live.delete(change.name);
          generation.set(change.name, (generation.get(change.name) ?? 0) + 1);
          continue;
        }
        const { owners, deleting, finalizers, note, template, metadataLast } = change.shape;
        const { metadata } = object(change.name, `${change.name}${generation.get(change.name) ?? 0}`, owners, {
          finalizers,
          annotations: { note },
          ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
        });
        const spec = template ? { template: { metadata: { ownerReferences: [reference({ uid: 'b0' })] } } } : {};
        const next = (metadataLast ? { spec, metadata } : { metadata, spec }) as KubeObject;
        index.apply({ type: 'put', key: key(change.name), value: bytes(next) });
        live.set(change.name, next);
      }
      for (const uid of ['a0', 'b0', 'c0', 'a1']) {
        const expected = [...live.values()]
          .filter(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid))
          .map(({ metadata }) => [metadata.uid, metadata.ownerReferences]);
        const actual = index.dependentsOf(uid).map((dependent) => [dependent.uid, dependent.owners]);
        expect(actual.sort()).toEqual(expected.sort());
        const waits = [...live.values()].some(
          ({ metadata }) =>
            metadata.uid === uid &&
            metadata.deletionTimestamp !== undefined &&
            metadata.finalizers?.includes('foregroundDeletion') === true,
        );
        expect(index.isDeletingDependents(uid)).toBe(waits);
      }
    }),
    { numRuns: 500 },
  );
});
