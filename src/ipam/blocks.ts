import { IpPrefix } from '../address/index.ts';
import { formatTime, parseDuration } from '../meta/index.ts';
import { bytesOf, numberOf } from './bytes.ts';
import { classNamed } from './classes.ts';
import type { Space } from './known.ts';
import { type AllocationSpec, apiVersion, type IPAllocation } from './objects.ts';
import { type PoolRecord, poolById, poolNamed } from './pool-record.ts';
import { uuidOf } from './scope.ts';
import { findSpace, give, save, spaceById } from './space.ts';
import { exec, one, type Row, rows, type Step, type Work } from './work.ts';

/** A block that is held under an allocation's name. */
export interface BlockRecord {
  readonly space: Space;
  readonly prefix: IpPrefix;
  /** `held`, `retained`, `expiring`. */
  readonly state: string;
  readonly purpose: string;
  /** `<namespace>/<name>` of the claim that holds it. */
  readonly claim: string | undefined;
  readonly class: string | undefined;
  readonly scope: string | undefined;
  readonly reclaim: string | undefined;
  /** Milliseconds a retained block is kept; undefined: for ever. */
  readonly lease: number | undefined;
  /** When it stops resting, or its lease runs out: milliseconds since the Unix epoch. */
  readonly due: number | undefined;
  readonly pool: PoolRecord;
}

// Look-ups by key, no joins: see `Operation` about what SQLite prepares anew.
const columns = 'space, start, length, state, purpose, claim, class, scope, reclaim, lease, due';

/**
 * The block an allocation shows, found by its range: an index by name, whose keys are spread all over it, would cost every
 * allocation and every release a page of its own.
 */
export function* blockOfAllocation(work: Work, { metadata, spec, status }: IPAllocation): Step<BlockRecord> {
  const pool = (yield* poolNamed(work, spec!.poolRef!.name))!;
  const prefix = IpPrefix.parse(status!.allocatedCIDR!);
  const start = bytesOf(prefix.start);
  const held = 'start = ? AND namespace = ? AND name = ?';
  const space = yield* findSpace(work, pool.id, status!.scopeDigest ?? '', prefix.family);
  const named = [start, metadata.namespace!, metadata.name];
  const row =
    (space && (yield* one(`SELECT ${columns} FROM ipam_block WHERE space = ? AND ${held}`, space.id, ...named))) ??
    // An older version did not show which scope the range of a pool is unique within.
    (yield* one(
      `SELECT ${columns} FROM ipam_block WHERE space IN (SELECT id FROM ipam_space WHERE pool = ?) AND ${held}`,
      pool.id,
      ...named,
    ));
  if (row === undefined) {
    throw new Error(
      `IPAllocation "${metadata.namespace}/${metadata.name}" of IPPool "${pool.name}" has no block ${prefix}`,
    );
  }
  return yield* blockOf(work, row);
}

/** The block of a space that holds any address of `prefix`, resting and reserved ones included. */
export function* blockAround(work: Work, space: Space, prefix: IpPrefix): Step<BlockRecord | undefined> {
  const row = yield* one(
    `SELECT ${columns} FROM ipam_block WHERE space = ? AND start <= ? ORDER BY start DESC LIMIT 1`,
    space.id,
    bytesOf(prefix.end),
  );
  if (row === undefined) return undefined;
  const block = yield* blockOf(work, row);
  return block.prefix.overlaps(prefix) ? block : undefined;
}

function* blockOf(work: Work, row: Row): Step<BlockRecord> {
  const space = yield* spaceById(work, Number(row.space));
  const pool = yield* poolById(work, space.pool);
  const text = (value: unknown) => (value === null ? undefined : (value as string));
  const number = (value: unknown) => (value === null ? undefined : Number(value));
  return {
    space,
    prefix: IpPrefix.of(pool.prefix.family, numberOf(row.start), Number(row.length)),
    state: row.state as string,
    purpose: row.purpose as string,
    claim: text(row.claim),
    class: text(row.class),
    scope: text(row.scope),
    reclaim: text(row.reclaim),
    lease: number(row.lease),
    due: number(row.due),
    pool,
  };
}

