import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { Engine } from './engine.ts';
import { RevisionCompacted, type StorageEvent } from './storage.ts';
import { key, names, open, put, Recorder, remove, temporaryFolder, text, turns } from './testing.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe.each(['inline', 'worker'] as const)('storage reopened (%s)', (host) => {
  const fileOf = (name: string) => join(folder.path, `${host}-${name}`);

  it('has every record and every revision it had', async () => {
    const file = fileOf('records');
    let storage = await open(file, host);
    await storage.commit(put(key('a'), 'a1'));
    await storage.commit(put(key('b', 'm', 'ipam/claims', 'q'), 'b1'));
    await storage.commit(put(key('a'), 'a2'));
    await storage.commit(put(key('c'), 'c1'));
    await storage.commit(remove(key('c'), 'c-last'));
    await storage.call('lease', { name: 'x' });
    await storage.close();
    storage = await open(file, host);
    expect(storage.revision).toBe(6);
    expect(text((await storage.get(key('a')))?.value)).toBe('a2');
    expect((await storage.get(key('a')))?.revision).toBe(3);
    expect(await storage.get(key('c'))).toBeUndefined();
    expect(text((await storage.get(key('b', 'm', 'ipam/claims', 'q')))?.value)).toBe('b1');
    expect((await storage.call('leases', {})).result).toEqual([{ name: 'x', number: 1 }]);
    const then = await storage.list({ plane: 'p', resource: 'g/things', revision: 4 });
    expect(then.records.map((record) => `${record.revision} ${text(record.value)}`)).toEqual(['3 a2', '4 c1']);
    await storage.close();
  });

  it('keeps what it holds to its owner, whatever the mask of the process', async () => {
    const file = fileOf('private');
    const storage = await open(file, host);
    await storage.commit(put(key('a'), 'secret'));
    const modes = ['', '-wal', '-shm', '.lock'].map((end) => (statSync(`${file}${end}`).mode & 0o777).toString(8));
    expect(modes).toEqual(['600', '600', '600', '600']);
    await storage.close();
  });

  it('a watch resumes with nothing missing and nothing twice, and knows the state before', async () => {
    const file = fileOf('watch');
    const committed: string[] = [];
    const seen: string[] = [];
    const line = (event: StorageEvent) =>
      `${event.revision} ${event.type} ${event.key.name} ${text(event.value)} was ${text(event.previous?.value)}`;
    let last = 0;
    for (let round = 0; round < 6; round += 1) {
      const storage = await open(file, host, { history: { revisions: 60 } });
      expect(storage.revision).toBe(round * 30);
      storage.onCommit((events) => committed.push(...events.map(line)));
      const recorder = new Recorder();
      storage.watch({ plane: 'p', resource: 'g/things', from: last }, recorder);
      for (let n = 0; n < 30; n += 1) {
        const at = key(`${(n * 7) % 11}`);
        const done = storage.commit(n % 5 === 4 ? remove(at, `last ${round}.${n}`) : put(at, `${round}.${n}`));
        if (n % 3 === 0) await done;
        // Goes away in the middle of what is being written, and comes back in the next round.
        if (n === 20) {
          seen.push(...recorder.seen.splice(0).map(line));
          last = recorder.revision;
        }
      }
      await storage.close();
    }
    const storage = await open(file, host, { history: { revisions: 60 } });
    const recorder = new Recorder();
    storage.watch({ plane: 'p', resource: 'g/things', from: last }, recorder);
    await turns();
    seen.push(...recorder.seen.map(line));
    expect(seen).toEqual(committed);
    expect(() => storage.watch({ plane: 'p', resource: 'g/things', from: 100 }, recorder)).toThrow(RevisionCompacted);
    await storage.close();
  });

  it('what comes in many parts is all there, with the state before of what changed, however far back that was written', async () => {
    const file = fileOf('parts');
    const history = { revisions: 150 };
    const value = (n: number, what: string) => `${what} of ${n} ${'x'.repeat(9000)}`;
    const name = (n: number) => `${n}`.padStart(3, '0');
    let storage = await open(file, host, { history });
    for (let n = 0; n < 200; n += 1) void storage.commit(put(key(name(n)), value(n, 'first')));
    for (let n = 0; n < 200; n += 20) void storage.commit(put(key(name(n)), value(n, 'second')));
    for (let n = 5; n < 200; n += 20) void storage.commit(remove(key(name(n)), value(n, 'last')));
    await storage.commit(put(key('q', 'n', 'ipam/claims'), 'not kept in memory'));
    await storage.close();
    storage = await open(file, host, { history, freshBytes: 2 ** 16 });
    const { records } = await storage.list({ plane: 'p', resource: 'g/things' });
    expect(records.map((record) => `${record.key.name} ${record.revision} ${text(record.value)}`)).toEqual(
      Array.from({ length: 200 }, (_, n) => n)
        .filter((n) => n % 20 !== 5)
        .map((n) =>
          n % 20 === 0
            ? `${name(n)} ${201 + n / 20} ${value(n, 'second')}`
            : `${name(n)} ${n + 1} ${value(n, 'first')}`,
        ),
    );
    const recorder = new Recorder();
    storage.watch({ plane: 'p', resource: 'g/things', from: 200 }, recorder);
    await turns();
    expect(
      recorder.seen.map(({ type, key, value, previous }) => [type, key.name, text(value), text(previous?.value)]),
    ).toEqual(
      Array.from({ length: 20 }, (_, n) =>
        n < 10
          ? ['put', name(n * 20), value(n * 20, 'second'), value(n * 20, 'first')]
          : ['delete', name((n - 10) * 20 + 5), value((n - 10) * 20 + 5, 'last'), value((n - 10) * 20 + 5, 'first')],
      ),
    );
    await storage.close();
  });

  it('the revision never goes back, whatever was the last thing that happened', async () => {
    const file = fileOf('revision');
    const last = [
      (storage: Awaited<ReturnType<typeof open>>) => storage.commit({}),
      (storage: Awaited<ReturnType<typeof open>>) => storage.call('leases', {}),
      (storage: Awaited<ReturnType<typeof open>>) => storage.commit(remove(key('gone'), 'last')),
      (storage: Awaited<ReturnType<typeof open>>) => storage.dropPlane('p'),
      async (storage: Awaited<ReturnType<typeof open>>) => {
        await storage.commit(put(key('a'), 'x'));
        await storage.commit(remove(key('a'), 'x'));
        for (let n = 0; n < 200; n += 1) await storage.call('leases', {});
      },
    ];
    let newest = 0;
    for (const happen of last) {
      const storage = await open(file, host, { history: { revisions: 2 } });
      expect(storage.revision).toBe(newest);
      await happen(storage);
      newest = storage.revision;
      await storage.close();
    }
    const storage = await open(file, host);
    expect(storage.revision).toBe(newest);
    expect((await storage.commit(put(key('a'), 'x'))).revision).toBe(newest + 1);
    await storage.close();
  });

  it('a dropped plane stays empty, its old watches cannot resume, its rows go', async () => {
    const file = fileOf('dropped');
    let storage = await open(file, host);
    for (let n = 0; n < 600; n += 1) void storage.commit(put(key(`${n}`), 'x'.repeat(500)));
    await storage.commit(put(key('kept', 'n', 'g/things', 'q'), 'kept'));
    const before = storage.revision;
    await storage.dropPlane('p');
    await storage.close();
    storage = await open(file, host);
    const query = { plane: 'p', resource: 'g/things' };
    expect((await storage.list(query)).records).toEqual([]);
    expect(() => storage.watch({ ...query, from: before }, new Recorder())).toThrow(RevisionCompacted);
    await storage.commit(put(key('new'), 'new'));
    for (let n = 0; n < 10; n += 1) await storage.commit(put(key('kept', 'n', 'g/things', 'q'), `kept ${n}`));
    await storage.close();
    storage = await open(file, host, { history: { revisions: 1 } });
    expect(names((await storage.list(query)).records)).toEqual(['n/new']);
    for (let n = 0; n < 20; n += 1) {
      for (let m = 0; m < 70; m += 1) void storage.commit(put(key('kept', 'n', 'g/things', 'q'), `kept ${m}`));
      await storage.commit({});
    }
    await storage.close();
    const database = new DatabaseSync(file, { readOnly: true });
    expect(database.prepare('SELECT count(*) AS n FROM store_live').get()?.n).toBe(2);
    expect(database.prepare('SELECT count(*) AS n FROM store_log').get()?.n).toBeLessThan(300);
    expect(database.prepare('SELECT count(*) AS n FROM store_collection').get()?.n).toBe(2);
    database.close();
  });

  it('churn does not make the file grow', async () => {
    const file = fileOf('churn');
    const storage = await open(file, host, { history: { revisions: 500 } });
    const churn = async (rounds: number) => {
      for (let round = 0; round < rounds; round += 1) {
        for (let n = 0; n < 499; n += 1) void storage.commit(put(key(`${n % 50}`), 'x'.repeat(1400)));
        await storage.commit(put(key('50'), 'x'.repeat(1400)));
      }
    };
    await churn(16);
    // 550 values of 1.4 KB are needed; 8,000 were written.
    expect(statSync(file).size).toBeLessThan(4 * 2 ** 20);
    expect(statSync(`${file}-wal`).size).toBeLessThan(65 * 2 ** 20);
    await storage.close();
    expect(statSync(file).size).toBeLessThan(4 * 2 ** 20);
  });
});

it('is loaded in order and in parts of a quarter of a MiB, whatever there is', async () => {
  const file = join(folder.path, 'in-parts');
  const storage = await open(file, 'inline');
  for (let n = 0; n < 200; n += 1) void storage.commit(put(key(`${n}`), 'x'.repeat(9000)));
  for (let n = 0; n < 50; n += 1) void storage.commit(put(key(`${n}`), 'y'.repeat(9000)));
  await storage.commit({});
  await storage.close();
  const engine = await Engine.open({ file, procedures: [] });
  const parts = [...engine.load(new Set())];
  engine.close();
  const ids = parts.flat().map((entry) => entry.id);
  expect(ids).toEqual(Array.from({ length: 250 }, (_, n) => n + 1));
  const sizes = parts.map((part) => part.reduce((bytes, entry) => bytes + entry.value.byteLength, 0));
  expect(Math.max(...sizes)).toBeLessThan(2 ** 18 + 9000);
  expect(parts.flat().filter((entry) => entry.live)).toHaveLength(200);
});
