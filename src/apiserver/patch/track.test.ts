import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../../meta/index.ts';
import { maximumUpdateManagers } from './managers.ts';
import { Scenario, widget, widgetSchema } from './scenario.fixture.ts';
import { trackUpdate } from './track.ts';

describe('ownership after writes that are no apply', () => {
  it('a create owns all that is in the object but identity and status', () => {
    const s = new Scenario();
    s.update('creator', {
      metadata: { uid: 'u', resourceVersion: '1', generation: 1, labels: { a: 'b' }, finalizers: ['x/y'] },
      spec: { items: [{ name: 'n' }], atomicList: [1], map: {} },
      status: { phase: 'P' },
    });
    expect(s.entries).toEqual([
      {
        manager: 'creator',
        operation: 'Update',
        apiVersion: 'example.com/v1',
        time: '2026-01-01T00:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:finalizers': { '.': {}, 'v:"x/y"': {} }, 'f:labels': { '.': {}, 'f:a': {} } },
          'f:spec': {
            '.': {},
            'f:atomicList': {},
            'f:items': { '.': {}, 'k:{"name":"n"}': { '.': {}, 'f:name': {} } },
            'f:map': {},
          },
        },
      },
    ]);
  });

  it('a changed field moves to who changed it, a removed one to nobody', () => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x', number: 1, map: { k: 'v' } } });
    s.update('two', { spec: { text: 'y', map: { k: 'v' } } });
    expect(s.owned('one')).toEqual({ 'f:spec': { '.': {}, 'f:map': { '.': {}, 'f:k': {} } } });
    expect(s.owned('two')).toEqual({ 'f:spec': { 'f:text': {} } });
    expect(s.time('one')).toBe('2026-01-01T00:00:01Z');
    expect(s.time('two')).toBe('2026-01-01T00:00:02Z');
  });

  it('takes from appliers too', () => {
    const s = new Scenario();
    s.apply('one', { spec: { text: 'x', number: 1 } });
    s.update('two', { spec: { text: 'y', number: 1 } });
    expect(s.owned('one')).toEqual({ 'f:spec': { 'f:number': {} } });
    expect(s.owned('two')).toEqual({ 'f:spec': { 'f:text': {} } });
  });

  it('a write that changes nothing keeps the stored entries and their time', () => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x', items: [{ name: 'a' }, { name: 'b' }] } });
    const before = s.entries;
    s.update('two', { spec: { text: 'x', items: [{ name: 'b' }, { name: 'a' }] } });
    expect(s.entries).toBe(before);
    s.update('two', {
      spec: { text: 'x', items: [{ name: 'a' }, { name: 'b' }] },
      metadata: { resourceVersion: '7', generation: 9 },
    });
    expect(s.entries).toBe(before);
  });

  it('only removing does not move the time of the remover, and drops emptied entries', () => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x' } });
    s.update('two', { spec: { text: 'x', number: 1 } });
    s.update('two', { spec: { text: 'x' } });
    expect(s.entries.map((entry) => [entry.manager, entry.time])).toEqual([['one', '2026-01-01T00:00:01Z']]);
  });

  it('writes of one manager are one entry per version and subresource', () => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x' } });
    s.update('one', { spec: { text: 'x', number: 1 } });
    s.update('one', { spec: { text: 'x', number: 2 } }, { apiVersion: 'example.com/v2' });
    s.update('one', { spec: { text: 'x', number: 2 }, status: { phase: 'P' } }, { subresource: 'status' });
    expect(s.entries.map((entry) => [entry.apiVersion, entry.subresource, entry.fieldsV1])).toEqual([
      ['example.com/v1', undefined, { 'f:spec': { '.': {}, 'f:text': {} } }],
      ['example.com/v2', undefined, { 'f:spec': { 'f:number': {} } }],
      ['example.com/v1', 'status', { 'f:status': { '.': {}, 'f:phase': {} } }],
    ]);
  });

  it('the status subresource tracks status alone, the main resource everything else', () => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x' } });
    const before = s.entries;
    s.update('two', { spec: { text: 'x' }, status: { phase: 'P' } });
    expect(s.entries).toBe(before);
    s.update(
      'two',
      { metadata: { labels: { a: 'b' } }, spec: { text: 'y' }, status: { phase: 'Q' } },
      { subresource: 'status' },
    );
    expect(s.owned('two')).toEqual({ 'f:status': { 'f:phase': {} } });
  });

  it('status is tracked with the rest where there is no subresource for it', () => {
    const entries = trackUpdate({
      before: undefined,
      after: widget({ status: { phase: 'P' } }),
      manager: 'one',
      operation: 'Update',
      subresource: '',
      statusSubresource: false,
      schema: widgetSchema,
      apiVersion: 'example.com/v1',
      time: '2026-01-01T00:00:00Z',
    });
    expect(entries[0]?.fieldsV1).toEqual({ 'f:status': { '.': {}, 'f:phase': {} } });
  });

  it('follows a value from one form to another', () => {
    const s = new Scenario();
    s.update('one', { spec: { open: { x: { y: 1, z: 2 } } } });
    s.update('two', { spec: { open: { x: 5 } } });
    expect(s.owned('one')).toEqual({ 'f:spec': { '.': {}, 'f:open': {} } });
    expect(s.owned('two')).toEqual({ 'f:spec': { 'f:open': { 'f:x': {} } } });
    s.update('three', { spec: { open: { x: { w: 1 } } } });
    expect(s.owned('two')).toBeUndefined();
    expect(s.owned('three')).toEqual({ 'f:spec': { 'f:open': { 'f:x': { '.': {}, 'f:w': {} } } } });
  });

  it('treats items without keys as one list, and does not fail on them', () => {
    const s = new Scenario();
    s.update('one', { spec: { items: [{ name: 'a' }] } });
    s.update('two', { spec: { items: [{ value: 'x' }] } });
    expect(s.owned('two')).toEqual({ 'f:spec': { 'f:items': {} } });
  });
});

