import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../../../test/postgres/cluster.ts';
import { systemClock } from '../../../kube/index.ts';
import { StorageOpenError } from '../errors.ts';
import { PreconditionFailed, RevisionCompacted, RevisionInFuture, type Storage } from '../storage.ts';
import { bytes, key, names, put, Recorder, remove, text } from '../testing.ts';
import { testStorage } from '../testing-suite.ts';
import { openPostgresStorage } from './open.ts';

let cluster: Cluster;
let url: string;
let open: Storage[];

beforeAll(async () => {
  cluster = await startCluster();
}, 180_000);
afterAll(() => cluster.stop());
beforeEach(async () => {
  url = await cluster.database();
  open = [];
});
afterEach(() => Promise.all(open.map((each) => each.close())));

async function server(history = {}): Promise<Storage> {
  const storage = await openPostgresStorage({
    url,
    clock: systemClock,
    log: () => {},
    procedures: [new URL('./steps.fixture.ts', import.meta.url).href],
    history,
    onFatal: (error) => {
      throw error;
    },
  });
  open.push(storage);
  return storage;
}

testStorage((options) => server(options?.history));

const all = (storage: Storage, query: object = {}) => storage.list({ plane: 'p', resource: 'g/things', ...query });

test('commits are all or nothing, judged by preconditions, numbered in the order they are made', async () => {
  const storage = await server();
  const results = await Promise.all([
    storage.commit(put(key('a'), 'one', 'absent')),
    storage.commit({ puts: [{ key: key('b'), encode: (revision) => bytes(`at ${revision}`) }] }),
    storage.commit(put(key('a'), 'two', 'absent')).catch((error: unknown) => error),
    storage.commit(put(key('a'), 'three', 1)),
  ]);
  expect(results).toEqual([{ revision: 1 }, { revision: 2 }, expect.any(PreconditionFailed), { revision: 3 }]);
  expect(results[2]).toMatchObject({ actual: 1, key: key('a') });
  const page = await all(storage);
  expect(page.records.map((record) => [record.key.name, record.revision, text(record.value)])).toEqual([
    ['a', 3, 'three'],
    ['b', 2, 'at 2'],
  ]);
  expect(page.revision).toBe(3);
  const refused = storage.commit({
    preconditions: [{ key: key('none'), revision: 7 }],
    puts: [{ key: key('c'), encode: () => bytes('c') }],
    deletes: [{ key: key('a'), encode: () => bytes('last') }],
  });
  await expect(refused).rejects.toMatchObject({ actual: 'absent' });
  await storage.commit(remove(key('a'), 'last', 3));
  expect(await storage.get(key('a'))).toBeUndefined();
  expect(names((await all(storage)).records)).toEqual(['n/b']);
  await expect(storage.commit(put(key('a\0b'), 'x'))).rejects.toThrow('name of a storage key has NUL');
  const same = { key: key('x'), encode: () => bytes('x') };
  await expect(storage.commit({ puts: [same, same] })).rejects.toThrow('twice');
});

test('lists are in order, by page, of one namespace, and as they were at a revision', async () => {
  const storage = await server();
  const at = (name: string, namespace: string) => key(name, namespace);
  for (const each of [at('b', 'z'), at('a', 'z'), at('c', 'a-'), at('c', 'a'), at('z', ''), at('A', 'a')]) {
    await storage.commit(put(each, 'x'));
  }
  expect(names((await all(storage)).records)).toEqual(['/z', 'a/A', 'a/c', 'a-/c', 'z/a', 'z/b']);
  expect(names((await all(storage, { namespace: 'a' })).records)).toEqual(['a/A', 'a/c']);
  const first = await all(storage, { limit: 2 });
  expect([names(first.records), first.remaining, first.revision]).toEqual([['/z', 'a/A'], 4, 6]);
  await storage.commit(remove(at('c', 'a'), 'last'));
  await storage.commit(put(at('a', 'z'), 'changed'));
  await storage.commit(put(at('new', 'a'), 'x'));
  const next = await all(storage, { limit: 3, after: { namespace: 'a', name: 'A' }, revision: 6 });
  expect([names(next.records), next.remaining]).toEqual([['a/c', 'a-/c', 'z/a'], 1]);
  expect(text(next.records[2]!.value)).toBe('x');
  await expect(all(storage, { revision: 99 })).rejects.toThrow(RevisionInFuture);
});

