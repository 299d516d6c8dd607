import { describe, expect, it } from 'vitest';
import { ApiError } from '../../meta/index.ts';
import { Scenario, widget } from './scenario.fixture.ts';

function refusal(act: () => unknown): ApiError {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('leaves', () => {
  it('creates what does not exist, without status, and owns what was applied', () => {
    const s = new Scenario();
    expect(
      s.apply('one', {
        metadata: { labels: { a: 'b' } },
        spec: { text: 'x', map: { k: 'v' } },
        status: { phase: 'P' },
      }),
    ).toBe(true);
    expect(s.object).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        name: 'w',
        namespace: 'default',
        labels: { a: 'b' },
        managedFields: [
          {
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'example.com/v1',
            time: '2026-01-01T00:00:01Z',
            fieldsType: 'FieldsV1',
            fieldsV1: {
              'f:metadata': { 'f:labels': { 'f:a': {} } },
              'f:spec': { 'f:map': { 'f:k': {} }, 'f:text': {} },
            },
          },
        ],
      },
      spec: { text: 'x', map: { k: 'v' } },
    });
  });

  it('answers the live object itself when applied again', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x', tags: ['a'] } });
    const before = s.object;
    expect(s.apply('one', { spec: { text: 'x', tags: ['a'] } })).toBe(false);
    expect(s.object).toBe(before);
  });

  it('changes a value its manager alone owns, and moves its time', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } });
    s.apply('one', { spec: { text: 'y' } });
    expect(s.spec).toEqual({ text: 'y' });
    expect(s.time('one')).toBe('2026-01-01T00:00:02Z');
  });

  it('removes a field that is no longer applied', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x', number: 1 } });
    s.apply('one', { spec: { number: 1 } });
    expect(s.spec).toEqual({ number: 1 });
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:number': {} } });
  });

  it('owns an applied null and an empty map', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: null, map: {} } });
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:map': {}, 'f:text': {} } });
  });

  it('gives up everything with an empty apply, and its entry goes', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } });
    s.apply('two', { metadata: { labels: { a: 'b' } } });
    s.apply('one', {});
    expect(s.spec).toBeUndefined();
    expect(s.entries.map((entry) => entry.manager)).toEqual(['two']);
  });

  it('keeps metadata when the last label goes', () => {
    const s = new Scenario();
    s.apply('one', { metadata: { labels: { a: 'b' } } });
    s.apply('one', {});
    expect(s.object).toEqual(widget({}));
  });
});

