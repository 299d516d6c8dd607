import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

/**
 * All in pages. What is moved is synced, and a page that many commits changed is moved once: among a million allocations moves
 * of 4,000 pages instead of 1,000 make a tenth more of them a second.
 */
const worthMoving = 4000;
/** The log is written from its start again once it is longer than this. */
const longEnough = 12_000;
/** As little as this the thread that commits moves itself then: only when nothing is left to move does SQLite start the log again. */
const littleLeft = 512;
/** The commit that makes the log longer than this moves all of it, however long that takes. */
const tooLong = 32_000;
/** When commits move pages while there is no thread for it: SQLite's own default. */
const withoutThread = 1000;

/** Bytes of the log that are kept on disk for what comes: `longEnough`, and what is written until it starts again. */
export const keptBytes = 64 * 2 ** 20;

/**
 * Moves pages from the write-ahead log into the database in a thread of its own. By default a commit does it: it waits until
 * a thousand pages from all over the file are written and synced, a sixth of all time where a million allocations are.
 */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #entry: URL;
  readonly #look: StatementSync;
  #thread: Worker | undefined;
  #state: 'idle' | 'moving' | 'failed' = 'idle';

  constructor(database: DatabaseSync, file: string, entry = new URL('./checkpoint-worker.ts', import.meta.url)) {
    this.#database = database;
    this.#file = file;
    this.#entry = entry;
    this.#look = database.prepare('PRAGMA wal_checkpoint(NOOP)');
    database.exec(`PRAGMA wal_autocheckpoint = ${tooLong}`);
  }

  /** To be called after each commit. */
  committed(): void {
    if (this.#state !== 'idle') return;
    const { log, moved } = this.#pages();
    if (log - moved < (log < longEnough ? worthMoving : littleLeft)) return;
    this.#state = 'moving';
    this.#thread ??= this.#start();
    this.#thread.postMessage('move');
  }

  /** To be called before the database is closed: who closes it last moves what is left, and removes the log. */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
    thread.postMessage('close');
    await gone;
  }

  #start(): Worker {
    const thread = new Worker(this.#entry, { name: 'checkpoints', execArgv: [], workerData: { file: this.#file } });
    thread.on('message', (some: boolean) => this.#moved(some));
    thread.on('error', () => this.#failed());
    return thread;
  }

  /** `some`: whether there was anything that could be moved. */
  #moved(some: boolean): void {
    this.#state = 'idle';
    const { log, moved } = this.#pages();
    if (log >= longEnough && log - moved <= littleLeft) this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    // Commits went on meanwhile. Where nothing was moved (a backup reads what is older), the next commit asks again.
    else if (some) this.committed();
  }

  /** Commits move pages themselves from now on; what ails the disk is told by the commit it fails. */
  #failed(): void {
    this.#state = 'failed';
    this.#thread = undefined;
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${withoutThread}`);
  }

  #pages(): { log: number; moved: number } {
    const { log, checkpointed } = this.#look.get() as { log: number; checkpointed: number };
    return { log, moved: checkpointed };
  }
}
