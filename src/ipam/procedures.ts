import type {
  Procedure,
  ProcedureMoment,
  ProcedureReads,
  ProcedureTransaction,
  StepProcedure,
} from '../apiserver/index.ts';
import { ApiError, formatTime, isTerminating, type KubeObject, type Status } from '../meta/index.ts';
import { releaseAllocation } from './blocks.ts';
import { createClaim, deleteClaim, indexIdentity } from './claims.ts';
import { createClass, deleteClass, writeClass } from './classes.ts';
import { figures } from './figures.ts';
import type { IPAllocation, IPClaim, IPClass, IPPool, Plural } from './objects.ts';
import { createPool, deletePool, updatePool } from './pools.ts';
import { conflict, forbidden, invalid, modified, notFound } from './refusals.ts';
import { allocationName } from './scope.ts';
import { flushPlane, nextDue, planesDue, planesStale, sweepPlane } from './sweep.ts';
import { allocationDeleteCauses } from './validation.ts';
import { exec, keyOf, type Operation, type Row, rows, run, type Step, Work } from './work.ts';

export { postgresSchema } from './postgres-schema.ts';
export { outdated, schema } from './schema.ts';

/** What every request brings along. */
export interface Request {
  plane: string;
  project: string;
  defaultRestSeconds: number;
  /** Computes the answer and keeps nothing. */
  dryRun: boolean;
}

export type WriteRequest = Request & { plural: Plural } & (
    | { verb: 'create'; object: KubeObject }
    /** `version`: the resourceVersion the object was built from. */
    | { verb: 'update'; object: KubeObject; version: string }
    | { verb: 'delete'; namespace: string; name: string; uid: string }
  );

/** The answer to a dry run: thrown, so that the store takes the statements back. */
export type DryRunStatus = Status & { dryRun: KubeObject };

export interface UpkeepAnswer {
  /** Milliseconds until the next block becomes due, by the store's clock: servers of one database share that. */
  dueIn: number | undefined;
  /** More is waiting already: call again. */
  more: boolean;
}

const encoder = new TextEncoder();

/** Runs a step to its end, at once. */
export function drive<T>(tx: ProcedureTransaction, step: Step<T>): T {
  let input: unknown;
  for (;;) {
    const next = step.next(input);
    if (next.done === true) return next.value;
    input = answer(tx, next.value);
  }
}

function answer(tx: ProcedureTransaction, operation: Operation): unknown {
  switch (operation.kind) {
    case 'record':
      return tx.get(operation.key);
    case 'rows':
      return tx.all(operation.sql, ...operation.parameters);
    case 'run':
    case 'exec':
      return tx.run(operation.sql, ...operation.parameters).changes;
    case 'together':
      return operation.operations.map((each) => answer(tx, each));
    case 'put':
      return tx.put(operation.key, operation.value);
    case 'delete':
      return tx.delete(operation.key, operation.value);
  }
}

/** Runs `step` and writes its objects. What it throws takes back its statements: the store sees to that. */
function* perform<T>(work: Work, step: Step<T>): Step<T> {
  const result = yield* step;
  for (const { key, object, deleted } of work.changes) {
    yield { kind: deleted ? 'delete' : 'put', key, value: encoder.encode(JSON.stringify(object)) };
  }
  return result;
}

function* write(tx: ProcedureMoment, request: WriteRequest): Step<KubeObject> {
  const seed = request.verb === 'delete' ? request.uid : (request.object.metadata.uid ?? '');
  const work = new Work(tx, { ...request, seed });
  const step = writing(work, request);
  if (!request.dryRun) return yield* perform(work, step);
  const dryRun = yield* step;
  const status: DryRunStatus = { ...ApiError.of('', 'dry run').status, dryRun };
  throw new ApiError(status);
}

function* writing(work: Work, request: WriteRequest): Step<KubeObject> {
  if (request.verb === 'create') return yield* create(work, request.plural, request.object);
  const { namespace = '', name } = request.verb === 'update' ? request.object.metadata : request;
  const current = yield* work.get(request.plural, namespace, name);
  if (current === undefined) throw notFound(request.plural, name);
  if (request.verb === 'delete') {
    if (current.metadata.uid !== request.uid) {
      throw conflict(request.plural, name, {
        message: `the UID in the precondition (${request.uid}) is not that of the object (${current.metadata.uid})`,
      });
    }
    return yield* remove(work, request.plural, current);
  }
  if (current.metadata.resourceVersion !== request.version) throw modified(request.plural, name);
  return yield* update(work, request.plural, request.object, current);
}

function* create(work: Work, plural: Plural, object: KubeObject): Step<KubeObject> {
  switch (plural) {
    case 'ipclasses':
      return yield* createClass(work, object as IPClass);
    case 'ippools':
      return yield* createPool(work, object as IPPool);
    case 'ipclaims':
      return yield* createClaim(work, object as IPClaim);
    case 'ipallocations':
      throw forbidden(plural, object.metadata.name, 'allocations are made by IPAM; create an IPClaim');
  }
}

function* update(work: Work, plural: Plural, given: KubeObject, current: KubeObject): Step<KubeObject> {
  const object = { ...given, status: current.status };
  if (isTerminating(current) && (object.metadata.finalizers ?? []).length === 0) {
    return yield* remove(work, plural, object);
  }
  if (plural === 'ipclasses') yield* writeClass(work, object as IPClass);
  if (plural === 'ippools') return work.put(plural, yield* updatePool(work, object as IPPool, current as IPPool));
  if (plural === 'ipclaims') {
    yield* indexIdentity(work, object as IPClaim);
    const claim = object as IPClaim;
    return work.put(plural, { ...claim, spec: { ...claim.spec, ownerRef: (current as IPClaim).spec!.ownerRef! } });
  }
  return work.put(plural, object);
}