describe('conflicts', () => {
  it('refuses a value another applier owns, in kube-apiserver’s words', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } });
    const before = s.object;
    const error = refusal(() => s.apply('two', { spec: { text: 'y' } }));
    expect(error.status).toEqual({
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.text',
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.text' }] },
      code: 409,
    });
    expect(s.object).toBe(before);
  });

  it('names version and subresource of an updater', () => {
    const s = new Scenario();
    s.update('curl', { spec: { text: 'x' } });
    s.update('curl', { spec: { text: 'x' }, status: { phase: 'A' } }, { subresource: 'status' });
    expect(refusal(() => s.apply('two', { spec: { text: 'y' } })).message).toBe(
      'Apply failed with 1 conflict: conflict with "curl" using example.com/v1: .spec.text',
    );
    expect(refusal(() => s.apply('two', { status: { phase: 'B' } }, { subresource: 'status' })).message).toBe(
      'Apply failed with 1 conflict: conflict with "curl" with subresource "status" using example.com/v1: .status.phase',
    );
  });

  it('lists several by manager', () => {
    const s = new Scenario();
    s.apply('b', { spec: { text: 'x', items: [{ name: 'n', value: '1' }] } });
    s.apply('a', { spec: { number: 1 } });
    const error = refusal(() => s.apply('c', { spec: { text: 'y', number: 2, items: [{ name: 'n', value: '2' }] } }));
    expect(error.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "a":\n- .spec.number\nconflicts with "b":\n- .spec.text\n- .spec.items[name="n"].value',
    );
    expect(error.status.details?.causes).toHaveLength(3);
  });

  it('takes over with force, from whoever had it', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x', number: 1 } });
    s.apply('two', { spec: { text: 'y' } }, { force: true });
    expect(s.spec).toEqual({ text: 'y', number: 1 });
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:number': {} } });
    s.apply('one', { spec: { number: 1 } });
    expect(s.spec).toEqual({ text: 'y', number: 1 });
  });

  it('is none where the value is the same: both own it, and it stays until both give it up', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x', number: 1 } });
    expect(s.apply('two', { spec: { text: 'x' } })).toBe(true);
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:number': {}, 'f:text': {} } });
    expect(s.owned('two')).toEqual({ 'f:spec': { 'f:text': {} } });
    expect(refusal(() => s.apply('two', { spec: { text: 'y' } })).reason).toBe('Conflict');
    s.apply('one', { spec: { number: 1 } });
    expect(s.spec).toEqual({ text: 'x', number: 1 });
    s.apply('two', {});
    expect(s.spec).toEqual({ number: 1 });
  });

  it('is one with the same name’s own updates', () => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x' } });
    expect(refusal(() => s.apply('one', { spec: { text: 'y' } })).message).toContain(
      'conflict with "one" using example.com/v1',
    );
  });

  it('ends when the other gave the field up or an update took it', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } });
    s.update('editor', { spec: { text: 'z' } });
    expect(s.owned('one')).toBeUndefined();
    expect(refusal(() => s.apply('one', { spec: { text: 'x' } })).message).toContain('"editor"');
  });
});

