/**
 * What the API server stands on: rows of bytes under keys, one revision counter, watches. Implementations: memory,
 * SQLite; one test suite. Nothing (get, list, watch) shows a commit before it is durable. Commits of one turn of the event
 * loop share a transaction of the store underneath.
 */
export interface Storage {
  /** Revision of the newest visible commit. */
  readonly revision: number;
  /**
   * Makes one commit, all or nothing. The revision is assigned in call order, at once; `encode` is called with it before
   * `commit` returns its promise. Preconditions are judged, at once, against the newest state including commits not yet
   * durable. Resolves once durable and visible. Rejects with `PreconditionFailed` (nothing was changed).
   * A commit the disk refused ends the process through `onFatal`: what is not on disk is never served.
   */
  commit(commit: Commit): Promise<CommitResult>;
  /**
   * Runs a procedure registered with the store (see `Procedure`) inside a transaction of the store: it reads and
   * writes tables of its own and answers rows to put and delete in the same commit. Resolves once durable.
   */
  call<R>(procedure: string, argument: unknown): Promise<CommitResult & { result: R }>;
  /** The visible record. `newest: true` includes commits not yet durable: only for building the next commit on. */
  get(key: StorageKey, options?: { newest?: boolean }): Promise<StoredRecord | undefined>;
  /**
   * Resolves once everything that was on its way when it was called is durable: to be awaited before anybody is told what was
   * judged by the newest state, a refusal included.
   */
  settled(): Promise<void>;
  /** One consistent page in key order (namespace, then name, by code unit). */
  list(query: ListQuery): Promise<ListPage>;
  /**
   * Calls `sink.events` with every commit after `from` that touches the range, in order, in batches, starting in a later
   * turn. Throws `RevisionCompacted` when history no longer reaches back to `from`, `RevisionInFuture` when it is ahead.
   */
  watch(query: WatchQuery, sink: WatchSink): { close(): void };
  /**
   * Calls `listener` with the events of every commit of every plane, in order, as they become visible and before the
   * commit's promise resolves. No history: only commits from now on (whoever must know everything subscribes first and
   * lists after). This is how garbage collection and authorization follow a thousand planes with one subscription. The
   * listener must be quick and must not throw. Answers how to stop. `dropPlane` is not announced.
   */
  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void;
  /** Forgets everything of a plane (its deletion), rows and history. Watches of it are closed with `sink.closed`. */
  dropPlane(plane: string): Promise<void>;
  /** Writes a consistent copy of a running store to a new file. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

export interface StorageKey {
  /** `root`, `hub`, `cell/<location>`, `project/<id>`. */
  plane: string;
  /** `<group>/<plural>`; core has an empty group: `/namespaces`. */
  resource: string;
  /** '' for cluster-scoped. */
  namespace: string;
  name: string;
}

export interface StoredRecord {
  readonly key: StorageKey;
  /** Revision of the commit that wrote it. */
  readonly revision: number;
  /** JSON of the object, UTF-8, resourceVersion included. May be made anew each time it is read: a record that is spread is without. */
  readonly value: Uint8Array;
}

export interface Commit {
  preconditions?: readonly Precondition[];
  puts?: readonly { key: StorageKey; encode: (revision: number) => Uint8Array }[];
  /** `encode` gives the last state as a DELETED event shows it, with the revision of the deletion. */
  deletes?: readonly { key: StorageKey; encode: (revision: number) => Uint8Array }[];
}

/** `revision` is what the key must hold, or 'absent'. */
export interface Precondition {
  key: StorageKey;
  revision: number | 'absent';
}

export interface CommitResult {
  revision: number;
}

export interface ListQuery {
  plane: string;
  resource: string;
  /** All namespaces where absent. */
  namespace?: string;
  limit?: number;
  /** Start after this key (a continue token's). */
  after?: { namespace: string; name: string };
  /** The state at this revision; throws `RevisionCompacted` when it is gone. Default: the newest visible. */
  revision?: number;
}

export interface ListPage {
  records: StoredRecord[];
  /** Revision the page is consistent at. */
  revision: number;
  /** How many records follow the page. */
  remaining: number;
}