function* remove(work: Work, plural: Plural, current: KubeObject): Step<KubeObject> {
  if (plural === 'ipallocations') {
    const causes = allocationDeleteCauses(current as IPAllocation);
    if (causes.length > 0) throw invalid(plural, current.metadata.name, causes);
  }
  if ((current.metadata.finalizers ?? []).length > 0) {
    if (isTerminating(current)) return current;
    const metadata = { ...current.metadata, deletionTimestamp: formatTime(work.now), deletionGracePeriodSeconds: 0 };
    const status = plural === 'ipclaims' ? { ...(current as IPClaim).status, phase: 'Releasing' } : current.status;
    return work.put(plural, { ...current, metadata, ...(status === undefined ? {} : { status }) });
  }
  switch (plural) {
    case 'ipclasses':
      return yield* deleteClass(work, current as IPClass);
    case 'ippools':
      return yield* deletePool(work, current as IPPool);
    case 'ipclaims':
      return yield* deleteClaim(work, current as IPClaim);
    case 'ipallocations':
      return yield* releaseAllocation(work, current as IPAllocation);
  }
}

/** Frees what has rested, lets leases run out, and brings the status of every changed pool up to date. */
function* upkeep(tx: ProcedureMoment, request: { defaultRestSeconds: number }): Step<UpkeepAnswer> {
  const due = yield* planesDue(tx.now);
  let more = false;
  for (const plane of new Set([...due, ...(yield* planesStale())])) {
    const work = new Work(tx, { ...request, plane, project: plane, seed: plane });
    const step = function* () {
      if (due.includes(plane)) yield* sweepPlane(work);
      return yield* flushPlane(work);
    };
    more = (yield* perform(work, step())) || more;
  }
  const next = yield* nextDue();
  const dueIn = next === undefined ? undefined : Math.max(0, next - tx.now);
  return { dueIn, more: more || dueIn === 0 };
}

/** How many rows of one kind are forgotten at one time: others wait for no more than that. */
const forgottenAtOnce = 2000;

/**
 * Forgets a project's address space, a part of it each time. Answers whether there is more. Its objects go with its plane
 * (`Storage.dropPlane`).
 */
function* drop(tx: ProcedureMoment, { plane }: { plane: string }): Step<boolean> {
  tx.kept.clear();
  let forgotten = 0;
  for (const { id } of yield* rows('SELECT id FROM ipam_space WHERE plane = ? ORDER BY id', plane)) {
    // By their keys: no part looks at what the others have.
    for (const [table, key] of [
      ['ipam_block', 'start'],
      ['ipam_free', 'length, start'],
    ]) {
      forgotten += yield* run(
        `DELETE FROM ${table} WHERE space = ?
         AND (${key}) IN (SELECT ${key} FROM ${table} WHERE space = ? ORDER BY ${key} LIMIT ${forgottenAtOnce})`,
        id!,
        id!,
      );
      if (forgotten >= forgottenAtOnce) return true;
    }
    yield* exec('DELETE FROM ipam_space WHERE id = ?', id!);
  }
  // Last: what of a space is left has its pool.
  yield* exec('DELETE FROM ipam_freed WHERE pool IN (SELECT id FROM ipam_pool WHERE plane = ?)', plane);
  for (const table of ['offer', 'pool', 'class', 'identity']) {
    yield* exec(`DELETE FROM ipam_${table} WHERE plane = ?`, plane);
  }
  return false;
}

/** IPClaims made for one interface, by their identity labels, without reading any other. */
function claimsOf(request: { plane: string; cellUid: string; namespace: string; name: string }): Step<Row[]> {
  return rows(
    `SELECT namespace, name FROM ipam_identity
     WHERE plane = ? AND cell_uid = ? AND interface_namespace = ? AND interface_name = ? ORDER BY namespace, name`,
    request.plane,
    request.cellUid,
    request.namespace,
    request.name,
  );
}

/** For stores that answer later. */
export const steps: Record<string, StepProcedure> = {
  'ipam.write': (tx, argument) => write(tx, argument as WriteRequest),
  'ipam.upkeep': (tx, argument) => upkeep(tx, argument as { defaultRestSeconds: number }),
  'ipam.figures': () => figures(),
  'ipam.drop': (tx, argument) => drop(tx, argument as Parameters<typeof drop>[1]),
  'ipam.claimsOf': (_, argument) => claimsOf(argument as Parameters<typeof claimsOf>[0]),
};

/** What a write looks at first: the object, and a claim's allocation. */
export const reads: Record<string, ProcedureReads> = {
  'ipam.write'(argument) {
    const request = argument as WriteRequest;
    const { namespace = '', name } = request.verb === 'delete' ? request : request.object.metadata;
    const key = keyOf(request.plane, request.plural, namespace, name);
    if (request.plural !== 'ipclaims' || request.verb === 'update') return [key];
    return [key, keyOf(request.plane, 'ipallocations', namespace, allocationName(`${namespace}/${name}`))];
  },
};

/** Registered with the store when it is opened. */
export const procedures: Record<string, Procedure> = Object.fromEntries(
  Object.entries(steps).map(([name, step]) => [
    name,
    (tx: ProcedureTransaction, argument: unknown) => drive(tx, step(tx, argument)),
  ]),
);
