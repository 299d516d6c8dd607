import { IpPrefix } from '../address/index.ts';
import { formatTime, parseDuration } from '../meta/index.ts';
import { newAllocation, releaseAllocation } from './blocks.ts';
import { bytesOf } from './bytes.ts';
import { type ClassRecord, countOffers } from './classes.ts';
import { fixedRangesOf, sizeOf } from './fixed-ranges.ts';
import type { Space } from './known.ts';
import { apiVersion, type IPAllocation, type IPPool, provisionedBy, type Scope, scopeDigest } from './objects.ts';
import { fixedText, type PoolRecord, poolColumns, poolOf } from './pool-record.ts';
import { openSpace, poolNamespace, reservationName } from './pool-space.ts';
import { conflict } from './refusals.ts';
import { showReservation } from './reshape.ts';
import { giveRoot } from './roots.ts';
import { allocationName, cascadePoolName, digestOf, reduceScope, spaceDigestOf, uuidOf } from './scope.ts';
import { type SpaceSummary, save, spacesOf } from './space.ts';
import { exec, one, rows, type Step, type Work } from './work.ts';

/** Stores the pool and all that comes with it: its row, its first space, its reservations, its offers. */
export function* insertPool(
  work: Work,
  object: IPPool,
  prefix: IpPrefix,
  parent: PoolRecord | undefined,
  provisioned: { class: string; digest: string } | undefined,
): Step<PoolRecord> {
  const { spec } = object;
  const fixed = fixedRangesOf(prefix, spec);
  work.forget();
  const row = yield* one(
    `INSERT INTO ipam_pool (plane, name, family, start, length, parent, class, digest, strategy, min_length, max_length,
       rest, max_lease, reserved) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${poolColumns}`,
    work.plane,
    object.metadata.name,
    prefix.family,
    bytesOf(prefix.start),
    prefix.length,
    parent?.id ?? null,
    provisioned?.class ?? null,
    provisioned?.digest ?? null,
    spec?.allocation?.strategy ?? 'FirstFit',
    spec?.allocation?.minPrefixLength ?? null,
    spec?.allocation?.maxPrefixLength ?? null,
    parseDuration(spec?.restPeriod) ?? null,
    parseDuration(spec?.maxRetentionLease) ?? null,
    fixedText(fixed),
  );
  const pool = poolOf(row!);
  work.madePools.add(pool.id);
  yield* openSpace(work, pool, '');
  for (const text of fixed.reserved) showReservation(work, pool, IpPrefix.parse(text));
  yield* writeOffers(work, pool, spec?.classNames ?? []);
  return pool;
}

export function* writeOffers(work: Work, pool: PoolRecord, classNames: readonly string[]): Step<void> {
  work.forget();
  yield* exec('DELETE FROM ipam_offer WHERE pool = ?', pool.id);
  for (const name of new Set(classNames)) {
    yield* exec(
      'INSERT INTO ipam_offer (plane, class, pool_name, pool) VALUES (?, ?, ?, ?)',
      work.plane,
      name,
      pool.name,
      pool.id,
    );
  }
}

/** Holds `block` of `parent` for the pool `name`, and shows it as an allocation of purpose PoolCarve. `by`: what provisions it. */
export function* carve(
  work: Work,
  parent: PoolRecord,
  space: Space,
  block: IpPrefix,
  name: string,
  by?: { class: ClassRecord; scope: Scope | undefined },
): Step<void> {
  const className = by?.class.name;
  const roles = by?.class.spec.uniqueWithin ?? [];
  const scope = reduceScope(by?.scope, roles);
  space.live++;
  yield* save(space);
  const allocation = allocationName(`ippools/${name}`);
  yield* exec(
    `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose, namespace, name, class)
     VALUES (?, ?, ?, ?, ?, 'held', 'PoolCarve', ?, ?, ?)`,
    space.id,
    bytesOf(block.start),
    bytesOf(block.end),
    block.length,
    work.plane,
    poolNamespace,
    allocation,
    className ?? null,
  );
  work.put(
    'ipallocations',
    newAllocation(
      work,
      poolNamespace,
      allocation,
      block,
      {
        poolRef: { name: parent.name },
        purpose: 'PoolCarve',
        ...(className === undefined ? {} : { className }),
        ...(scope === undefined ? {} : { scope }),
      },
      spaceDigestOf(work.project, roles, scope),
    ),
  );
}

/** A cascade's pool: carved from `parent` by the class's own prefix length, under a name people can read. */
export function* provisionPool(
  work: Work,
  record: ClassRecord,
  scope: Scope | undefined,
  digest: string,
  parent: PoolRecord,
  space: Space,
  block: IpPrefix,
): Step<PoolRecord> {
  const roles = record.spec.poolPer ?? [];
  const name = cascadePoolName(record.name, work.project, roles, scope, digestOf(record.name, digest));
  if ((yield* work.get('ippools', '', name)) !== undefined) {
    throw conflict('ippools', name, {
      message: `IPClass "${record.name}" would provision IPPool "${name}" for this scope, but a pool of that name is there already; delete or rename it`,
      dependsOn: [{ plural: 'ippools', name }],
    });
  }
  yield* carve(work, parent, space, block, name, { class: record, scope });
  const own: Scope = {};
  for (const role of roles) if (scope !== undefined && Object.hasOwn(scope, role)) own[role] = scope[role]!;
  const object: IPPool = {
    apiVersion,
    kind: 'IPPool',
    metadata: {
      name,
      uid: uuidOf(work.seed, 'ippools', name),
      generation: 1,
      creationTimestamp: formatTime(work.now),
      labels: { [provisionedBy]: labelValue(record.name), [scopeDigest]: labelValue(digest) },
    },
    spec: {
      ipFamily: block.family === 4 ? 'IPv4' : 'IPv6',
      parentPoolRef: { name: parent.name },
      prefixLength: block.length,
      classRef: { name: record.name },
      scope: own,
      ...(record.spec.reservations === undefined ? {} : { reservations: record.spec.reservations }),
    },
  };
  const pool = yield* insertPool(work, object, block, parent, { class: record.name, digest });
  work.put('ippools', { ...object, status: { ...statusOf(pool, yield* spacesOf(pool.id)), scopeDigest: digest } });
  yield* exec('UPDATE ipam_class SET stale = 1 WHERE plane = ? AND name = ?', work.plane, record.name);
  return pool;
}

