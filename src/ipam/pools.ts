import { bitsOf, IpPrefix, subtract } from '../address/index.ts';
import { formatTime, withCondition } from '../meta/index.ts';
import { newAllocation, releaseBlock, sweepSpace } from './blocks.ts';
import { type ClassRecord, countOffers } from './classes.ts';
import {
  apiVersion,
  type IPAllocation,
  type IPPool,
  provisionedBy,
  type Reservations,
  type Scope,
  scopeDigest,
} from './objects.ts';
import { type PoolRecord, poolById, poolColumns, poolNamed, poolOf } from './pool-record.ts';
import { alreadyExists, badRequest, conflict, exhausted, invalid, invalidValue } from './refusals.ts';
import { allocationName, cascadePoolName, digestOf, scopeDigestOf, uuidOf } from './scope.ts';
import {
  bytesOf,
  createSpace,
  findSpace,
  give,
  numberOf,
  type Space,
  save,
  takeBest,
  takeExactly,
  takeFirst,
} from './space.ts';
import { durationMilliseconds } from './validation.ts';
import { one, rows, run, type Step, type Work } from './work.ts';

/** Where PoolCarve and Reservation allocations are shown: the namespace every project has. */
const poolNamespace = 'default';
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
    yield* run('UPDATE ipam_pool SET roles = ? WHERE id = ?', text, pool.id);
  } else if (pool.roles !== text) {
    const inUse = yield* one('SELECT 1 FROM ipam_space WHERE pool = ? AND live > 0 LIMIT 1', pool.id);
    if (inUse !== undefined) {
      throw badRequest({
        message: `IPPool "${pool.name}" holds addresses that are unique within ${pool.roles}, and ${drawer} needs them unique within ${text}; give it a pool of its own`,
        cause: 'NoOfferingPool',
        dependsOn: [{ plural: 'ippools', name: pool.name }],
      });
    }
    yield* run('UPDATE ipam_pool SET roles = ? WHERE id = ?', text, pool.id);
  }
  const digest = roles.length === 0 ? '' : scopeDigestOf(work.project, [...roles].sort(), scope);
  return (yield* findSpace(work.plane, pool.id, digest, pool.prefix.family)) ?? (yield* openSpace(work, pool, digest));
}

function* openSpace(work: Work, pool: PoolRecord, digest: string): Step<Space> {
  const reserved = pool.reserved.map((text) => IpPrefix.parse(text));
  const used = reserved.reduce((sum, prefix) => sum + prefix.size, 0n);
  const free = subtract(pool.prefix, reserved);
  const space = yield* createSpace(work.plane, pool.id, digest, pool.prefix.family, free, used);
  for (const prefix of reserved) {
    yield* run(
      `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose, namespace, name)
       VALUES (?, ?, ?, ?, ?, 'held', 'Reservation', ?, ?)`,
      space.id,
      bytesOf(prefix.start),
      bytesOf(prefix.end),
      prefix.length,
      work.plane,
      digest === '' ? poolNamespace : null,
      digest === '' ? reservationName(pool.name, prefix) : null,
    );
  }
  return space;
}

function reservationName(pool: string, prefix: IpPrefix): string {
  return allocationName(`ippools/${pool}/${prefix}`);
}

