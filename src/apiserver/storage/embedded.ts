import type { Clock } from '../../kube/index.ts';
import type { Collection } from './collection.ts';
import { StorageClosed } from './errors.ts';
import { Feed } from './feed.ts';
import type { HistoryLimits } from './history.ts';
import { checkDistinct, type Job, thrownBy, unpooled } from './job.ts';
import { checkKey, checkRow, nameOf, wholeKey } from './key.ts';
import { type Page, pageNow, pageThen } from './listing.ts';
import { LiveRecord, Packer } from './packing.ts';
import type { BatchOutcome, CommittedRow, EngineHost, Opened, Opening, Operation, Outcome, Row } from './protocol.ts';
import {
  type Commit,
  type CommitResult,
  type ListPage,
  type ListQuery,
  type Precondition,
  PreconditionFailed,
  type Storage,
  type StorageEvent,
  type StorageKey,
  type StoredRecord,
  type WatchQuery,
  type WatchSink,
} from './storage.ts';
import { listUncached } from './uncached.ts';

export interface EmbeddedOptions {
  clock: Clock;
  log: (level: 'info' | 'warn' | 'error', message: string, data?: Record<string, unknown>) => void;
  uncached: (resource: string) => boolean;
  history: HistoryLimits;
  freshBytes: number;
  onFatal: (error: Error) => void;
  /** How `backup` writes its copy. */
  backup: (file: string) => Promise<void>;
}

/** Tells of one row that has become visible. */
type Show = (
  collection: Collection,
  deleted: boolean,
  record: StoredRecord,
  previous: StoredRecord | undefined,
) => void;

/** Idle turns between two batches that only tidy up. */
const tidyAfterMilliseconds = 10;

/**
 * The store as the serving thread sees it: assigns revisions, judges preconditions, keeps the records, shows commits once
 * they are durable. The engine behind `EngineHost` owns the database; it is told everything in the order of the calls.
 */
