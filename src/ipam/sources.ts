import { bitsOf } from '../address/index.ts';
import { type ClassRecord, chainOf, providesPools, requireClass } from './classes.ts';
import type { Scope } from './objects.ts';
import { offeringPools, type PoolRecord, provisionedPool } from './pool-record.ts';
import { claimSpace, restingText, take } from './pool-space.ts';
import { provisionPool } from './provisioning.ts';
import { badRequest, type Dependency, exhausted } from './refusals.ts';
import { missingRoles, scopeDigestOf } from './scope.ts';
import type { Step, Work } from './work.ts';

/** The length a claim of this class gets. Refuses one the class does not allow. */
export function prefixLengthFor(record: ClassRecord, asked: number | undefined): number {
  const { allowedPrefixLengths: allowed, defaultPrefixLength } = record.spec;
  const length = asked ?? defaultPrefixLength;
  if (length === undefined) {
    throw badRequest({
      message: `IPClass "${record.name}" has no defaultPrefixLength; set spec.prefixLength`,
      cause: 'PrefixLengthRejected',
      field: 'spec.prefixLength',
      dependsOn: [{ plural: 'ipclasses', name: record.name }],
    });
  }
  const min = allowed?.min ?? 0;
  const max = allowed?.max ?? bitsOf[record.family];
  if (length < min || length > max || length > bitsOf[record.family]) {
    throw badRequest({
      message: `IPClass "${record.name}" (IPv${record.family}) allows prefix lengths /${min} to /${Math.min(max, bitsOf[record.family])}, not /${length}; set spec.prefixLength to one of those, or name another class`,
      cause: 'PrefixLengthRejected',
      field: 'spec.prefixLength',
      dependsOn: [{ plural: 'ipclasses', name: record.name }],
    });
  }
  return length;
}

/** Where blocks of a class come from: its parent's pool of this scope (brought into being if need be), or the pools that offer it. */
export function* sourcesOf(
  work: Work,
  record: ClassRecord,
  scope: Scope | undefined,
  first: boolean,
): Step<{ pools: readonly PoolRecord[]; shortOf: ClassRecord }> {
  const parentName = record.spec.parentClassName;
  if (parentName !== undefined && parentName !== '') {
    const parent = yield* requireClass(work, parentName, `, the parent of IPClass "${record.name}",`);
    if (first) {
      // Refuses a chain that leads back to itself: climbing it below would not end.
      yield* chainOf(work, record);
      yield* requireRoles(work, record, [parent], scope);
    }
    if (!providesPools(parent)) return yield* sourcesOf(work, parent, scope, false);
    const digest = scopeDigestOf(work.project, parent.spec.poolPer!, scope);
    const pool = yield* provisionedPool(work, parent, digest);
    if (pool !== undefined) return { pools: [pool], shortOf: parent };
    return { pools: [yield* provision(work, record, parent, scope, digest)], shortOf: parent };
  }
  if (first) yield* requireRoles(work, record, [], scope);
  const pools = yield* offeringPools(work, record);
  if (pools.length > 0) return { pools, shortOf: record };
  throw badRequest({
    message: `no IPPool of project "${work.project}" offers IPClass "${record.name}" (IPv${record.family}); add the class to a pool's spec.classNames`,
    cause: 'NoOfferingPool',
    dependsOn: [{ plural: 'ipclasses', name: record.name }],
  });
}

export function* provision(
  work: Work,
  wanted: ClassRecord,
  parent: ClassRecord,
  scope: Scope | undefined,
  digest: string,
): Step<PoolRecord> {
  yield* requireRoles(work, wanted, yield* chainOf(work, parent), scope);
  const length = prefixLengthFor(parent, undefined);
  const { pools, shortOf } = yield* sourcesOf(work, parent, scope, false);
  const allowing = poolsOfLength(work, parent, shortOf, pools, length);
  let resting = '';
  for (const pool of allowing) {
    const space = yield* claimSpace(work, pool, `IPClass "${parent.name}"`, parent.spec.uniqueWithin ?? [], scope);
    const block = yield* take(work, pool, space, length);
    if (block !== undefined) return yield* provisionPool(work, parent, scope, digest, pool, space, block);
    resting ||= yield* restingText(work, space);
  }
  throw exhausted(
    undefined,
    `IPClass "${parent.name}" (IPv${parent.family}) cannot provision its /${length} pool for this scope: ${allowing.map((pool) => `IPPool "${pool.name}" (${pool.prefix})`).join(', ')} has no room${resting}; add a pool, or delete one that is empty`,
    dependencies(work, allowing, parent, shortOf),
  );
}

/** Those of `pools` that give out blocks of `length`. Refuses where none does. */
export function poolsOfLength(
  work: Work,
  record: ClassRecord,
  shortOf: ClassRecord,
  pools: readonly PoolRecord[],
  length: number,
): PoolRecord[] {
  const least = (pool: PoolRecord) => Math.max(pool.minLength, pool.prefix.length);
  const allowing = pools.filter((pool) => length >= least(pool) && length <= pool.maxLength);
  if (allowing.length > 0) return allowing;
  throw badRequest({
    message: `no pool of IPClass "${record.name}" gives out a /${length}: ${pools.map((pool) => `IPPool "${pool.name}" is ${pool.prefix} and allows /${least(pool)} to /${pool.maxLength}`).join('; ')}`,
    cause: 'PrefixLengthRejected',
    field: 'spec.prefixLength',
    dependsOn: dependencies(work, pools, record, shortOf),
  });
}

/** Refuses a scope without the roles that `record` and these ancestors need, naming all that are missing. */
export function* requireRoles(
  work: Work,
  record: ClassRecord,
  above: readonly ClassRecord[],
  scope: Scope | undefined,
): Step<void> {
  const needed = [
    ...(record.spec.uniqueWithin ?? []),
    ...above.flatMap((each) => [...(each.spec.poolPer ?? []), ...(each.spec.uniqueWithin ?? [])]),
  ];
  if (missingRoles(needed, scope).length === 0) return;
  const chain = yield* chainOf(work, record);
  const all = missingRoles(
    chain.flatMap((each, index) => [
      ...(index === 0 && above[0] !== record ? [] : (each.spec.poolPer ?? [])),
      ...(each.spec.uniqueWithin ?? []),
    ]),
    scope,
  );
  const error = badRequest({
    message: `IPClass "${record.name}" needs the scope role${all.length === 1 ? '' : 's'} ${all.join(', ')}; set spec.scope.${all[0]}`,
  });
  error.status.details = {
    causes: [
      ...all.map((role) => ({
        reason: 'ScopeRolesMissing',
        message: `the scope role "${role}" is required`,
        field: `spec.scope.${role}`,
      })),
      {
        reason: 'DependsOn',
        message: `a change of ipclasses/${record.name} could help`,
        field: `ipclasses/${record.name}`,
      },
    ],
  };
  throw error;
}

/** Pools made by this transaction are gone with its refusal: nobody can watch them. */
export function dependencies(work: Work, pools: readonly PoolRecord[], ...classes: ClassRecord[]): Dependency[] {
  const names = new Set(pools.filter((pool) => !work.madePools.has(pool.id)).map((pool) => pool.name));
  return [
    ...[...names].map((name) => ({ plural: 'ippools' as const, name })),
    ...[...new Set(classes.map((each) => each.name))].map((name) => ({ plural: 'ipclasses' as const, name })),
  ];
}