/** A free block by the pool's strategy, once blocks that have rested are back; undefined where there is none. */
export function* take(work: Work, pool: PoolRecord, space: Space, length: number): Step<IpPrefix | undefined> {
  const taking = pool.strategy === 'BestFit' ? takeBest : takeFirst;
  const block = yield* taking(space, length);
  if (block !== undefined) return block;
  return (yield* sweepSpace(work, space, pool.prefix)) > 0 ? yield* taking(space, length) : undefined;
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

/** What `reservations` of a pool sets aside: units from its start and from its end. */
export function reservedUnits(pool: IpPrefix, reservations: Reservations | undefined): IpPrefix[] {
  const unit = reservations?.unitPrefixLength;
  if (unit === undefined || unit < pool.length) return [];
  const units: IpPrefix[] = [];
  let front: IpPrefix | undefined = IpPrefix.of(pool.family, pool.start, unit);
  for (let n = 0; n < (reservations?.leading ?? 0) && front !== undefined && pool.contains(front); n++) {
    units.push(front);
    front = front.next();
  }
  const trailing: IpPrefix[] = [];
  let back: IpPrefix | undefined = IpPrefix.of(pool.family, pool.end, unit);
  for (let n = 0; n < (reservations?.trailing ?? 0) && back !== undefined && pool.contains(back); n++) {
    if (units.length > 0 && back.start <= units.at(-1)!.start) break;
    trailing.unshift(back);
    back = back.previous();
  }
  return [...units, ...trailing];
}

/** Stores the pool and all that comes with it: its row, its first space, its reservations, its offers. */
function* insertPool(
  work: Work,
  object: IPPool,
  prefix: IpPrefix,
  parent: PoolRecord | undefined,
  provisioned: { class: string; digest: string } | undefined,
): Step<PoolRecord> {
  const { spec } = object;
  const reserved = reservedUnits(prefix, spec?.reservations);
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
    durationMilliseconds(spec?.restPeriod) ?? null,
    durationMilliseconds(spec?.maxRetentionLease) ?? null,
    JSON.stringify(reserved),
  );
  const pool = poolOf(row!);
  work.madePools.add(pool.id);
  yield* openSpace(work, pool, '');
  for (const unit of reserved) {
    work.put(
      'ipallocations',
      newAllocation(work, poolNamespace, reservationName(pool.name, unit), unit, {
        poolRef: { name: pool.name },
        purpose: 'Reservation',
        ...(provisioned === undefined ? {} : { className: provisioned.class }),
      }),
    );
  }
  yield* writeOffers(work, pool, spec?.classNames ?? []);
  return pool;
}

function* writeOffers(work: Work, pool: PoolRecord, classNames: readonly string[]): Step<void> {
  yield* run('DELETE FROM ipam_offer WHERE pool = ?', pool.id);
  for (const name of new Set(classNames)) {
    yield* run(
      'INSERT INTO ipam_offer (plane, class, pool_name, pool) VALUES (?, ?, ?, ?)',
      work.plane,
      name,
      pool.name,
      pool.id,
    );
  }
}