test('a procedure that throws leaves nothing; one that does not is one commit', async () => {
  const storage = await server();
  const at = key('count');
  const results = await Promise.allSettled([
    storage.call('add', { key: at }),
    storage.call('add', { key: at, fail: true }),
    storage.call('add', { key: at }),
  ]);
  expect(results).toMatchObject([
    { status: 'fulfilled', value: { revision: 1, result: 1 } },
    { status: 'rejected', reason: { code: 409 } },
    { status: 'fulfilled', value: { revision: 2, result: 2 } },
  ]);
  expect(text((await storage.get(at))?.value)).toBe('2@2');
  await expect(storage.call('nothing', {})).rejects.toThrow('no procedure nothing');
});

test('a statement the database refuses fails its own call, and no other of its transaction', async () => {
  const storage = await server();
  const recorder = new Recorder();
  storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
  const calls = [{ key: key('a') }, { key: key('b'), nothing: true }, { key: key('a') }, { key: key('c'), fail: true }];
  const results = await Promise.allSettled([
    ...calls.map((argument) => storage.call('add', argument)),
    storage.commit(put(key('d'), 'd', 'absent')),
  ]);
  expect(results.map((each) => (each.status === 'fulfilled' ? each.value : String(each.reason)))).toEqual([
    { revision: 1, result: 1 },
    expect.stringContaining('violates not-null constraint'),
    { revision: 2, result: 2 },
    expect.stringContaining('refused after its statements'),
    { revision: 3 },
  ]);
  await recorder.until((each) => each.seen.length === 3);
  expect(recorder.lines).toEqual(['1 put n/a 1@1', '2 put n/a 2@2 was 1@1', '3 put n/d d']);
  expect(names((await all(storage)).records)).toEqual(['n/a', 'n/d']);
});

test('commits of one transaction that write the same keys, and drop their plane, are told of one after the other', async () => {
  const storage = await server();
  await storage.commit(put(key('a'), 'old'));
  const recorder = new Recorder();
  storage.watch({ plane: 'p', resource: 'g/things', from: 1 }, recorder);
  const other = { plane: 'q', resource: 'g/things', namespace: 'n', name: 'a' };
  const results = await Promise.allSettled([
    storage.commit(put(key('a'), 'one', 1)),
    storage.commit(remove(key('a'), 'gone', 2)),
    storage.commit(remove(key('a'), 'again')),
    storage.commit(put(key('a'), 'two', 2)),
    storage.commit(put(key('a'), 'three', 'absent')),
    storage.commit(put(other, 'other')),
    storage.dropPlane('q'),
    storage.commit(put(other, 'new', 'absent')),
    storage.commit(put(key('a'), 'four', 5)),
  ]);
  expect(results.map((each) => each.status)).toEqual([
    ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    ...['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
  ]);
  await recorder.until((each) => each.seen.length === 4);
  expect(recorder.lines).toEqual([
    '2 put n/a one was old',
    '3 delete n/a gone was one',
    '5 put n/a three',
    '9 put n/a four was three',
  ]);
  expect(text((await storage.get(other))?.value)).toBe('new');
  const again = await server();
  expect(text((await again.get(key('a')))?.value)).toBe('four');
  const late = new Recorder();
  again.watch({ plane: 'p', resource: 'g/things', from: 1 }, late);
  await late.until((each) => each.seen.length === 4);
  expect(late.lines).toEqual(recorder.lines);
});

test('what one server commits every other one shows, in order, with what was there before', async () => {
  const [one, two] = [await server(), await server()];
  const recorder = new Recorder();
  const heard: number[] = [];
  two.onCommit((events) => heard.push(...events.map((event) => event.revision)));
  two.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
  await one.commit(put(key('a'), 'one'));
  await two.commit(put(key('a'), 'two', 1));
  await one.commit(remove(key('a'), 'last'));
  await one.commit(put(key('b'), 'other', 'absent'));
  await recorder.until((each) => each.seen.length === 4);
  expect(recorder.lines).toEqual([
    '1 put n/a one',
    '2 put n/a two was one',
    '3 delete n/a last was two',
    '4 put n/b other',
  ]);
  expect(heard).toEqual([1, 2, 3, 4]);
  // What was read on one server can be watched from on the other.
  await one.commit(put(key('c'), 'x'));
  expect((await all(two)).revision).toBe(5);
});

test('many writers on three servers: each watch sees every revision once, in order, and none is skipped', async () => {
  const servers = [await server(), await server(), await server()];
  const recorders = servers.map((each) => {
    const recorder = new Recorder();
    each.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
    return recorder;
  });
  const count = 300;
  const revisions = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { revision } = await servers[n % 3]!.commit(put(key(`k-${n}`), 'x', 'absent'));
      return revision;
    }),
  );
  const expected = Array.from({ length: count }, (_, n) => n + 1);
  expect(revisions.sort((a, b) => a - b)).toEqual(expected);
  for (const recorder of recorders) {
    await recorder.until((each) => each.seen.length === count);
    expect(recorder.seen.map((event) => event.revision)).toEqual(expected);
  }
});

