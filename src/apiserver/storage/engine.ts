import type { Status } from '../../meta/index.ts';
import { Checkpoints } from './checkpoints.ts';
import { explained, type OpenedDatabase, openDatabase, sqliteCode } from './database.ts';
import { Housekeeping } from './housekeeping.ts';
import { wholeKey } from './key.ts';
import { Log } from './log.ts';
import { loadProcedures, Transaction } from './procedures.ts';
import type {
  Batch,
  BatchOutcome,
  CommittedRow,
  EngineOptions,
  LoadedEntry,
  Opened,
  Operation,
  Outcome,
  Range,
  RangeQuery,
} from './protocol.ts';
import type { Precondition, Procedure, StorageKey, StoredRecord } from './storage.ts';

/** SQLite's results after which nothing of the transaction can be relied on: no memory, I/O, damaged, full, no database. */
const fatalCodes = new Set([7, 10, 11, 13, 26]);

interface Performed {
  outcome: Outcome;
  /** Entries added to the log. */
  rows: number;
  /** Whether the caller is told its revision. */
  acknowledged: boolean;
}

/** Owns the database: runs batches of operations, one transaction each. Everything in it is synchronous. */
export class Engine {
  readonly #opened: OpenedDatabase;
  readonly #file: string;
  readonly #log: Log;
  readonly #housekeeping: Housekeeping;
  readonly #procedures: Map<string, Procedure>;
  /** See `ProcedureTransaction`: nobody but this engine writes to the database. */
  readonly #kept = new Map<string, unknown>();
  #revision: number;
  #batches = 0;
  #dataVersion: number;
  /**
   * Keys whose state the front end could not foresee: written by a procedure, or not written by a refused commit. Kept
   * until everything judged in ignorance of them has been run.
   */
  #surprises: { batch: number; keys: Set<string> }[] = [];

  /** Throws `StorageOpenError` (see `openDatabase`), or what loading a module of procedures throws. */
  static async open(options: EngineOptions): Promise<Engine> {
    const opened = openDatabase(options.file);
    try {
      const procedures = await loadProcedures(opened.database, options.procedures);
      return new Engine(options.file, opened, procedures);
    } catch (error) {
      opened.close();
      throw explained(error, options.file);
    }
  }

  private constructor(file: string, opened: OpenedDatabase, procedures: Map<string, Procedure>) {
    this.#file = file;
    this.#opened = opened;
    this.#procedures = procedures;
    this.#log = new Log(opened.database);
    this.#housekeeping = new Housekeeping(this.#log);
    this.#revision = this.#log.revision();
    this.#dataVersion = this.#readDataVersion();
  }

