import { IpPrefix } from '../address/index.ts';
import { bytesOf, numberOf } from './bytes.ts';
import { conflict } from './refusals.ts';
import { createSpace, findSpace, give, save, takeExactly } from './space.ts';
import { exec, one, type Step, type Work } from './work.ts';

/** Root pools are blocks of a space of their own per project and family: two of them cannot overlap. */
export function* takeRoot(work: Work, name: string, prefix: IpPrefix): Step<void> {
  const digest = digestOf(work, prefix);
  const space =
    (yield* findSpace(work, 0, digest, prefix.family)) ??
    (yield* createSpace(work, 0, digest, prefix.family, [IpPrefix.of(prefix.family, 0n, 0)], 0n));
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
  yield* exec(
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

export function* giveRoot(work: Work, prefix: IpPrefix): Step<void> {
  const space = (yield* findSpace(work, 0, digestOf(work, prefix), prefix.family))!;
  yield* exec('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, bytesOf(prefix.start));
  yield* give(space, prefix, IpPrefix.of(prefix.family, 0n, 0));
  space.live--;
  yield* save(space);
}

function digestOf(work: Work, prefix: IpPrefix): string {
  return `${work.plane}/IPv${prefix.family}`;
}
