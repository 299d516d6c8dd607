import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LiveRecord, Packer } from './packing.ts';
import type { Storage } from './storage.ts';
import { bytes, hosts, key, open, put, Recorder, remove, temporaryFolder, text, turns } from './testing.ts';

function body(name: string, version: number): string {
  const labels = Object.fromEntries([...'abcdefghijkl'].map((letter) => [`example.com/${letter}`, 'x'.repeat(20)]));
  return JSON.stringify({
    kind: 'Thing',
    metadata: { name, labels, resourceVersion: `${version}` },
    spec: { version },
  });
}

function record(name: string, value = body(name, 1), resource = 'g/things'): LiveRecord {
  return new LiveRecord(key(name, 'n', resource), 1, bytes(value));
}

/** Whether it still holds the buffer it was made with. */
const isFresh = (one: LiveRecord) => new Set([one.value, one.value]).size === 1;

describe('Packer', () => {
  it('leaves the newest as they are, packs the oldest, and every value reads as it was', () => {
    const length = bytes(body('k00', 1)).byteLength;
    const packer = new Packer(length * 10);
    const records = Array.from({ length: 50 }, (_, n) => record(`k${String(n).padStart(2, '0')}`));
    for (const one of records) packer.add(one);
    expect(records.map((one) => text(one.value))).toEqual(records.map(({ key: { name } }) => body(name, 1)));
    const fresh = records.filter(isFresh).map(({ key: { name } }) => name);
    // The first is what the others are packed against.
    expect(fresh[0]).toBe('k00');
    expect(fresh.slice(1)).toEqual(records.slice(-(fresh.length - 1)).map(({ key: { name } }) => name));
    expect(fresh.length).toBeGreaterThan(8);
    expect(fresh.length).toBeLessThan(12);
  });

  it('counts what was removed no more', () => {
    const length = bytes(body('k', 1)).byteLength;
    const packer = new Packer(length * 3);
    const kept = [record('a'), record('b')];
    for (const one of kept) packer.add(one);
    for (let n = 0; n < 100; n += 1) {
      const passing = record('c');
      packer.add(passing);
      packer.remove(passing);
    }
    expect(kept.filter(isFresh)).toEqual(kept);
  });

  it('packs against the object of the same name of another plane, where each name is of its own kind', () => {
    const packer = new Packer(0);
    const random = (seed: number) =>
      Array.from({ length: 400 }, (_, n) => (Math.imul(n + seed * 1000, 0x9e3779b1) >>> 20).toString(36)).join('');
    const first = Array.from({ length: 20 }, (_, n) => record(`kind-${n}`, random(n)));
    const second = Array.from({ length: 20 }, (_, n) => record(`kind-${n}`, `${random(n)} of another`));
    for (const one of [...first, ...second]) packer.add(one);
    expect(first.filter(isFresh)).toHaveLength(20);
    expect(second.filter(isFresh)).toEqual([]);
    expect(second.map((one) => text(one.value))).toEqual(first.map((one) => `${text(one.value)} of another`));
  });

  it('leaves alone what is small, what is huge, and what is like nothing', () => {
    const packer = new Packer(0);
    const small = [record('a', '{"a":1}'), record('b', '{"a":1}')];
    const huge = ['c', 'd'].map((name) => record(name, 'x'.repeat(300_000), 'g/huge'));
    for (const one of [...small, ...huge]) packer.add(one);
    expect([...small, ...huge].filter(isFresh)).toHaveLength(4);
  });
});

describe.each(hosts)('a store whose values are all packed (%s)', (host) => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const file = join(folder.path, 'packed.sqlite');
  const options = { freshBytes: 0 };

  const values = async (storage: Storage, revision?: number) => {
    const page = await storage.list({
      plane: 'p',
      resource: 'g/things',
      ...(revision === undefined ? {} : { revision }),
    });
    return page.records.map((one) => text(one.value));
  };

  it('lists, gets, tells what was there before, and looks back', async () => {
    let storage = await open(file, host, options);
    const watched = new Recorder();
    storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, watched);
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await storage.commit(put(key(name), body(name, 1)));
    const before = storage.revision;
    for (const name of names) await storage.commit(put(key(name), body(name, 2)));
    await storage.commit(remove(key('b'), body('b', 3)));
    await turns();

    const check = async () => {
      expect(await values(storage)).toEqual(['a', 'c', 'd'].map((name) => body(name, 2)));
      expect(await values(storage, before)).toEqual(names.map((name) => body(name, 1)));
      expect(text((await storage.get(key('c')))?.value)).toBe(body('c', 2));
      const late = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, late);
      await turns();
      return late.lines;
    };
    expect(await check()).toEqual(watched.lines);
    expect(watched.lines.slice(-2)).toEqual([
      `8 put n/d ${body('d', 2)} was ${body('d', 1)}`,
      `9 delete n/b ${body('b', 3)} was ${body('b', 2)}`,
    ]);
    if (host !== 'memory') {
      await storage.close();
      storage = await open(file, host, options);
      expect(await check()).toEqual(watched.lines);
    }
    await storage.close();
  });
});