export class EmbeddedStorage implements Storage {
  readonly #clock: Clock;
  readonly #options: EmbeddedOptions;
  readonly #host: EngineHost;
  readonly #feed: Feed;
  /** Dropped planes whose empty collections are still held. */
  readonly #forgettable = new Set<string>();
  readonly #remaining = new Map<string, number>();
  #assigned: number;
  #queue: Job[] = [];
  #queueSeen = 0;
  #inFlight: Job[][] = [];
  /** How to end the reads on their way, should the engine fail. */
  readonly #reads = new Set<(error: Error) => void>();
  /** Operations ever taken, and how many of them are done. */
  #asked = 0;
  #answered = 0;
  #settling: { until: number; resolve: () => void; reject: (error: Error) => void }[] = [];
  #flushScheduled = false;
  #tidying = false;
  #outcomesSeen = 0;
  /** Operations on their way whose effect is not known: while there are any, the engine checks again what is judged here. */
  #uncertain = 0;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #failure: Error | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(host: EngineHost, opened: Opened, options: EmbeddedOptions) {
    this.#host = host;
    this.#clock = options.clock;
    this.#options = options;
    this.#assigned = opened.revision;
    const { clock, log, history, freshBytes } = options;
    const packer = new Packer(freshBytes);
    const packerOf = (resource: string) => (options.uncached(resource) ? undefined : packer);
    this.#feed = new Feed({ clock, log, history, packerOf }, opened.revision, opened.horizon);
    for (const { plane, revision } of opened.dropped) this.#feed.dropped(plane, revision);
  }

  /** Fills records and history with what the database holds (see `Log.load`), packing as it comes. To be awaited before all else. */
  async load(parts: Opening['parts']): Promise<void> {
    const replaced = new Map<number, LiveRecord>();
    for await (const entries of parts) {
      for (const { id, key, revision, value, deleted, live, event, previous } of entries) {
        const collection = this.#feed.collection(key);
        const record = new LiveRecord(collection.keyFor(key), revision, value);
        replaced.set(id, record);
        if (live) collection.apply(nameOf(key), record);
        if (event) this.#feed.history.add(collection, eventOf(deleted, record, replaced.get(previous)));
      }
    }
    this.#feed.history.trim(this.#feed.visible);
  }

  get revision(): number {
    return this.#feed.visible;
  }

  commit(commit: Commit): Promise<CommitResult> {
    try {
      this.#checkOpen();
      const { judge, recheck } = this.#judge(commit.preconditions ?? []);
      const revision = this.#assigned + 1;
      const rows = this.#encode(commit, revision);
      this.#assigned = revision;
      for (const { row, collection, record } of rows) {
        if (collection.cached) collection.propose(row.key, revision, record);
      }
      const operation: Operation = {
        kind: 'commit',
        revision,
        rows: rows.map(({ row }) => row),
        ...(judge.length === 0 ? {} : { judge }),
        ...(recheck.length === 0 ? {} : { recheck }),
      };
      return this.#enqueue(operation, rows, judge.length + recheck.length > 0) as Promise<CommitResult>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  call<R>(procedure: string, argument: unknown): Promise<CommitResult & { result: R }> {
    try {
      this.#checkOpen();
      this.#assigned += 1;
      const operation: Operation = {
        kind: 'call',
        revision: this.#assigned,
        procedure,
        argument,
        now: this.#clock.now(),
      };
      return this.#enqueue(operation, [], true) as Promise<CommitResult & { result: R }>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  get(key: StorageKey, options?: { newest?: boolean }): Promise<StoredRecord | undefined> {
    try {
      const collection = this.#feed.collection(key);
      if (collection.cached) {
        const record = options?.newest ? collection.newest(key) : collection.records.get(nameOf(key));
        return Promise.resolve(record);
      }
      this.#checkOpen();
      if (options?.newest && (this.#queue.length > 0 || this.#inFlight.length > 0)) {
        return this.#enqueue({ kind: 'get', key }, [], false) as Promise<StoredRecord | undefined>;
      }
      return this.#read(
        (done) => this.#host.get(key, done),
        (record: StoredRecord | undefined) => record,
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  settled(): Promise<void> {
    if (this.#answered === this.#asked) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#settling.push({ until: this.#asked, resolve, reject });
    });
  }

  async list(query: ListQuery): Promise<ListPage> {
    const collection = this.#feed.collection(query);
    if (query.revision !== undefined) this.#feed.checkReach(query.plane, query.revision);
    if (!collection.cached) {
      this.#checkOpen();
      return listUncached(query, {
        host: this.#host,
        read: (ask, use) => this.#read(ask, use),
        visible: () => this.#feed.visible,
        since: (revision) => {
          this.#feed.checkReach(query.plane, revision);
          return this.#feed.history.since(collection, revision);
        },
        remaining: this.#remaining,
      });
    }
    const revision = query.revision ?? this.#feed.visible;
    return { ...this.#page(collection, query, revision), revision };
  }

  watch(query: WatchQuery, sink: WatchSink): { close(): void } {
    this.#checkOpen();
    return this.#feed.watch(query, sink);
  }

  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void {
    return this.#feed.onCommit(listener);
  }

  dropPlane(plane: string): Promise<void> {
    try {
      this.#checkOpen();
      this.#assigned += 1;
      const revision = this.#assigned;
      for (const collection of this.#feed.collections) {
        if (collection.plane === plane) collection.proposeDrop(revision);
      }
      return this.#enqueue({ kind: 'drop', revision, plane }, [], false) as Promise<void>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async backup(file: string): Promise<void> {
    this.#checkOpen();
    await this.#options.backup(file);
  }

  async close(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    if (this.#failure === undefined && (this.#queue.length > 0 || this.#inFlight.length > 0)) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    this.#state = 'closed';
    this.#feed.end(this.#feed.visible);
    await this.#host.close();
  }

  /** The engine failed: nothing that was not acknowledged will be, and nothing more is taken. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#options.log('error', `the store has failed: ${error.message}`);
    const lost = [...this.#inFlight.flat(), ...this.#queue];
    this.#inFlight = [];
    this.#queue = [];
    this.#options.onFatal(error);
    for (const job of lost) job.reject(this.#closedError());
    for (const reject of this.#reads) reject(this.#closedError());
    this.#reads.clear();
    for (const { reject } of this.#settling) reject(this.#closedError());
    this.#settling = [];
    this.#whenIdle?.();
  }

  #page(collection: Collection, query: ListQuery, revision: number): Page {
    if (revision === this.#feed.visible) return pageNow(collection, query);
    const changed = this.#feed.history.since(collection, revision);
    return changed.size === 0 ? pageNow(collection, query) : pageThen(collection, query, changed);
  }

  /** Throws `PreconditionFailed`, or answers what the engine has to judge and what it has to check again. */
  #judge(preconditions: readonly Precondition[]): { judge: Precondition[]; recheck: Precondition[] } {
    const judge: Precondition[] = [];
    const recheck: Precondition[] = [];
    for (const precondition of preconditions) {
      const { key, revision } = precondition;
      checkKey(key);
      const collection = this.#feed.collection(key);
      if (!collection.cached) {
        judge.push(precondition);
        continue;
      }
      const actual = collection.newest(key)?.revision ?? 'absent';
      if (actual !== revision) throw new PreconditionFailed(key, actual);
      if (this.#uncertain > 0) recheck.push(precondition);
    }
    return { judge, recheck };
  }

  #encode(commit: Commit, revision: number): Job['rows'] {
    const rows: { row: Row; collection: Collection; record: LiveRecord | undefined }[] = [];
    const add = (asked: StorageKey, deleted: boolean, value: Uint8Array) => {
      checkRow(asked, value);
      const collection = this.#feed.collection(asked);
      const key = collection.keyFor(asked);
      const own = unpooled(value);
      const row: Row = { key, deleted, value: own };
      if (!collection.cached) row.uncached = true;
      rows.push({ row, collection, record: deleted ? undefined : new LiveRecord(key, revision, own) });
    };
    for (const { key, encode } of commit.puts ?? []) add(key, false, encode(revision));
    for (const { key, encode } of commit.deletes ?? []) {
      const collection = this.#feed.collection(key);
      if (collection.cached && this.#uncertain === 0 && collection.newest(key) === undefined) continue;
      add(key, true, encode(revision));
    }
    if (this.#assigned + 1 !== revision) throw new Error('`encode` made a commit of its own, which it must not');
    if (rows.length > 1) checkDistinct(rows);
    return rows;
  }

  #enqueue(operation: Operation, rows: Job['rows'], uncertain: boolean): Promise<unknown> {
    if (uncertain) this.#uncertain += 1;
    if (this.#queue.length === 0) this.#queueSeen = this.#outcomesSeen;
    this.#asked += 1;
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, rows, uncertain, resolve, reject });
      this.#scheduleFlush();
    });
  }

  /** A read of the engine; `use` sees the answer in the turn it arrives in. */
  #read<T, R>(ask: (done: (answer: T) => void) => void, use: (answer: T) => R): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#reads.add(reject);
      ask((answer) => {
        this.#reads.delete(reject);
        try {
          resolve(use(answer));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#clock.soon(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#queue.length === 0 || this.#inFlight.length >= this.#host.batchesInFlight) return;
    const jobs = this.#queue;
    this.#queue = [];
    this.#send(jobs, this.#queueSeen);
  }

  #send(jobs: Job[], seen: number): void {
    if (this.#failure !== undefined) return;
    this.#inFlight.push(jobs);
    const batch = { operations: jobs.map((job) => job.operation), seen, horizon: this.#feed.history.horizon };
    this.#host.run(batch, (outcome) => this.#publish(outcome));
  }

  /** The oldest batch on its way is durable: shows it, tells the watches, then whoever committed. */
  #publish(batch: BatchOutcome): void {
    const jobs = this.#inFlight.shift()!;
    this.#outcomesSeen += 1;
    const settle: (() => void)[] = [];
    for (const [index, job] of jobs.entries()) {
      if (job.uncertain) this.#uncertain -= 1;
      settle.push(this.#settle(job, batch.outcomes[index]!));
    }
    this.#feed.tell();
    for (const done of settle) done();
    this.#answered += jobs.length;
    while (this.#settling[0] !== undefined && this.#settling[0].until <= this.#answered) {
      this.#settling.shift()!.resolve();
    }
    this.#flush();
    if (this.#inFlight.length === 0 && this.#queue.length === 0) {
      this.#whenIdle?.();
      this.#forget();
      if (batch.garbage) this.#tidy();
    }
  }

  /** Applies the outcome of one operation; answers how its caller is told. */
  #settle(job: Job, outcome: Outcome): () => void {
    const { operation } = job;
    if (operation.kind === 'get') {
      return () => job.resolve(outcome.kind === 'got' ? outcome.record : undefined);
    }
    const { revision } = operation;
    const show: Show = (collection, deleted, record, previous) =>
      this.#feed.show(collection, eventOf(deleted, record, previous));
    switch (outcome.kind) {
      case 'committed':
        this.#feed.visible = revision;
        if (operation.kind === 'drop') {
          this.#finishDrop(operation.plane, revision);
          return () => job.resolve(undefined);
        }
        this.#showRows(job, revision, outcome.rows ?? [], show);
        return () => job.resolve({ revision });
      case 'called':
        this.#feed.visible = revision;
        for (const { key, deleted, value, previous } of outcome.rows) {
          const collection = this.#feed.collection(key);
          const record = new LiveRecord(key, revision, value);
          const before = collection.cached
            ? collection.apply(nameOf(key), deleted ? undefined : record)
            : previous && { key, ...previous };
          show(collection, deleted, record, before);
        }
        return () => job.resolve({ revision, result: outcome.result });
      case 'refused':
        for (const { row, collection } of job.rows) {
          if (collection.cached) collection.settle(nameOf(row.key), revision);
        }
        return () => job.reject(new PreconditionFailed(outcome.key, outcome.actual));
      case 'threw':
        return () => job.reject(thrownBy(outcome));
      case 'got':
        throw new Error('the engine answered a read where a commit was asked for');
    }
  }

  /** Rows of a commit in their order; of those that are not cached, `told` has what the engine found, in the same order. */
  #showRows(job: Job, revision: number, told: readonly CommittedRow[], show: Show): void {
    let next = 0;
    for (const { row, collection, record } of job.rows) {
      const name = nameOf(row.key);
      const shown = record ?? { key: row.key, revision, value: row.value };
      if (collection.cached) {
        collection.settle(name, revision);
        const previous = collection.apply(name, record);
        if (!row.deleted || previous !== undefined) show(collection, row.deleted, shown, previous);
        continue;
      }
      // A deletion of what was not there is not told of.
      const committed = told[next];
      if (committed === undefined || wholeKey(committed.key) !== wholeKey(row.key)) continue;
      next += 1;
      show(collection, row.deleted, shown, committed.previous && { key: row.key, ...committed.previous });
    }
  }

  #finishDrop(plane: string, revision: number): void {
    this.#feed.dropped(plane, revision);
    this.#forgettable.add(plane);
    this.#feed.end(revision, plane);
    for (const collection of this.#feed.collections) if (collection.plane === plane) collection.drop(revision);
  }

  /** Of a plane that was dropped nothing stays in memory; only while nothing on its way may name its collections. */
  #forget(): void {
    if (this.#forgettable.size === 0) return;
    this.#feed.forget(this.#forgettable);
    this.#forgettable.clear();
  }

  /** An idle store goes on removing what is no longer needed, in small transactions. */
  #tidy(): void {
    if (this.#tidying || this.#state !== 'open') return;
    this.#tidying = true;
    this.#clock.after(tidyAfterMilliseconds, () => {
      this.#tidying = false;
      if (this.#state === 'open' && this.#inFlight.length === 0 && this.#queue.length === 0) {
        this.#send([], this.#outcomesSeen);
      }
    });
  }

  #checkOpen(): void {
    if (this.#failure !== undefined || this.#state !== 'open') throw this.#closedError();
  }

  #closedError(): StorageClosed {
    return this.#failure === undefined
      ? new StorageClosed('the store is closed')
      : new StorageClosed(`the store has failed: ${this.#failure.message}`, { cause: this.#failure });
  }
}

function eventOf(
  deleted: boolean,
  { key, revision, value }: StoredRecord,
  previous: StoredRecord | undefined,
): StorageEvent {
  const type = deleted ? 'delete' : 'put';
  return { type, key, revision, value, ...(previous === undefined ? {} : { previous }) };
}
