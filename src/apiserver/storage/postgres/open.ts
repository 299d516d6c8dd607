import type { Clock } from '../../../kube/index.ts';
import { StorageOpenError } from '../errors.ts';
import type { HistoryLimits } from '../history.ts';
import type { ProcedureReads, StepProcedure, Storage } from '../storage.ts';
import { connectionTo, query, readersOf } from './connection.ts';
import { schema, schemaLock } from './schema.ts';
import { PostgresStorage } from './storage.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  url: string;
  clock: Clock;
  log: (level: 'info' | 'warn' | 'error', message: string, data?: Record<string, unknown>) => void;
  /** File URLs of modules that export `steps` and `postgresSchema` (see `StepProcedure`). */
  procedures: readonly string[];
  history?: HistoryLimits;
  /** This server can no longer show the truth: it was away longer than the log reaches back. Expected to end the process. */
  onFatal: (error: Error) => void;
}

/**
 * Opens the store in a PostgreSQL database (15 or newer), making its tables where they are not there. Rejects with
 * `StorageOpenError`, one sentence that says what to do.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const procedures = new Map<string, StepProcedure>();
  const reads = new Map<string, ProcedureReads>();
  let schemas = schema;
  for (const url of options.procedures) {
    const module = (await import(url)) as {
      steps?: Record<string, StepProcedure>;
      reads?: Record<string, ProcedureReads>;
      postgresSchema?: string;
    };
    if (module.steps === undefined || module.postgresSchema === undefined) {
      throw new TypeError(`${url} must export \`steps\` and \`postgresSchema\``);
    }
    schemas += module.postgresSchema;
    for (const [name, step] of Object.entries(module.steps)) procedures.set(name, step);
    for (const [name, read] of Object.entries(module.reads ?? {})) reads.set(name, read);
  }
  const shown = withoutPassword(options.url);
  const { newest, horizon } = await prepare(options.url, schemas).catch((error: Error) => {
    throw new StorageOpenError(`the PostgreSQL database ${shown} cannot be used: ${reasonOf(error)}`);
  });
  const readers = readersOf(options.url);
  readers.on('error', (error) => options.log('warn', 'a connection to PostgreSQL is lost', { error: error.message }));
  const { url, clock, log, onFatal, history = {} } = options;
  const storage = new PostgresStorage(
    { url, clock, log, procedures, reads, history, onFatal, readers },
    newest,
    horizon,
  );
  await storage.start();
  return storage;
}

async function prepare(url: string, schemas: string): Promise<{ newest: number; horizon: number }> {
  const client = connectionTo(url);
  await client.connect();
  try {
    const { rows: version } = await query(client, 'SHOW server_version_num', []);
    if (Number(version[0]!.server_version_num) < 150_000) throw new Error('it is older than PostgreSQL 15');
    await client.query('BEGIN');
    // Servers that start at once would make the same tables.
    await client.query(`SELECT pg_advisory_xact_lock(${schemaLock})`);
    await client.query(schemas);
    const { rows } = await query(client, 'SELECT key, value FROM berth_meta', []);
    await client.query('COMMIT');
    const value = (key: string) => Number(rows.find((row) => row.key === key)?.value ?? 0);
    return { newest: value('revision'), horizon: value('horizon') };
  } finally {
    await client.end();
  }
}

function withoutPassword(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return 'named by --store';
  }
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ECONNREFUSED') return 'nothing listens there; start PostgreSQL, or correct the address';
  if (error.code === '28P01' || error.code === '28000') return 'it refuses the user or password';
  if (error.code === '3D000') return 'there is no such database; create it';
  return error.message;
}
