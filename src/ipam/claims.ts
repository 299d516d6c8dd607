import { IpAddress, IpPrefix } from '../address/index.ts';
import { formatTime, parseDuration, withCondition } from '../meta/index.ts';
import { type BlockRecord, blockAround, blockOfAllocation, newAllocation, releaseBlock } from './blocks.ts';
import { bytesOf } from './bytes.ts';
import { type ClassRecord, classNamed, defaultClass, requireClass } from './classes.ts';
import type { Space } from './known.ts';
import type { AllocationSpec, IPAllocation, IPClaim } from './objects.ts';
import type { PoolRecord } from './pool-record.ts';
import { claimSpace, restingText, take, takeThere } from './pool-space.ts';
import { boundStatus, holdRange, letRangeGo } from './ranges.ts';
import { badRequest, conflict, exhausted, invalid, invalidValue } from './refusals.ts';
import { allocationName, reduceScope, spaceDigestOf, wholeScopeDigest } from './scope.ts';
import { dependencies, poolsOfLength, prefixLengthFor, sourcesOf } from './sources.ts';
import { save } from './space.ts';
import { exec, nothing, type Step, together, type Work } from './work.ts';

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
  const named = spec.className !== undefined && spec.className !== '' ? spec.className : undefined;
  const allocation = allocationName(`${namespace}/${name}`);
  const [existing, found, held] = yield* together(
    work.get('ipclaims', namespace, name),
    named === undefined ? nothing() : classNamed(work, named),
    work.get<IPAllocation>('ipallocations', namespace, allocation),
  );
  if (existing !== undefined) {
    throw conflict('ipclaims', name, {
      message: `IPClaim "${namespace}/${name}" already exists; delete it first, or choose another name`,
      cause: 'ClaimExists',
    });
  }
  const record =
    named === undefined
      ? yield* defaultClass(work, spec.ipFamily === 'IPv4' ? 4 : 6)
      : (found ?? (yield* requireClass(work, named)));
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
    spec.target === 'ScopeRange'
      ? yield* holdRange(work, claim, record)
      : yield* bindBlock(work, claim, record, allocation, held);
  if (labels.cell in (given.metadata.labels ?? {})) yield* indexIdentity(work, bound);
  return work.put('ipclaims', bound);
}

function* bindBlock(
  work: Work,
  claim: IPClaim,
  record: ClassRecord,
  allocation: string,
  held: IPAllocation | undefined,
): Step<IPClaim> {
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

  if (held !== undefined) {
    const kept = yield* blockOfAllocation(work, held);
    const sameAddress = address === undefined || kept.prefix.contains(address);
    const differs = [
      ...(kept.class === record.name ? [] : [`of IPClass "${kept.class}", not "${record.name}"`]),
      ...(kept.prefix.length === length ? [] : [`a /${kept.prefix.length}, not a /${length}`]),
      ...(kept.scope === digest ? [] : ['of another scope']),
      ...(sameAddress ? [] : [`not around ${address}`]),
    ];
    if (kept.claim !== undefined || differs.length > 0) {
      throw conflict('ipclaims', name, {
        message: `IPAllocation "${namespace}/${allocation}" (${kept.prefix}) of IPPool "${kept.pool.name}" is retained for a claim of this name and is ${differs.join(', ') || 'held'}; delete the allocation, or claim what it was made for`,
        cause: 'AllocationRetained',
        causeMessage: allocation,
        dependsOn: [{ plural: 'ipallocations', name: allocation }],
      });
    }
    return yield* rebind(work, claim, held, kept);
  }

  const { pools, shortOf } = yield* sourcesOf(work, record, spec.scope, true);
  const roles = record.spec.uniqueWithin ?? [];
  const allowing = poolsOfLength(work, record, shortOf, pools, length);
  const around = address === undefined ? undefined : IpPrefix.containing(address, length);
  const candidates = around === undefined ? allowing : allowing.filter((pool) => pool.prefix.contains(around));
  if (around !== undefined && candidates.length === 0) {
    throw badRequest({
      message: `spec.address ${address} lies in no pool of IPClass "${record.name}": ${allowing.map((pool) => `IPPool "${pool.name}" is ${pool.prefix}`).join('; ')}; ask for an address of a pool, or for none`,
      cause: 'NoOfferingPool',
      field: 'spec.address',
      dependsOn: dependencies(work, allowing, record, shortOf),
    });
  }
  let resting = '';
  for (const pool of candidates) {
    const space = yield* claimSpace(work, pool, `IPClass "${record.name}"`, roles, spec.scope);
    const block =
      around === undefined ? yield* take(work, pool, space, length) : yield* takeThere(work, pool, space, around);
    if (block !== undefined) return yield* hold(work, claim, record, pool, space, block, allocation, digest);
    if (around !== undefined) throw yield* addressInUse(work, claim, around, pool, space);
    resting ||= yield* restingText(work, space);
  }
  const [first, ...others] = candidates.map((pool) => `IPPool "${pool.name}" (${pool.prefix})`);
  const helps = `${resting}; release an address, or add a pool`;
  const alsoFull = others.length === 0 ? '' : `, nor in ${others.join(', ')}`;
  throw exhausted(
    work.madePools.has(candidates[0]!.id) ? undefined : candidates[0]!.name,
    `IPClass "${record.name}" (IPv${record.family}) has no free /${length} in ${[first, ...others].join(', ')}${helps}`,
    dependencies(work, candidates, record, shortOf),
    `no IPv${record.family} /${length} is free in ${candidates[0]!.prefix}${alsoFull}${helps}`,
  );
}

