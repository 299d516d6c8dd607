import { ApiError } from '../../meta/index.ts';
import type { Collection } from './collection.ts';
import { nameOf } from './key.ts';
import type { LiveRecord } from './packing.ts';
import type { Operation, Outcome, Row } from './protocol.ts';

/** An operation on its way to the disk. */
export interface Job {
  operation: Operation;
  /** Rows of a commit with the records they become. */
  rows: readonly { row: Row; collection: Collection; record: LiveRecord | undefined }[];
  /** Its effect is known only when the engine answers. */
  uncertain: boolean;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Small buffers of Node are cut from a shared pool: a record kept for long must not keep its neighbours' memory. */
export function unpooled(value: Uint8Array): Uint8Array {
  return value.buffer.byteLength > value.byteLength + 64 ? new Uint8Array(value) : value;
}

export function checkDistinct(rows: Job['rows']): void {
  const names = new Map<Collection, Set<string>>();
  for (const { row, collection } of rows) {
    const seen = names.get(collection) ?? new Set();
    names.set(collection, seen);
    const name = nameOf(row.key);
    if (seen.has(name)) {
      const { plane, resource, namespace, name: own } = row.key;
      throw new TypeError(`one commit writes ${plane} ${resource} ${namespace}/${own} twice: it may write a key once`);
    }
    seen.add(name);
  }
}

export function thrownBy(outcome: Extract<Outcome, { kind: 'threw' }>): Error {
  const error = outcome.status === undefined ? new Error(outcome.message) : new ApiError(outcome.status);
  if (outcome.stack !== undefined) error.stack = outcome.stack;
  return error;
}