describe('multiple appliers', () => {
  it('own disjoint list items, and remove only their own', () => {
    const s = new Scenario();
    s.apply('one', { spec: { items: [{ name: 'a', value: '1' }, { name: 'b' }] } });
    s.apply('two', { spec: { items: [{ name: 'c' }] } });
    s.apply('one', { spec: { items: [{ name: 'b' }] } });
    expect(s.spec).toEqual({ items: [{ name: 'b' }, { name: 'c' }] });
  });

  it('keep an item one of them still names, without the fields only the other had', () => {
    const s = new Scenario();
    s.apply('one', { spec: { items: [{ name: 'a', value: '1' }] } });
    s.apply('two', { spec: { items: [{ name: 'a', other: '2' }] } });
    s.apply('one', {});
    expect(s.spec).toEqual({ items: [{ name: 'a', other: '2' }] });
    expect(s.owned('two')).toEqual({
      'f:spec': { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:other': {} } } },
    });
  });

  it('lose an item with all its content once nobody names the item itself', () => {
    const s = new Scenario();
    s.apply('one', { spec: { items: [{ name: 'a', value: '1' }], number: 1 } });
    s.update('editor', { spec: { items: [{ name: 'a', value: '1', other: '2' }], number: 1 } });
    s.apply('one', { spec: { number: 1 } });
    expect(s.spec).toEqual({ number: 1 });
  });

  it('leave fields nobody owns alone', () => {
    const s = new Scenario();
    s.apply('one', { spec: { nested: { a: '1' }, text: 'x' } });
    s.object = { ...s.object, spec: { nested: { a: '1', b: 'unowned' }, text: 'x' } } as typeof s.object & object;
    s.apply('one', { spec: { text: 'y' } });
    expect(s.spec).toEqual({ text: 'y' });
    s.object = { ...s.object, spec: { nested: { b: 'unowned' }, text: 'y' } } as typeof s.object & object;
    s.apply('one', { spec: { text: 'z' } });
    expect(s.spec).toEqual({ nested: { b: 'unowned' }, text: 'z' });
  });

  it('share conditions of a status, each its own types', () => {
    const s = new Scenario();
    s.apply('creator', { spec: { text: 'x' } });
    const status = { subresource: 'status' } as const;
    s.apply('cell', { status: { phase: 'Up', conditions: [{ type: 'Bound', status: 'True' }] } }, status);
    s.apply('plane', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, status);
    s.apply('cell', { status: { phase: 'Up', conditions: [{ type: 'Bound', status: 'False' }] } }, status);
    expect(s.status).toEqual({
      phase: 'Up',
      conditions: [
        { type: 'Bound', status: 'False' },
        { type: 'Ready', status: 'False' },
      ],
    });
    expect(s.entries.map((entry) => [entry.manager, entry.subresource])).toEqual([
      ['creator', undefined],
      ['plane', 'status'],
      ['cell', 'status'],
    ]);
  });
});

describe('nesting', () => {
  it('removes an emptied declared struct, keeps a shared one', () => {
    const s = new Scenario();
    s.apply('one', { spec: { nested: { a: '1', deeper: { c: '2' } } } });
    s.apply('two', { spec: { nested: { b: '3' } } });
    s.apply('one', { spec: {} });
    expect(s.spec).toEqual({ nested: { b: '3' } });
  });

  it('merges maps of structs key by key', () => {
    const s = new Scenario();
    s.apply('one', { spec: { structs: { x: { a: '1' }, y: { a: '2' } } } });
    s.apply('two', { spec: { structs: { x: { b: '3' } } } });
    s.apply('one', { spec: { structs: { y: { a: '2' } } } });
    expect(s.spec).toEqual({ structs: { x: { b: '3' }, y: { a: '2' } } });
  });

  it('merges lists in lists', () => {
    const s = new Scenario();
    s.apply('one', { spec: { items: [{ name: 'a', parts: [{ id: 1, note: 'x' }] }] } });
    s.apply('two', { spec: { items: [{ name: 'a', parts: [{ id: 2 }] }] } });
    s.apply('one', { spec: { items: [{ name: 'a', parts: [{ id: 1 }] }] } });
    expect(s.spec).toEqual({ items: [{ name: 'a', parts: [{ id: 1 }, { id: 2 }] }] });
  });

  it('owns an atomic map and an atomic list as one', () => {
    const s = new Scenario();
    s.apply('one', { spec: { selector: { matchLabels: { a: 'b' } }, atomicList: ['x'] } });
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:atomicList': {}, 'f:selector': {} } });
    const error = refusal(() => s.apply('two', { spec: { selector: { matchLabels: { c: 'd' } }, atomicList: ['y'] } }));
    expect(error.status.details?.causes?.map((cause) => cause.field)).toEqual(['.spec.atomicList', '.spec.selector']);
    s.apply('two', { spec: { selector: { matchLabels: { c: 'd' } }, atomicList: ['y'] } }, { force: true });
    expect(s.spec).toEqual({ selector: { matchLabels: { c: 'd' } }, atomicList: ['y'] });
    expect(s.owned('one')).toBeUndefined();
  });
});

describe('list order', () => {
  const names = (s: Scenario): string[] => (s.spec as { items: { name: string }[] }).items.map((item) => item.name);
  const list = (text: string) => ({ spec: { items: [...text].map((name) => ({ name })) } });

  it.each([
    ['abc', 'cb', 'acb'],
    ['ab', 'ba', 'ba'],
    ['ab', 'xy', 'abxy'],
    ['abc', 'axc', 'abxc'],
    ['abcd', 'bxd', 'abcxd'],
    ['bac', 'abx', 'acbx'],
    ['abc', 'xa', 'xabc'],
  ])('live %s, applied %s: %s', (live, applied, merged) => {
    const s = new Scenario();
    s.update('live', list(live));
    s.apply('one', list(applied));
    expect(names(s)).toEqual([...merged]);
  });

  it('of an applier’s own list follows the newest apply', () => {
    const s = new Scenario();
    s.apply('one', list('abc'));
    expect(s.apply('one', list('cab'))).toBe(true);
    expect(names(s)).toEqual([...'cab']);
  });
});

describe('sets', () => {
  it('merge, and lose what their only owner gives up', () => {
    const s = new Scenario();
    s.apply('one', { spec: { tags: ['a', 'b'], numbers: [1, 2] } });
    s.apply('two', { spec: { tags: ['b', 'c'], numbers: [2] } });
    expect(s.owned('two')).toEqual({
      'f:spec': { 'f:numbers': { 'v:2': {} }, 'f:tags': { 'v:"b"': {}, 'v:"c"': {} } },
    });
    s.apply('one', { spec: { tags: [], numbers: [2] } });
    expect(s.spec).toEqual({ tags: ['b', 'c'], numbers: [2] });
  });

  it('hold finalizers, and ownerReferences by uid', () => {
    const s = new Scenario();
    const ref = (uid: string) => ({ apiVersion: 'v1', kind: 'K', name: uid, uid });
    s.apply('one', { metadata: { finalizers: ['example.com/a'], ownerReferences: [ref('1')] } });
    s.apply('two', { metadata: { finalizers: ['example.com/b'], ownerReferences: [ref('2')] } });
    expect(s.object?.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
    s.apply('one', {});
    expect(s.object?.metadata.finalizers).toEqual(['example.com/b']);
    expect(s.object?.metadata.ownerReferences).toEqual([ref('2')]);
  });
});

describe('keys', () => {
  it('use the defaults of what an item leaves out', () => {
    const s = new Scenario();
    s.apply('one', { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] } });
    expect(s.owned('one')).toEqual({
      'f:spec': {
        'f:ports': {
          'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} },
          'k:{"port":80,"protocol":"UDP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} },
        },
      },
    });
    s.apply('two', { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'web' }] } });
    expect(s.spec).toEqual({
      ports: [
        { port: 80, protocol: 'TCP', name: 'web' },
        { port: 80, protocol: 'UDP' },
      ],
    });
  });

  it('may be left out in part, not altogether', () => {
    const s = new Scenario();
    s.apply('one', { spec: { ports: [{ protocol: 'UDP' }] } });
    expect(s.owned('one')).toEqual({
      'f:spec': { 'f:ports': { 'k:{"protocol":"UDP"}': { '.': {}, 'f:protocol': {} } } },
    });
    const error = refusal(() => s.apply('one', { spec: { items: [{ name: 'a' }, { value: '1' }] } }));
    expect([error.code, error.message]).toEqual([
      400,
      'failed to create typed patch object (/w; example.com/v1, Kind=Widget): .spec.items: element 1: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ]);
  });

  it.each([
    [{ items: [null] }, '.spec.items: element 0: associative list with keys may not have a null element'],
    [{ items: ['a'] }, '.spec.items: element 0: associative list with keys may not have non-map elements'],
    [{ tags: [null] }, ".spec.tags: element 0: associative list without keys has an element that's an explicit null"],
    [{ items: [{ name: 'a' }, { name: 'a' }] }, '.spec.items: duplicate entries for key [name="a"]'],
    [{ tags: ['a', 'b', 'a'] }, '.spec.tags: duplicate entries for key [="a"]'],
    [
      { items: [{ name: 'a', parts: [{ id: 1 }, { id: 1 }] }] },
      '.spec.items[name="a"].parts: duplicate entries for key [id=1]',
    ],
    [{ unknown: 1 }, '.spec.unknown: field not declared in schema'],
    [{ items: [{ name: 'a', unknown: 1 }] }, '.spec.items[name="a"].unknown: field not declared in schema'],
  ])('refuses %j', (spec, message) => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } });
    expect(refusal(() => s.apply('one', { spec })).message).toContain(`: ${message}`);
  });
});

