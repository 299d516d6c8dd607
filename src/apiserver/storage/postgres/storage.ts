import pg from 'pg';
import type { Clock, Timer } from '../../../kube/index.ts';
import { StorageClosed } from '../errors.ts';
import { Feed } from '../feed.ts';
import type { HistoryLimits } from '../history.ts';
import { checkKey, wholeKey } from '../key.ts';
import type {
  Commit,
  CommitResult,
  ListPage,
  ListQuery,
  ProcedureReads,
  StepProcedure,
  Storage,
  StorageEvent,
  StorageKey,
  StoredRecord,
  WatchQuery,
  WatchSink,
} from '../storage.ts';
import { connectionTo, cut, prepareWriter, query, type Row, silenceMilliseconds } from './connection.ts';
import { isClash, isRefusedStatement, readable, unavailable } from './failures.ts';
import { page } from './lists.ts';
import { Rows, recordOf } from './rows.ts';
import { channel, writeLock } from './schema.ts';
import { PostgresTransaction } from './transaction.ts';

export interface PostgresDeps {
  url: string;
  clock: Clock;
  log: (level: 'info' | 'warn' | 'error', message: string, data?: Record<string, unknown>) => void;
  procedures: ReadonlyMap<string, StepProcedure>;
  reads: ReadonlyMap<string, ProcedureReads>;
  history: HistoryLimits;
  onFatal: (error: Error) => void;
  readers: pg.Pool;
  /** Milliseconds since the Unix epoch, in place of the database's clock. */
  now?: () => number;
  /** Versions of the tables this program knows, by their key in `berth_meta`. */
  schemas: ReadonlyMap<string, number>;
}

interface Job {
  reads: readonly StorageKey[];
  run(transaction: PostgresTransaction): Promise<unknown>;
  resolve(value: { revision: number; result: unknown }): void;
  reject(error: unknown): void;
}

/** A transaction of the database on its way. */
interface Attempt {
  client: pg.Client;
  rows: Rows;
  /** What was sent, with the events that come of it. */
  sent: Promise<StorageEvent[]>[];
  /** How the callers are told, once it is done. */
  settle: (() => void)[];
  /** The newest revision before it, and with it. */
  base: number;
  revision: number;
  stage: 'begun' | 'committing' | 'committed';
}

/** How many commits share one transaction: other servers wait for its lock. */
const batchSize = 64;
/** How often a transaction is made again that another one stood in the way of. */
const mostClashes = 5;
/** A notification may be lost with its connection: the log is looked at anyway. */
const pollMilliseconds = 500;
const reconnectMilliseconds = 250;
const unreachableMilliseconds = 3000;
/** How long closing waits for a database to take leave. */
const leaveMilliseconds = 2000;
/** Revisions between two removals from the log. */
const tidyEvery = 500;
const rowsAtOnce = 5000;

/**
 * A store in PostgreSQL that several servers share. Whoever writes holds an advisory lock from before its revision is
 * assigned until its transaction is visible: revisions become visible in order, so that no watch ever skips one.
 */
export class PostgresStorage implements Storage {
  readonly #deps: PostgresDeps;
  readonly #feed: Feed;
  /** See `ProcedureTransaction`. It is as the tables were at a revision: that of our last transaction. */
  readonly #kept = new Map<string, unknown>();
  #keptAt = 0;
  #writer: Promise<pg.Client> | undefined;
  #listener: pg.Client | undefined;
  #queue: Job[] = [];
  #running: Promise<void> | undefined;
  #scheduled = false;
  #tail: Promise<void> = Promise.resolve();
  #poll: Timer | undefined;
  /** A look at the log is waiting for its turn: one more would see nothing else. */
  #looking = false;
  /** The last event shown: a database that has another one at its revision is not the one it was seen in. */
  #last: StorageEvent | undefined;
  /** When the log could last be read, by the monotonic clock. */
  #readAt: number;
  #closed = false;

  constructor(deps: PostgresDeps, newest: number, horizon: number) {
    this.#deps = deps;
    this.#feed = new Feed({ ...deps, packerOf: () => undefined }, newest, horizon);
    this.#readAt = deps.clock.monotonic();
  }

