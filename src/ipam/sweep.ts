import { withCondition } from '../meta/index.ts';
import { batch, releaseAllocation, sweepSpace } from './blocks.ts';
import type { IPAllocation, IPClass, IPPool } from './objects.ts';
import { poolById } from './pool-record.ts';
import { statusOf } from './provisioning.ts';
import { sweepRoots } from './roots.ts';
import { spaceById, spacesOf } from './space.ts';
import { exec, one, type Row, rows, run, type Step, type Work } from './work.ts';

/** How long a retained block whose lease has run out is still shown as Expiring; never longer than the lease itself. */
const graceMilliseconds = 24 * 60 * 60 * 1000;

/** One plane's due work: rested blocks become free, leases run out. Answers when more is due, if anything is waiting. */
export function* sweepPlane(work: Work): Step<void> {
  const due = yield* rows(
    `SELECT b.space, b.start, b.state, b.namespace, b.name, b.lease, s.pool
     FROM ipam_block b JOIN ipam_space s ON s.id = b.space
     WHERE b.due <= ? AND b.plane = ? ORDER BY b.due LIMIT ${batch}`,
    work.now,
    work.plane,
  );
  const swept = new Set<unknown>();
  for (const row of due) {
    if (row.state === 'resting') {
      if (swept.has(row.space)) continue;
      swept.add(row.space);
      yield* sweepOf(work, Number(row.space), Number(row.pool));
      continue;
    }
    const object = (yield* work.get<IPAllocation>('ipallocations', row.namespace as string, row.name as string))!;
    if (row.state === 'retained') yield* expire(work, object, row);
    else if (row.state === 'expiring') yield* releaseAllocation(work, object);
  }
}

function* sweepOf(work: Work, space: number, pool: number): Step<void> {
  if (pool === 0) return yield* sweepRoots(work);
  const { prefix } = yield* poolById(work, pool);
  yield* sweepSpace(work, yield* spaceById(work, space), prefix);
}

function* expire(work: Work, object: IPAllocation, { space, start, lease }: Row): Step<void> {
  const until = work.now + Math.min(graceMilliseconds, Number(lease));
  yield* exec(`UPDATE ipam_block SET state = 'expiring', due = ? WHERE space = ? AND start = ?`, until, space!, start!);
  const expiring = {
    type: 'Expiring',
    status: 'True' as const,
    reason: 'LeaseExpired',
    message: `The retention lease has run out; the address is released in ${Math.round((until - work.now) / 1000)} s unless a claim of the same name takes it.`,
  };
  work.put('ipallocations', {
    ...object,
    status: { ...object.status!, conditions: withCondition(object.status?.conditions, expiring, work.now) },
  });
}

/** Earliest time anything becomes due, over all planes; undefined where nothing waits. */
export function* nextDue(): Step<number | undefined> {
  const row = yield* one('SELECT min(due) AS due FROM ipam_block WHERE due IS NOT NULL');
  return row === undefined || row.due === null ? undefined : Number(row.due);
}

export function* planesDue(now: number): Step<string[]> {
  const due = yield* rows('SELECT plane FROM ipam_block WHERE due <= ? ORDER BY due LIMIT 64', now);
  return [...new Set(due.map((row) => row.plane as string))];
}

/** Brings the status of pools (and counts of classes) whose space has changed up to date, at most a batch. Answers whether there is more. */
export function* flushPlane(work: Work): Step<boolean> {
  const stale = yield* rows(
    `SELECT id, pool FROM ipam_space WHERE stale = 1 AND plane = ? ORDER BY id LIMIT ${batch}`,
    work.plane,
  );
  for (const pool of new Set(stale.map((row) => Number(row.pool)))) {
    yield* exec('UPDATE ipam_space SET stale = 0 WHERE pool = ? AND stale = 1 AND plane = ?', pool, work.plane);
    if (pool === 0) continue;
    const freed = (yield* run('DELETE FROM ipam_freed WHERE pool = ?', pool)) > 0;
    const record = yield* poolById(work, pool);
    const object = yield* work.get<IPPool>('ippools', '', record.name);
    if (object === undefined) continue;
    const { largestFreePrefixLength: before, ...shown } = object.status ?? {};
    const status = { ...shown, ...statusOf(record, yield* spacesOf(pool)) };
    const same = status.capacity?.allocated === shown.capacity?.allocated && status.largestFreePrefixLength === before;
    // Somebody may wait for what was freed, and the figures do not tell: they are those of the fullest space, and as before
    // where as much was taken elsewhere.
    if (freed || !same) work.put('ippools', { ...object, status });
  }
  for (const row of yield* rows('SELECT name FROM ipam_class WHERE stale = 1 AND plane = ? LIMIT 64', work.plane)) {
    const name = row.name as string;
    yield* exec('UPDATE ipam_class SET stale = 0 WHERE plane = ? AND name = ?', work.plane, name);
    const object = yield* work.get<IPClass>('ipclasses', '', name);
    const count = yield* one('SELECT count(*) AS n FROM ipam_pool WHERE plane = ? AND class = ?', work.plane, name);
    if (object !== undefined && object.status?.provisionedPools !== Number(count!.n)) {
      work.put('ipclasses', { ...object, status: { ...object.status, provisionedPools: Number(count!.n) } });
    }
  }
  return stale.length === batch;
}

/** Planes with something to flush. */
export function* planesStale(): Step<string[]> {
  const spaces = yield* rows('SELECT DISTINCT plane FROM ipam_space WHERE stale = 1');
  const classes = yield* rows('SELECT DISTINCT plane FROM ipam_class WHERE stale = 1');
  return [...new Set([...spaces, ...classes].map((row) => row.plane as string))];
}
