import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageClosed } from './errors.ts';
import type { HistoryLimits } from './history.ts';
import { PreconditionFailed, RevisionCompacted, RevisionInFuture, type Storage, type StorageEvent } from './storage.ts';
import { bytes, key, names, put, Recorder, remove, text, turns } from './testing.ts';

/** What every store does, wherever it keeps its rows. `fresh` opens an empty one. */
export function testStorage(fresh: (options?: { history: HistoryLimits }) => Promise<Storage>): void {
  let storage: Storage;

  beforeEach(async () => {
    storage = await fresh();
  });
  afterEach(async () => {
    await storage.close();
  });

  const values = async (resource = 'g/things', plane = 'p') =>
    (await storage.list({ plane, resource })).records.map((record) => text(record.value));

  describe('commit', () => {
    it('judges preconditions against commits that are not durable yet', async () => {
      const first = storage.commit(put(key('a'), 'one', 'absent'));
      const second = storage.commit(put(key('a'), 'two', 1));
      const stale = storage.commit(put(key('a'), 'three', 1));
      await expect(stale).rejects.toThrow(PreconditionFailed);
      await expect(stale).rejects.toMatchObject({ actual: 2, key: key('a') });
      await expect(storage.commit(put(key('a'), 'four', 'absent'))).rejects.toMatchObject({ actual: 2 });
      expect(await first).toEqual({ revision: 1 });
      expect(await second).toEqual({ revision: 2 });
      expect(await values()).toEqual(['two']);
    });

    it('a deletion on its way counts as absent', async () => {
      await storage.commit(put(key('a'), 'one'));
      const gone = storage.commit(remove(key('a'), 'last', 1));
      await expect(storage.commit(put(key('a'), 'x', 1))).rejects.toMatchObject({ actual: 'absent' });
      const again = storage.commit(put(key('a'), 'again', 'absent'));
      await Promise.all([gone, again]);
      expect(await values()).toEqual(['again']);
      expect((await storage.get(key('a')))?.revision).toBe(3);
    });

    it('is all or nothing', async () => {
      await storage.commit(put(key('a'), 'one'));
      const refused = storage.commit({
        preconditions: [
          { key: key('a'), revision: 1 },
          { key: key('b'), revision: 7 },
        ],
        puts: [{ key: key('c'), encode: () => bytes('c') }],
        deletes: [{ key: key('a'), encode: () => bytes('a') }],
      });
      await expect(refused).rejects.toMatchObject({ key: key('b'), actual: 'absent' });
      expect(await values()).toEqual(['one']);
      await storage.commit({
        preconditions: [{ key: key('a'), revision: 1 }],
        puts: [{ key: key('c'), encode: () => bytes('c') }],
        deletes: [{ key: key('a'), encode: () => bytes('a') }],
      });
      expect(await values()).toEqual(['c']);
      expect(storage.revision).toBe(2);
    });

    it('refuses keys and values it could not keep, and a key written twice; nothing is changed', async () => {
      await expect(storage.commit(put(key('a\0b'), 'x'))).rejects.toThrow('name of a storage key has NUL');
      await expect(storage.commit(put(key('a', '😀'), 'x'))).rejects.toThrow('beyond U+FFFF');
      const notBytes = { puts: [{ key: key('a'), encode: () => 'x' as unknown as Uint8Array }] };
      await expect(storage.commit(notBytes)).rejects.toThrow('must be bytes');
      const same = { key: key('a'), encode: () => bytes('x') };
      await expect(storage.commit({ puts: [same, same] })).rejects.toThrow('writes p g/things n/a twice');
      const failing = () => {
        throw new Error('cannot encode');
      };
      await expect(storage.commit({ puts: [{ key: key('a'), encode: failing }] })).rejects.toThrow('cannot encode');
      expect(await storage.commit(put(key('__proto__'), 'fine'))).toEqual({ revision: 1 });
      expect(text((await storage.get(key('__proto__')))?.value)).toBe('fine');
      expect(await storage.get(key('constructor'))).toBeUndefined();
    });

    it('keeps bytes as they are, from none to megabytes', async () => {
      const big = new Uint8Array(3_000_000).map((_, index) => index * 7);
      await Promise.all([
        storage.commit({ puts: [{ key: key('big'), encode: () => big }] }),
        storage.commit({ puts: [{ key: key('empty'), encode: () => new Uint8Array(0) }] }),
      ]);
      expect(Buffer.compare((await storage.get(key('big')))!.value, big)).toBe(0);
      expect((await storage.get(key('empty')))?.value.byteLength).toBe(0);
    });
  });

  describe.each(['g/things', 'ipam/claims'])('list of %s', (resource) => {
    const at = (name: string, namespace = 'n') => key(name, namespace, resource);
    const list = (query: object = {}) => storage.list({ plane: 'p', resource, ...query });

    it('is in order of namespace, then name; of one namespace, one plane, one resource', async () => {
      const keys = [at('b', 'z'), at('a', 'z'), at('c', 'a-'), at('c', 'a'), at('z', ''), at('A', 'a'), at('a.b', 'a')];
      await Promise.all([
        ...keys.map((one) => storage.commit(put(one, 'x'))),
        storage.commit(put({ ...at('q'), plane: 'other' }, 'x')),
        storage.commit(put({ ...at('q'), resource: `${resource}x` }, 'x')),
      ]);
      expect(names((await list()).records)).toEqual(['/z', 'a/A', 'a/a.b', 'a/c', 'a-/c', 'z/a', 'z/b']);
      expect(names((await list({ namespace: 'a' })).records)).toEqual(['a/A', 'a/a.b', 'a/c']);
      expect(names((await list({ namespace: '' })).records)).toEqual(['/z']);
      expect(names((await list({ namespace: 'none' })).records)).toEqual([]);
    });

    it('pages, and counts what follows', async () => {
      for (let n = 0; n < 25; n += 1) void storage.commit(put(at(`${100 + n}`, n < 12 ? 'a' : 'b'), 'x'));
      await storage.commit(put(at('last', 'c'), 'x'));
      const seen: string[] = [];
      const remaining: number[] = [];
      let after: { namespace: string; name: string } | undefined;
      do {
        const page = await list({ limit: 10, ...(after === undefined ? {} : { after }) });
        seen.push(...names(page.records));
        remaining.push(page.remaining);
        after = page.remaining > 0 ? page.records.at(-1)!.key : undefined;
      } while (after !== undefined);
      expect(remaining).toEqual([16, 6, 0]);
      expect(seen).toEqual(names((await list()).records));
      expect(seen.length).toBe(26);
      expect((await list({ limit: 5, namespace: 'a' })).remaining).toBe(7);
      expect((await list({ limit: 12, namespace: 'a' })).remaining).toBe(0);
      const rest = await list({ limit: 5, namespace: 'a', after: { namespace: 'a', name: '108' } });
      expect(names(rest.records)).toEqual(['a/109', 'a/110', 'a/111']);
      expect(names((await list({ namespace: 'a', after: { namespace: 'b', name: '' } })).records)).toEqual([]);
      expect((await list({ namespace: 'b', after: { namespace: 'a', name: 'z' } })).records.length).toBe(13);
    });

    it('shows an older revision as it was, also page by page', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await storage.commit(put(at(name), `${name}1`));
      await storage.commit(put(at('b'), 'b2'));
      await storage.commit(remove(at('c'), 'c-last'));
      await storage.commit(put(at('aa'), 'aa1'));
      await storage.commit(put(at('b'), 'b3'));
      await storage.commit(remove(at('aa'), 'aa-last'));
      await storage.commit(put(at('c'), 'c2'));
      const then = async (revision: number, limit?: number, name?: string) => {
        const page = await list({
          revision,
          ...(limit === undefined ? {} : { limit }),
          ...(name === undefined ? {} : { after: { namespace: 'n', name } }),
        });
        expect(page.revision).toBe(revision);
        return [...page.records.map((record) => text(record.value)), page.remaining];
      };
      expect(await then(5)).toEqual(['a1', 'b1', 'c1', 'd1', 'e1', 0]);
      expect(await then(6)).toEqual(['a1', 'b2', 'c1', 'd1', 'e1', 0]);
      expect(await then(8)).toEqual(['a1', 'aa1', 'b2', 'd1', 'e1', 0]);
      expect(await then(8, 2)).toEqual(['a1', 'aa1', 3]);
      expect(await then(8, 2, 'aa')).toEqual(['b2', 'd1', 1]);
      expect(await then(5, 3, 'b')).toEqual(['c1', 'd1', 'e1', 0]);
      expect(await then(2)).toEqual(['a1', 'b1', 0]);
      expect((await list({ revision: 5 })).records[1]?.revision).toBe(2);
      await expect(list({ revision: 12 })).rejects.toThrow(RevisionInFuture);
    });
  });

  describe('watch', () => {
    it('tells every commit after `from`, in order, in a later turn, with the state before', async () => {
      await storage.commit(put(key('a'), 'a1'));
      await storage.commit(put(key('b'), 'b1'));
      await storage.commit(put(key('a'), 'a2'));
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: 1 }, recorder);
      expect(recorder.batches).toEqual([]);
      await turns();
      expect(recorder.lines).toEqual(['2 put n/b b1', '3 put n/a a2 was a1']);
      expect(recorder.batches).toEqual([2]);
      await storage.commit(remove(key('a'), 'a-last'));
      await recorder.until(({ revision }) => revision === 4);
      expect(recorder.lines[2]).toBe('4 delete n/a a-last was a2');
    });

    it('of one name hears of that object alone, from the past and from now on', async () => {
      await storage.commit(put(key('a'), 'one'));
      await storage.commit(put(key('b'), 'one'));
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', name: 'b', from: 0 }, recorder);
      await storage.commit(put(key('a'), 'two'));
      await storage.commit(put(key('b'), 'two'));
      await storage.commit(remove(key('a'), 'last'));
      await storage.commit(remove(key('b'), 'last'));
      await recorder.until(({ seen }) => seen.length === 3);
      expect(recorder.seen.map(({ type, key: { name } }) => `${type} ${name}`)).toEqual(['put b', 'put b', 'delete b']);
    });

    it('hears nothing of other namespaces, resources and planes, but how far it has come', async () => {
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', namespace: 'n', from: 0 }, recorder);
      await turns();
      expect(recorder.batches).toEqual([0]);
      await storage.commit(put(key('a', 'other'), 'x'));
      await storage.commit(put(key('a', 'n', 'g/others'), 'x'));
      await storage.commit(put(key('a', 'n', 'g/things', 'q'), 'x'));
      await storage.commit(put(key('mine'), 'x'));
      await recorder.until(({ seen }) => seen.length > 0);
      expect(recorder.lines).toEqual(['4 put n/mine x']);
      expect(recorder.revision).toBe(4);
    });

    it('commits of one turn come as one batch, and each exactly once while a backlog is under way', async () => {
      const recorder = new Recorder();
      for (let n = 0; n < 5; n += 1) void storage.commit(put(key(`${n}`), 'x'));
      storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
      await recorder.until(({ seen }) => seen.length >= 5);
      await storage.commit(put(key('5'), 'x'));
      await turns();
      expect(recorder.seen.map((event) => event.revision)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(recorder.batches).toContain(5);
    });

    it('is told before the commit resolves, and only what is durable', async () => {
      const order: string[] = [];
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
      await turns();
      storage.onCommit((events) => order.push(...events.map((event) => `heard ${event.revision}`)));
      const one = storage
        .commit(put(key('a'), 'x'))
        .then(() => order.push(`acknowledged, seen ${recorder.seen.length}`));
      expect(order).toEqual([]);
      await one;
      expect(order).toEqual(['heard 1', 'acknowledged, seen 1']);
    });

    it('refuses a revision ahead of the newest, and one that history no longer reaches', async () => {
      await storage.close();
      storage = await fresh({ history: { revisions: 10 } });
      const query = { plane: 'p', resource: 'g/things' };
      expect(() => storage.watch({ ...query, from: 1 }, new Recorder())).toThrow(RevisionInFuture);
      for (let n = 0; n < 30; n += 1) await storage.commit(put(key(`${n}`), 'x'));
      expect(() => storage.watch({ ...query, from: 19 }, new Recorder())).toThrow(RevisionCompacted);
      await expect(storage.list({ ...query, revision: 19 })).rejects.toMatchObject({ oldest: 20 });
      expect((await storage.list({ ...query, revision: 20 })).records.length).toBe(20);
      const recorder = new Recorder();
      storage.watch({ ...query, from: 20 }, recorder);
      await turns();
      expect(recorder.seen.length).toBe(10);
    });

    it('history is bounded by bytes as well', async () => {
      await storage.close();
      storage = await fresh({ history: { bytes: 20_000 } });
      for (let n = 0; n < 30; n += 1) await storage.commit(put(key('a'), 'x'.repeat(1000)));
      await expect(storage.list({ plane: 'p', resource: 'g/things', revision: 10 })).rejects.toThrow(RevisionCompacted);
      await storage.list({ plane: 'p', resource: 'g/things', revision: 20 });
    });

    it('tells an idle watch how far it has come before history leaves it behind', async () => {
      await storage.close();
      storage = await fresh({ history: { revisions: 20 } });
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/idle', from: 0 }, recorder);
      for (let n = 0; n < 100; n += 1) {
        await storage.commit(put(key('a'), 'x'));
        await turns(1);
        expect(storage.revision - recorder.revision).toBeLessThan(20);
      }
    });

    it('says no more once it is closed, and a sink that throws harms nobody', async () => {
      const closed = new Recorder();
      const other = new Recorder();
      const query = { plane: 'p', resource: 'g/things', from: 0 };
      storage.watch(query, closed).close();
      storage.watch(query, { events: () => expect.unreachable(), closed: () => {} });
      storage.watch(query, other);
      await storage.commit(put(key('a'), 'x'));
      await turns();
      expect(closed.batches).toEqual([]);
      expect(other.seen.length).toBe(1);
    });

    it('is told when the store closes', async () => {
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
      const last = storage.commit(put(key('a'), 'x'));
      await storage.close();
      expect(await last).toEqual({ revision: 1 });
      expect(recorder.isClosed).toBe(true);
      await expect(storage.commit(put(key('a'), 'x'))).rejects.toThrow(StorageClosed);
    });
  });

  it('one feed has the commits of all planes, until it is stopped', async () => {
    const heard: string[] = [];
    const listener = (events: readonly StorageEvent[]) => {
      for (const event of events)
        heard.push(`${event.revision} ${event.key.plane} ${event.type} ${text(event.previous?.value)}`);
    };
    const stop = storage.onCommit(listener);
    await storage.commit(put(key('a'), 'one'));
    await storage.commit(put(key('a', 'n', 'ipam/claims', 'q'), 'two'));
    await storage.commit(remove(key('a', 'n', 'ipam/claims', 'q'), 'last'));
    stop();
    await storage.commit(put(key('b'), 'x'));
    expect(heard).toEqual(['1 p put undefined', '2 q put undefined', '3 q delete two']);
  });

  describe('dropPlane', () => {
    it('forgets rows and history of that plane only, and closes its watches', async () => {
      for (const resource of ['g/things', 'ipam/claims']) {
        for (const plane of ['p', 'q'])
          await storage.commit(put(key('a', 'n', resource, plane), `${plane} ${resource}`));
      }
      const before = storage.revision;
      const mine = new Recorder();
      const other = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: before }, mine);
      storage.watch({ plane: 'q', resource: 'g/things', from: before }, other);
      await turns();
      await storage.dropPlane('p');
      expect(mine.isClosed).toBe(true);
      expect(other.isClosed).toBe(false);
      expect(await values('g/things', 'p')).toEqual([]);
      expect(await values('ipam/claims', 'p')).toEqual([]);
      expect(await values('ipam/claims', 'q')).toEqual(['q ipam/claims']);
      expect(await values('g/things', 'q')).toEqual(['q g/things']);
      expect(() => storage.watch({ plane: 'p', resource: 'g/things', from: before }, mine)).toThrow(RevisionCompacted);
      storage.watch({ plane: 'q', resource: 'g/things', from: before }, other);
    });

    it('takes its place in the order of commits', async () => {
      const before = storage.commit(put(key('old'), 'x'));
      const drop = storage.dropPlane('p');
      const again = storage.commit(put(key('old'), 'new', 'absent'));
      const later = storage.commit(put(key('old'), 'newer', 3));
      await Promise.all([before, drop, again, later]);
      expect(await values()).toEqual(['newer']);
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: 2 }, recorder);
      await turns();
      expect(recorder.lines).toEqual(['3 put n/old new', '4 put n/old newer was new']);
    });
  });
}
