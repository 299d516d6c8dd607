import pg from 'pg';
import type { SqlValue } from '../storage.ts';

export type Row = Record<string, SqlValue>;

const types: pg.CustomTypesConfig = {
  // Every BIGINT here counts revisions, blocks or milliseconds: far below 2^53.
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** How long a database that says nothing is waited for: its host may be gone without a word. */
const connectMilliseconds = 5000;
export const silenceMilliseconds = 30_000;

/** A connection whose statements are sent without waiting for the answers to those before. */
export function connectionTo(url: string): pg.Client {
  return new pg.Client({
    connectionString: url,
    types,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectMilliseconds,
  } as pg.ClientConfig);
}

export function readersOf(url: string): pg.Pool {
  return new pg.Pool({
    connectionString: url,
    types,
    max: 4,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectMilliseconds,
    query_timeout: silenceMilliseconds,
    verify: (client, done) => {
      checkPrimary(client).then(
        () => done(),
        (error: Error) => done(error),
      );
    },
  } as pg.PoolConfig);
}

/** A standby answers reads with what was true some time ago. @throws where this is one. */
export async function checkPrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby) throw Object.assign(new Error('it is read-only'), { code: '25006' });
}

/** Every statement of a commit looks up few rows by their key, in tables that may have grown a thousandfold since its plan was
 * made: it is planned once, and never to read a whole table. */
const planning = `SET plan_cache_mode = force_generic_plan; SET jit = off;
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;`;

/**
 * Whoever writes holds the lock all others wait for: a server that falls silent in the midst of it, stopped or cut off, loses it
 * and its transaction within seconds.
 */
const yielding = `SET idle_in_transaction_session_timeout = '10s'; SET tcp_keepalives_idle = 5;
  SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000;`;

/** What is acknowledged is on disk, whatever the database's own setting: where that asks for more, it stays. */
const durable = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;

/** Ends a connection at once, without a word to a database that may not hear it. */
export function cut(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Makes a new connection one to write by. @throws where the database is a standby. */
export async function prepareWriter(client: pg.Client): Promise<void> {
  await client.connect();
  await checkPrimary(client);
  await client.query(`${planning} ${yielding} ${durable}`);
}

const prepared = new Map<string, { name: string; text: string }>();

/** The statement with `$1` in place of `?`, under a name by which the server keeps its plan. */
export function statement(sql: string): { name: string; text: string } {
  let found = prepared.get(sql);
  if (found === undefined) {
    let parameter = 0;
    found = { name: `berth_${prepared.size}`, text: sql.replaceAll('?', () => `$${++parameter}`) };
    prepared.set(sql, found);
  }
  return found;
}

const gathering = new WeakSet<object>();

/** Statements of one turn leave as one run of bytes: a system call for each, or a list of pieces, would cost more than the statement. */
function gather(client: pg.Client): void {
  if (gathering.has(client)) return;
  const { stream } = (client as unknown as { connection: { stream: { write(bytes: Buffer): boolean } } }).connection;
  const parts: Buffer[] = [];
  gathering.add(client);
  stream.write = (bytes) => {
    parts.push(bytes);
    return true;
  };
  process.nextTick(() => {
    gathering.delete(client);
    // What stands in for the method of the stream's class goes.
    Reflect.deleteProperty(stream, 'write');
    stream.write(Buffer.concat(parts));
  });
}

export async function query(
  on: pg.Client | pg.Pool,
  sql: string,
  values: readonly SqlValue[],
): Promise<{ rows: Row[]; changes: number }> {
  if (on instanceof pg.Client) gather(on);
  const { rows, rowCount } = await on.query({ ...statement(sql), values: values as SqlValue[] });
  return { rows: rows as Row[], changes: rowCount ?? 0 };
}