export interface WatchQuery {
  plane: string;
  resource: string;
  namespace?: string;
  /** Only events of objects of this name, which spares the watch all others. */
  name?: string;
  /** Events after this revision. */
  from: number;
}

export interface StorageEvent {
  type: 'put' | 'delete';
  key: StorageKey;
  revision: number;
  /** New state, or the last state of a deleted one. */
  value: Uint8Array;
  /** State before, where there was one: selector transitions are judged by it. */
  previous?: StoredRecord;
}

export interface WatchSink {
  /** `revision`: everything up to it has been delivered (a bookmark may say so), also when `events` is empty. */
  events(events: readonly StorageEvent[], revision: number): void;
  /** The watch is over: the plane is gone or the store closes. */
  closed(): void;
}

/**
 * Code that runs beside the tables, in the thread that owns the database: how IPAM allocates inside the commit that
 * stores the claim. A module that exports `procedures: Record<string, Procedure>` and `schema: string` (SQL that creates
 * its tables if they are not there) is named to the store by file URL when it is opened.
 */
export type Procedure = (tx: ProcedureTransaction, argument: unknown) => unknown;

export interface ProcedureTransaction {
  /** Revision of the commit being made. */
  readonly revision: number;
  /** Milliseconds since the Unix epoch, as the caller's clock has it. */
  readonly now: number;
  /**
   * What procedures have read and want to find again at their next call. The store empties it when a call that
   * has written is taken back, and when somebody else may have written: what is in it is what the tables say, as far as procedures see to that.
   */
  readonly kept: Map<string, unknown>;
  get(key: StorageKey): StoredRecord | undefined;
  put(key: StorageKey, value: Uint8Array): void;
  delete(key: StorageKey, lastValue: Uint8Array): void;
  /** Rows of a prepared statement (cached by its text). bigint for INTEGER columns beyond 2^53 is the caller's concern. */
  all(sql: string, ...parameters: SqlValue[]): Record<string, SqlValue>[];
  one(sql: string, ...parameters: SqlValue[]): Record<string, SqlValue> | undefined;
  run(sql: string, ...parameters: SqlValue[]): { changes: number };
}

/**
 * A procedure for stores that answer after a round trip (PostgreSQL): a generator that yields what it wants and is given
 * the answer. `rows`: rows of a statement; `run`: how many it changed; `exec`: nothing, so that nobody waits for it;
 * `record`: a stored object; `together`: the answers to several, in order, asked in one go; `put` and `delete`: nothing. Statements have `?` for parameters. A module for such a store exports
 * `steps: Record<string, StepProcedure>` and `postgresSchema: { name, version, text }`.
 */
export type StepProcedure = (tx: ProcedureMoment, argument: unknown) => ProcedureStep<unknown>;

/**
 * Records a call is going to read, as far as its argument tells: a module may export `reads: Record<string, ProcedureReads>`,
 * and the store fetches those of many calls at once.
 */
export type ProcedureReads = (argument: unknown) => readonly StorageKey[];

export type ProcedureStep<T> = Generator<ProcedureOperation, T, unknown>;

export type ProcedureMoment = Pick<ProcedureTransaction, 'revision' | 'now' | 'kept'>;

export type ProcedureOperation =
  | { readonly kind: 'rows' | 'run' | 'exec'; readonly sql: string; readonly parameters: readonly SqlValue[] }
  | { readonly kind: 'record'; readonly key: StorageKey }
  | { readonly kind: 'together'; readonly operations: readonly ProcedureOperation[] }
  | { readonly kind: 'put' | 'delete'; readonly key: StorageKey; readonly value: Uint8Array };

export type SqlValue = null | number | bigint | string | Uint8Array;

export class PreconditionFailed extends Error {
  readonly key: StorageKey;
  /** What the key holds. */
  readonly actual: number | 'absent';

  constructor(key: StorageKey, actual: number | 'absent') {
    super(`precondition failed on ${key.plane} ${key.resource} ${key.namespace}/${key.name}: it holds ${actual}`);
    this.key = key;
    this.actual = actual;
  }
}

export class RevisionCompacted extends Error {
  readonly oldest: number;

  constructor(oldest: number) {
    super(`history starts at revision ${oldest}`);
    this.oldest = oldest;
  }
}

export class RevisionInFuture extends Error {}