  /** Fills the history with what the log holds, and follows it from then on. */
  async start(): Promise<void> {
    const newest = this.#feed.visible;
    const { rows } = await query(
      this.#deps.readers,
      'SELECT * FROM berth_log WHERE revision > ? AND revision <= ? ORDER BY revision, seq',
      [Math.max(this.#feed.history.horizon, newest - this.#feed.history.revisions), newest],
    );
    for (const event of rows.map(eventOf)) {
      this.#feed.history.add(this.#feed.collection(event.key), event);
      this.#last = event;
    }
    this.#feed.history.trim(newest);
    await this.#listen();
    this.#pollSoon();
  }

  get revision(): number {
    return this.#feed.visible;
  }

  /** Whether the database has answered within the last seconds. */
  get isReachable(): boolean {
    return this.#deps.clock.monotonic() - this.#readAt < unreachableMilliseconds;
  }

  commit(commit: Commit): Promise<CommitResult> {
    try {
      const seen = new Set<string>();
      for (const { key } of [...(commit.puts ?? []), ...(commit.deletes ?? [])]) {
        checkKey(key);
        if (seen.has(wholeKey(key))) {
          const { plane, resource, namespace, name } = key;
          throw new TypeError(
            `one commit writes ${plane} ${resource} ${namespace}/${name} twice: it may write a key once`,
          );
        }
        seen.add(wholeKey(key));
      }
    } catch (error) {
      return Promise.reject(error);
    }
    const reads = (commit.preconditions ?? []).map(({ key }) => key);
    return this.#enqueue(reads, (transaction) => transaction.commit(commit)).then(({ revision }) => ({ revision }));
  }

  call<R>(procedure: string, argument: unknown): Promise<CommitResult & { result: R }> {
    const step = this.#deps.procedures.get(procedure);
    if (step === undefined) return Promise.reject(new Error(`the store has no procedure ${procedure}`));
    const reads = this.#deps.reads.get(procedure)?.(argument) ?? [];
    return this.#enqueue(reads, (transaction) => transaction.run(step, argument)) as Promise<
      CommitResult & { result: R }
    >;
  }

  async get(key: StorageKey): Promise<StoredRecord | undefined> {
    this.#checkOpen();
    const { rows } = await readable(
      query(
        this.#deps.readers,
        'SELECT revision, value FROM berth_live WHERE plane = ? AND resource = ? AND namespace = ? AND name = ?',
        [key.plane, key.resource, key.namespace, key.name],
      ),
    );
    if (rows[0] === undefined) return undefined;
    const record = recordOf(key, rows[0]);
    await this.#reach(record.revision);
    return record;
  }

  /** What is judged here was read from the database, where only what is durable shows. */
  async settled(): Promise<void> {}

  async list(list: ListQuery): Promise<ListPage> {
    this.#checkOpen();
    if (list.revision !== undefined) {
      await this.#reach(list.revision);
      this.#feed.checkReach(list.plane, list.revision);
    }
    const found = await readable(page(this.#deps.readers, list));
    // A watch goes on from here: what this server shows must have come as far.
    await this.#reach(found.revision);
    return found;
  }

  watch(watch: WatchQuery, sink: WatchSink): { close(): void } {
    this.#checkOpen();
    return this.#feed.watch(watch, sink);
  }

  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void {
    return this.#feed.onCommit(listener);
  }

  async dropPlane(plane: string): Promise<void> {
    await this.#enqueue([], (transaction) => transaction.dropPlane(plane));
  }

  backup(): Promise<void> {
    return Promise.reject(new Error('a store in PostgreSQL is backed up with pg_dump'));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    while (this.#running !== undefined || this.#queue.length > 0) {
      await this.#running;
      await new Promise<void>((resolve) => this.#deps.clock.soon(resolve));
    }
    this.#closed = true;
    this.#poll?.cancel();
    await this.#tail;
    this.#feed.end(this.#feed.visible);
    const left = Promise.allSettled([
      this.#writer?.then((client) => client.end()),
      this.#listener?.end(),
      this.#deps.readers.end(),
    ]);
    const silent = new Promise<void>((resolve) => {
      const timer = this.#deps.clock.after(leaveMilliseconds, resolve);
      left.then(() => timer.cancel());
    });
    await Promise.race([left, silent]);
  }

  #enqueue(reads: Job['reads'], run: Job['run']): Promise<{ revision: number; result: unknown }> {
    return new Promise((resolve, reject) => {
      try {
        this.#checkOpen();
      } catch (error) {
        return reject(error);
      }
      this.#queue.push({ reads, run, resolve, reject });
      if (this.#scheduled || this.#running !== undefined) return;
      this.#scheduled = true;
      this.#deps.clock.soon(() => {
        this.#scheduled = false;
        this.#flush();
      });
    });
  }

  #flush(): void {
    if (this.#running !== undefined || this.#queue.length === 0) return;
    const jobs = this.#queue.splice(0, batchSize);
    this.#running = this.#write(jobs).finally(() => {
      this.#running = undefined;
      this.#flush();
    });
  }

  /** One transaction of the database for all `jobs`, each in its own savepoint. */
  async #write(jobs: readonly Job[], clashes = 0): Promise<void> {
    let client: pg.Client;
    try {
      client = await this.#connect();
    } catch (error) {
      for (const job of jobs) job.reject(unavailable(error, 'nothing was written'));
      return;
    }
    const attempt: Attempt = {
      client,
      rows: new Rows(client),
      sent: [],
      settle: [],
      base: 0,
      revision: 0,
      stage: 'begun',
    };
    const silence = this.#deps.clock.after(silenceMilliseconds, () => cut(client));
    try {
      await this.#perform(jobs, attempt);
      attempt.stage = 'committing';
      await this.#finish(attempt);
    } catch (error) {
      if (attempt.stage !== 'committed') return this.#failed(jobs, attempt, error, clashes);
      // It is written, and shown as soon as the log can be read.
      this.#deps.log('warn', 'the log in PostgreSQL cannot be read; it is tried again', { error: String(error) });
    } finally {
      silence.cancel();
    }
    for (const done of attempt.settle) done();
  }

