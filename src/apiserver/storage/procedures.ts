import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { checkRow, wholeKey } from './key.ts';
import type { Found, Log } from './log.ts';
import type { CommittedRow, Row } from './protocol.ts';
import type { Procedure, ProcedureTransaction, SqlValue, StorageKey, StoredRecord } from './storage.ts';

/** What files of an older version have, and nothing reads or fills any more. A module may export a list: `outdated`. */
type Outdated = { table: string; column: string; index?: undefined } | { index: string };

/** Reads the modules named by `urls` and creates their tables. Throws when two modules name the same procedure. */
export async function loadProcedures(database: DatabaseSync, urls: readonly string[]): Promise<Map<string, Procedure>> {
  const all = new Map<string, Procedure>();
  for (const url of urls) {
    const module = (await import(url)) as { schema?: unknown; procedures?: unknown; outdated?: Outdated[] };
    if (typeof module.schema !== 'string' || typeof module.procedures !== 'object' || module.procedures === null) {
      throw new TypeError(`${url} must export \`schema\` (SQL text) and \`procedures\` (functions by name)`);
    }
    database.exec(`BEGIN IMMEDIATE; ${module.schema};`);
    for (const each of module.outdated ?? []) dropOutdated(database, each);
    database.exec('COMMIT');
    for (const [name, procedure] of Object.entries(module.procedures)) {
      if (all.has(name)) throw new TypeError(`procedure ${name} is there twice, the second time in ${url}`);
      all.set(name, procedure as Procedure);
    }
  }
  return all;
}

function dropOutdated(database: DatabaseSync, outdated: Outdated): void {
  if (outdated.index !== undefined) {
    database.exec(`DROP INDEX IF EXISTS ${outdated.index}`);
    return;
  }
  const { table, column } = outdated;
  const there = database.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column);
  if (there !== undefined) database.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
}

const controlsTransaction =
  /^\s*(begin|commit|end|rollback|savepoint|release|attach|detach|vacuum|pragma|create|drop|alter)\b/i;
const reads = /^\s*(select|with)\b/i;
const writing = new Map<string, boolean>();

/** Whether a statement writes. Throws for one that is not a procedure's to run. */
function writes(sql: string): boolean {
  let known = writing.get(sql);
  if (known === undefined) {
    if (controlsTransaction.test(sql)) {
      throw new Error(
        `a procedure reads and writes rows; its tables belong in \`schema\`, the transaction to the store: ${sql}`,
      );
    }
    known = !reads.test(sql);
    writing.set(sql, known);
  }
  return known;
}

/** What one call of a procedure sees. Its rows are buffered, and written to the log by the caller once it has succeeded. */
export class Transaction implements ProcedureTransaction {
  readonly revision: number;
  readonly now: number;
  readonly kept: Map<string, unknown>;
  readonly #log: Log;
  readonly #rows = new Map<string, Row>();
  readonly #found = new Map<string, Found | null>();
  #over = false;
  #wrote = false;

  constructor(log: Log, revision: number, now: number, kept: Map<string, unknown>) {
    this.#log = log;
    this.kept = kept;
    this.revision = revision;
    this.now = now;
  }

  /** Whether it has changed a table. */
  get wrote(): boolean {
    return this.#wrote;
  }

  /** Ends it: a procedure that kept hold of it can do nothing more. */
  end(): void {
    this.#over = true;
  }

  /** Ends it, and writes its rows to the log, each key once. Answers those that changed something. */
  finish(): CommittedRow[] {
    this.end();
    const committed: CommittedRow[] = [];
    for (const [id, row] of this.#rows) {
      const written = this.#log.write(row, this.revision, true, this.#found.get(id));
      if (written !== undefined) committed.push(written);
    }
    return committed;
  }

  get(key: StorageKey): StoredRecord | undefined {
    this.#check();
    const id = wholeKey(key);
    const row = this.#rows.get(id);
    if (row === undefined) {
      const found = this.#log.find(key);
      this.#found.set(id, found ?? null);
      return found === undefined ? undefined : { key, revision: found.revision, value: found.value };
    }
    return row.deleted ? undefined : { key, revision: this.revision, value: row.value };
  }

  put(key: StorageKey, value: Uint8Array): void {
    this.#check();
    checkRow(key, value);
    this.#rows.set(wholeKey(key), { key, deleted: false, value });
  }

  delete(key: StorageKey, lastValue: Uint8Array): void {
    this.#check();
    checkRow(key, lastValue);
    this.#rows.set(wholeKey(key), { key, deleted: true, value: lastValue });
  }

  all(sql: string, ...parameters: SqlValue[]): Record<string, SqlValue>[] {
    return this.#statement(sql).all(...parameters) as Record<string, SqlValue>[];
  }

  one(sql: string, ...parameters: SqlValue[]): Record<string, SqlValue> | undefined {
    return this.#statement(sql).get(...parameters) as Record<string, SqlValue> | undefined;
  }

  run(sql: string, ...parameters: SqlValue[]): { changes: number } {
    return { changes: Number(this.#statement(sql).run(...parameters).changes) };
  }

  #statement(sql: string): StatementSync {
    this.#check();
    if (writes(sql)) this.#wrote = true;
    return this.#log.prepared(sql);
  }

  #check(): void {
    if (this.#over)
      throw new Error('the transaction of this procedure is over: a procedure must do its work before it returns');
  }
}