describe('many updaters', () => {
  it('fold into ancient-changes, the oldest first; appliers stay', () => {
    const s = new Scenario();
    s.apply('applier', { spec: { text: 'x' } });
    const map: Record<string, string> = {};
    for (let index = 0; index < maximumUpdateManagers + 3; index++) {
      map[`k${index}`] = 'v';
      s.update(`m${index}`, { spec: { text: 'x', map: { ...map } } });
    }
    expect(s.entries.map((entry) => entry.manager)).toEqual([
      'applier',
      'ancient-changes',
      ...Array.from({ length: 9 }, (_, index) => `m${index + 4}`),
    ]);
    expect(s.owned('ancient-changes')).toEqual({
      'f:spec': { 'f:map': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {} } },
    });
    expect(s.time('ancient-changes')).toBe('2026-01-01T00:00:05Z');
  });

  it('of different versions are not folded together', () => {
    const s = new Scenario();
    const map: Record<string, string> = {};
    for (let index = 0; index <= maximumUpdateManagers; index++) {
      map[`k${index}`] = 'v';
      s.update('m', { spec: { map: { ...map } } }, { apiVersion: `example.com/v${index}` });
    }
    expect(s.entries).toHaveLength(maximumUpdateManagers + 1);
  });
});

describe('managedFields in the object a client sends', () => {
  const start = (): Scenario => {
    const s = new Scenario();
    s.update('one', { spec: { text: 'x', number: 1 } });
    return s;
  };
  const spec = { text: 'x', number: 1 };

  it.each([[[]], [[{}]]])('%j resets them, and nothing is tracked until the next apply', (managedFields) => {
    const s = start();
    s.update('two', { metadata: { managedFields }, spec });
    expect(s.object?.metadata).not.toHaveProperty('managedFields');
    s.update('two', { spec: { text: 'y' } });
    expect(s.entries).toEqual([]);
    s.apply('three', { spec: { text: 'y' } });
    expect(s.entries.map((entry) => entry.manager)).toEqual(['three', 'before-first-apply']);
  });

  it('edit them where well-formed, keys put in canonical form and emptied entries dropped', () => {
    const s = start();
    const entry = (manager: string, fieldsV1: object): object => ({
      manager,
      operation: 'Update',
      apiVersion: 'example.com/v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1,
    });
    s.update('two', {
      metadata: {
        managedFields: [entry('z', { 'f:spec': { 'f:items': { 'k:{ "name": "a" }': {} } } }), entry('empty', {})],
      },
      spec,
    });
    expect(s.entries).toEqual([entry('z', { 'f:spec': { 'f:items': { 'k:{"name":"a"}': {} } } })]);
  });

  it.each<[string, unknown[]]>([
    [
      'an unknown operation',
      [{ manager: 'x', operation: 'Delete', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
    ],
    ['an unknown type', [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'V2', fieldsV1: {} }]],
    [
      'malformed fields',
      [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { a: {} } }],
    ],
    ['no object', [null]],
  ])('leave the stored ones on %s', (_, managedFields) => {
    const s = start();
    const before = s.entries;
    s.update('two', { metadata: { managedFields }, spec });
    expect(s.entries).toEqual(before);
  });

  it('are not taken from a status write', () => {
    const s = start();
    const before = s.entries;
    s.update('two', { metadata: { managedFields: [] }, spec }, { subresource: 'status' });
    expect(s.entries).toBe(before);
  });

  it('sent back as read change nothing', () => {
    const s = start();
    const before = JSON.parse(JSON.stringify(s.entries)) as ManagedFieldsEntry[];
    s.update('two', { metadata: { managedFields: before }, spec });
    expect(s.entries).toEqual(before);
  });
});
