import { type IpFamily, IpPrefix } from '../address/index.ts';
import { sweepSpace } from './blocks.ts';
import { bytesOf, numberOf } from './bytes.ts';
import type { Space } from './known.ts';
import { takeThere } from './pool-space.ts';
import { conflict } from './refusals.ts';
import { createSpace, findSpace, give, save } from './space.ts';
import { exec, one, type Step, type Work } from './work.ts';

/** All addresses of a family: the range of the space of its root pools. */
function wholeOf(family: IpFamily): IpPrefix {
  return IpPrefix.of(family, 0n, 0);
}

/** Root pools are blocks of a space of their own per project and family: two of them cannot overlap. */
export function* takeRoot(work: Work, name: string, prefix: IpPrefix): Step<void> {
  const digest = digestOf(work, prefix.family);
  const whole = wholeOf(prefix.family);
  const space =
    (yield* findSpace(work, 0, digest, prefix.family)) ??
    (yield* createSpace(work, 0, digest, prefix.family, [whole], 0n));
  if ((yield* takeThere(work, { prefix: whole }, space, prefix)) === undefined) {
    throw yield* overlapping(work, name, prefix, space);
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

function* overlapping(work: Work, name: string, prefix: IpPrefix, space: Space) {
  const other = (yield* one(
    'SELECT start, length, state, due FROM ipam_block WHERE space = ? AND start <= ? ORDER BY start DESC LIMIT 1',
    space.id,
    bytesOf(prefix.end),
  ))!;
  const taken = IpPrefix.of(prefix.family, numberOf(other.start), Number(other.length));
  if (other.state === 'resting') {
    const seconds = Math.max(1, Math.ceil((Number(other.due) - work.now) / 1000));
    return conflict('ippools', name, {
      message: `spec.cidr ${prefix} overlaps ${taken} of a deleted IPPool, in which released addresses rest for ${seconds} s more; try again then, or choose another range`,
    });
  }
  const holder = yield* one(
    'SELECT name FROM ipam_pool WHERE plane = ? AND parent IS NULL AND family = ? AND start = ? AND length = ?',
    work.plane,
    prefix.family,
    bytesOf(taken.start),
    taken.length,
  );
  return conflict('ippools', name, {
    message: `spec.cidr ${prefix} overlaps ${taken} of IPPool "${holder?.name}" in project "${work.project}"; root pools of a project may not overlap`,
    dependsOn: [{ plural: 'ippools', name: String(holder?.name) }],
  });
}

/** Gives the range of a root pool back. It rests until `due` (milliseconds since the Unix epoch), where that is to come. */
export function* giveRoot(work: Work, prefix: IpPrefix, due = 0): Step<void> {
  const space = (yield* findSpace(work, 0, digestOf(work, prefix.family), prefix.family))!;
  space.live--;
  if (due > work.now) {
    yield* exec(
      `UPDATE ipam_block SET state = 'resting', due = ? WHERE space = ? AND start = ?`,
      due,
      space.id,
      bytesOf(prefix.start),
    );
  } else {
    yield* exec('DELETE FROM ipam_block WHERE space = ? AND start = ?', space.id, bytesOf(prefix.start));
    yield* give(space, prefix, wholeOf(prefix.family));
  }
  yield* save(space);
}

/** Frees the ranges of deleted root pools that have rested. */
export function* sweepRoots(work: Work): Step<void> {
  for (const family of [4, 6] as const) {
    const space = yield* findSpace(work, 0, digestOf(work, family), family);
    if (space !== undefined) yield* sweepSpace(work, space, wholeOf(family));
  }
}

function digestOf(work: Work, family: IpFamily): string {
  return `${work.plane}/IPv${family}`;
}