describe('duplicates in the live object', () => {
  const twice = [{ name: 'a', value: '1' }, { name: 'b' }, { name: 'a', value: '2' }];

  it('are owned as one and left alone by an apply of others', () => {
    const s = new Scenario();
    s.update('old', { spec: { items: twice } });
    expect(s.owned('old')).toMatchObject({
      'f:spec': { 'f:items': { 'k:{"name":"a"}': {}, 'k:{"name":"b"}': { '.': {} } } },
    });
    s.apply('one', { spec: { items: [{ name: 'c' }] } });
    expect(s.spec).toEqual({ items: [...twice, { name: 'c' }] });
  });

  it('are replaced by an applied item of their key', () => {
    const s = new Scenario();
    s.update('old', { spec: { items: twice } });
    s.apply('one', { spec: { items: [{ name: 'a', value: '3' }] } }, { force: true });
    expect(s.spec).toEqual({ items: [{ name: 'a', value: '3' }, { name: 'b' }] });
  });
});

describe('unknown fields and no schema', () => {
  it('are merged map by map, lists as one', () => {
    const s = new Scenario();
    s.apply('one', { spec: { open: { known: 'k', x: { y: 1 }, l: [1] } } });
    expect(s.owned('one')).toEqual({
      'f:spec': { 'f:open': { 'f:known': {}, 'f:l': {}, 'f:x': { '.': {}, 'f:y': {} } } },
    });
    s.apply('two', { spec: { open: { x: { z: 2 } } } });
    s.apply('one', { spec: { open: { known: 'k' } } });
    expect(s.spec).toEqual({ open: { known: 'k', x: { z: 2 } } });
  });

  it('hold for a whole object, whose metadata is still known', () => {
    const s = new Scenario(undefined);
    s.schema = undefined;
    s.apply('one', { metadata: { finalizers: ['a/b'] }, spec: { list: [1], map: { a: 1 } } });
    s.apply('two', { metadata: { finalizers: ['c/d'] }, spec: { map: { b: 2 } } });
    expect(s.object?.metadata.finalizers).toEqual(['a/b', 'c/d']);
    expect(s.spec).toEqual({ list: [1], map: { a: 1, b: 2 } });
    expect(refusal(() => s.apply('two', { spec: { list: [2] } })).message).toContain('.spec.list');
  });

  it('treat embedded metadata as the writer’s', () => {
    const s = new Scenario();
    s.apply('one', { spec: { template: { metadata: { name: 't', labels: { a: 'b' } }, data: 1 } } });
    expect(s.owned('one')).toEqual({
      'f:spec': { 'f:template': { 'f:data': {}, 'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:name': {} } } },
    });
  });

  it('treats __proto__ as data', () => {
    const s = new Scenario();
    s.apply('one', { spec: { open: JSON.parse('{"__proto__":{"polluted":1}}') } });
    s.apply('two', { spec: { open: JSON.parse('{"__proto__":{"more":1},"constructor":{"a":1}}') } });
    expect(JSON.stringify((s.spec as { open: unknown }).open)).toBe(
      '{"__proto__":{"polluted":1,"more":1},"constructor":{"a":1}}',
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    s.apply('one', { spec: { text: 'x' } });
    expect(JSON.stringify((s.spec as { open: unknown }).open)).toBe('{"__proto__":{"more":1},"constructor":{"a":1}}');
  });
});

