import { bitsOf, IpAddress, IpPrefix } from '../address/index.ts';
import { formatTime, withCondition } from '../meta/index.ts';
import { blockAround, blockNamed, newAllocation, releaseBlock } from './blocks.ts';
import { type ClassRecord, chainOf, defaultClass, providesPools, requireClass } from './classes.ts';
import type { AllocationSpec, IPAllocation, IPClaim, IPPool, Scope } from './objects.ts';
import { offeringPools, type PoolRecord, poolById, provisionedPool } from './pool-record.ts';
import { claimSpace, occupant, provisionPool, removePool, restingText, take } from './pools.ts';
import { badRequest, conflict, type Dependency, exhausted, invalid, invalidValue } from './refusals.ts';
import { allocationName, missingRoles, reduceScope, scopeDigestOf, wholeScopeDigest } from './scope.ts';
import { bytesOf, type Space, save, takeExactly } from './space.ts';
import { durationMilliseconds } from './validation.ts';
import { one, run, type Step, type Work } from './work.ts';

/** Labels that say who an allocation is for (`seams.md`): indexed. */
const labels = {
  cell: 'networking.datumapis.com/cell-uid',
  namespace: 'networking.datumapis.com/interface-namespace',
  name: 'networking.datumapis.com/interface-name',
};

/** Binds a claim, with every pool that must come into being for it, or refuses it and changes nothing. */
export function* createClaim(work: Work, given: IPClaim): Step<IPClaim> {
  const { name } = given.metadata;
  const namespace = given.metadata.namespace!;
  const spec = given.spec!;
  if ((yield* work.get('ipclaims', namespace, name)) !== undefined) {
    throw conflict('ipclaims', name, {
      message: `IPClaim "${namespace}/${name}" already exists`,
      cause: 'ClaimExists',
    });
  }
  const record =
    spec.className !== undefined && spec.className !== ''
      ? yield* requireClass(work, spec.className)
      : yield* defaultClass(work, spec.ipFamily === 'IPv4' ? 4 : 6);
  if (spec.ipFamily !== undefined && spec.ipFamily !== `IPv${record.family}`) {
    throw badRequest({
      message: `spec.ipFamily is ${spec.ipFamily}, and IPClass "${record.name}" is for IPv${record.family}; name one of the two, or a class of that family`,
      cause: 'ClassNotFound',
      field: 'spec.ipFamily',
      dependsOn: [{ plural: 'ipclasses', name: record.name }],
    });
  }
  const claim: IPClaim = {
    ...given,
    spec: { ...spec, ownerRef: { apiGroup: 'resourcemanager.miloapis.com', kind: 'Project', name: work.project } },
  };
  const bound: IPClaim =
    spec.target === 'ScopeRange' ? yield* holdRange(work, claim, record) : yield* bindBlock(work, claim, record);
  if (labels.cell in (given.metadata.labels ?? {})) yield* indexIdentity(work, bound);
  return work.put('ipclaims', bound);
}

