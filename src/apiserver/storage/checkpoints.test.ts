import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../kube/index.ts';
import { Checkpoints } from './checkpoints.ts';
import { openDatabase } from './database.ts';
import { temporaryFolder } from './testing.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const pageSize = 4096;

function opened(name: string, entry?: URL) {
  const file = join(folder.path, name);
  const { database, close } = openDatabase(file);
  database.exec('CREATE TABLE filler (n INTEGER PRIMARY KEY, bytes BLOB)');
  const checkpoints = new Checkpoints(database, file, entry);
  const look = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  const insert = database.prepare('INSERT OR REPLACE INTO filler VALUES (?, zeroblob(?))');
  return {
    database,
    /** One commit of `pages` pages, from the `from`-th on. */
    commit(from: number, pages: number) {
      database.exec('BEGIN');
      // A row of half a page and more has a page of its own.
      for (let n = from; n < from + pages; n++) insert.run(n, 3000);
      database.exec('COMMIT');
      checkpoints.committed();
    },
    /** How many pages the database has without its log. */
    inDatabase: () => statSync(file).size / pageSize,
    /** How many pages of the log are still to be moved. */
    waiting() {
      const { log, checkpointed } = look.get() as { log: number; checkpointed: number };
      return log - checkpointed;
    },
    inLog: () => statSync(`${file}-wal`).size / (pageSize + 24),
    async close() {
      await checkpoints.close();
      close();
      const after = new DatabaseSync(file, { readOnly: true });
      const { rows } = after.prepare('SELECT count(*) AS rows FROM filler').get() as { rows: number };
      const sound = after.prepare('PRAGMA integrity_check').get()?.integrity_check;
      after.close();
      return { rows, sound };
    },
  };
}

it('pages move into the database while nobody commits, and the log is written from its start again', async () => {
  const store = opened('moving');
  store.commit(0, 2000);
  store.commit(2000, 2100);
  await vi.waitFor(() => expect(store.inDatabase()).toBeGreaterThan(4100));
  for (let n = 0; n < 50; n++) {
    store.commit(n * 500, 500);
    await vi.waitFor(() => expect(store.waiting()).toBeLessThan(4000), { interval: 1 });
  }
  expect(store.inDatabase()).toBeGreaterThan(20_000);
  // More than 29,000 pages were written. It starts again where it has 12,000 and all of them have been moved.
  expect(store.inLog()).toBeLessThan(17_000);
  expect(await store.close()).toEqual({ rows: 25_000, sound: 'ok' });
});

it('where the thread fails, commits move pages themselves', async () => {
  const failing = join(folder.path, 'failing.mjs');
  writeFileSync(failing, `throw new Error('no thread today')`);
  const store = opened('failing', pathToFileURL(failing));
  store.commit(0, 4100);
  await vi.waitFor(() =>
    expect(store.database.prepare('PRAGMA wal_autocheckpoint').get()).toEqual({ wal_autocheckpoint: 1000 }),
  );
  store.commit(4100, 10);
  expect(store.inDatabase()).toBeGreaterThan(4100);
  expect(await store.close()).toEqual({ rows: 4110, sound: 'ok' });
});

it('a thread that cannot move anything, because somebody reads what is older, is asked once for each commit', async () => {
  const asked = join(folder.path, 'asked');
  const blocked = join(folder.path, 'blocked.mjs');
  writeFileSync(asked, '');
  writeFileSync(
    blocked,
    `import { appendFileSync } from 'node:fs';
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (request) => {
      if (request === 'close') return parentPort.close();
      appendFileSync(${JSON.stringify(asked)}, 'x');
      parentPort.postMessage(false);
    });`,
  );
  const store = opened('blocked', pathToFileURL(blocked));
  const times = () => readFileSync(asked, 'utf8').length;
  for (let n = 1; n <= 3; n++) {
    store.commit((n - 1) * 4100, 4100);
    await vi.waitFor(() => expect(times()).toBe(n));
    await systemClock.sleep(50);
    expect(times()).toBe(n);
  }
  expect(await store.close()).toEqual({ rows: 12_300, sound: 'ok' });
});
