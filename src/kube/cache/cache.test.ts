import { describe, expect, it } from 'vitest';
import type { Stored } from '../../meta/index.ts';
import type { InformerEvent } from '../informer.ts';
import { Thing, thing } from '../testing/scripted-server.ts';
import { InformerCache } from './cache.ts';

function stored(name: string, version: number | string, color = 'red', metadata: object = {}): Stored<Thing> {
  return thing(
    name,
    { color },
    {
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      resourceVersion: String(version),
      ...metadata,
    },
  ) as Stored<Thing>;
}

function setUp() {
  const errors: unknown[] = [];
  const cache = new InformerCache(Thing, (error) => errors.push(error));
  const seen: string[] = [];
  cache.onEvent((event) => seen.push(describeEvent(event)));
  return { cache, seen, errors };
}

function describeEvent(event: InformerEvent<Thing>): string {
  const { name, resourceVersion } = event.object.metadata;
  const from = event.type === 'updated' ? `${event.old.metadata.resourceVersion}->` : '';
  return `${event.type} ${name} ${from}${resourceVersion}`;
}

describe('own writes', () => {
  it('show at once, and the watch bringing them again is not a second event', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 5)], '5');
    cache.overlay(stored('a', 7, 'blue'));
    expect(cache.get('default', 'a')?.spec?.color).toBe('blue');
    cache.apply('MODIFIED', stored('a', 6, 'green'));
    cache.apply('MODIFIED', stored('a', 7, 'blue'));
    expect(cache.get('default', 'a')?.spec?.color).toBe('blue');
    cache.apply('MODIFIED', stored('a', 8, 'black'));
    expect(seen).toEqual(['added a 5', 'updated a 5->7', 'updated a 7->8']);
  });

  it('never bring a deleted object back, however late the answer comes', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 5)], '5');
    cache.apply('MODIFIED', stored('a', 6));
    cache.apply('DELETED', stored('a', 7));
    cache.overlay(stored('a', 6));
    cache.overlay(stored('b', 6));
    expect(cache.list()).toEqual([]);
    expect(seen).toEqual(['added a 5', 'updated a 5->6', 'deleted a 6']);
  });

  it('outlive a list that is older, and not one that is as new and lacks them', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 5)], '5');
    cache.overlay(stored('a', 9, 'blue'));
    cache.overlay(stored('new', 10));
    cache.replace([stored('a', 5)], '8');
    expect(cache.list().map((object) => object.metadata.resourceVersion)).toEqual(['9', '10']);
    cache.replace([stored('a', 9, 'blue')], '10');
    expect(cache.list().map((object) => object.metadata.name)).toEqual(['a']);
    expect(seen).toEqual(['added a 5', 'updated a 5->9', 'added new 10', 'deleted new 10']);
  });

  it('made before the first list are shown with it where they are newer', () => {
    const { cache, seen } = setUp();
    cache.overlay(stored('a', 4));
    cache.overlay(stored('b', 7));
    expect(cache.list()).toEqual([]);
    cache.replace([], '5');
    expect(seen).toEqual(['added b 7']);
  });

  it('show an object of the same commit as the last event', () => {
    const { cache } = setUp();
    cache.replace([], '5');
    cache.apply('ADDED', stored('a', 6));
    cache.overlay(stored('b', 6));
    cache.apply('ADDED', stored('b', 6));
    expect(cache.list().map((object) => object.metadata.name)).toEqual(['a', 'b']);
  });

  it('that re-create an object under its name are a deletion and an addition, and the old one’s deletion comes too late', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 5)], '5');
    cache.overlay(stored('a', 9, 'blue', { uid: 'second' }));
    cache.apply('DELETED', stored('a', 8));
    cache.apply('ADDED', stored('a', 9, 'blue', { uid: 'second' }));
    expect(cache.get('default', 'a')?.metadata.uid).toBe('second');
    expect(seen).toEqual(['added a 5', 'deleted a 5', 'added a 9']);
  });

  it('show that an object is being deleted, and leave its end to the watch', () => {
    const { cache, seen } = setUp();
    const deletionTimestamp = '2026-01-01T00:00:01Z';
    cache.replace([stored('a', 5, 'red', { finalizers: ['x'] })], '5');
    cache.overlay(stored('a', 6, 'red', { finalizers: ['x'], deletionTimestamp }));
    expect(cache.get('default', 'a')?.metadata.deletionTimestamp).toBe(deletionTimestamp);
    cache.overlay(stored('a', 7, 'red', { deletionTimestamp }));
    expect(seen).toEqual(['added a 5', 'updated a 5->6']);
    cache.apply('DELETED', stored('a', 7, 'red', { deletionTimestamp }));
    expect(cache.list()).toEqual([]);
  });

  it('wait for the watch where versions cannot be compared', () => {
    const { cache } = setUp();
    cache.replace([stored('a', 'v-abc')], 'v-abc');
    cache.overlay(stored('a', 'v-def', 'blue'));
    expect(cache.get('default', 'a')?.spec?.color).toBe('red');
    cache.apply('MODIFIED', stored('a', 'v-def', 'blue'));
    expect(cache.get('default', 'a')?.spec?.color).toBe('blue');
  });

  it('stay changeable for whoever wrote', () => {
    const { cache } = setUp();
    cache.replace([], '5');
    const mine = stored('a', 6, 'red', { managedFields: [] });
    cache.overlay(mine);
    mine.spec!.color = 'blue';
    expect(cache.get('default', 'a')?.spec?.color).toBe('red');
    expect(cache.get('default', 'a')?.metadata).not.toHaveProperty('managedFields');
  });
});