function* addressInUse(work: Work, claim: IPClaim, wanted: IpPrefix, pool: PoolRecord, space: Space) {
  const block = yield* blockAround(work, space, wanted);
  return conflict('ipclaims', claim.metadata.name, {
    message: `spec.address ${wanted} of IPPool "${pool.name}" ${useOf(work, pool, block)}; ask for another address, or for none`,
    cause: 'AddressInUse',
    field: 'spec.address',
    dependsOn: [{ plural: 'ippools', name: pool.name }],
  });
}

/** Why nobody else gets a block: by what kind of object it is held, or that it is nobody's. */
function useOf(work: Work, pool: PoolRecord, block: BlockRecord | undefined): string {
  if (block === undefined) return 'is held in part';
  if (block.state === 'resting') {
    const seconds = Math.max(1, Math.ceil(((block.due ?? 0) - work.now) / 1000));
    return `was released and rests for ${seconds} s more`;
  }
  if (block.purpose === 'Excluded') return `is excluded by the pool (${block.prefix})`;
  if (block.purpose === 'Reservation') return `is held by a Reservation of IPPool "${pool.name}"`;
  if (block.purpose === 'PoolCarve') return 'is held by an IPPool (PoolCarve)';
  return block.claim === undefined ? 'is held by a retained IPAllocation' : 'is held by an IPClaim';
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
  const leases = [parseDuration(record.spec.retentionLease), pool.maxLease].filter((each) => each !== undefined);
  space.live++;
  yield* save(space);
  yield* exec(
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
      spaceDigestOf(work.project, roles, claim.spec?.scope),
    ),
  );
  return { ...claim, status: boundStatus(block, pool.name, allocation) };
}

function claimRefOf({ metadata: { namespace, name, uid } }: IPClaim): NonNullable<AllocationSpec['claimRef']> {
  return { namespace: namespace!, name, ...(uid === undefined ? {} : { uid }) };
}

function* rebind(work: Work, claim: IPClaim, held: IPAllocation, kept: BlockRecord): Step<IPClaim> {
  yield* exec(
    `UPDATE ipam_block SET state = 'held', due = NULL, claim = ? WHERE space = ? AND start = ?`,
    `${claim.metadata.namespace}/${claim.metadata.name}`,
    kept.space.id,
    bytesOf(kept.prefix.start),
  );
  const { conditions: _, ...status } = held.status!;
  work.put('ipallocations', { ...held, spec: { ...held.spec!, claimRef: claimRefOf(claim) }, status });
  return { ...claim, status: boundStatus(kept.prefix, kept.pool.name, held.metadata.name) };
}

/** Releases what a claim holds, by its policy, and removes the claim. */
export function* deleteClaim(work: Work, claim: IPClaim): Step<IPClaim> {
  const { name } = claim.metadata;
  const namespace = claim.metadata.namespace!;
  if (claim.spec?.target === 'ScopeRange') yield* letRangeGo(work, claim);
  else yield* letBlockGo(work, claim);
  if (labels.cell in (claim.metadata.labels ?? {})) {
    yield* exec(
      'DELETE FROM ipam_identity WHERE plane = ? AND namespace = ? AND name = ?',
      work.plane,
      namespace,
      name,
    );
  }
  return work.delete('ipclaims', { ...claim, status: { ...claim.status, phase: 'Releasing' } });
}

function* letBlockGo(work: Work, claim: IPClaim): Step<void> {
  const namespace = claim.metadata.namespace!;
  const name = allocationName(`${namespace}/${claim.metadata.name}`);
  const object = yield* work.get<IPAllocation>('ipallocations', namespace, name);
  if (object === undefined) return;
  const block = yield* blockOfAllocation(work, object);
  if (block.reclaim !== 'Retain') {
    yield* releaseBlock(work, object, block);
    return;
  }
  yield* exec(
    `UPDATE ipam_block SET state = 'retained', claim = NULL, due = ? WHERE space = ? AND start = ?`,
    block.lease === undefined ? null : work.now + block.lease,
    block.space.id,
    bytesOf(block.prefix.start),
  );
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

/** Keeps the index of identity labels in step with a claim. */
export function* indexIdentity(work: Work, claim: IPClaim): Step<void> {
  const given = claim.metadata.labels;
  const values = [given?.[labels.cell], given?.[labels.namespace], given?.[labels.name]];
  const key = [work.plane, claim.metadata.namespace!, claim.metadata.name];
  if (values.some((value) => value === undefined)) {
    yield* exec('DELETE FROM ipam_identity WHERE plane = ? AND namespace = ? AND name = ?', ...key);
    return;
  }
  yield* exec(
    `INSERT INTO ipam_identity (plane, namespace, name, cell_uid, interface_namespace, interface_name)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (plane, namespace, name) DO UPDATE SET cell_uid = excluded.cell_uid,
     interface_namespace = excluded.interface_namespace, interface_name = excluded.interface_name`,
    ...key,
    ...(values as string[]),
  );
}