/** Label values are at most 63 characters and end in a letter or digit. */
function labelValue(text: string): string {
  return text.slice(0, 63).replace(/[^a-zA-Z0-9]+$/, '');
}

/**
 * `phase`, range and capacity as the pool's status shows them. Several address spaces share the pool's range: what counts
 * is how full the fullest is.
 */
export function statusOf(pool: PoolRecord, spaces: readonly SpaceSummary[]): NonNullable<IPPool['status']> {
  const fullest = spaces.reduce((a, b) => (b.used > a.used ? b : a));
  const excluded = sizeOf(pool.fixed.excluded);
  const total = pool.prefix.size - excluded;
  const used = fullest.used - excluded;
  const { largest } = fullest;
  return {
    phase: used >= total ? 'Exhausted' : 'Ready',
    allocatedCIDR: pool.prefix.toString(),
    ipFamily: pool.prefix.family === 4 ? 'IPv4' : 'IPv6',
    capacity: { total: String(total), allocated: String(used), available: String(total - used) },
    utilizationPercent: total === 0n ? 100 : Number((used * 1_000_000n) / total) / 10_000,
    ...(largest === undefined ? {} : { largestFreePrefixLength: largest }),
  };
}

/** What in `pool`, or in pools below it, keeps it from going; undefined where nothing does. */
export function* occupant(work: Work, pool: PoolRecord): Step<string | undefined> {
  for (const row of yield* rows(`SELECT ${poolColumns} FROM ipam_pool WHERE parent = ?`, pool.id)) {
    const child = poolOf(row);
    if (child.class === undefined) return `IPPool "${child.name}"`;
    if (child.holder !== undefined) return `IPPool "${child.name}" held by IPClaim "${child.holder}"`;
    const inside = yield* occupant(work, child);
    if (inside !== undefined) return inside;
  }
  const claimed = yield* one(
    `SELECT b.namespace, b.name, b.claim FROM ipam_space s JOIN ipam_block b ON b.space = s.id
     WHERE s.pool = ? AND s.live > 0 AND b.purpose = 'Claim' AND b.state <> 'resting' LIMIT 1`,
    pool.id,
  );
  if (claimed === undefined) return undefined;
  return claimed.claim === null
    ? `the retained IPAllocation "${claimed.namespace}/${claimed.name}"`
    : `IPClaim "${claimed.claim}"`;
}

/** Removes a pool nobody occupies, with the derived pools below it, and gives its range back. */
export function* removePool(work: Work, pool: PoolRecord, given?: IPPool): Step<IPPool> {
  for (const row of yield* rows(`SELECT ${poolColumns} FROM ipam_pool WHERE parent = ?`, pool.id)) {
    yield* removePool(work, poolOf(row));
  }
  const object = given ?? (yield* work.get<IPPool>('ippools', '', pool.name))!;
  for (const text of pool.fixed.reserved) {
    const name = reservationName(pool.name, IpPrefix.parse(text));
    const allocation = yield* work.get<IPAllocation>('ipallocations', poolNamespace, name);
    if (allocation !== undefined) work.delete('ipallocations', allocation);
  }
  work.forget();
  for (const [id, space] of work.known.spaces) if (space.pool === pool.id) work.known.spaces.delete(id);
  const inside = 'space IN (SELECT id FROM ipam_space WHERE pool = ?)';
  const resting = yield* one(`SELECT max(due) AS due FROM ipam_block WHERE ${inside} AND state = 'resting'`, pool.id);
  for (const table of ['ipam_block', 'ipam_free']) {
    yield* exec(`DELETE FROM ${table} WHERE ${inside}`, pool.id);
  }
  for (const table of ['ipam_space', 'ipam_freed', 'ipam_offer']) {
    yield* exec(`DELETE FROM ${table} WHERE pool = ?`, pool.id);
  }
  yield* exec('DELETE FROM ipam_pool WHERE id = ?', pool.id);
  // Its range rests as long as the last of what rested in it would have.
  const due = Number(resting?.due ?? 0);
  if (pool.parent === undefined) {
    yield* giveRoot(work, pool.prefix, due);
  } else {
    const carved = allocationName(`ippools/${pool.name}`);
    const allocation = (yield* work.get<IPAllocation>('ipallocations', poolNamespace, carved))!;
    yield* releaseAllocation(work, allocation, due);
  }
  if (pool.class === undefined) yield* countOffers(work, new Set(object.spec?.classNames ?? []));
  else yield* exec('UPDATE ipam_class SET stale = 1 WHERE plane = ? AND name = ?', work.plane, pool.class);
  return work.delete('ippools', object);
}
