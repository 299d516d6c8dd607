import type { IpPrefix } from '../address/index.ts';
import { type ClassRecord, providesPools } from './classes.ts';
import type { IPClaim, IPPool } from './objects.ts';
import { poolById, provisionedPool } from './pool-record.ts';
import { occupant, removePool } from './provisioning.ts';
import { badRequest, conflict } from './refusals.ts';
import { scopeDigestOf } from './scope.ts';
import { provision, requireRoles } from './sources.ts';
import { exec, one, type Step, type Work } from './work.ts';

export function boundStatus(
  block: IpPrefix,
  pool: string,
  allocation: string | undefined,
): NonNullable<IPClaim['status']> {
  return {
    phase: 'Bound',
    allocatedCIDR: block.toString(),
    poolRef: { name: pool },
    ...(allocation === undefined ? {} : { boundAllocationRef: { name: allocation } }),
  };
}

/** Holds the pool the class provisions at this scope, bringing it into being. */
export function* holdRange(work: Work, claim: IPClaim, record: ClassRecord): Step<IPClaim> {
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
      message: `the range of IPClass "${record.name}" at this scope, IPPool "${pool.name}", is held by IPClaim "${pool.holder}"; claim a block in it, or delete that claim`,
      dependsOn: [{ plural: 'ippools', name: pool.name }],
    });
  }
  work.forget();
  yield* exec('UPDATE ipam_pool SET holder = ? WHERE id = ?', `${claim.metadata.namespace}/${name}`, pool.id);
  return { ...claim, status: boundStatus(pool.prefix, pool.name, undefined) };
}

export function* letRangeGo(work: Work, claim: IPClaim): Step<void> {
  const holder = `${claim.metadata.namespace}/${claim.metadata.name}`;
  const row = yield* one('SELECT id FROM ipam_pool WHERE plane = ? AND holder = ?', work.plane, holder);
  if (row === undefined) return;
  const pool = yield* poolById(work, Number(row.id));
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