describe('schema changes', () => {
  const withList = (list: object) => ({
    type: 'object',
    properties: { spec: { type: 'object', properties: { list, other: { type: 'string' } } } },
  });
  const items = { type: 'object', properties: { name: { type: 'string' }, v: { type: 'string' } } };
  const atomic = withList({ type: 'array', items });
  const granular = withList({
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  });

  it('granular to atomic: who owned an item owns the list', () => {
    const s = new Scenario(granular);
    s.apply('one', { spec: { list: [{ name: 'a' }] } });
    s.apply('two', { spec: { list: [{ name: 'b' }] } });
    s.schema = atomic;
    expect(refusal(() => s.apply('two', { spec: { list: [{ name: 'c' }] } })).message).toContain('"one": .spec.list');
    s.apply('two', { spec: { other: 'x' } });
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:list': {} } });
    expect(s.spec).toEqual({ list: [{ name: 'a' }, { name: 'b' }], other: 'x' });
    s.update('editor', { spec: { list: [{ name: 'z' }], other: 'x' } });
    expect(s.owned('one')).toBeUndefined();
  });

  it('atomic to granular: the owner keeps the list, others may add items', () => {
    const s = new Scenario(atomic);
    s.apply('one', { spec: { list: [{ name: 'a' }] } });
    s.schema = granular;
    s.apply('two', { spec: { list: [{ name: 'b' }] } });
    expect(s.spec).toEqual({ list: [{ name: 'a' }, { name: 'b' }] });
    s.apply('one', { spec: { list: [{ name: 'a', v: '1' }] } });
    expect(s.spec).toEqual({ list: [{ name: 'a', v: '1' }, { name: 'b' }] });
  });
});

