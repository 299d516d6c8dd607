import { bitsOf, type IpFamily, IpPrefix } from '../address/index.ts';
import { parseDuration, withCondition } from '../meta/index.ts';
import { countOffers } from './classes.ts';
import { rangeCauses, unitCauses } from './fixed-ranges.ts';
import type { IPPool } from './objects.ts';
import { type PoolRecord, poolNamed } from './pool-record.ts';
import { claimSpace, restingText, take } from './pool-space.ts';
import { carve, insertPool, removePool, statusOf, writeOffers } from './provisioning.ts';
import { alreadyExists, badRequest, conflict, exhausted, invalid, invalidValue } from './refusals.ts';
import { reshapePool } from './reshape.ts';
import { takeRoot } from './roots.ts';
import { spacesOf } from './space.ts';
import { exec, one, type Step, type Work } from './work.ts';

/** A pool a person wrote: a root with its range, or a child carved from an existing pool by length. */
export function* createPool(work: Work, object: IPPool): Step<IPPool> {
  const name = object.metadata.name;
  if ((yield* work.get('ippools', '', name)) !== undefined) throw alreadyExists('ippools', name);
  const spec = object.spec!;
  let prefix: IpPrefix;
  let parent: PoolRecord | undefined;
  if (spec.parentPoolRef === undefined) {
    prefix = IpPrefix.parse(spec.cidr!);
    yield* checkClassFamilies(work, object, prefix.family);
    yield* takeRoot(work, name, prefix);
  } else {
    parent = yield* poolNamed(work, spec.parentPoolRef.name);
    if (parent === undefined) {
      throw badRequest({
        message: `IPPool "${name}" names parent pool "${spec.parentPoolRef.name}", which does not exist; create it first`,
        dependsOn: [{ plural: 'ippools', name: spec.parentPoolRef.name }],
      });
    }
    yield* checkClassFamilies(work, object, parent.prefix.family);
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
    const outside = [...rangeCauses(spec, block), ...unitCauses(spec.reservations, length)];
    if (outside.length > 0) throw invalid('ippools', name, outside);
    yield* carve(work, parent, space, block, name);
    prefix = block;
  }
  const pool = yield* insertPool(work, object, prefix, parent, undefined);
  yield* countOffers(work, new Set(spec.classNames ?? []));
  return work.put('ippools', {
    ...object,
    status: {
      ...statusOf(pool, yield* spacesOf(pool.id)),
      conditions: withCondition(undefined, holds(prefix), work.now),
    },
  });
}

function holds(prefix: IpPrefix) {
  const message = `The pool holds ${prefix}.`;
  return { type: 'Allocated', status: 'True' as const, reason: 'AllocationSucceeded', message };
}

/** Refuses a pool that offers a class of the other family. */
function* checkClassFamilies(work: Work, { metadata, spec }: IPPool, family: IpFamily): Step<void> {
  const causes: ReturnType<typeof invalidValue>[] = [];
  for (const [index, name] of (spec?.classNames ?? []).entries()) {
    const row = yield* one('SELECT family FROM ipam_class WHERE plane = ? AND name = ?', work.plane, name);
    if (row !== undefined && Number(row.family) !== family) {
      causes.push(
        invalidValue(`spec.classNames[${index}]`, name, `is a class for IPv${row.family}, the pool is IPv${family}`),
      );
    }
  }
  if (causes.length > 0) throw invalid('ippools', metadata.name, causes);
}

/** Applies what of a pool may change: range, ranges set aside, offers, limits, strategy, rest, lease. Answers it as it is then. */
export function* updatePool(work: Work, object: IPPool, old: IPPool): Step<IPPool> {
  const before = yield* poolNamed(work, object.metadata.name);
  if (before === undefined) return object;
  const pool = yield* reshapePool(work, before, object);
  const { spec } = object;
  work.forget();
  yield* exec(
    `UPDATE ipam_pool SET strategy = ?, min_length = ?, max_length = ?, rest = ?, max_lease = ? WHERE id = ?`,
    spec?.allocation?.strategy ?? 'FirstFit',
    spec?.allocation?.minPrefixLength ?? null,
    spec?.allocation?.maxPrefixLength ?? null,
    parseDuration(spec?.restPeriod) ?? null,
    parseDuration(spec?.maxRetentionLease) ?? null,
    pool.id,
  );
  const offered = new Set(spec?.classNames ?? []);
  const changed = offered.symmetricDifference(new Set(old.spec?.classNames ?? []));
  if (changed.size > 0) {
    yield* checkClassFamilies(work, object, pool.prefix.family);
    yield* writeOffers(work, pool, [...offered]);
    yield* countOffers(work, changed);
  }
  if (pool === before) return object;
  const { largestFreePrefixLength: _, ...shown } = object.status ?? {};
  const status = { ...shown, ...statusOf(pool, yield* spacesOf(pool.id)) };
  if (pool.class !== undefined) return { ...object, status };
  return {
    ...object,
    status: { ...status, conditions: withCondition(status.conditions, holds(pool.prefix), work.now) },
  };
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
     WHERE space = ? AND state <> 'resting' AND purpose NOT IN ('Reservation', 'Excluded') LIMIT 1`,
    space.id as number,
  );
  const claim = block?.claim === null || block?.claim === undefined ? '' : ` of IPClaim "${block.claim}"`;
  return `IPAllocation "${block?.namespace}/${block?.name}" (${block?.purpose})${claim}`;
}
