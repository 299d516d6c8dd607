import type {
  Batch,
  BatchOutcome,
  EngineOptions,
  LoadedEntry,
  Opened,
  Operation,
  Outcome,
  Range,
  RangeQuery,
  Row,
} from './protocol.ts';
import type { Precondition, StorageKey, StoredRecord } from './storage.ts';

/** Messages between the serving thread and the storage worker. Answers come in the order of the requests. */
export type Request =
  | { kind: 'open'; options: EngineOptions }
  /** The first part of what the front end keeps, and each that follows. */
  | { kind: 'load'; uncached: readonly string[] }
  | { kind: 'more' }
  | { kind: 'run'; batch: PackedBatch }
  | { kind: 'get'; key: StorageKey }
  | { kind: 'range'; query: RangeQuery }
  | { kind: 'count'; query: RangeQuery }
  | { kind: 'close' };

export type Answer =
  | { kind: 'opened'; opened: Opened }
  /** Undefined after the last. */
  | { kind: 'part'; part: LoadedEntry[] | undefined }
  | { kind: 'ran'; outcomes: (Outcome | 0)[]; garbage: boolean }
  | { kind: 'got'; record: StoredRecord | undefined }
  | { kind: 'range'; range: Range }
  | { kind: 'count'; count: number }
  | { kind: 'closed' }
  /** The last: nothing is answered after it. */
  | { kind: 'failed'; message: string; openError: boolean; stack?: string };

/**
 * A batch as it is posted: all values in one buffer that changes hands without a copy, and rows as flat cells, because
 * cloning an object per row and key would cost the serving thread more than everything else it does for a commit.
 */
export interface PackedBatch {
  operations: (PackedCommit | Exclude<Operation, { kind: 'commit' }>)[];
  bytes: Uint8Array<ArrayBuffer>;
  seen: number;
  horizon: number;
}

interface PackedCommit {
  kind: 'commit';
  revision: number;
  /** Per row: plane, resource, namespace, name, flags, length of the value. */
  cells: (string | number)[];
  judge?: readonly Precondition[];
  recheck?: readonly Precondition[];
}

const deletedFlag = 1;
const uncachedFlag = 2;

export function pack(batch: Batch): PackedBatch {
  let length = 0;
  for (const operation of batch.operations) {
    if (operation.kind === 'commit') for (const row of operation.rows) length += row.value.byteLength;
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  const operations = batch.operations.map((operation) => {
    if (operation.kind !== 'commit') return operation;
    const cells: (string | number)[] = [];
    for (const { key, deleted, uncached, value } of operation.rows) {
      const flags = (deleted ? deletedFlag : 0) + (uncached ? uncachedFlag : 0);
      cells.push(key.plane, key.resource, key.namespace, key.name, flags, value.byteLength);
      bytes.set(value, offset);
      offset += value.byteLength;
    }
    const { kind, revision, judge, recheck } = operation;
    const packed: PackedCommit = { kind, revision, cells };
    if (judge !== undefined) packed.judge = judge;
    if (recheck !== undefined) packed.recheck = recheck;
    return packed;
  });
  return { operations, bytes, seen: batch.seen, horizon: batch.horizon };
}

export function unpack({ operations, bytes, seen, horizon }: PackedBatch): Batch {
  let offset = 0;
  const unpacked = operations.map((operation): Operation => {
    if (operation.kind !== 'commit') return operation;
    const { kind, revision, cells, judge, recheck } = operation;
    const rows: Row[] = [];
    for (let at = 0; at < cells.length; at += 6) {
      const [plane, resource, namespace, name] = cells.slice(at, at + 4) as [string, string, string, string];
      const flags = cells[at + 4] as number;
      const length = cells[at + 5] as number;
      const row: Row = {
        key: { plane, resource, namespace, name },
        deleted: (flags & deletedFlag) !== 0,
        value: bytes.subarray(offset, offset + length),
      };
      if ((flags & uncachedFlag) !== 0) row.uncached = true;
      rows.push(row);
      offset += length;
    }
    return {
      kind,
      revision,
      rows,
      ...(judge === undefined ? {} : { judge }),
      ...(recheck === undefined ? {} : { recheck }),
    };
  });
  return { operations: unpacked, seen, horizon };
}

const none = new Uint8Array(0);
const plain: Outcome = { kind: 'committed' };

/** Nearly every outcome says only that the commit is durable: a number says it as well. */
export function packOutcomes({ outcomes, garbage }: BatchOutcome): Extract<Answer, { kind: 'ran' }> {
  const packed = outcomes.map((outcome) => {
    if (outcome.kind !== 'committed') return outcome;
    if (outcome.rows === undefined) return 0;
    // The caller has the values; these are views of the batch's buffer, all of which would be cloned with each.
    return { ...outcome, rows: outcome.rows.map((row) => ({ ...row, value: none })) };
  });
  return { kind: 'ran', outcomes: packed, garbage };
}

export function unpackOutcomes({ outcomes, garbage }: Extract<Answer, { kind: 'ran' }>): BatchOutcome {
  return { outcomes: outcomes.map((outcome) => (outcome === 0 ? plain : outcome)), garbage };
}