function* bindBlock(work: Work, claim: IPClaim, record: ClassRecord): Step<IPClaim> {
  const spec = claim.spec!;
  const { name } = claim.metadata;
  const namespace = claim.metadata.namespace!;
  const address = spec.address === undefined || spec.address === '' ? undefined : IpAddress.parse(spec.address);
  if (address !== undefined && address.family !== record.family) {
    throw invalid('ipclaims', name, [
      invalidValue('spec.address', spec.address, `IPClass "${record.name}" is for IPv${record.family}`),
    ]);
  }
  const length = prefixLengthFor(record, spec.prefixLength);
  const digest = wholeScopeDigest(work.project, spec.scope);
  const allocation = allocationName(`${namespace}/${name}`);

  const kept = yield* blockNamed(work, namespace, allocation);
  if (kept !== undefined) {
    const sameAddress = address === undefined || kept.prefix.contains(address);
    const same = kept.class === record.name && kept.scope === digest && kept.prefix.length === length && sameAddress;
    if (kept.claim !== undefined || !same) {
      throw conflict('ipclaims', name, {
        message: `IPAllocation "${namespace}/${allocation}" (${kept.prefix}) is retained for a claim of this name with another class, scope, size or address; delete the allocation, or claim what it was made for`,
        cause: 'AllocationRetained',
        causeMessage: allocation,
        dependsOn: [{ plural: 'ipallocations', name: allocation }],
      });
    }
    return yield* rebind(work, claim, allocation, kept.poolId, kept.space, kept.prefix);
  }

  const { pools, shortOf } = yield* sourcesOf(work, record, spec.scope, true);
  const roles = record.spec.uniqueWithin ?? [];
  const allowing = pools.filter(
    (pool) => length >= pool.prefix.length && length >= pool.minLength && length <= pool.maxLength,
  );
  if (allowing.length === 0) {
    throw badRequest({
      message: `no pool of IPClass "${record.name}" gives out a /${length}: ${pools.map((pool) => `IPPool "${pool.name}" is ${pool.prefix} and allows /${Math.max(pool.minLength, pool.prefix.length)} to /${pool.maxLength}`).join('; ')}`,
      cause: 'PrefixLengthRejected',
      field: 'spec.prefixLength',
      dependsOn: dependencies(work, pools, record, shortOf),
    });
  }
  const around = address === undefined ? undefined : IpPrefix.containing(address, length);
  const candidates = around === undefined ? allowing : allowing.filter((pool) => pool.prefix.contains(around));
  if (around !== undefined && candidates.length === 0) {
    throw badRequest({
      message: `spec.address ${address} lies in no pool of IPClass "${record.name}": ${allowing.map((pool) => `IPPool "${pool.name}" is ${pool.prefix}`).join('; ')}`,
      cause: 'NoOfferingPool',
      field: 'spec.address',
      dependsOn: dependencies(work, allowing, record, shortOf),
    });
  }
  let resting = '';
  for (const pool of candidates) {
    const space = yield* claimSpace(work, pool, `IPClass "${record.name}"`, roles, spec.scope);
    const block = around === undefined ? yield* take(work, pool, space, length) : yield* takeExactly(space, around);
    if (block !== undefined) return yield* hold(work, claim, record, pool, space, block, allocation, digest);
    if (around !== undefined) throw yield* addressInUse(work, claim, around, pool, space);
    resting ||= yield* restingText(work, space);
  }
  const names = candidates.map((pool) => `IPPool "${pool.name}" (${pool.prefix})`).join(', ');
  throw exhausted(
    work.madePools.has(candidates[0]!.id) ? undefined : candidates[0]!.name,
    `IPClass "${record.name}" (IPv${record.family}) has no free /${length}: ${names} ${candidates.length === 1 ? 'is' : 'are'} exhausted${resting}; release an address, or add a pool`,
    dependencies(work, candidates, record, shortOf),
  );
}

function* addressInUse(work: Work, claim: IPClaim, wanted: IpPrefix, pool: PoolRecord, space: Space) {
  const block = yield* blockAround(space, wanted);
  const holder =
    block === undefined
      ? 'something else'
      : block.state === 'resting'
        ? `nobody: it was released and rests for ${Math.max(1, Math.ceil(((block.due ?? 0) - work.now) / 1000))} s more`
        : block.purpose === 'Reservation'
          ? `a Reservation of IPPool "${pool.name}"`
          : block.purpose === 'PoolCarve'
            ? 'an IPPool (PoolCarve)'
            : block.claim === undefined
              ? 'a retained IPAllocation'
              : 'an IPClaim';
  return conflict('ipclaims', claim.metadata.name, {
    message: `spec.address ${wanted} of IPPool "${pool.name}" is held by ${holder}; ask for another address, or for none`,
    cause: 'AddressInUse',
    field: 'spec.address',
    dependsOn: [{ plural: 'ippools', name: pool.name }],
  });
}

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
      message: `IPClass "${record.name}" (IPv${record.family}) allows prefix lengths /${min} to /${Math.min(max, bitsOf[record.family])}, not /${length}`,
      cause: 'PrefixLengthRejected',
      field: 'spec.prefixLength',
      dependsOn: [{ plural: 'ipclasses', name: record.name }],
    });
  }
  return length;
}

