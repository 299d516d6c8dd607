import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PreconditionFailed, type Storage } from './storage.ts';
import { bytes, hosts, key, names, open, put, Recorder, temporaryFolder, text, turns } from './testing.ts';
import { testStorage } from './testing-suite.ts';

describe.each(hosts)('storage (%s)', (host) => {
  const folder = temporaryFolder();
  let count = 0;
  afterAll(() => folder.remove());
  testStorage((options) => open(join(folder.path, `${++count}.sqlite`), host, options));
});

describe.each(hosts)('embedded storage (%s)', (host) => {
  const folder = temporaryFolder();
  let count = 0;
  let file: string;
  let storage: Storage;

  beforeEach(async () => {
    count += 1;
    file = join(folder.path, `${count}.sqlite`);
    storage = await open(file, host);
  });
  afterEach(async () => {
    await storage.close();
  });
  afterAll(() => folder.remove());

  const values = async (resource = 'g/things', plane = 'p') =>
    (await storage.list({ plane, resource })).records.map((record) => text(record.value));

  describe('commit', () => {
    it('assigns revisions in call order, at once, and tells them to encode', async () => {
      const told: number[] = [];
      const encode = (revision: number) => {
        told.push(revision);
        return bytes(`v${revision}`);
      };
      const commits = [1, 2, 3].map((n) => storage.commit({ puts: [{ key: key(`${n}`), encode }] }));
      expect(told).toEqual([1, 2, 3]);
      expect(await Promise.all(commits)).toEqual([{ revision: 1 }, { revision: 2 }, { revision: 3 }]);
      expect(await values()).toEqual(['v1', 'v2', 'v3']);
      expect(storage.revision).toBe(3);
    });

    it('keeps the bytes of a small value, and not those beside it', async () => {
      await storage.commit({ puts: [{ key: key('some', 'n', 'ipam/claims'), encode: () => Buffer.from('pooled') }] });
      const kept = (await storage.get(key('some', 'n', 'ipam/claims')))!.value;
      expect(text(kept)).toBe('pooled');
      expect(kept.buffer.byteLength).toBeLessThan(100);
    });

    it('shows nothing before it is durable, except to whoever asks for the newest', async () => {
      const done = storage.commit(put(key('a'), 'one'));
      expect(await storage.get(key('a'))).toBeUndefined();
      expect((await storage.list({ plane: 'p', resource: 'g/things' })).records).toEqual([]);
      expect(storage.revision).toBe(0);
      expect(text((await storage.get(key('a'), { newest: true }))?.value)).toBe('one');
      await done;
      expect(text((await storage.get(key('a')))?.value)).toBe('one');
      expect((await storage.get(key('a')))?.revision).toBe(1);
    });
  });

  it('has settled once what was on its way is visible, and waits for nothing else', async () => {
    await storage.settled();
    const order: string[] = [];
    const first = storage.commit(put(key('a'), 'one')).then(() => order.push('first'));
    const settled = storage.settled().then(async () => {
      order.push('settled');
      expect(text((await storage.get(key('a')))?.value)).toBe('one');
    });
    await Promise.all([first, settled]);
    expect(order).toEqual(['first', 'settled']);
    await storage.settled();
  });

  describe('procedures', () => {
    const claim = (name: string) => key(name, 'n', 'ipam/claims');

    it('run in the order of commits, with tables of their own, and their rows are seen like any others', async () => {
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'ipam/claims', from: 0 }, recorder);
      const results = await Promise.all([
        storage.call('lease', { name: 'a' }),
        storage.commit(put(key('x'), 'x')),
        storage.call('lease', { name: 'b' }),
      ]);
      expect(results).toEqual([
        { revision: 1, result: { number: 1 } },
        { revision: 2 },
        { revision: 3, result: { number: 2 } },
      ]);
      expect(JSON.parse(text((await storage.get(claim('b')))?.value)!)).toMatchObject({ number: 2, revision: 3 });
      expect(JSON.parse(text((await storage.get(claim('b')))?.value)!).now).toBeGreaterThan(1.7e12);
      await storage.call('unlease', { name: 'a' });
      await recorder.until(({ seen }) => seen.length === 3);
      expect(recorder.seen.map((event) => `${event.revision} ${event.type} ${event.key.name}`)).toEqual([
        '1 put a',
        '3 put b',
        '4 delete a',
      ]);
      expect(recorder.seen[2]?.previous?.value).toEqual(recorder.seen[0]?.value);
      expect((await storage.call('leases', {})).result).toEqual([{ name: 'b', number: 2 }]);
    });

    it('a failing one undoes itself and nothing else, and its error arrives with its status', async () => {
      const [before, status, plain, unique, after] = await Promise.allSettled([
        storage.call('lease', { name: 'a' }),
        storage.call('lease', { name: 'b', fail: 'status' }),
        storage.call('lease', { name: 'c', fail: 'plain' }),
        storage.call('lease', { name: 'd', fail: 'unique' }),
        storage.call('lease', { name: 'e' }),
      ]);
      expect(before.status).toBe('fulfilled');
      expect(status).toMatchObject({
        reason: {
          name: 'ApiError',
          code: 422,
          status: { reason: 'Invalid', details: { name: 'b', causes: [{ reason: 'Exhausted', field: 'spec' }] } },
        },
      });
      expect(plain).toMatchObject({ reason: { message: 'no lease for c' } });
      expect(unique).toMatchObject({ reason: { message: expect.stringContaining('UNIQUE') } });
      expect(after).toMatchObject({ value: { result: { number: 2 } } });
      expect(names((await storage.list({ plane: 'p', resource: 'ipam/claims' })).records)).toEqual(['n/a', 'n/e']);
      await expect(storage.call('nothing', {})).rejects.toThrow('no procedure nothing');
      await expect(storage.call('lease', { name: 'f', fail: 'promise' })).rejects.toThrow('must be synchronous');
      await expect(storage.call('cheat', {})).rejects.toThrow('the transaction to the store');
      expect((await storage.call('leases', {})).result).toMatchObject([{ name: 'a' }, { name: 'e' }]);
    });

    it('see their own writes, and a key written twice is one event', async () => {
      const { result, revision } = await storage.call('twice', {});
      expect(result).toEqual({ seen: 'first', gone: true });
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'ipam/claims', from: 0 }, recorder);
      await turns();
      expect(recorder.lines).toEqual([`${revision} put n/twice second`]);
    });

    it('commits of rows not in memory are judged in their turn', async () => {
      const created = storage.commit(put(claim('a'), 'one', 'absent'));
      const updated = storage.commit(put(claim('a'), 'two', 1));
      const stale = storage.commit(put(claim('a'), 'three', 1));
      const newest = storage.get(claim('a'), { newest: true });
      await expect(stale).rejects.toMatchObject({ actual: 2 });
      expect([await created, await updated]).toEqual([{ revision: 1 }, { revision: 2 }]);
      expect(text((await newest)?.value)).toBe('two');
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'ipam/claims', from: 0 }, recorder);
      await turns();
      expect(recorder.lines).toEqual(['1 put n/a one', '2 put n/a two was one']);
    });

    it('what a procedure wrote to a cached key is never overwritten by a commit that did not know of it', async () => {
      await storage.commit(put(key('a'), 'one'));
      const call = storage.call('lease', { name: 'a', resource: 'g/things' });
      const ignorant = storage.commit(put(key('a'), 'stale', 1));
      const built = storage.commit(put(key('a'), 'on stale', 3));
      const other = storage.commit(put(key('b'), 'fine', 'absent'));
      await expect(ignorant).rejects.toMatchObject({ actual: 2 });
      await expect(built).rejects.toMatchObject({ actual: 2 });
      expect(await other).toEqual({ revision: 5 });
      expect((await call).revision).toBe(2);
      expect(await values()).toEqual([expect.stringContaining('"revision":2'), 'fine']);
      expect((await storage.get(key('a'), { newest: true }))?.revision).toBe(2);
      await storage.commit(put(key('a'), 'informed', 2));
      expect(await values()).toEqual(['informed', 'fine']);
    });

    it('a refused commit takes its pending state of cached keys with it', async () => {
      const refused = storage.commit({
        preconditions: [{ key: claim('none'), revision: 5 }],
        puts: [{ key: key('a'), encode: () => bytes('never') }],
      });
      expect(text((await storage.get(key('a'), { newest: true }))?.value)).toBe('never');
      await expect(refused).rejects.toThrow(PreconditionFailed);
      expect(await storage.get(key('a'), { newest: true })).toBeUndefined();
      await storage.commit(put(key('a'), 'now', 'absent'));
      expect(await values()).toEqual(['now']);
    });
  });
});
