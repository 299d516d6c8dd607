import type { Status } from '../../meta/index.ts';
import type { Precondition, StorageKey, StoredRecord } from './storage.ts';

/** What the front end (the serving thread) and the engine (the thread that owns the database) say to each other. */

/** One row a commit writes. `value` of a deleted row is its last state. */
export interface Row {
  key: StorageKey;
  deleted: boolean;
  value: Uint8Array;
  /** The front end does not hold what this row replaces, and wants to be told. */
  uncached?: true;
}

/** A row as it was committed, with what it replaced. */
export interface CommittedRow extends Row {
  previous?: { revision: number; value: Uint8Array };
}

export type Operation =
  | {
      kind: 'commit';
      revision: number;
      rows: readonly Row[];
      /** Preconditions on keys that the front end does not hold. */
      judge?: readonly Precondition[];
      /** Preconditions that held as far as the front end knew, while operations were under way whose effect it did not know. */
      recheck?: readonly Precondition[];
    }
  | { kind: 'call'; revision: number; procedure: string; argument: unknown; now: number }
  | { kind: 'drop'; revision: number; plane: string }
  | { kind: 'get'; key: StorageKey };

/** Operations that share a transaction. */
export interface Batch {
  operations: readonly Operation[];
  /** Number of batches whose outcome the front end knew when it judged the first of these operations. */
  seen: number;
  /** Events up to this revision are no longer needed as history. */
  horizon: number;
}

export type Outcome =
  /** `rows` only of resources that are not cached in front; their values may be left out, who committed them has them. */
  | { kind: 'committed'; rows?: CommittedRow[] }
  | { kind: 'refused'; key: StorageKey; actual: number | 'absent' }
  | { kind: 'called'; rows: CommittedRow[]; result: unknown }
  | { kind: 'threw'; message: string; stack?: string; status?: Status }
  | { kind: 'got'; record?: StoredRecord };

export interface BatchOutcome {
  outcomes: Outcome[];
  /** Whether more is left to compact or reclaim, so that another batch, be it empty, would help. */
  garbage: boolean;
}

export interface RangeQuery {
  plane: string;
  resource: string;
  namespace?: string;
  after?: { namespace: string; name: string };
  limit?: number;
}

export interface Range {
  records: StoredRecord[];
  /** Whether rows follow the last one. */
  more: boolean;
}

/** One row of the log as the engine loads it: a live record, an event of the history, what an event replaced, or several. */
export interface LoadedEntry {
  id: number;
  key: StorageKey;
  revision: number;
  value: Uint8Array;
  deleted: boolean;
  /** The newest state of a cached key. */
  live: boolean;
  event: boolean;
  /** Id of the entry it replaced; 0 where there was none. */
  previous: number;
}

/** What a database says of itself when it is opened. */
export interface Opened {
  /** Resources that have records or history. */
  resources: string[];
  revision: number;
  horizon: number;
  dropped: { plane: string; revision: number }[];
}

/**
 * What the front end needs of an engine, wherever it runs. Callbacks are called in the order of the requests, within the
 * turn the answer arrives in: what the front end shows by then is what the engine had committed when it answered.
 * A failure that is not an `Outcome` is told once, to `onFatal`, and nothing is called back after it.
 */
export interface EngineHost {
  /** How many batches may be on their way at once. */
  readonly batchesInFlight: number;
  run(batch: Batch, done: (outcome: BatchOutcome) => void): void;
  get(key: StorageKey, done: (record: StoredRecord | undefined) => void): void;
  range(query: RangeQuery, done: (range: Range) => void): void;
  count(query: RangeQuery, done: (count: number) => void): void;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** A path, or ':memory:'. */
  file: string;
  /** File URLs of modules with procedures. */
  procedures: readonly string[];
}

/** A database that was opened, and the parts in which it is loaded. */
export interface Opening {
  host: EngineHost;
  opened: Opened;
  parts: AsyncIterable<LoadedEntry[]> | Iterable<LoadedEntry[]>;
}