  async #failed(jobs: readonly Job[], { client, stage }: Attempt, error: unknown, clashes: number): Promise<void> {
    this.#kept.clear();
    if (isClash(error) && clashes < mostClashes) {
      await query(client, 'ROLLBACK', []).catch(() => {});
      return this.#write(jobs, clashes + 1);
    }
    if (isRefusedStatement(error)) return this.#separate(jobs, client, error);
    this.#writer = undefined;
    cut(client);
    // A database that answers with an error has taken everything back.
    const known =
      stage === 'begun' || error instanceof pg.DatabaseError
        ? 'nothing was written'
        : 'whether it was written is not known: read before it is repeated';
    for (const job of jobs) job.reject(unavailable(error, known));
  }

  /** Statements go out one after the other; an answer is waited for only where a job needs it. */
  async #perform(jobs: readonly Job[], attempt: Attempt): Promise<void> {
    const { client, rows } = attempt;
    const asked = [
      // What is read must be what was there when the lock was had, whatever the database's own setting.
      query(client, 'BEGIN ISOLATION LEVEL READ COMMITTED', []),
      query(client, `SELECT pg_advisory_xact_lock(${writeLock})`, []),
      query(client, readState, []),
      rows.fetch(jobs.flatMap((job) => job.reads)),
    ] as const;
    const state = new Map((await Promise.all(asked))[2].rows.map((row) => [row.key as string, Number(row.value)]));
    const base = state.get('revision')!;
    this.#checkState(base, state);
    const now = this.#deps.now?.() ?? state.get('now')!;
    // Another server has written since: what was read before may not be so.
    if (base !== this.#keptAt) this.#kept.clear();
    attempt.base = base;
    attempt.revision = base;
    for (const [number, job] of jobs.entries()) {
      const revision = attempt.revision + 1;
      const moment = { revision, now, kept: this.#kept };
      const transaction = new PostgresTransaction(client, rows, number, moment);
      try {
        const result = await job.run(transaction);
        this.#send(attempt, transaction.keep());
        attempt.revision = revision;
        attempt.settle.push(() => job.resolve({ revision, result }));
      } catch (error) {
        if (error instanceof pg.DatabaseError) throw await transaction.failure(error);
        if (transaction.wrote) this.#kept.clear();
        this.#send(
          attempt,
          transaction.takeBack().then(() => []),
        );
        attempt.settle.push(() => job.reject(error));
      }
    }
  }

  async #finish(attempt: Attempt): Promise<void> {
    const { client, base, revision } = attempt;
    const last: Promise<unknown>[] = [];
    if (revision > base) {
      this.#send(attempt, attempt.rows.flush());
      last.push(query(client, `UPDATE berth_meta SET value = ? WHERE key = 'revision'`, [revision]));
      if (Math.floor(revision / tidyEvery) > Math.floor(base / tidyEvery)) {
        const horizon = Math.max(0, revision - this.#feed.history.revisions);
        last.push(
          query(client, `UPDATE berth_meta SET value = greatest(value, ?) WHERE key = 'horizon'`, [horizon]),
          query(client, 'DELETE FROM berth_log WHERE revision <= ?', [horizon]),
        );
      }
      last.push(query(client, `NOTIFY ${channel}`, []));
    }
    last.push(query(client, 'COMMIT', []));
    // A statement that failed has the database answer everything after it with a failure, and take it all back.
    const [events] = await Promise.all([inOrder(attempt.sent), Promise.allSettled(last)]);
    await Promise.all(last);
    attempt.stage = 'committed';
    this.#keptAt = revision;
    await this.#shown(
      base,
      revision,
      events.flat().sort((a, b) => a.revision - b.revision),
    );
  }

  /** A database that is not the one this server was made for, or has shown, is served no longer. */
  #checkState(newest: number, state: ReadonlyMap<string, number>): void {
    for (const [key, version] of this.#deps.schemas) {
      if ((state.get(key) ?? 0) > version) this.#end(newerSchema(key, state.get(key)!, version));
    }
    if (newest < this.#feed.visible) this.#end(goneBack(this.#feed.visible));
  }

  #end(message: string): never {
    const error = new Error(message);
    this.#deps.onFatal(error);
    throw error;
  }

  /** Remembers what must have been answered before the transaction may count as made. */
  #send(attempt: Attempt, events: Promise<StorageEvent[]>): void {
    events.catch(() => {});
    attempt.sent.push(events);
  }

  /** The database refused a statement, and with it the transaction: whose it was is found out one by one. */
  async #separate(jobs: readonly Job[], client: pg.Client, error: unknown): Promise<void> {
    await query(client, 'ROLLBACK', []).catch(() => {});
    if (jobs.length === 1) jobs[0]!.reject(error);
    else for (const job of jobs) await this.#write([job]);
  }

  /** Shows a transaction of ours: at once where nobody else wrote in between, else by the log. */
  #shown(base: number, revision: number, events: readonly StorageEvent[]): Promise<void> {
    return this.#follow(async () => {
      if (this.#feed.visible === base) {
        this.#show(events, revision);
      } else {
        await this.#readLog();
      }
    });
  }

  /** Resolves once everything up to `revision` is visible here. */
  #reach(revision: number): Promise<void> {
    if (revision <= this.#feed.visible) return Promise.resolve();
    return this.#follow(async () => {
      if (revision > this.#feed.visible) await this.#readLog();
    });
  }

  /** One after the other: what is shown is shown in order. */
  #follow(work: () => Promise<void>): Promise<void> {
    const next = this.#tail.then(work);
    this.#tail = next.catch(() => {});
    return next;
  }

  async #readLog(): Promise<void> {
    for (;;) {
      const { key, revision: at = -1, value = new Uint8Array() } = this.#last ?? {};
      const last = [key?.plane ?? '', key?.resource ?? '', key?.namespace ?? '', key?.name ?? '', value, at];
      const { rows } = await readable(query(this.#deps.readers, readLog, [...last, this.#feed.visible]));
      const first = rows[0]!;
      this.#readAt = this.#deps.clock.monotonic();
      if (Number(first.newest) < this.#feed.visible || first.diverged) this.#end(goneBack(this.#feed.visible));
      if (Number(first.horizon) > this.#feed.visible) {
        this.#end(
          `this server is at revision ${this.#feed.visible} and the database's log starts at ${first.horizon}: it was away for too long and must be started again`,
        );
      }
      const logged = rows.filter((row) => row.plane !== null).map(eventOf);
      const whole = rows.length < rowsAtOnce;
      // The last revision of a part may not be all there.
      const newest = whole ? Number(first.newest) : logged.at(-1)!.revision - 1;
      this.#show(
        logged.filter((event) => event.revision <= newest),
        newest,
      );
      if (whole) return;
    }
  }

  #show(events: readonly StorageEvent[], revision: number): void {
    if (revision <= this.#feed.visible) return;
    this.#feed.visible = revision;
    for (const event of events) {
      if (event.key.resource === '') this.#dropNow(event.key.plane, event.revision);
      else this.#feed.show(this.#feed.collection(event.key), event);
      this.#last = event;
    }
    this.#feed.tell();
  }

  #dropNow(plane: string, revision: number): void {
    this.#feed.dropped(plane, revision);
    this.#feed.end(revision, plane);
    this.#feed.forget(new Set([plane]));
  }

  #connect(): Promise<pg.Client> {
    if (this.#writer !== undefined) return this.#writer;
    const client = connectionTo(this.#deps.url);
    const writer = prepareWriter(client).then(() => client);
    const lost = () => {
      if (this.#writer === writer) this.#writer = undefined;
    };
    client.on('error', (error) => {
      this.#deps.log('warn', 'the connection for writing to PostgreSQL is lost', { error: error.message });
      lost();
    });
    writer.catch(() => {
      lost();
      cut(client);
    });
    this.#writer = writer;
    return writer;
  }

  async #listen(): Promise<void> {
    const client = connectionTo(this.#deps.url);
    const again = () => {
      if (this.#closed || this.#listener !== client) return;
      this.#listener = undefined;
      this.#deps.clock.after(reconnectMilliseconds, () => {
        if (!this.#closed) this.#listen().catch(again);
      });
    };
    this.#listener = client;
    client.on('error', again);
    client.on('end', again);
    client.on('notification', () => this.#lookNow());
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
    } catch (error) {
      this.#deps.log('warn', 'PostgreSQL cannot be listened to; the log is polled', {
        error: (error as Error).message,
      });
      again();
    }
  }

  #lookNow(): void {
    if (this.#closed || this.#looking) return;
    this.#looking = true;
    const look = () => {
      this.#looking = false;
      return this.#closed ? Promise.resolve() : this.#readLog();
    };
    this.#follow(look).catch((error: Error) => {
      this.#deps.log('warn', 'the log in PostgreSQL cannot be read; it is tried again', { error: error.message });
    });
  }

  #pollSoon(): void {
    this.#poll = this.#deps.clock.after(pollMilliseconds, () => {
      if (this.#closed) return;
      this.#lookNow();
      this.#pollSoon();
    });
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageClosed('the store is closed');
  }
}

