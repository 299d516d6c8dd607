import type pg from 'pg';
import type { Clock } from '../../../kube/index.ts';
import { StorageOpenError } from '../errors.ts';
import type { HistoryLimits } from '../history.ts';
import type { ProcedureReads, StepProcedure } from '../storage.ts';
import { checkPrimary, connectionTo, query, readersOf } from './connection.ts';
import { reasonOf } from './failures.ts';
import { schema, schemaLock, schemaVersion, writeLock } from './schema.ts';
import { newerSchema, PostgresStorage } from './storage.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  url: string;
  clock: Clock;
  log: (level: 'info' | 'warn' | 'error', message: string, data?: Record<string, unknown>) => void;
  /** File URLs of modules that export `steps`, `postgresSchema` and `schemaVersion` (see `StepProcedure`). */
  procedures: readonly string[];
  history?: HistoryLimits;
  /** Milliseconds since the Unix epoch. Default: the database's clock, which all its servers share. */
  now?: () => number;
  /** This server can no longer show the truth: it was away longer than the log reaches back, or the database lost what it showed.
   * Expected to end the process.
   */
  onFatal: (error: Error) => void;
}

/**
 * Opens the store in a PostgreSQL database (15 or newer), making its tables where they are not there. Rejects with
 * `StorageOpenError`, one sentence that says what to do.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<PostgresStorage> {
  const procedures = new Map<string, StepProcedure>();
  const reads = new Map<string, ProcedureReads>();
  const schemas: Schema[] = [{ key: 'schema', text: schema, version: schemaVersion }];
  for (const url of options.procedures) {
    const module = (await import(url)) as {
      steps?: Record<string, StepProcedure>;
      reads?: Record<string, ProcedureReads>;
      postgresSchema?: Omit<Schema, 'key'> & { name: string };
    };
    if (module.steps === undefined || module.postgresSchema === undefined) {
      throw new TypeError(`${url} must export \`steps\` and \`postgresSchema\``);
    }
    const { name, text, version } = module.postgresSchema;
    schemas.push({ key: `schema/${name}`, text, version });
    for (const [name, step] of Object.entries(module.steps)) procedures.set(name, step);
    for (const [name, read] of Object.entries(module.reads ?? {})) reads.set(name, read);
  }
  const shown = withoutPassword(options.url);
  const { newest, horizon } = await prepare(options.url, schemas).catch((error: Error) => {
    throw new StorageOpenError(`the PostgreSQL database ${shown} cannot be used: ${reasonOf(error)}`);
  });
  const readers = readersOf(options.url);
  readers.on('error', (error) => options.log('warn', 'a connection to PostgreSQL is lost', { error: error.message }));
  const { url, clock, log, onFatal, now, history = {} } = options;
  const versions = new Map(schemas.map(({ key, version }) => [key, version]));
  const storage = new PostgresStorage(
    { url, clock, log, procedures, reads, history, onFatal, readers, schemas: versions, ...(now && { now }) },
    newest,
    horizon,
  );
  try {
    await storage.start();
  } catch (error) {
    await storage.close();
    throw new StorageOpenError(`the PostgreSQL database ${shown} cannot be used: ${reasonOf(error)}`);
  }
  return storage;
}

/** Tables somebody keeps in the database. */
interface Schema {
  /** Where their version is in `berth_meta`. */
  key: string;
  /** Makes them, or brings those of an older version up to date. */
  text: string;
  /** Raised with every change of `text`. */
  version: number;
}

async function prepare(url: string, schemas: readonly Schema[]): Promise<{ newest: number; horizon: number }> {
  const client = connectionTo(url);
  try {
    await client.connect();
    const { rows: version } = await query(client, 'SHOW server_version_num', []);
    if (Number(version[0]!.server_version_num) < 150_000) throw new Error('it is older than PostgreSQL 15');
    await checkPrimary(client);
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    // Servers that start at once would make the same tables.
    await client.query(`SELECT pg_advisory_xact_lock(${schemaLock})`);
    const found = await readMeta(client);
    const outdated = schemas.filter(({ key, version }) => found.get(key) !== version);
    for (const { key, version } of outdated) {
      const there = found.get(key);
      if (there !== undefined && there > version) throw new Error(newerSchema(key, there, version));
    }
    if (outdated.length > 0) {
      // Nobody writes meanwhile: tables are locked in another order here.
      await client.query(`SELECT pg_advisory_xact_lock(${writeLock})`);
      for (const { key, text, version } of outdated) {
        await client.query(text);
        await query(
          client,
          'INSERT INTO berth_meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
          [key, version],
        );
      }
    }
    const meta = await readMeta(client);
    await client.query('COMMIT');
    return { newest: meta.get('revision') ?? 0, horizon: meta.get('horizon') ?? 0 };
  } finally {
    await client.end().catch(() => {});
  }
}

/** Empty where there are no tables yet. */
async function readMeta(client: pg.Client): Promise<Map<string, number>> {
  const { rows: there } = await query(client, `SELECT to_regclass('berth_meta') IS NOT NULL AS there`, []);
  if (!there[0]!.there) return new Map();
  const { rows } = await query(client, 'SELECT key, value FROM berth_meta', []);
  return new Map(rows.map((row) => [row.key as string, Number(row.value)]));
}

function withoutPassword(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return 'named by --store';
  }
}