describe('a list', () => {
  it('tells only the differences', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 1), stored('b', 2), stored('c', 3)], '3');
    cache.replace([stored('a', 1), stored('c', 6), stored('d', 5)], '6');
    expect(seen.slice(3)).toEqual(['deleted b 2', 'updated c 3->6', 'added d 5']);
  });

  it('of a server restored from a backup is believed', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 50)], '50');
    cache.overlay(stored('b', 60));
    cache.replace([stored('a', 20, 'old')], '30');
    expect(cache.list().map((object) => object.spec?.color)).toEqual(['old']);
    cache.apply('MODIFIED', stored('a', 31));
    expect(seen).toEqual(['added a 50', 'added b 60', 'deleted b 60', 'updated a 50->20', 'updated a 20->31']);
  });
});

describe('events', () => {
  it('that are older than what was told are dropped', () => {
    const { cache, seen } = setUp();
    cache.replace([stored('a', 5)], '5');
    cache.advance('9');
    cache.apply('ADDED', stored('b', 7));
    cache.apply('DELETED', stored('a', 8));
    expect(seen).toEqual(['added a 5']);
  });

  it('reach every handler in the same order, also those a handler causes, and one that fails harms no other', () => {
    const { cache, seen, errors } = setUp();
    cache.replace([stored('a', 5)], '5');
    const late: string[] = [];
    cache.onEvent((event) => {
      if (event.object.metadata.name === 'a') cache.overlay(stored('b', 9));
      throw new Error('handler');
    });
    const stop = cache.onEvent((event) => late.push(describeEvent(event)));
    cache.apply('MODIFIED', stored('a', 6));
    stop();
    cache.apply('MODIFIED', stored('a', 10));
    expect(seen).toEqual(['added a 5', 'added b 9', 'updated a 5->6', 'updated a 6->10']);
    expect(late).toEqual(['added a 5', 'added b 9', 'updated a 5->6']);
    expect(errors.length).toBeGreaterThan(0);
  });

  it('do not come twice to a handler added while others are told', () => {
    const { cache } = setUp();
    const late: string[] = [];
    cache.replace([], '5');
    let added = false;
    cache.onEvent(() => {
      if (!added) cache.onEvent((event) => late.push(describeEvent(event)));
      added = true;
    });
    cache.replace([stored('a', 6), stored('b', 7)], '7');
    expect(late).toEqual(['added a 6', 'added b 7']);
  });

  it('carry frozen objects', () => {
    const { cache } = setUp();
    cache.replace([stored('a', 5)], '5');
    const object = cache.get('default', 'a');
    expect(() => {
      object!.spec!.color = 'blue';
    }).toThrow(TypeError);
  });
});

describe('indexes', () => {
  it('follow every change and cover what was there before', () => {
    const { cache } = setUp();
    cache.replace([stored('a', 1, 'red'), stored('b', 2, 'blue')], '2');
    cache.addIndex('color', (object) => [object.spec?.color ?? '']);
    cache.apply('ADDED', stored('c', 3, 'red'));
    cache.apply('MODIFIED', stored('a', 4, 'blue'));
    cache.apply('DELETED', stored('b', 5, 'blue'));
    const names = (color: string) => cache.byIndex('color', color).map((object) => object.metadata.name);
    expect([names('red'), names('blue'), names('green')]).toEqual([['c'], ['a'], []]);
    cache.apply('MODIFIED', stored('a', 6, 'blue'));
    expect(cache.byIndex('color', 'blue')[0]?.metadata.resourceVersion).toBe('6');
    expect(() => cache.byIndex('size', '1')).toThrow('there is no index "size"');
  });

  it('leave out an object their function fails on, and say so', () => {
    const { cache, errors } = setUp();
    cache.addIndex('bad', (object) => {
      if (object.metadata.name === 'a') throw new Error('no');
      return ['x'];
    });
    cache.replace([stored('a', 1), stored('b', 2)], '2');
    expect(cache.byIndex('bad', 'x').map((object) => object.metadata.name)).toEqual(['b']);
    expect(cache.get('default', 'a')).toBeDefined();
    expect(errors).toHaveLength(1);
  });
});
