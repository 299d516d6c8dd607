import { bitsOf, IpPrefix, subtract } from '../address/index.ts';
import { blockOfAllocation, newAllocation } from './blocks.ts';
import { bytesOf, numberOf } from './bytes.ts';
import { fixedRangesOf, rangeCauses, unitCauses } from './fixed-ranges.ts';
import type { Space } from './known.ts';
import type { IPAllocation, IPPool } from './objects.ts';
import { fixedText, type PoolRecord } from './pool-record.ts';
import { poolNamespace, reservationName, setAside, takeThere } from './pool-space.ts';
import { conflict, exhausted, invalid, invalidValue } from './refusals.ts';
import { giveRoot, takeRoot } from './roots.ts';
import { allocationName } from './scope.ts';
import { give, save, spaceById } from './space.ts';
import { exec, one, type Row, rows, type Step, type Work } from './work.ts';

/** How many of what is in the way a refusal names. */
const mostNamed = 10;

/**
 * Gives an authored pool another range, or other ranges set aside, as its spec says now. What is allocated stays where it
 * is: a change that would take away, or set aside, an address that is held or resting is refused and names what is in the way.
 */
export function* reshapePool(work: Work, pool: PoolRecord, object: IPPool): Step<PoolRecord> {
  const prefix = rangeOf(pool, object);
  const { name } = object.metadata;
  const causes = [...rangeCauses(object.spec!, prefix), ...unitCauses(object.spec?.reservations, prefix.length)];
  if (causes.length > 0) throw invalid('ippools', name, causes);
  const next: PoolRecord = { ...pool, prefix, fixed: fixedRangesOf(prefix, object.spec) };
  if (prefix.equals(pool.prefix) && fixedText(next.fixed) === fixedText(pool.fixed)) return pool;
  if (!prefix.equals(pool.prefix)) {
    if (pool.parent === undefined) {
      yield* giveRoot(work, pool.prefix);
      yield* takeRoot(work, name, prefix);
    } else {
      yield* recarve(work, pool, prefix);
    }
  }
  const inTheWay: string[] = [];
  for (const row of yield* rows('SELECT id, digest FROM ipam_space WHERE pool = ? ORDER BY id', pool.id)) {
    const space = yield* spaceById(work, Number(row.id));
    yield* reshapeSpace(work, space, row.digest as string, pool, next, inTheWay);
  }
  if (inTheWay.length > 0) throw obstructed(pool, next, inTheWay);
  yield* showReservations(work, pool, next);
  work.forget();
  yield* exec(
    'UPDATE ipam_pool SET start = ?, length = ?, reserved = ? WHERE id = ?',
    bytesOf(prefix.start),
    prefix.length,
    fixedText(next.fixed),
    pool.id,
  );
  return next;
}

/** The range its spec asks for. A pool grows around what it has, or shrinks inside it. */
function rangeOf(pool: PoolRecord, { spec, metadata }: IPPool): IpPrefix {
  if (pool.class !== undefined) return pool.prefix;
  if (pool.parent !== undefined) {
    const length = spec!.prefixLength!;
    if (length < 1 || length > bitsOf[pool.prefix.family]) {
      const why = `must be 1 to ${bitsOf[pool.prefix.family]}`;
      throw invalid('ippools', metadata.name, [invalidValue('spec.prefixLength', length, why)]);
    }
    return IpPrefix.of(pool.prefix.family, pool.prefix.start, length);
  }
  const prefix = IpPrefix.parse(spec!.cidr!);
  if (prefix.contains(pool.prefix) || pool.prefix.contains(prefix)) return prefix;
  throw invalid('ippools', metadata.name, [
    invalidValue(
      'spec.cidr',
      spec!.cidr,
      `the pool is ${pool.prefix}: it can grow to a range that contains that, or shrink to one inside it; make another pool for another range`,
    ),
  ]);
}

