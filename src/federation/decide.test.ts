import { describe, expect, it } from 'vitest';
import type { KubeObject, Namespace, ObjectMeta, Stored } from '../meta/index.ts';
import { copyOf, updateOf } from './copy.ts';
import { type DownKind, decide, type Step } from './down.ts';
import { carriedFinalizer, sourceCell, sourceUid } from './keys.ts';
import { decideNamespace } from './namespaces.ts';
import { decideUp, type UpStep } from './up.ts';

const Thing = { group: 'test.example', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const created = '2026-01-01T00:00:00Z';

interface Made extends Partial<ObjectMeta> {
  spec?: unknown;
  status?: unknown;
}

function thing(uid: string, { spec = { color: 'red' }, status, ...metadata }: Made = {}): Stored<KubeObject> {
  return {
    apiVersion: 'test.example/v1',
    kind: 'Thing',
    metadata: { name: 'a', namespace: 'ns', uid, resourceVersion: '1', creationTimestamp: created, ...metadata },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

const kind = (drains: boolean): DownKind => ({ type: Thing, selectedBy: { label: 'at' }, drains });
const hub = (more: Made = {}) => thing('h', { labels: { at: 'x' }, ...more });
const copied = (source: Stored<KubeObject>, more: Made = {}): Stored<KubeObject> => {
  const { metadata, ...body } = copyOf(source);
  const { spec: _, status, ...rest } = more;
  const identity = { uid: 'c', resourceVersion: '1', creationTimestamp: created };
  return { ...body, metadata: { ...metadata, ...identity, ...rest }, ...(status === undefined ? {} : { status }) };
};

function does(steps: readonly (Step | UpStep)[]): string[] {
  return steps.map((step) => step.do);
}

describe('a copy', () => {
  it('has the body, labels and annotations of its source, and nothing that means something only there', () => {
    const source = hub({ annotations: { note: 'n' }, finalizers: ['f'], status: { is: 'up' } });
    source.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }];
    expect(copyOf(source)).toEqual({
      apiVersion: 'test.example/v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'ns', labels: { at: 'x' }, annotations: { note: 'n', [sourceUid]: 'h' } },
      spec: { color: 'red' },
    });
  });

  it('is brought up to date in its body, labels and annotations, and keeps its finalizers, owners and status', () => {
    const held = copied(hub(), { finalizers: ['mine'], status: { is: 'up' } });
    expect(updateOf(copyOf(hub()), held)).toBeUndefined();
    const next = updateOf(copyOf(hub({ labels: { at: 'x', more: 'y' }, spec: {} })), held);
    expect(next).toMatchObject({ spec: {}, status: { is: 'up' }, metadata: { uid: 'c', finalizers: ['mine'] } });
    expect(next?.metadata.labels).toEqual({ at: 'x', more: 'y' });
    const { labels: _, ...bare } = copyOf(hub()).metadata;
    expect(updateOf({ ...copyOf(hub()), metadata: bare }, held)?.metadata.labels).toBeUndefined();
  });
});

describe('down, in every state', () => {
  const sources = {
    none: undefined,
    mine: hub(),
    held: hub({ finalizers: [carriedFinalizer] }),
    going: hub({ finalizers: [carriedFinalizer], deletionTimestamp: created }),
    moved: hub({ labels: { at: 'y' }, finalizers: [carriedFinalizer] }),
    nowhere: hub({ labels: {}, finalizers: [carriedFinalizer] }),
  };
  const copies = {
    none: undefined,
    same: copied(hub()),
    behind: copied(hub({ spec: { color: 'blue' } })),
    going: copied(hub(), { deletionTimestamp: created }),
    earlier: copied(thing('earlier', { labels: { at: 'x' } })),
    theirs: thing('c'),
  };
  const expected: Record<keyof typeof sources, Record<keyof typeof copies, string[]>> = {
    none: { none: [], same: ['delete'], behind: ['delete'], going: [], earlier: ['delete'], theirs: [] },
    mine: {
      none: ['hold-source', 'create'],
      same: ['hold-source'],
      behind: ['hold-source', 'update'],
      going: [],
      earlier: ['delete'],
      theirs: ['tell-taken'],
    },
    held: { none: ['create'], same: [], behind: ['update'], going: [], earlier: ['delete'], theirs: ['tell-taken'] },
    going: {
      none: ['let-source-go'],
      same: ['delete'],
      behind: ['delete'],
      going: [],
      earlier: ['delete'],
      theirs: ['let-source-go'],
    },
    moved: { none: [], same: ['delete'], behind: ['delete'], going: [], earlier: ['delete'], theirs: [] },
    // Its label was taken off, which says nothing of what runs on it.
    nowhere: {
      none: ['let-source-go'],
      same: [],
      behind: [],
      going: [],
      earlier: ['delete'],
      theirs: ['let-source-go'],
    },
  };

  it('a copy that lost its mark is what it was before, and gets it again', () => {
    const bare = copied(hub(), { annotations: {} });
    const at = (source: keyof typeof sources, mark: string | undefined) =>
      does(decide(kind(true), { source: sources[source], copy: bare, mark, location: 'x' }));
    expect(at('held', 'h')).toEqual(['update']);
    expect(at('held', 'unknown')).toEqual(['delete']);
    expect(at('none', 'unknown')).toEqual(['delete']);
    expect(at('going', 'h')).toEqual(['delete']);
    expect(at('held', undefined)).toEqual(['tell-taken']);
  });

  it.each(Object.keys(sources) as (keyof typeof sources)[])('of the source: %s', (source) => {
    for (const copy of Object.keys(copies) as (keyof typeof copies)[]) {
      const steps = decide(kind(true), { source: sources[source], copy: copies[copy], location: 'x' });
      expect([copy, does(steps)]).toEqual([copy, expected[source][copy]]);
      const without = decide(kind(false), { source: sources[source], copy: copies[copy], location: 'x' });
      if (source === 'mine') expect(does(without)).toEqual(does(steps).filter((step) => step !== 'hold-source'));
    }
  });

  it('takes the whole status up, also while it drains, and only of kinds that have one of the cell', () => {
    const status = { ready: 1 };
    const at = (source: Stored<KubeObject>, copy: Stored<KubeObject>, drains = true) =>
      decide(kind(drains), { source, copy, location: 'x' });
    expect(at(sources.held, copied(hub(), { status }))).toEqual([
      { do: 'report-status', source: sources.held, status },
    ]);
    expect(does(at(hub({ finalizers: [carriedFinalizer], status }), copied(hub(), { status })))).toEqual([]);
    expect(does(at(sources.going, copied(hub(), { status, deletionTimestamp: created })))).toEqual(['report-status']);
    expect(does(at(sources.moved, copied(hub(), { status, deletionTimestamp: created })))).toEqual([]);
    expect(does(at(sources.mine, copied(hub(), { status }), false))).toEqual([]);
  });

  it('goes by the name where that is the location', () => {
    const named: DownKind = { type: Thing, selectedBy: 'name', drains: false };
    expect(does(decide(named, { source: thing('h'), copy: undefined, location: 'a' }))).toEqual(['create']);
    expect(does(decide(named, { source: thing('h'), copy: undefined, location: 'b' }))).toEqual([]);
  });
});

describe('up', () => {
  const source = thing('s', { status: { is: 'up' } });
  const wanted: KubeObject = {
    apiVersion: 'test.example/v1',
    kind: 'Thing',
    metadata: { name: 'a', namespace: 'ns' },
    spec: source.spec,
    status: source.status,
  };
  const copy = (annotations: Record<string, string>, more: Made = {}) =>
    thing('c', { annotations, status: source.status, ...more });
  const mine = { [sourceUid]: 's', [sourceCell]: 'x' };
  const at = (held: Stored<KubeObject> | undefined, more: object = {}, requests: string[] = []) =>
    decideUp({ source, copy: held, wanted, location: 'x', ...more }, requests);

  it('makes a copy that says where it is from, with its status', () => {
    const [create, status] = at(undefined);
    expect(create).toMatchObject({ do: 'create', object: { metadata: { annotations: mine } } });
    expect(status).toEqual({ do: 'status', status: source.status });
  });

  it.each([
    ['one that is right', copy(mine), []],
    ['one with another body', copy(mine, { spec: {} }), ['update']],
    ['one with another status', copy(mine, { status: {} }), ['status']],
    ['one of an earlier object', copy({ ...mine, [sourceUid]: 'earlier' }), ['delete']],
    ['one that is going', copy({ ...mine, [sourceUid]: 'earlier' }, { deletionTimestamp: created }), []],
    ['one of another cell', copy({ ...mine, [sourceCell]: 'y' }, { spec: {} }), ['tell-taken']],
    ['one of another cell, and that is going', copy({ [sourceCell]: 'y' }, { deletionTimestamp: created }), []],
    ['one that nobody carried', copy({}, { spec: {} }), ['tell-taken']],
    ['one that nobody carried, and that is going', copy({}, { deletionTimestamp: created }), []],
  ])('brings up to date what is its own: %s', (_, held, steps) => {
    expect(does(at(held))).toEqual(steps);
  });

  it('takes down what is gone or not to be shown, and nothing of another cell', () => {
    for (const absent of [{ source: undefined, wanted: undefined }, { wanted: undefined }]) {
      expect(does(at(copy(mine), absent))).toEqual(['delete']);
      expect(does(at(copy({ ...mine, [sourceCell]: 'y' }), absent))).toEqual([]);
      expect(does(at(copy(mine, { deletionTimestamp: created }), absent))).toEqual([]);
      expect(does(at(undefined, absent))).toEqual([]);
    }
  });

  it('carries a request to the source once, and keeps it on the copy', () => {
    const asked = copy({ ...mine, please: 'now', other: 'x' });
    const [request, update, ...rest] = at(asked, {}, ['please']);
    expect([request, rest]).toEqual([{ do: 'request', source, annotations: { please: 'now' } }, []]);
    expect(update).toMatchObject({ do: 'update', object: { metadata: { annotations: { ...mine, please: 'now' } } } });
    const heard = thing('s', { status: source.status, annotations: { please: 'now' } });
    expect(at(copy({ ...mine, please: 'now' }), { source: heard }, ['please'])).toEqual([]);
  });

  it('takes a request back from the source when it is taken back on the copy', () => {
    const heard = thing('s', { status: source.status, annotations: { please: 'now', other: 'x' } });
    const [step, ...rest] = at(copy(mine), { source: heard }, ['please']);
    expect([step, rest]).toEqual([{ do: 'request', source: heard, annotations: { please: null } }, []]);
  });
});

it('namespaces are relabelled, and go only when the hub\u2019s is gone or another', () => {
  const namespace = (uid: string, labels: Record<string, string>, more: object = {}): Stored<Namespace> => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'ns', uid, labels, resourceVersion: '1', creationTimestamp: created, ...more },
  });
  const copy = (labels: Record<string, string>, more: object = {}) =>
    namespace('c', labels, { annotations: { [sourceUid]: 'h' }, ...more });
  expect(decideNamespace(namespace('h', { a: '1' }), copy({ a: '1' }))).toBeUndefined();
  expect(decideNamespace(namespace('h', { a: '2' }), copy({ a: '1' }))).toEqual({
    do: 'relabel',
    labels: { a: '2' },
    annotations: { [sourceUid]: 'h' },
  });
  const bare = namespace('c', { a: '1' }, { annotations: { note: 'n' } });
  expect(decideNamespace(namespace('h', { a: '1' }), bare, 'h')).toEqual({
    do: 'relabel',
    labels: { a: '1' },
    annotations: { note: 'n', [sourceUid]: 'h' },
  });
  expect(decideNamespace(undefined, bare, 'unknown')?.do).toBe('delete');
  expect(decideNamespace(namespace('h', {}, { deletionTimestamp: created }), copy({}))).toBeUndefined();
  expect(decideNamespace(undefined, copy({}))?.do).toBe('delete');
  expect(decideNamespace(namespace('another', {}), copy({}))?.do).toBe('delete');
  expect(decideNamespace(undefined, copy({}, { deletionTimestamp: created }))).toBeUndefined();
  expect(decideNamespace(undefined, namespace('c', {}))).toBeUndefined();
});
