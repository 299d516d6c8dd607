import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../../../test/postgres/cluster.ts';
import { BreakingProxy } from '../../../../test/trust/support/breaking-proxy.ts';
import { type Clock, seededRandom, systemClock } from '../../../kube/index.ts';
import { isApiError } from '../../../meta/index.ts';
import type { Storage } from '../storage.ts';
import { key, put, Recorder, text } from '../testing.ts';
import { connectionTo, prepareWriter } from './connection.ts';
import { openPostgresStorage } from './open.ts';
import { schemaVersion, writeLock } from './schema.ts';
import { clashes } from './steps.fixture.ts';
import type { PostgresStorage } from './storage.ts';

/** What may happen to the database, to the way there, and to other servers: nothing is lost, and it is told in one sentence. */

let cluster: Cluster;
let url: string;
let admin: pg.Client;
let open: Storage[];
let fatal: string[];

beforeAll(async () => {
  cluster = await startCluster();
}, 180_000);
afterAll(() => cluster.stop());
beforeEach(async () => {
  url = await cluster.database();
  admin = new pg.Client(url);
  admin.on('error', () => {});
  await admin.connect();
  open = [];
  fatal = [];
});
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()));
  await admin.end();
});

async function server(options: { url?: string; clock?: Clock } = {}): Promise<PostgresStorage> {
  const storage = await openPostgresStorage({
    url,
    clock: systemClock,
    log: () => {},
    procedures: [new URL('./steps.fixture.ts', import.meta.url).href],
    onFatal: (error) => fatal.push(error.message),
    ...options,
  });
  open.push(storage);
  return storage;
}

/** The message of a 503, or what else it was. */
const refusal = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'done',
    (error: unknown) => (isApiError(error) && error.code === 503 ? error.message : error),
  );

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await systemClock.sleep(20);
}

test('servers that start at once on an empty database make its tables once, and all serve', async () => {
  const servers = await Promise.all(Array.from({ length: 5 }, () => server()));
  await Promise.all(servers.map((each, n) => each.commit(put(key(`k-${n}`), 'x', 'absent'))));
  expect((await servers[0]!.list({ plane: 'p', resource: 'g/things' })).records).toHaveLength(5);
});

test('tables of a newer version are refused at the start, and by a server that runs already', async () => {
  const running = await server();
  await admin.query(`UPDATE berth_meta SET value = 7 WHERE key = 'schema/counter'`);
  await expect(server()).rejects.toThrow(
    /^the PostgreSQL database \S+ cannot be used: its tables are of a newer version of Berth \(schema\/counter 7, this one knows 1\): start that version$/,
  );
  expect(await refusal(running.commit(put(key('a'), 'x')))).toContain('newer version of Berth');
  expect(fatal[0]).toContain('newer version of Berth');
  const { rows } = await admin.query('SELECT * FROM berth_live');
  expect(rows).toEqual([]);
});

test('tables of an older version are brought up to date while other servers write', async () => {
  const running = await server();
  let over = false;
  const answers: unknown[] = [];
  const writing = (async () => {
    for (let n = 0; !over; n++) answers.push(await refusal(running.call('add', { key: key(`k-${n % 5}`) })));
  })();
  for (let n = 0; n < 5; n++) {
    await admin.query(`UPDATE berth_meta SET value = 0 WHERE key LIKE 'schema%'`);
    await server();
  }
  over = true;
  await writing;
  expect(new Set(answers)).toEqual(new Set(['done']));
  const { rows } = await admin.query(`SELECT value FROM berth_meta WHERE key = 'schema'`);
  expect(Number(rows[0].value)).toBe(schemaVersion);
});

test('tables that are up to date are not touched by a start: a dump may be reading them', async () => {
  const running = await server();
  await running.call('add', { key: key('a') });
  await admin.query('BEGIN; LOCK TABLE berth_live, berth_log, counter IN ACCESS SHARE MODE');
  const started = await server();
  await started.call('add', { key: key('a') });
  await admin.query('ROLLBACK');
});