describe('versions', () => {
  it('an applier has one entry over all versions', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x', number: 1 } });
    s.apply('one', { spec: { number: 1 } }, { apiVersion: 'example.com/v2' });
    expect(s.spec).toEqual({ number: 1 });
    expect(s.entries.map((entry) => entry.apiVersion)).toEqual(['example.com/v2']);
  });

  it('entries of a version no longer served are forgotten', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } }, { apiVersion: 'example.com/v1' });
    s.servedVersions = ['example.com/v2'];
    s.apply('two', { spec: { text: 'y' } }, { apiVersion: 'example.com/v2' });
    expect(s.spec).toEqual({ text: 'y' });
    expect(s.entries.map((entry) => entry.manager)).toEqual(['two']);
  });

  it('an apply of another version than requested is refused', () => {
    const s = new Scenario();
    const error = refusal(() => s.apply('one', { apiVersion: 'example.com/v9' }));
    expect([error.code, error.message]).toEqual([
      400,
      'Incorrect version specified in apply patch. Specified patch version: example.com/v9, expected: example.com/v1',
    ]);
  });
});

describe('managedFields and server-owned metadata', () => {
  it('an apply that carries managedFields is refused', () => {
    const s = new Scenario();
    const error = refusal(() => s.apply('one', { metadata: { managedFields: [] } }));
    expect([error.code, error.message]).toEqual([400, 'metadata.managedFields must be nil']);
  });

  it('identity in the applied object neither changes the live one nor is owned', () => {
    const s = new Scenario();
    s.apply('one', { metadata: { uid: 'u1', resourceVersion: '1', generation: 1 }, spec: { text: 'x' } });
    const before = s.object;
    expect(s.apply('one', { metadata: { uid: 'u2', resourceVersion: '9', generation: 7 }, spec: { text: 'x' } })).toBe(
      false,
    );
    expect(s.object).toBe(before);
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:text': {} } });
  });

  it('an untracked object is first given to before-first-apply', () => {
    const s = new Scenario();
    s.object = widget({ spec: { text: 'x', tags: ['a'] } });
    s.apply('one', { spec: { text: 'x' } });
    expect(s.owned('before-first-apply')).toEqual({
      'f:spec': { '.': {}, 'f:tags': { '.': {}, 'v:"a"': {} }, 'f:text': {} },
    });
    expect(refusal(() => s.apply('one', { spec: { text: 'y' } })).message).toContain(
      '"before-first-apply" using example.com/v1',
    );
  });

  it('the main resource neither applies nor owns status, and status nothing else', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x' } });
    s.apply(
      'one',
      { metadata: { labels: { a: 'b' } }, spec: { text: 'y' }, status: { phase: 'Up' } },
      { subresource: 'status' },
    );
    s.apply('one', { spec: { text: 'x' }, status: { phase: 'Down' } });
    expect(s.object).toMatchObject({ spec: { text: 'x' }, status: { phase: 'Up' } });
    expect(s.object?.metadata.labels).toBeUndefined();
    expect(s.entries.map((entry) => entry.fieldsV1)).toEqual([
      { 'f:spec': { 'f:text': {} } },
      { 'f:status': { 'f:phase': {} } },
    ]);
  });
});
