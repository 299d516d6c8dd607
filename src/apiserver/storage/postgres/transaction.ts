import type pg from 'pg';
import { wholeKey } from '../key.ts';
import {
  type Commit,
  PreconditionFailed,
  type ProcedureMoment,
  type ProcedureOperation,
  type SqlValue,
  type StepProcedure,
  type StorageEvent,
} from '../storage.ts';
import { query } from './connection.ts';
import { type Change, checked, type Rows } from './rows.ts';

const reads = /^\s*(select|with)\b/i;

/**
 * What one commit does inside the database's transaction, which others share: in a savepoint of its own, made when it first
 * writes. Statements are sent without waiting for them where nobody needs the answer.
 */
export class PostgresTransaction implements ProcedureMoment {
  readonly revision: number;
  readonly now: number;
  readonly kept: Map<string, unknown>;
  readonly #client: pg.Client;
  readonly #rows: Rows;
  /** Unlike any other of the transaction: were a statement to fail unseen, no later one could return to an earlier one's. */
  readonly #savepoint: string;
  #saved = false;
  #sent: Promise<unknown>[] = [];
  #changes: readonly Change[] = [];
  #dropped: string | undefined;

  constructor(client: pg.Client, rows: Rows, number: number, moment: ProcedureMoment) {
    this.#client = client;
    this.#rows = rows;
    this.#savepoint = `job_${number}`;
    this.revision = moment.revision;
    this.now = moment.now;
    this.kept = moment.kept;
  }

  async commit({ preconditions = [], puts = [], deletes = [] }: Commit): Promise<void> {
    for (const { key, revision } of preconditions) {
      const actual = (await this.#rows.get(key))?.revision ?? 'absent';
      if (actual !== revision) throw new PreconditionFailed(key, actual);
    }
    this.#changes = [
      ...puts.map(({ key, encode }) => checked({ key, deleted: false, value: encode(this.revision) })),
      ...deletes.map(({ key, encode }) => checked({ key, deleted: true, value: encode(this.revision) })),
    ];
  }

  /** Runs a procedure to its end. What it throws is the caller's to take back. */
  async run(step: StepProcedure, argument: unknown): Promise<unknown> {
    // Rows of one key are written once, the last state of it.
    const changes = new Map<string, Change>();
    const work = step(this, argument);
    let input: unknown;
    for (;;) {
      const next = work.next(input);
      if (next.done === true) {
        this.#changes = [...changes.values()];
        return next.value;
      }
      const operation = next.value;
      if (operation.kind === 'put' || operation.kind === 'delete') {
        const { key, value } = operation;
        changes.set(wholeKey(key), checked({ key, value, deleted: operation.kind === 'delete' }));
        input = undefined;
      } else if (operation.kind === 'exec') {
        this.#ask(operation.sql, operation.parameters);
        input = undefined;
      } else {
        input = await this.#answer(operation);
      }
    }
  }

  /** Whether it has changed a table. */
  get wrote(): boolean {
    return this.#saved;
  }

  dropPlane(plane: string): Promise<void> {
    this.#dropped = plane;
    return Promise.resolve();
  }

  /** What it did stays: resolves with its events once all of it is written. Those of its rows come with `Rows.flush`. */
  async keep(): Promise<StorageEvent[]> {
    this.#rows.add(this.revision, this.#changes);
    if (this.#saved) this.#send(`RELEASE SAVEPOINT ${this.#savepoint}`, []);
    if (this.#dropped === undefined) {
      await Promise.all(this.#sent);
      return [];
    }
    const plane = this.#dropped;
    const before = this.#rows.flush();
    this.#send('DELETE FROM berth_live WHERE plane = ?', [plane]);
    this.#send('DELETE FROM berth_log WHERE plane = ?', [plane]);
    this.#send(
      `INSERT INTO berth_log (revision, seq, plane, resource, namespace, name, deleted, value)
       VALUES (?, 0, ?, '', '', '', true, '')`,
      [this.revision, plane],
    );
    const key = { plane, resource: '', namespace: '', name: '' };
    const event: StorageEvent = { type: 'delete', key, revision: this.revision, value: new Uint8Array() };
    const [events] = await Promise.all([before, ...this.#sent]);
    return [...events, event];
  }

  /** What it did is undone. A statement of it that failed goes with the rest. */
  takeBack(): Promise<unknown> {
    if (!this.#saved) return Promise.resolve();
    this.#sent = [];
    this.#send(`ROLLBACK TO SAVEPOINT ${this.#savepoint}`, []);
    this.#send(`RELEASE SAVEPOINT ${this.#savepoint}`, []);
    return Promise.all(this.#sent);
  }

  /** The failure it began with, where `error` only came of it. */
  async failure(error: unknown): Promise<unknown> {
    const failed = (await Promise.allSettled(this.#sent)).find((each) => each.status === 'rejected');
    return failed?.reason ?? error;
  }

  async #answer(operation: ProcedureOperation): Promise<unknown> {
    switch (operation.kind) {
      case 'record':
        return this.#rows.get(operation.key);
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

  #ask(sql: string, values: readonly SqlValue[]) {
    if (!this.#saved && !reads.test(sql)) {
      this.#saved = true;
      this.#send(`SAVEPOINT ${this.#savepoint}`, []);
    }
    return this.#send(sql, values);
  }

  #send(sql: string, values: readonly SqlValue[]) {
    const asked = query(this.#client, sql, values);
    // Whoever does not wait for it hears of its failure from `keep`.
    asked.catch(() => {});
    this.#sent.push(asked);
    return asked;
  }
}