test('a database that turns read-only refuses writes with a 503 that says so, answers reads, and is written again after', async () => {
  const storage = await server();
  await storage.commit(put(key('a'), 'one'));
  const readOnly = async (on: boolean) => {
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`);
    await admin.query('SELECT pg_reload_conf()');
  };
  await readOnly(true);
  try {
    await until(async () => (await refusal(storage.commit(put(key('b'), 'x')))) !== 'done');
    expect(await refusal(storage.commit(put(key('c'), 'x')))).toBe(
      'the database does not answer (it is read-only, as a standby is; name the primary); nothing was written',
    );
    expect(text((await storage.get(key('a')))?.value)).toBe('one');
  } finally {
    await admin.query('SET default_transaction_read_only = off');
    await readOnly(false);
  }
  await until(async () => (await refusal(storage.commit(put(key('d'), 'x')))) === 'done');
  expect(await storage.get(key('c'))).toBeUndefined();
});

test('a transaction another one stood in the way of is made again; one that never gets through is a 503', async () => {
  const storage = await server();
  clashes.left = 3;
  expect(await refusal(storage.call('clash', { key: key('a') }))).toBe('done');
  expect(text((await storage.get(key('a')))?.value)).toBe('made');
  clashes.left = 100;
  expect(await refusal(storage.call('clash', { key: key('b') }))).toContain('in the way');
  clashes.left = 0;
  expect(await refusal(storage.call('clash', { key: key('b') }))).toBe('done');
});

test('time is the database’s, the same for every server, whatever its own clock says', async () => {
  const ahead: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  const storage = await server({ clock: ahead });
  await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  const other = await server();
  for (const each of [storage, other]) {
    const { result } = await each.call<{ synchronous: string; now: number; tx: number }>('moment', {});
    expect(Math.abs(result.tx - result.now)).toBeLessThan(5000);
    expect(result.synchronous).toBe('on');
  }
});

test('the connection may be lost at any time: writes say so, no watch skips, and it goes on by itself', async () => {
  const [one, two] = [await server(), await server()];
  const recorder = new Recorder();
  two.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
  let over = false;
  const killing = (async () => {
    while (!over) {
      // Writers, readers and those who wait for notifications alike.
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5`,
      );
      await systemClock.sleep(60);
    }
  })();
  const made: string[] = [];
  for (let n = 0; made.length < 60; n++) {
    const name = `k-${n}`;
    const answer = await refusal((n % 2 === 0 ? one : two).commit(put(key(name), 'x', 'absent')));
    if (answer === 'done') made.push(name);
    else expect(answer).toMatch(/^the database does not answer \(.+\); (nothing was written|whether it was written)/);
  }
  over = true;
  await killing;
  await recorder.until((each) => made.every((name) => each.seen.some((event) => event.key.name === name)));
  const revisions = recorder.seen.map((event) => event.revision);
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
  const { records } = await two.list({ plane: 'p', resource: 'g/things' });
  expect(recorder.seen.map((event) => event.key.name).sort()).toEqual(records.map((each) => each.key.name).sort());
  expect(fatal).toEqual([]);
});

test('a server that is stopped while it holds the lock of all writers loses it within seconds', async () => {
  const storage = await server();
  const stopped = connectionTo(url);
  stopped.on('error', () => {});
  await prepareWriter(stopped);
  await stopped.query('BEGIN');
  await stopped.query(`SELECT pg_advisory_xact_lock(${writeLock})`);
  const from = systemClock.monotonic();
  expect(await refusal(storage.commit(put(key('a'), 'x')))).toBe('done');
  expect(systemClock.monotonic() - from).toBeLessThan(25_000);
});

test('a database that falls silent is not waited for without end: the write is a 503, and the next one goes through', async () => {
  const hasty: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms / 10, run) };
  const storage = await server({ clock: hasty });
  await storage.commit(put(key('a'), 'x'));
  const { rows } = await admin.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT'`,
  );
  process.kill(rows[0].pid, 'SIGSTOP');
  try {
    expect(await refusal(storage.commit(put(key('b'), 'x')))).toMatch(/^the database does not answer/);
    expect(await refusal(storage.commit(put(key('c'), 'x')))).toBe('done');
  } finally {
    process.kill(rows[0].pid, 'SIGCONT');
  }
});

test('while nobody gets through, reads and writes are 503s and the server says that it is not ready; then it goes on', async () => {
  const direct = await server();
  const proxy = new BreakingProxy(seededRandom(1), () => Number(new URL(url).port));
  proxy.breaking = false;
  const through = new URL(url);
  through.port = String(await proxy.listen());
  const storage = await server({ url: through.href });
  const recorder = new Recorder();
  storage.watch({ plane: 'p', resource: 'g/things', from: 0 }, recorder);
  await storage.commit(put(key('a'), 'x'));
  expect(storage.isReachable).toBe(true);
  proxy.down = true;
  await until(() => !storage.isReachable);
  expect(await refusal(storage.commit(put(key('b'), 'x')))).toMatch(
    /^the database does not answer \(.+\); nothing was/,
  );
  expect(await refusal(storage.get(key('a')))).toMatch(/^the database does not answer \(.+\); nothing could be read$/);
  expect(await refusal(storage.list({ plane: 'p', resource: 'g/things' }))).toMatch(/^the database does not answer/);
  await direct.commit(put(key('meanwhile'), 'x'));
  proxy.down = false;
  await recorder.until((each) => each.seen.length === 2);
  expect(recorder.lines).toEqual(['1 put n/a x', '2 put n/meanwhile x']);
  await until(() => storage.isReachable);
  await storage.commit(put(key('c'), 'x'));
  await storage.close();
  await proxy.close();
});

test.each([
  ['has fewer commits', async () => admin.query(`UPDATE berth_meta SET value = 1 WHERE key = 'revision'`)],
  [
    'has others, and more',
    async () => {
      await admin.query(`UPDATE berth_log SET value = 'another' WHERE revision = 3`);
      await admin.query(`UPDATE berth_meta SET value = 9 WHERE key = 'revision'`);
    },
  ],
])('a database that lost what was shown, and %s, ends its servers: they cannot tell their watches', async (_, lose) => {
  const storage = await server();
  for (const name of ['a', 'b', 'c']) await storage.commit(put(key(name), 'x'));
  await lose();
  await until(() => fatal.length > 0);
  expect(fatal[0]).toMatch(/^this server has shown revision 3, and the database does not have it any more/);
});
