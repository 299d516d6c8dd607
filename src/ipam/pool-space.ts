import { IpPrefix } from '../address/index.ts';
import { sweepSpace, sweepWithin } from './blocks.ts';
import { bytesOf } from './bytes.ts';
import { freeAtFirst, sizeOf } from './fixed-ranges.ts';
import type { Space } from './known.ts';
import type { Scope } from './objects.ts';
import type { PoolRecord } from './pool-record.ts';
import { badRequest } from './refusals.ts';
import { allocationName, spaceDigestOf } from './scope.ts';
import { createSpace, findSpace, takeBest, takeExactly, takeFirst } from './space.ts';
import { exec, one, type Step, type Work } from './work.ts';

/** Where PoolCarve and Reservation allocations are shown: the namespace every project has. */
export const poolNamespace = 'default';

/**
 * The space of `pool` that `drawer` takes blocks from, opened where it is new. All that draw from a pool at one time must
 * agree on the roles their blocks are unique within: otherwise two of them could hold one address and differ in no role.
 */
export function* claimSpace(
  work: Work,
  pool: PoolRecord,
  drawer: string,
  roles: readonly string[],
  scope: Scope | undefined,
): Step<Space> {
  const text = JSON.stringify([...roles].sort());
  if (pool.roles === undefined) {
    yield* writeRoles(work, pool, text);
  } else if (pool.roles !== text) {
    const inUse = yield* one('SELECT 1 FROM ipam_space WHERE pool = ? AND live > 0 LIMIT 1', pool.id);
    if (inUse !== undefined) {
      throw badRequest({
        message: `IPPool "${pool.name}" holds addresses that are unique within ${pool.roles}, and ${drawer} needs them unique within ${text}; give it a pool of its own`,
        cause: 'NoOfferingPool',
        dependsOn: [{ plural: 'ippools', name: pool.name }],
      });
    }
    yield* writeRoles(work, pool, text);
  }
  const digest = spaceDigestOf(work.project, roles, scope);
  return (yield* findSpace(work, pool.id, digest, pool.prefix.family)) ?? (yield* openSpace(work, pool, digest));
}

function* writeRoles(work: Work, pool: PoolRecord, text: string): Step<void> {
  work.forget();
  yield* exec('UPDATE ipam_pool SET roles = ? WHERE id = ?', text, pool.id);
}

export function* openSpace(work: Work, pool: PoolRecord, digest: string): Step<Space> {
  const { reserved, excluded } = pool.fixed;
  const used = sizeOf(reserved) + sizeOf(excluded);
  const space = yield* createSpace(work, pool.id, digest, pool.prefix.family, freeAtFirst(pool), used);
  for (const text of reserved) yield* setAside(work, pool.name, space, digest, 'reserved', IpPrefix.parse(text));
  for (const text of excluded) yield* setAside(work, pool.name, space, digest, 'excluded', IpPrefix.parse(text));
  return space;
}

/** Blocks of a space that are never handed out. In the pool's own space a reservation has the name it is shown under. */
export function* setAside(
  work: Work,
  pool: string,
  space: Space,
  digest: string,
  kind: 'reserved' | 'excluded',
  range: IpPrefix,
): Step<void> {
  const named = kind === 'reserved' && digest === '';
  yield* exec(
    `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose, namespace, name)
     VALUES (?, ?, ?, ?, ?, 'held', ?, ?, ?)`,
    space.id,
    bytesOf(range.start),
    bytesOf(range.end),
    range.length,
    work.plane,
    kind === 'reserved' ? 'Reservation' : 'Excluded',
    named ? poolNamespace : null,
    named ? reservationName(pool, range) : null,
  );
}

export function reservationName(pool: string, prefix: IpPrefix): string {
  return allocationName(`ippools/${pool}/${prefix}`);
}

/** A free block by the pool's strategy, once blocks that have rested are back; undefined where there is none. */
export function* take(work: Work, pool: PoolRecord, space: Space, length: number): Step<IpPrefix | undefined> {
  const taking = pool.strategy === 'BestFit' ? takeBest : takeFirst;
  const block = yield* taking(space, length);
  if (block !== undefined) return block;
  return (yield* sweepSpace(work, space, pool.prefix)) > 0 ? yield* taking(space, length) : undefined;
}

/** Exactly `wanted`, once what has rested in it is back; undefined where part of it is not free. */
export function* takeThere(
  work: Work,
  pool: Pick<PoolRecord, 'prefix'>,
  space: Space,
  wanted: IpPrefix,
): Step<IpPrefix | undefined> {
  const block = yield* takeExactly(space, wanted);
  if (block !== undefined) return block;
  return (yield* sweepWithin(work, space, wanted, pool.prefix)) > 0 ? yield* takeExactly(space, wanted) : undefined;
}

/** When the next resting block of the space is free, in words; '' where none rests. */
export function* restingText(work: Work, space: Space): Step<string> {
  const next = yield* one(
    `SELECT min(due) AS due, count(*) AS n FROM ipam_block WHERE space = ? AND state = 'resting'`,
    space.id,
  );
  if (next === undefined || next.due === null) return '';
  const seconds = Math.max(1, Math.ceil((Number(next.due) - work.now) / 1000));
  return `; ${next.n} released ${Number(next.n) === 1 ? 'block rests' : 'blocks rest'}, the next is free in ${seconds} s`;
}