  /** Whoever has a thread to spare for it moves the log's pages into the database. */
  checkpoints(): Checkpoints {
    return new Checkpoints(this.#opened.database, this.#file);
  }

  opened(): Opened {
    try {
      return this.#log.opened();
    } catch (error) {
      throw explained(error, this.#file);
    }
  }

  /** See `Log.load`. */
  *load(uncached: ReadonlySet<string>): Generator<LoadedEntry[], void> {
    try {
      yield* this.#log.load(uncached);
    } catch (error) {
      throw explained(error, this.#file);
    }
  }

  /** Runs a batch and makes it durable. Throws only what is fatal: then nothing of the batch is acknowledged. */
  run(batch: Batch): BatchOutcome {
    const { database } = this.#opened;
    while (this.#surprises[0] !== undefined && this.#surprises[0].batch <= batch.seen) this.#surprises.shift();
    this.#batches += 1;
    this.#log.prepared('BEGIN IMMEDIATE').run();
    try {
      if (this.#readDataVersion() !== this.#dataVersion) {
        throw new Error(`${this.#file} was changed by another program while it was open`);
      }
      let rows = 0;
      let floor = 0;
      const outcomes: Outcome[] = [];
      for (const operation of batch.operations) {
        const outcome = this.#perform(operation);
        outcomes.push(outcome.outcome);
        rows += outcome.rows;
        if (outcome.rows > 0) floor = 0;
        else if (outcome.acknowledged) floor = (operation as { revision: number }).revision;
        if (outcome.acknowledged) this.#revision = (operation as { revision: number }).revision;
      }
      // A revision that left no entry behind is remembered otherwise, so that no other commit ever gets it again.
      if (floor > 0) this.#log.setMeta('floor', floor);
      const garbage = this.#housekeeping.step(rows, Math.min(batch.horizon, this.#revision));
      this.#log.prepared('COMMIT').run();
      return { outcomes, garbage };
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw explained(error, this.#file);
    }
  }

  get(key: StorageKey): StoredRecord | undefined {
    return this.#log.get(key);
  }

  range(query: RangeQuery): Range {
    return this.#log.range(query);
  }

  count(query: RangeQuery): number {
    return this.#log.count(query);
  }

  /** A copy by the connection itself: for a database in memory, which no other connection can read. */
  copyInto(file: string): void {
    this.#opened.database.prepare('VACUUM INTO ?').run(file);
  }

  close(): void {
    if (this.#opened.database.isOpen) this.#opened.close();
  }

  #perform(operation: Operation): Performed {
    switch (operation.kind) {
      case 'commit':
        return this.#commit(operation);
      case 'call':
        return this.#call(operation);
      case 'drop':
        this.#log.drop(operation.plane, operation.revision);
        this.#housekeeping.dropped();
        return { outcome: { kind: 'committed' }, rows: 0, acknowledged: true };
      case 'get': {
        const record = this.#log.get(operation.key);
        return {
          outcome: record === undefined ? { kind: 'got' } : { kind: 'got', record },
          rows: 0,
          acknowledged: false,
        };
      }
    }
  }

  #commit(operation: Extract<Operation, { kind: 'commit' }>): Performed {
    const failed = this.#failing(operation.judge, false) ?? this.#failing(operation.recheck, true);
    if (failed !== undefined) {
      this.#surprise(operation.rows.map((row) => row.key));
      return { outcome: { kind: 'refused', ...failed }, rows: 0, acknowledged: false };
    }
    const told: CommittedRow[] = [];
    let rows = 0;
    for (const row of operation.rows) {
      const committed = this.#log.write(row, operation.revision, row.uncached === true);
      if (committed === undefined) continue;
      rows += 1;
      if (row.uncached) told.push(committed);
    }
    const outcome: Outcome = told.length === 0 ? { kind: 'committed' } : { kind: 'committed', rows: told };
    return { outcome, rows, acknowledged: true };
  }

  #failing(
    preconditions: readonly Precondition[] | undefined,
    onlySurprises: boolean,
  ): { key: StorageKey; actual: number | 'absent' } | undefined {
    if (preconditions === undefined || (onlySurprises && this.#surprises.length === 0)) return undefined;
    for (const { key, revision } of preconditions) {
      if (onlySurprises && !this.#isSurprise(key)) continue;
      const actual = this.#log.revisionOf(key);
      if (actual !== revision) return { key, actual };
    }
    return undefined;
  }

  #call(operation: Extract<Operation, { kind: 'call' }>): Performed {
    const procedure = this.#procedures.get(operation.procedure);
    if (procedure === undefined) {
      const message = `the store has no procedure ${operation.procedure}`;
      return { outcome: { kind: 'threw', message }, rows: 0, acknowledged: false };
    }
    const transaction = new Transaction(this.#log, operation.revision, operation.now, this.#kept);
    let result: unknown;
    this.#log.prepared('SAVEPOINT procedure').run();
    try {
      result = procedure(transaction, operation.argument);
      if (result instanceof Promise) {
        result.catch(() => {});
        throw new TypeError(`procedure ${operation.procedure} answered a promise: it must be synchronous`);
      }
    } catch (error) {
      transaction.end();
      if (transaction.wrote) this.#kept.clear();
      // SQLite itself ends the transaction when the disk fails it: what came before in this batch is gone as well.
      if (fatalCodes.has(sqliteCode(error) ?? 0) || !this.#opened.database.isTransaction) throw error;
      this.#log.prepared('ROLLBACK TO procedure').run();
      this.#log.prepared('RELEASE procedure').run();
      return { outcome: threw(error), rows: 0, acknowledged: false };
    }
    this.#log.prepared('RELEASE procedure').run();
    const rows = transaction.finish();
    this.#surprise(rows.map((row) => row.key));
    return { outcome: { kind: 'called', rows, result }, rows: rows.length, acknowledged: true };
  }

  #surprise(keys: readonly StorageKey[]): void {
    if (keys.length === 0) return;
    const last = this.#surprises.at(-1);
    const known = last?.batch === this.#batches ? last.keys : new Set<string>();
    if (last?.keys !== known) this.#surprises.push({ batch: this.#batches, keys: known });
    for (const key of keys) known.add(wholeKey(key));
  }

  #isSurprise(key: StorageKey): boolean {
    const text = wholeKey(key);
    return this.#surprises.some(({ keys }) => keys.has(text));
  }

  /** Changes when, and only when, another connection has written. */
  #readDataVersion(): number {
    return this.#log.prepared('PRAGMA data_version').get()!.data_version as number;
  }
}

function threw(error: unknown): Outcome {
  const { message, stack, status } = (typeof error === 'object' && error !== null ? error : {}) as {
    message?: unknown;
    stack?: unknown;
    status?: unknown;
  };
  return {
    kind: 'threw',
    message: typeof message === 'string' ? message : String(error),
    ...(typeof stack === 'string' ? { stack } : {}),
    ...(typeof status === 'object' && status !== null ? { status: status as Status } : {}),
  };
}