test('a watch from before the history is refused, on a server that has just started too', async () => {
  const storage = await server({ revisions: 10 });
  for (let n = 0; n < 520; n++) void storage.commit(put(key('a'), `${n}`));
  await storage.commit(put(key('a'), 'last'));
  const watching = () => storage.watch({ plane: 'p', resource: 'g/things', from: 400 }, new Recorder());
  expect(watching).toThrow(RevisionCompacted);
  const fresh = await server({ revisions: 10 });
  expect(() => fresh.watch({ plane: 'p', resource: 'g/things', from: 400 }, new Recorder())).toThrow(RevisionCompacted);
  const recorder = new Recorder();
  fresh.watch({ plane: 'p', resource: 'g/things', from: 518 }, recorder);
  await recorder.until((each) => each.seen.length === 3);
  expect(recorder.seen.map((event) => event.revision)).toEqual([519, 520, 521]);
});

test('a plane that is dropped is gone on every server; its watches end', async () => {
  const [one, two] = [await server(), await server()];
  await one.commit(put(key('a'), 'x'));
  await one.commit(put(key('a', 'n', 'g/things', 'other'), 'x'));
  const recorder = new Recorder();
  two.watch({ plane: 'p', resource: 'g/things', from: two.revision }, recorder);
  await one.dropPlane('p');
  await recorder.until((each) => each.isClosed);
  expect((await all(two)).records).toEqual([]);
  expect(await two.get(key('a', 'n', 'g/things', 'other'))).toBeDefined();
});

test('a database that dies: what was acknowledged is there, and the servers go on by themselves', async () => {
  const storage = await server();
  const recorder = new Recorder();
  storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
  const acknowledged: string[] = [];
  let n = 0;
  let crash: Promise<void> | undefined;
  const writer = async () => {
    while (acknowledged.length < 300) {
      const name = `k-${n++}`;
      try {
        await storage.commit(put(key(name), 'x', 'absent'));
        acknowledged.push(name);
      } catch (error) {
        expect(error).toMatchObject({ code: 503 });
        await systemClock.sleep(5);
      }
      if (acknowledged.length > 60) crash ??= cluster.crash();
    }
  };
  await Promise.all([writer(), writer(), writer(), writer()]);
  await crash;
  const there = new Set((await all(storage)).records.map((record) => record.key.name));
  expect(acknowledged.filter((name) => !there.has(name))).toEqual([]);
  await recorder.until((each) => acknowledged.every((name) => each.seen.some((event) => event.key.name === name)));
}, 180_000);

test.each([
  ['postgres://berth@127.0.0.1:1/x', 'nothing listens there'],
  ['postgres://berth@127.0.0.1:1/x?y', '127.0.0.1:1/x'],
])('a store that cannot be opened says why in one sentence', async (wrong, why) => {
  url = wrong;
  const error = await server().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StorageOpenError);
  expect((error as Error).message).toContain(why);
});