/** Takes a block of `length` out of `parent` for the pool `name`, and shows it as an allocation of purpose PoolCarve. */
function* carve(
  work: Work,
  parent: PoolRecord,
  space: Space,
  block: IpPrefix,
  name: string,
  className: string | undefined,
): Step<void> {
  space.live++;
  yield* save(space);
  const allocation = allocationName(`ippools/${name}`);
  yield* run(
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
    newAllocation(work, poolNamespace, allocation, block, {
      poolRef: { name: parent.name },
      purpose: 'PoolCarve',
      ...(className === undefined ? {} : { className }),
    }),
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
  yield* carve(work, parent, space, block, name, record.name);
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
  work.put('ippools', { ...object, status: { ...statusOf(pool, usedAtFirst(pool)), scopeDigest: digest } });
  yield* run('UPDATE ipam_class SET stale = 1 WHERE plane = ? AND name = ?', work.plane, record.name);
  return pool;
}

/** Label values are at most 63 characters and end in a letter or digit. */
function labelValue(text: string): string {
  return text.slice(0, 63).replace(/[^a-zA-Z0-9]+$/, '');
}

function usedAtFirst(pool: PoolRecord): bigint {
  return pool.reserved.reduce((sum, text) => sum + IpPrefix.parse(text).size, 0n);
}

/** `phase`, range and capacity as the pool's status shows them. `used` counts reserved, held and resting addresses. */
export function statusOf(pool: PoolRecord, used: bigint): NonNullable<IPPool['status']> {
  const total = pool.prefix.size;
  return {
    phase: used >= total ? 'Exhausted' : 'Ready',
    allocatedCIDR: pool.prefix.toString(),
    ipFamily: pool.prefix.family === 4 ? 'IPv4' : 'IPv6',
    capacity: { total: String(total), allocated: String(used), available: String(total - used) },
    utilizationPercent: Number((used * 1_000_000n) / total) / 10_000,
  };
}

/** A pool a person wrote: a root with its range, or a child carved from an existing pool by length. */
export function* createPool(work: Work, object: IPPool): Step<IPPool> {
  const name = object.metadata.name;
  if ((yield* work.get('ippools', '', name)) !== undefined) throw alreadyExists('ippools', name);
  const spec = object.spec!;
  const causes = yield* classFamilyCauses(work, object);
  if (causes.length > 0) throw invalid('ippools', name, causes);
  let prefix: IpPrefix;
  let parent: PoolRecord | undefined;
  if (spec.parentPoolRef === undefined) {
    prefix = IpPrefix.parse(spec.cidr!);
    yield* takeRoot(work, name, prefix);
  } else {
    parent = yield* poolNamed(work, spec.parentPoolRef.name);
    if (parent === undefined) {
      throw badRequest({
        message: `IPPool "${name}" names parent pool "${spec.parentPoolRef.name}", which does not exist; create it first`,
        dependsOn: [{ plural: 'ippools', name: spec.parentPoolRef.name }],
      });
    }
    const length = spec.prefixLength!;
    if (length < parent.prefix.length || length > bitsOf[parent.prefix.family]) {
      throw invalid('ippools', name, [
        invalidValue('spec.prefixLength', length, `must lie inside the parent pool's range ${parent.prefix}`),
      ]);
    }
    const space = yield* claimSpace(work, parent, `IPPool "${name}"`, [], undefined);
    const block = yield* take(work, parent, space, length);
    if (block === undefined) {
      throw exhausted(
        parent.name,
        `IPPool "${parent.name}" (${parent.prefix}) has no free /${length} for IPPool "${name}"${yield* restingText(work, space)}; use a longer prefix, or another parent`,
        [{ plural: 'ippools', name: parent.name }],
      );
    }
    yield* carve(work, parent, space, block, name, undefined);
    prefix = block;
  }
  const pool = yield* insertPool(work, object, prefix, parent, undefined);
  yield* countOffers(work, new Set(spec.classNames ?? []));
  return work.put('ippools', {
    ...object,
    status: {
      ...statusOf(pool, usedAtFirst(pool)),
      conditions: withCondition(
        undefined,
        { type: 'Allocated', status: 'True', reason: 'AllocationSucceeded', message: `The pool holds ${prefix}.` },
        work.now,
      ),
    },
  });
}

function* classFamilyCauses(work: Work, object: IPPool): Step<ReturnType<typeof invalidValue>[]> {
  const causes: ReturnType<typeof invalidValue>[] = [];
  const { spec } = object;
  const family = spec?.cidr !== undefined ? (spec.cidr.includes(':') ? 6 : 4) : undefined;
  for (const [index, name] of (spec?.classNames ?? []).entries()) {
    const row = yield* one('SELECT family FROM ipam_class WHERE plane = ? AND name = ?', work.plane, name);
    if (row !== undefined && family !== undefined && Number(row.family) !== family) {
      causes.push(
        invalidValue(`spec.classNames[${index}]`, name, `is a class for IPv${row.family}, the pool is IPv${family}`),
      );
    }
  }
  return causes;
}

/** Root pools are blocks of a space of their own: two of them cannot overlap. */
function* takeRoot(work: Work, name: string, prefix: IpPrefix): Step<void> {
  const digest = `${work.plane}/IPv${prefix.family}`;
  const space =
    (yield* findSpace(work.plane, 0, digest, prefix.family)) ??
    (yield* createSpace(work.plane, 0, digest, prefix.family, [IpPrefix.of(prefix.family, 0n, 0)], 0n));
  if ((yield* takeExactly(space, prefix)) === undefined) {
    const other = yield* one(
      'SELECT start, length FROM ipam_block WHERE space = ? AND start <= ? ORDER BY start DESC LIMIT 1',
      space.id,
      bytesOf(prefix.end),
    );
    const taken = IpPrefix.of(prefix.family, numberOf(other!.start), Number(other!.length));
    const holder = yield* one(
      'SELECT name FROM ipam_pool WHERE plane = ? AND parent IS NULL AND family = ? AND start = ? AND length = ?',
      work.plane,
      prefix.family,
      bytesOf(taken.start),
      taken.length,
    );
    throw conflict('ippools', name, {
      message: `spec.cidr ${prefix} overlaps ${taken} of IPPool "${holder?.name}" in project "${work.project}"; root pools of a project may not overlap`,
      dependsOn: [{ plural: 'ippools', name: String(holder?.name) }],
    });
  }
  yield* run(
    `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose) VALUES (?, ?, ?, ?, ?, 'held', 'Root')`,
    space.id,
    bytesOf(prefix.start),
    bytesOf(prefix.end),
    prefix.length,
    work.plane,
  );
  space.live++;
  yield* save(space);
}

/** Applies what of an authored pool may change: offers, limits, strategy, rest, lease. */
export function* updatePool(work: Work, object: IPPool, old: IPPool): Step<void> {
  const pool = yield* poolNamed(work, object.metadata.name);
  if (pool === undefined) return;
  const { spec } = object;
  yield* run(
    `UPDATE ipam_pool SET strategy = ?, min_length = ?, max_length = ?, rest = ?, max_lease = ? WHERE id = ?`,
    spec?.allocation?.strategy ?? 'FirstFit',
    spec?.allocation?.minPrefixLength ?? null,
    spec?.allocation?.maxPrefixLength ?? null,
    durationMilliseconds(spec?.restPeriod) ?? null,
    durationMilliseconds(spec?.maxRetentionLease) ?? null,
    pool.id,
  );
  const before = new Set(old.spec?.classNames ?? []);
  const after = new Set(spec?.classNames ?? []);
  const changed = before.symmetricDifference(after);
  if (changed.size > 0) {
    const causes = yield* classFamilyCauses(work, object);
    if (causes.length > 0) throw invalid('ippools', object.metadata.name, causes);
    yield* writeOffers(work, pool, [...after]);
    yield* countOffers(work, changed);
  }
}

/** Refused while a claim holds the pool or anything in it; otherwise its range goes back to where it came from. */
export function* deletePool(work: Work, object: IPPool): Step<IPPool> {
  const name = object.metadata.name;
  const pool = yield* poolNamed(work, name);
  if (pool === undefined) return work.delete('ippools', object);
  if (pool.holder !== undefined) {
    throw conflict('ippools', name, {
      message: `IPPool "${name}" is held by IPClaim "${pool.holder}"; delete the claim`,
    });
  }
  const inside = yield* liveBlock(pool.id);
  if (inside !== undefined) {
    throw conflict('ippools', name, {
      message: `IPPool "${name}" still has allocations: ${inside}; release those first`,
    });
  }
  return yield* removePool(work, pool, object);
}

/** One thing allocated in the pool itself, in words; undefined where nothing is. */
function* liveBlock(pool: number): Step<string | undefined> {
  const space = yield* one('SELECT id FROM ipam_space WHERE pool = ? AND live > 0 LIMIT 1', pool);
  if (space === undefined) return undefined;
  const block = yield* one(
    `SELECT namespace, name, claim, purpose FROM ipam_block
     WHERE space = ? AND state <> 'resting' AND purpose <> 'Reservation' LIMIT 1`,
    space.id as number,
  );
  const claim = block?.claim === null || block?.claim === undefined ? '' : ` of IPClaim "${block.claim}"`;
  return `IPAllocation "${block?.namespace}/${block?.name}" (${block?.purpose})${claim}`;
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
  for (const text of pool.reserved) {
    const name = reservationName(pool.name, IpPrefix.parse(text));
    const allocation = yield* work.get<IPAllocation>('ipallocations', poolNamespace, name);
    if (allocation !== undefined) work.delete('ipallocations', allocation);
  }
  for (const table of ['ipam_block', 'ipam_free']) {
    yield* run(`DELETE FROM ${table} WHERE space IN (SELECT id FROM ipam_space WHERE pool = ?)`, pool.id);
  }
  yield* run('DELETE FROM ipam_space WHERE pool = ?', pool.id);
  yield* run('DELETE FROM ipam_offer WHERE pool = ?', pool.id);
  yield* run('DELETE FROM ipam_pool WHERE id = ?', pool.id);
  if (pool.parent === undefined) {
    yield* giveRoot(work, pool.prefix);
  } else {
    const parent = yield* poolById(pool.parent);
    yield* releaseBlock(work, poolNamespace, allocationName(`ippools/${pool.name}`), parent);
  }
  if (pool.class === undefined) yield* countOffers(work, new Set(object.spec?.classNames ?? []));
  else yield* run('UPDATE ipam_class SET stale = 1 WHERE plane = ? AND name = ?', work.plane, pool.class);
  return work.delete('ippools', object);
}

function* giveRoot(work: Work, prefix: IpPrefix): Step<void> {
  const space = (yield* findSpace(work.plane, 0, `${work.plane}/IPv${prefix.family}`, prefix.family))!;
  yield* run('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, bytesOf(prefix.start));
  yield* give(space, prefix, IpPrefix.of(prefix.family, 0n, 0));
  space.live--;
  yield* save(space);
}
