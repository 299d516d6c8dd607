import type { IpFamily } from '../address/index.ts';
import { withCondition } from '../meta/index.ts';
import { type ClassSpec, type IPClass, isDefaultClass } from './objects.ts';
import { alreadyExists, badRequest, conflict } from './refusals.ts';
import { impliedRoles } from './scope.ts';
import { exec, one, rows, type Step, type Work } from './work.ts';

/** A class as allocation reads it. */
export interface ClassRecord {
  readonly name: string;
  readonly family: IpFamily;
  readonly spec: ClassSpec;
}

/** How many classes a chain of parents may have. */
const depthCap = 8;

export function classNamed(work: Work, name: string): Step<ClassRecord | undefined> {
  return work.remember(`class/${work.plane}/${name}`, readClass(work, name));
}

function* readClass(work: Work, name: string): Step<ClassRecord | undefined> {
  const row = yield* one('SELECT family, spec FROM ipam_class WHERE plane = ? AND name = ?', work.plane, name);
  if (row === undefined) return undefined;
  return { name, family: Number(row.family) as IpFamily, spec: JSON.parse(row.spec as string) as ClassSpec };
}

export function* requireClass(work: Work, name: string, why = ''): Step<ClassRecord> {
  const found = yield* classNamed(work, name);
  if (found !== undefined) return found;
  throw badRequest({
    message: `IPClass "${name}"${why} does not exist in project "${work.project}"; create it, or name another class`,
    cause: 'ClassNotFound',
    field: 'spec.className',
    dependsOn: [{ plural: 'ipclasses', name }],
  });
}

/** The class a claim of `family` without a class means: the first default by name. */
export function defaultClass(work: Work, family: IpFamily): Step<ClassRecord> {
  return work.remember(`default/${work.plane}/${family}`, readDefault(work, family));
}

function* readDefault(work: Work, family: IpFamily): Step<ClassRecord> {
  const row = yield* one(
    `SELECT name, spec FROM ipam_class WHERE plane = ? || '' AND family = ? + 0 AND is_default = 1 ORDER BY name LIMIT 1`,
    work.plane,
    family,
  );
  if (row !== undefined) {
    return { name: row.name as string, family, spec: JSON.parse(row.spec as string) as ClassSpec };
  }
  const candidates = yield* rows(
    'SELECT name FROM ipam_class WHERE plane = ? AND family = ? ORDER BY name LIMIT 16',
    work.plane,
    family,
  );
  throw badRequest({
    message: `project "${work.project}" has no default IPClass for IPv${family}; name a class, or mark one with the annotation ${isDefaultClass}: "true"`,
    cause: 'NoDefaultClass',
    field: 'spec.className',
    dependsOn: candidates.map((candidate) => ({ plural: 'ipclasses' as const, name: candidate.name as string })),
  });
}

/** `start` and its ancestors, nearest first. Refuses a missing parent, one of the other family, and a chain without end. */
export function* chainOf(work: Work, start: ClassRecord): Step<ClassRecord[]> {
  const chain = [start];
  for (let at = start; at.spec.parentClassName !== undefined && at.spec.parentClassName !== ''; at = chain.at(-1)!) {
    const parent = yield* requireClass(work, at.spec.parentClassName, `, the parent of IPClass "${at.name}",`);
    if (parent.family !== at.family) {
      throw badRequest({
        message: `IPClass "${at.name}" is IPv${at.family} and its parent "${parent.name}" is IPv${parent.family}; parent and child must be of one family`,
        cause: 'NoOfferingPool',
        dependsOn: [{ plural: 'ipclasses', name: parent.name }],
      });
    }
    if (chain.length >= depthCap) {
      throw badRequest({
        message: `IPClass "${start.name}" has more than ${depthCap - 1} ancestors, or is its own`,
        cause: 'NoOfferingPool',
        dependsOn: chain.map((each) => ({ plural: 'ipclasses' as const, name: each.name })),
      });
    }
    chain.push(parent);
  }
  return chain;
}

export function providesPools(record: ClassRecord): boolean {
  return (record.spec.poolPer?.length ?? 0) > 0;
}

export function* createClass(work: Work, object: IPClass): Step<IPClass> {
  const name = object.metadata.name;
  if ((yield* work.get('ipclasses', '', name)) !== undefined) throw alreadyExists('ipclasses', name);
  const offers = yield* one('SELECT count(*) AS n FROM ipam_offer WHERE plane = ? AND class = ?', work.plane, name);
  yield* writeClass(work, object);
  const roles = [...(object.spec?.poolPer ?? []), ...(object.spec?.uniqueWithin ?? [])];
  return work.put('ipclasses', {
    ...object,
    status: {
      phase: 'Ready',
      offeringPools: Number(offers!.n),
      provisionedPools: 0,
      requiredScopeRoles: [...new Set(roles)].filter((role) => !impliedRoles.has(role)),
      conditions: withCondition(
        undefined,
        { type: 'Accepted', status: 'True', reason: 'ClassAccepted', message: 'The class is accepted.' },
        work.now,
      ),
    },
  });
}

/** Writes what allocation reads of a class. */
export function* writeClass(work: Work, object: IPClass): Step<void> {
  work.forget();
  yield* exec(
    `INSERT INTO ipam_class (plane, name, family, is_default, spec) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (plane, name) DO UPDATE SET is_default = excluded.is_default, spec = excluded.spec`,
    work.plane,
    object.metadata.name,
    object.spec?.ipFamily === 'IPv4' ? 4 : 6,
    object.metadata.annotations?.[isDefaultClass] === 'true' ? 1 : 0,
    JSON.stringify(object.spec),
  );
}

/** Gone at once; refused while a pool exists that it provisioned. Allocations keep the policy they were made with. */
export function* deleteClass(work: Work, object: IPClass): Step<IPClass> {
  const name = object.metadata.name;
  const pool = yield* one(
    'SELECT name FROM ipam_pool WHERE plane = ? AND class = ? ORDER BY name LIMIT 1',
    work.plane,
    name,
  );
  if (pool !== undefined) {
    throw conflict('ipclasses', name, {
      message: `IPClass "${name}" has provisioned pools, IPPool "${pool.name}" among them; delete those first`,
      dependsOn: [{ plural: 'ippools', name: pool.name as string }],
    });
  }
  work.forget();
  yield* exec('DELETE FROM ipam_class WHERE plane = ? AND name = ?', work.plane, name);
  return work.delete('ipclasses', object);
}

/** Writes the number of authored pools that offer each class: whoever was refused for want of one watches it. */
export function* countOffers(work: Work, classNames: Iterable<string>): Step<void> {
  for (const name of classNames) {
    const object = yield* work.get<IPClass>('ipclasses', '', name);
    if (object === undefined) continue;
    const offers = yield* one('SELECT count(*) AS n FROM ipam_offer WHERE plane = ? AND class = ?', work.plane, name);
    work.put('ipclasses', { ...object, status: { ...object.status, offeringPools: Number(offers!.n) } });
  }
}