/** Where blocks of a class come from: its parent's pool of this scope (brought into being if need be), or the pools that offer it. */
function* sourcesOf(
  work: Work,
  record: ClassRecord,
  scope: Scope | undefined,
  first: boolean,
): Step<{ pools: PoolRecord[]; shortOf: ClassRecord }> {
  const parentName = record.spec.parentClassName;
  if (parentName !== undefined && parentName !== '') {
    const parent = yield* requireClass(work, parentName, `, the parent of IPClass "${record.name}",`);
    if (first) yield* requireRoles(work, record, [parent], scope);
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

function* provision(
  work: Work,
  wanted: ClassRecord,
  parent: ClassRecord,
  scope: Scope | undefined,
  digest: string,
): Step<PoolRecord> {
  yield* requireRoles(work, wanted, yield* chainOf(work, parent), scope);
  const length = prefixLengthFor(parent, undefined);
  const { pools, shortOf } = yield* sourcesOf(work, parent, scope, false);
  for (const pool of pools) {
    if (length < Math.max(pool.minLength, pool.prefix.length) || length > pool.maxLength) continue;
    const space = yield* claimSpace(work, pool, `IPClass "${parent.name}"`, parent.spec.uniqueWithin ?? [], scope);
    const block = yield* take(work, pool, space, length);
    if (block !== undefined) return yield* provisionPool(work, parent, scope, digest, pool, space, block);
  }
  throw exhausted(
    undefined,
    `IPClass "${parent.name}" (IPv${parent.family}) cannot provision its /${length} pool for this scope: ${pools.map((pool) => `IPPool "${pool.name}" (${pool.prefix})`).join(', ')} has no room; add a pool, or delete one that is empty`,
    dependencies(work, pools, parent, shortOf),
  );
}

/** Refuses a scope without the roles that `record` and these ancestors need, naming all that are missing. */
function* requireRoles(
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
function dependencies(work: Work, pools: readonly PoolRecord[], ...classes: ClassRecord[]): Dependency[] {
  const names = new Set(pools.filter((pool) => !work.madePools.has(pool.id)).map((pool) => pool.name));
  return [
    ...[...names].map((name) => ({ plural: 'ippools' as const, name })),
    ...[...new Set(classes.map((each) => each.name))].map((name) => ({ plural: 'ipclasses' as const, name })),
  ];
}

function* hold(
  work: Work,
  claim: IPClaim,
  record: ClassRecord,
  pool: PoolRecord,
  space: Space,
  block: IpPrefix,
  allocation: string,
  digest: string,
): Step<IPClaim> {
  const namespace = claim.metadata.namespace!;
  const reclaim = claim.spec?.reclaimPolicy ?? record.spec.reclaimPolicy ?? 'Delete';
  const leases = [durationMilliseconds(record.spec.retentionLease), pool.maxLease].filter((each) => each !== undefined);
  space.live++;
  yield* save(space);
  yield* run(
    `INSERT INTO ipam_block (space, start, last, length, plane, state, purpose, namespace, name, claim, class, scope,
       reclaim, lease) VALUES (?, ?, ?, ?, ?, 'held', 'Claim', ?, ?, ?, ?, ?, ?, ?)`,
    space.id,
    bytesOf(block.start),
    bytesOf(block.end),
    block.length,
    work.plane,
    namespace,
    allocation,
    `${namespace}/${claim.metadata.name}`,
    record.name,
    digest,
    reclaim,
    leases.length === 0 ? null : Math.min(...leases),
  );
  const roles = record.spec.uniqueWithin ?? [];
  const scope = reduceScope(claim.spec?.scope, roles);
  work.put(
    'ipallocations',
    newAllocation(
      work,
      namespace,
      allocation,
      block,
      {
        className: record.name,
        poolRef: { name: pool.name },
        purpose: 'Claim',
        claimRef: claimRefOf(claim),
        ...(scope === undefined ? {} : { scope }),
        reclaimPolicy: reclaim,
        ownerRef: claim.spec!.ownerRef!,
      },
      scope === undefined ? undefined : scopeDigestOf(work.project, [...roles].sort(), claim.spec?.scope),
    ),
  );
  return { ...claim, status: boundStatus(block, pool.name, allocation) };
}

function claimRefOf({ metadata: { namespace, name, uid } }: IPClaim): NonNullable<AllocationSpec['claimRef']> {
  return { namespace: namespace!, name, ...(uid === undefined ? {} : { uid }) };
}

function boundStatus(block: IpPrefix, pool: string, allocation: string | undefined): NonNullable<IPClaim['status']> {
  return {
    phase: 'Bound',
    allocatedCIDR: block.toString(),
    poolRef: { name: pool },
    ...(allocation === undefined ? {} : { boundAllocationRef: { name: allocation } }),
  };
}

function* rebind(
  work: Work,
  claim: IPClaim,
  allocation: string,
  poolId: number,
  space: number,
  block: IpPrefix,
): Step<IPClaim> {
  const namespace = claim.metadata.namespace!;
  yield* run(
    `UPDATE ipam_block SET state = 'held', due = NULL, claim = ? WHERE space = ? AND start = ?`,
    `${namespace}/${claim.metadata.name}`,
    space,
    bytesOf(block.start),
  );
  const object = (yield* work.get<IPAllocation>('ipallocations', namespace, allocation))!;
  const { conditions: _, ...status } = object.status!;
  work.put('ipallocations', { ...object, spec: { ...object.spec!, claimRef: claimRefOf(claim) }, status });
  return { ...claim, status: boundStatus(block, (yield* poolById(poolId)).name, allocation) };
}

/** Holds the pool the class provisions at this scope, bringing it into being. */
function* holdRange(work: Work, claim: IPClaim, record: ClassRecord): Step<IPClaim> {
  const { name } = claim.metadata;
  if (!providesPools(record)) {
    throw badRequest({
      message: `IPClass "${record.name}" holds no range: it has no poolPer; use spec.target Block, or name a class that provisions pools`,
      dependsOn: [{ plural: 'ipclasses', name: record.name }],
    });
  }
  const scope = claim.spec?.scope;
  yield* requireRoles(work, record, [record], scope);
  const digest = scopeDigestOf(work.project, record.spec.poolPer!, scope);
  const pool =
    (yield* provisionedPool(work, record, digest)) ?? (yield* provision(work, record, record, scope, digest));
  if (pool.holder !== undefined) {
    throw conflict('ipclaims', name, {
      message: `the range of IPClass "${record.name}" at this scope, IPPool "${pool.name}", is held by IPClaim "${pool.holder}"`,
      dependsOn: [{ plural: 'ippools', name: pool.name }],
    });
  }
  yield* run('UPDATE ipam_pool SET holder = ? WHERE id = ?', `${claim.metadata.namespace}/${name}`, pool.id);
  return { ...claim, status: boundStatus(pool.prefix, pool.name, undefined) };
}

/** Releases what a claim holds, by its policy, and removes the claim. */
export function* deleteClaim(work: Work, claim: IPClaim): Step<IPClaim> {
  const { name } = claim.metadata;
  const namespace = claim.metadata.namespace!;
  if (claim.spec?.target === 'ScopeRange') yield* letRangeGo(work, claim);
  else yield* letBlockGo(work, claim);
  yield* run('DELETE FROM ipam_identity WHERE plane = ? AND namespace = ? AND name = ?', work.plane, namespace, name);
  return work.delete('ipclaims', { ...claim, status: { ...claim.status, phase: 'Releasing' } });
}

function* letBlockGo(work: Work, claim: IPClaim): Step<void> {
  const namespace = claim.metadata.namespace!;
  const allocation = allocationName(`${namespace}/${claim.metadata.name}`);
  const block = yield* blockNamed(work, namespace, allocation);
  if (block === undefined) return;
  if (block.reclaim !== 'Retain') {
    yield* releaseBlock(work, namespace, allocation, yield* poolById(block.poolId));
    return;
  }
  yield* run(
    `UPDATE ipam_block SET state = 'retained', claim = NULL, due = ? WHERE space = ? AND start = ?`,
    block.lease === undefined ? null : work.now + block.lease,
    block.space,
    bytesOf(block.prefix.start),
  );
  const object = (yield* work.get<IPAllocation>('ipallocations', namespace, allocation))!;
  const { claimRef: _, ...spec } = object.spec!;
  const retained = {
    type: 'Retained',
    status: 'True' as const,
    reason: 'ClaimDeleted',
    message: `IPClaim "${claim.metadata.name}" was deleted under the policy Retain at ${formatTime(work.now)}.`,
  };
  work.put('ipallocations', {
    ...object,
    spec,
    status: { ...object.status!, conditions: withCondition(object.status?.conditions, retained, work.now) },
  });
}

function* letRangeGo(work: Work, claim: IPClaim): Step<void> {
  const holder = `${claim.metadata.namespace}/${claim.metadata.name}`;
  const row = yield* one('SELECT id FROM ipam_pool WHERE plane = ? AND holder = ?', work.plane, holder);
  if (row === undefined) return;
  const pool = yield* poolById(Number(row.id));
  const inside = yield* occupant(work, pool);
  if (inside !== undefined) {
    throw conflict('ipclaims', claim.metadata.name, {
      message: `IPClaim "${holder}" holds the range ${pool.prefix} (IPPool "${pool.name}"), and ${inside} is still inside; release that first`,
      dependsOn: [{ plural: 'ippools', name: pool.name }],
    });
  }
  const object = yield* work.get<IPPool>('ippools', '', pool.name);
  yield* removePool(work, pool, object);
}

/** Deletes an allocation nobody claims: its address rests, its name is free. Refuses every other kind. */
export function* deleteAllocation(work: Work, object: IPAllocation): Step<IPAllocation> {
  const { name } = object.metadata;
  const namespace = object.metadata.namespace!;
  const block = yield* blockNamed(work, namespace, name);
  if (block !== undefined) yield* releaseBlock(work, namespace, name, yield* poolById(block.poolId));
  return work.delete('ipallocations', object);
}

/** Keeps the index of identity labels in step with a claim. */
export function* indexIdentity(work: Work, claim: IPClaim): Step<void> {
  const given = claim.metadata.labels;
  const values = [given?.[labels.cell], given?.[labels.namespace], given?.[labels.name]];
  const key = [work.plane, claim.metadata.namespace!, claim.metadata.name];
  if (values.some((value) => value === undefined)) {
    yield* run('DELETE FROM ipam_identity WHERE plane = ? AND namespace = ? AND name = ?', ...key);
    return;
  }
  yield* run(
    `INSERT INTO ipam_identity (plane, namespace, name, cell_uid, interface_namespace, interface_name)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (plane, namespace, name) DO UPDATE SET cell_uid = excluded.cell_uid,
     interface_namespace = excluded.interface_namespace, interface_name = excluded.interface_name`,
    ...key,
    ...(values as string[]),
  );
}
