import type pg from 'pg';
import { checkRow, wholeKey } from '../key.ts';
import {
  type Commit,
  PreconditionFailed,
  type ProcedureOperation,
  type SqlValue,
  type StepProcedure,
  type StorageEvent,
  type StorageKey,
  type StoredRecord,
} from '../storage.ts';
import { query, type Row } from './connection.ts';

const where = 'plane = ? AND resource = ? AND namespace = ? AND name = ?';
const keyOf = ({ plane, resource, namespace, name }: StorageKey) => [plane, resource, namespace, name];

// One statement each: what was there before goes into the log beside what is there now.
const putRow = `WITH key AS (SELECT ?::text AS plane, ?::text AS resource, ?::text AS namespace, ?::text AS name),
  new AS (SELECT ?::bigint AS revision, ?::integer AS seq, ?::bytea AS value),
  old AS (SELECT l.revision, l.value FROM berth_live l JOIN key USING (plane, resource, namespace, name)),
  live AS (INSERT INTO berth_live (plane, resource, namespace, name, revision, value)
    SELECT key.plane, key.resource, key.namespace, key.name, new.revision, new.value FROM key, new
    ON CONFLICT (plane, resource, namespace, name) DO UPDATE SET revision = excluded.revision, value = excluded.value)
  INSERT INTO berth_log (revision, seq, plane, resource, namespace, name, deleted, value, previous, previous_revision)
  SELECT new.revision, new.seq, key.plane, key.resource, key.namespace, key.name, false, new.value,
    (SELECT value FROM old), (SELECT revision FROM old) FROM key, new
  RETURNING previous, previous_revision`;
const deleteRow = `WITH old AS (DELETE FROM berth_live WHERE ${where} RETURNING plane, resource, namespace, name, revision, value)
  INSERT INTO berth_log (revision, seq, plane, resource, namespace, name, deleted, value, previous, previous_revision)
  SELECT ?::bigint, ?::integer, plane, resource, namespace, name, true, ?::bytea, value, revision FROM old
  RETURNING previous, previous_revision`;

/** One event as the log has it. */
export interface Logged {
  event: StorageEvent;
  previousRevision: number;
}

/** What one commit does inside the database's transaction. Statements are sent at once; `settle` waits for them. */
export class PostgresTransaction {
  readonly revision: number;
  readonly now: number;
  readonly kept: Map<string, unknown>;
  readonly #client: pg.Client;
  readonly #sent: Promise<unknown>[] = [];
  readonly #rows: Promise<Logged | undefined>[] = [];

  constructor(client: pg.Client, revision: number, now: number, kept: Map<string, unknown>) {
    this.kept = kept;
    this.#client = client;
    this.revision = revision;
    this.now = now;
  }

  async commit({ preconditions = [], puts = [], deletes = [] }: Commit): Promise<void> {
    const found = preconditions.map(({ key }) =>
      this.#ask(`SELECT revision FROM berth_live WHERE ${where}`, keyOf(key)),
    );
    for (const [index, { key, revision }] of preconditions.entries()) {
      const actual = ((await found[index]!).rows[0]?.revision as number | undefined) ?? ('absent' as const);
      if (actual !== revision) throw new PreconditionFailed(key, actual);
    }
    for (const { key, encode } of puts) this.#write('put', key, encode(this.revision));
    for (const { key, encode } of deletes) this.#write('delete', key, encode(this.revision));
  }

  /** Runs a procedure to its end. What it throws is the caller's to take back. */
  async run(step: StepProcedure, argument: unknown): Promise<unknown> {
    // Rows of one key are written once, the last state of it.
    const writes = new Map<string, Extract<ProcedureOperation, { kind: 'put' | 'delete' }>>();
    const work = step(this, argument);
    let input: unknown;
    for (;;) {
      const next = work.next(input);
      if (next.done === true) {
        for (const { kind, key, value } of writes.values()) this.#write(kind, key, value);
        return next.value;
      }
      const operation = next.value;
      if (operation.kind === 'put' || operation.kind === 'delete') {
        checkRow(operation.key, operation.value);
        writes.set(wholeKey(operation.key), operation);
        input = undefined;
      } else {
        input = await this.#answer(operation);
      }
    }
  }

  async dropPlane(plane: string): Promise<void> {
    this.#ask('DELETE FROM berth_live WHERE plane = ?', [plane]);
    this.#ask('DELETE FROM berth_log WHERE plane = ?', [plane]);
    this.#ask(
      `INSERT INTO berth_log (revision, seq, plane, resource, namespace, name, deleted, value)
       VALUES (?, 0, ?, '', '', '', true, '')`,
      [this.revision, plane],
    );
    const key = { plane, resource: '', namespace: '', name: '' };
    const event: StorageEvent = { type: 'delete', key, revision: this.revision, value: new Uint8Array() };
    this.#rows.push(Promise.resolve({ event, previousRevision: 0 }));
  }

  /** Everything has been answered; rejects with the first failure. Answers the events, in order. */
  async settle(): Promise<Logged[]> {
    await Promise.all(this.#sent);
    return (await Promise.all(this.#rows)).filter((row) => row !== undefined);
  }

  async #answer(operation: ProcedureOperation): Promise<unknown> {
    switch (operation.kind) {
      case 'record': {
        const { rows } = await this.#ask(`SELECT revision, value FROM berth_live WHERE ${where}`, keyOf(operation.key));
        return rows[0] === undefined ? undefined : recordOf(operation.key, rows[0]);
      }
      case 'rows':
        return (await this.#ask(operation.sql, operation.parameters)).rows;
      case 'run':
        return (await this.#ask(operation.sql, operation.parameters)).changes;
      case 'together':
        return Promise.all(operation.operations.map((each) => this.#answer(each)));
      case 'exec':
        this.#ask(operation.sql, operation.parameters);
        return undefined;
      case 'put':
      case 'delete':
        throw new Error('records are written when the procedure is over');
    }
  }

  #write(kind: 'put' | 'delete', key: StorageKey, value: Uint8Array): void {
    checkRow(key, value);
    const seq = this.#rows.length;
    const sql = kind === 'put' ? putRow : deleteRow;
    const asked = this.#ask(sql, [...keyOf(key), this.revision, seq, value]);
    const row = asked.then(({ rows }): Logged | undefined => {
      const before = rows[0];
      if (before === undefined) return undefined;
      const previous = before.previous as Uint8Array | null;
      return {
        event: { type: kind, key, revision: this.revision, value, ...(previous === null ? {} : { previous }) },
        previousRevision: Number(before.previous_revision ?? 0),
      };
    });
    row.catch(() => {});
    this.#rows.push(row);
  }

  #ask(sql: string, values: readonly SqlValue[]) {
    const asked = query(this.#client, sql, values);
    // Whoever does not wait for it hears of its failure from `settle`.
    asked.catch(() => {});
    this.#sent.push(asked);
    return asked;
  }
}

export function recordOf(key: StorageKey, row: Row): StoredRecord {
  return { key, revision: Number(row.revision), value: row.value as Uint8Array };
}