/** Takes the block of a child pool out of its parent again, larger or smaller. */
function* recarve(work: Work, pool: PoolRecord, prefix: IpPrefix): Step<void> {
  const allocation = allocationName(`ippools/${pool.name}`);
  const object = (yield* work.get<IPAllocation>('ipallocations', poolNamespace, allocation))!;
  const { pool: parent, space } = yield* blockOfAllocation(work, object);
  yield* exec('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, bytesOf(pool.prefix.start));
  yield* give(space, pool.prefix, parent.prefix);
  if (!parent.prefix.contains(prefix) || (yield* takeThere(work, parent, space, prefix)) === undefined) {
    throw exhausted(
      parent.name,
      `IPPool "${pool.name}" cannot grow from ${pool.prefix} to ${prefix}: IPPool "${parent.name}" (${parent.prefix}) has no room there; add a second child pool`,
      [{ plural: 'ippools', name: parent.name }],
    );
  }
  yield* exec(
    `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose, namespace, name)
     VALUES (?, ?, ?, ?, ?, 'held', 'PoolCarve', ?, ?)`,
    space.id,
    bytesOf(prefix.start),
    bytesOf(prefix.end),
    prefix.length,
    work.plane,
    poolNamespace,
    allocation,
  );
  yield* save(space);
  work.put('ipallocations', { ...object, status: { ...object.status, allocatedCIDR: prefix.toString() } });
}

/** One address space of the pool. What is in the way is added to `inTheWay`: then nothing of this is kept. */
function* reshapeSpace(
  work: Work,
  space: Space,
  digest: string,
  pool: PoolRecord,
  next: PoolRecord,
  inTheWay: string[],
): Step<void> {
  const kinds = ['reserved', 'excluded'] as const;
  for (const kind of kinds) {
    for (const text of pool.fixed[kind]) {
      if (next.fixed[kind].includes(text)) continue;
      const range = IpPrefix.parse(text);
      yield* exec('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, bytesOf(range.start));
      yield* give(space, range, pool.prefix);
    }
  }
  for (const added of pool.prefix.contains(next.prefix) ? [] : subtract(next.prefix, [pool.prefix])) {
    space.used += added.size;
    yield* give(space, added, next.prefix);
  }
  for (const removed of next.prefix.contains(pool.prefix) ? [] : subtract(pool.prefix, [next.prefix])) {
    if ((yield* takeThere(work, pool, space, removed)) === undefined) yield* nameBlocks(work, space, removed, inTheWay);
    else space.used -= removed.size;
  }
  for (const kind of kinds) {
    for (const text of next.fixed[kind]) {
      if (pool.fixed[kind].includes(text)) continue;
      const range = IpPrefix.parse(text);
      if ((yield* takeThere(work, next, space, range)) === undefined) yield* nameBlocks(work, space, range, inTheWay);
      else yield* setAside(work, pool.name, space, digest, kind, range);
    }
  }
  // The pool's object is written with its new shape.
  space.freed = false;
  yield* save(space);
}

/** Adds what is held, or rests, in `range` to `names`; at most one more than a refusal names. */
function* nameBlocks(work: Work, space: Space, range: IpPrefix, names: string[]): Step<void> {
  const columns = 'start, length, state, purpose, due, namespace, name, claim';
  const before = yield* rows(
    `SELECT ${columns} FROM ipam_block WHERE space = ? AND start <= ? ORDER BY start DESC LIMIT 1`,
    space.id,
    bytesOf(range.start),
  );
  const inside = yield* rows(
    `SELECT ${columns} FROM ipam_block WHERE space = ? AND start > ? AND start <= ? ORDER BY start LIMIT ${mostNamed + 1}`,
    space.id,
    bytesOf(range.start),
    bytesOf(range.end),
  );
  for (const row of [...before, ...inside]) {
    const block = IpPrefix.of(space.family, numberOf(row.start), Number(row.length));
    if (block.overlaps(range) && names.length <= mostNamed) names.push(yield* nameOf(work, row, block));
  }
}

function* nameOf(work: Work, row: Row, block: IpPrefix): Step<string> {
  if (row.state === 'resting') {
    return `${block}, which rests for ${Math.max(1, Math.ceil((Number(row.due) - work.now) / 1000))} s more`;
  }
  if (row.purpose === 'PoolCarve') {
    const child = yield* one(
      'SELECT name FROM ipam_pool WHERE plane = ? AND parent IS NOT NULL AND family = ? AND start = ? AND length = ?',
      work.plane,
      block.family,
      row.start as Uint8Array,
      block.length,
    );
    return `IPPool "${child?.name}" (${block})`;
  }
  if (row.purpose !== 'Claim') return `the ${row.purpose === 'Excluded' ? 'excluded' : 'reserved'} range ${block}`;
  return row.claim === null
    ? `the retained IPAllocation "${row.namespace}/${row.name}" (${block})`
    : `IPClaim "${row.claim}" (${block})`;
}

function obstructed(pool: PoolRecord, next: PoolRecord, names: readonly string[]) {
  const shown = names.slice(0, mostNamed).join('; ');
  const more = names.length > mostNamed ? '; and more' : '';
  const what = next.prefix.equals(pool.prefix)
    ? 'cannot set these ranges aside'
    : `cannot become ${next.prefix} (it is ${pool.prefix})`;
  return conflict('ippools', pool.name, {
    message: `IPPool "${pool.name}" ${what}: in the way ${names.length === 1 ? 'is' : 'are'} ${shown}${more}; release what is in the way, or keep its range`,
    dependsOn: [{ plural: 'ippools', name: pool.name }],
  });
}

/** Reservations are shown as allocations: those that are new, and no longer those that are gone. */
function* showReservations(work: Work, pool: PoolRecord, next: PoolRecord): Step<void> {
  for (const text of pool.fixed.reserved) {
    if (next.fixed.reserved.includes(text)) continue;
    const name = reservationName(pool.name, IpPrefix.parse(text));
    const object = yield* work.get<IPAllocation>('ipallocations', poolNamespace, name);
    if (object !== undefined) work.delete('ipallocations', object);
  }
  for (const text of next.fixed.reserved) {
    if (!pool.fixed.reserved.includes(text)) showReservation(work, pool, IpPrefix.parse(text));
  }
}

export function showReservation(work: Work, pool: Pick<PoolRecord, 'name' | 'class'>, range: IpPrefix): void {
  work.put(
    'ipallocations',
    newAllocation(work, poolNamespace, reservationName(pool.name, range), range, {
      poolRef: { name: pool.name },
      purpose: 'Reservation',
      ...(pool.class === undefined ? {} : { className: pool.class }),
    }),
  );
}