/** An IPAllocation as it is first stored. */
export function newAllocation(
  work: Work,
  namespace: string,
  name: string,
  block: IpPrefix,
  spec: Omit<AllocationSpec, 'ipFamily'>,
  digest = '',
): IPAllocation {
  return {
    apiVersion,
    kind: 'IPAllocation',
    metadata: {
      name,
      namespace,
      uid: uuidOf(work.seed, 'ipallocations', namespace, name),
      generation: 1,
      creationTimestamp: formatTime(work.now),
    },
    spec: { ipFamily: block.family === 4 ? 'IPv4' : 'IPv6', ...spec },
    status: {
      phase: 'Ready',
      allocatedCIDR: block.toString(),
      ...(digest === '' ? {} : { scopeDigest: digest }),
    },
  };
}

/**
 * Lets go of the block an allocation shows: it rests as long as its pool says before it is free. The allocation's object goes
 * with it. `notBefore`: when it may be free at the earliest, in milliseconds since the Unix epoch.
 */
export function* releaseAllocation(work: Work, allocation: IPAllocation, notBefore = 0): Step<IPAllocation> {
  return yield* releaseBlock(work, allocation, yield* blockOfAllocation(work, allocation), notBefore);
}

/** `releaseAllocation` where the block was looked up already. */
export function* releaseBlock(
  work: Work,
  allocation: IPAllocation,
  { pool, space, prefix, class: className }: BlockRecord,
  notBefore = 0,
): Step<IPAllocation> {
  const rest = pool.rest ?? (yield* classRest(work, className)) ?? work.defaultRestSeconds * 1000;
  const due = Math.max(work.now + rest, notBefore);
  space.live--;
  if (due > work.now) {
    yield* exec(
      `UPDATE ipam_block SET state = 'resting', due = ?, namespace = NULL, name = NULL, claim = NULL
       WHERE space = ? AND start = ?`,
      due,
      space.id,
      bytesOf(prefix.start),
    );
  } else {
    yield* exec('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, bytesOf(prefix.start));
    yield* give(space, prefix, pool.prefix);
  }
  yield* save(space);
  return work.delete('ipallocations', allocation);
}

function* classRest(work: Work, name: string | undefined): Step<number | undefined> {
  const record = name === undefined ? undefined : yield* classNamed(work, name);
  return parseDuration(record?.spec.restPeriod);
}

/** How many blocks one transaction frees at most: an allocation that sweeps must not wait long. */
export const batch = 256;

/** Frees what has rested of `space` in `range`, all of it. Answers how many blocks. */
export function* sweepWithin(work: Work, space: Space, range: IpPrefix, pool: IpPrefix): Step<number> {
  const due = yield* rows(
    `SELECT start, length FROM ipam_block WHERE space = ? + 0 AND start <= ? AND last >= ? AND state = 'resting' AND due <= ?`,
    space.id,
    bytesOf(range.end),
    bytesOf(range.start),
    work.now,
  );
  yield* free(space, due, pool);
  return due.length;
}

/** Frees blocks of `space` that have rested, at most a batch. Answers how many. `space` is saved by the caller or here. */
export function* sweepSpace(work: Work, space: Space, pool: IpPrefix): Step<number> {
  const due = yield* rows(
    `SELECT start, length FROM ipam_block WHERE space = ? + 0 AND state = 'resting' AND due <= ? ORDER BY due LIMIT ${batch}`,
    space.id,
    work.now,
  );
  yield* free(space, due, pool);
  return due.length;
}

function* free(space: Space, blocks: readonly Row[], pool: IpPrefix): Step<void> {
  for (const row of blocks) {
    yield* exec('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, row.start as Uint8Array);
    yield* give(space, IpPrefix.of(space.family, numberOf(row.start), Number(row.length)), pool);
  }
  if (blocks.length > 0) yield* save(space);
}