/** Revision and versions, and the one clock that all servers share, in milliseconds since the Unix epoch. */
const readState = `SELECT key, value FROM berth_meta
  UNION ALL SELECT 'now', (extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** What the log says after a revision, and whether it has, where the last event shown was, only others. */
const readLog = `SELECT m.revision AS newest, m.horizon, d.diverged, g.* FROM
    (SELECT max(value) FILTER (WHERE key = 'revision') AS revision,
            max(value) FILTER (WHERE key = 'horizon') AS horizon FROM berth_meta) m
  CROSS JOIN (SELECT count(*) > 0 AND NOT bool_or(plane = ? AND resource = ? AND namespace = ? AND name = ? AND value = ?)
      AS diverged FROM berth_log WHERE revision = ?) d
  LEFT JOIN (SELECT * FROM berth_log WHERE revision > ? ORDER BY revision, seq LIMIT ${rowsAtOnce}) g ON true
  ORDER BY g.revision, g.seq`;

function goneBack(revision: number): string {
  return `this server has shown revision ${revision}, and the database does not have it any more, as after a failover that lost commits or a restored backup: it must be started again, and what was acknowledged since may be lost`;
}

export function newerSchema(key: string, found: number, known: number): string {
  return `its tables are of a newer version of Berth (${key} ${found}, this one knows ${known}): start that version`;
}

/** What a row of the log tells. */
function eventOf(row: Row): StorageEvent {
  const key = {
    plane: row.plane as string,
    resource: row.resource as string,
    namespace: row.namespace as string,
    name: row.name as string,
  };
  const previous = row.previous as Uint8Array | null;
  return {
    type: (row.deleted as unknown as boolean) ? 'delete' : 'put',
    key,
    revision: Number(row.revision),
    value: row.value as Uint8Array,
    ...(previous === null ? {} : { previous: { key, revision: Number(row.previous_revision), value: previous } }),
  };
}

/** What they resolve to; rejects with the first failure in their order: after it the database refuses everything. */
async function inOrder<T>(sent: readonly Promise<T>[]): Promise<T[]> {
  const results: T[] = [];
  for (const each of sent) results.push(await each);
  return results;
}
