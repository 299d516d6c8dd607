import { type IpFamily, IpPrefix } from '../address/index.ts';
import { fromHex, hexOf, toHex } from './bytes.ts';
import type { Space } from './known.ts';
import { poolById } from './pool-record.ts';
import { exec, one, rows, run, type Step, type Work } from './work.ts';

/** How many free blocks of a length are read at once, and how many are remembered at most. */
const readAtOnce = 64;
const rememberedAtMost = 256;

/** The free blocks a new space starts with. */
export function* createSpace(
  work: Work,
  pool: number,
  digest: string,
  family: IpFamily,
  free: readonly IpPrefix[],
  used: bigint,
): Step<Space> {
  const row = yield* one(
    `INSERT INTO ipam_space (plane, pool, digest, used, live, stale) VALUES (?, ?, ?, ?, 0, 1) RETURNING id`,
    work.plane,
    pool,
    digest,
    String(used),
  );
  const space: Space = { id: Number(row!.id), pool, family, free: {}, used, freed: false, live: 0 };
  work.known.spaces.set(space.id, space);
  for (const block of free) yield* addFree(space, block);
  yield* save(space);
  return space;
}

export function* findSpace(work: Work, pool: number, digest: string, family: IpFamily): Step<Space | undefined> {
  const id = yield* work.remember(`space/${pool}/${digest}`, readSpaceId(pool, digest));
  return id === undefined ? undefined : (work.known.spaces.get(id) ?? (yield* readSpace(work, id, family)));
}

export function* spaceById(work: Work, id: number): Step<Space> {
  return work.known.spaces.get(id) ?? (yield* readSpace(work, id));
}

function* readSpace(work: Work, id: number, family?: IpFamily): Step<Space> {
  const row = (yield* one('SELECT pool, used, live FROM ipam_space WHERE id = ?', id))!;
  const pool = Number(row.pool);
  const free: Space['free'] = {};
  for (const { length, start } of yield* rows(lowest, id, id, id)) {
    free[Number(length)] = { starts: [toHex(start)], whole: false };
  }
  const space: Space = {
    id,
    pool,
    family: family ?? (yield* poolById(work, pool)).prefix.family,
    free,
    used: BigInt(row.used as string),
    freed: false,
    live: Number(row.live),
  };
  work.known.spaces.set(id, space);
  return space;
}

/** The lowest free block of each length: one look into the index for each length there is, whatever their number. */
const lowest = `WITH RECURSIVE lengths (length) AS (
    SELECT min(length) FROM ipam_free WHERE space = ?
    UNION ALL
    SELECT (SELECT min(f.length) FROM ipam_free f WHERE f.space = ? AND f.length > l.length)
    FROM lengths l WHERE l.length IS NOT NULL
  )
  SELECT l.length, (
      SELECT f.start FROM ipam_free f WHERE f.space = ? AND f.length = l.length ORDER BY f.start LIMIT 1
    ) AS start
  FROM lengths l WHERE l.length IS NOT NULL`;

function* readSpaceId(pool: number, digest: string): Step<number | undefined> {
  const row = yield* one('SELECT id FROM ipam_space WHERE pool = ? AND digest = ?', pool, digest);
  return row === undefined ? undefined : Number(row.id);
}

/** How full a space is, and the length of its largest free block. */
export interface SpaceSummary {
  readonly used: bigint;
  readonly largest: number | undefined;
}

/** Every space of a pool. */
export function* spacesOf(pool: number): Step<SpaceSummary[]> {
  const found = yield* rows(
    `SELECT s.used, (SELECT min(f.length) FROM ipam_free f WHERE f.space = s.id) AS largest
     FROM ipam_space s WHERE s.pool = ?`,
    pool,
  );
  return found.map((row) => ({
    used: BigInt(row.used as string),
    largest: row.largest === null ? undefined : Number(row.largest),
  }));
}

export function* save(space: Space): Step<void> {
  yield* exec(
    'UPDATE ipam_space SET used = ?, live = ?, stale = 1 WHERE id = ?',
    String(space.used),
    space.live,
    space.id,
  );
  if (space.freed && space.pool !== 0) {
    yield* exec('INSERT INTO ipam_freed (pool) VALUES (?) ON CONFLICT DO NOTHING', space.pool);
  }
  space.freed = false;
}

/** Takes the lowest free block of `length` (FirstFit), or undefined where there is none. */
export function* takeFirst(space: Space, length: number): Step<IpPrefix | undefined> {
  let from: number | undefined;
  for (const each of lengthsUpTo(space, length)) {
    if (from === undefined || headOf(space, each) < headOf(space, from)) from = each;
  }
  return from === undefined ? undefined : yield* takeHead(space, from, length);
}

/** Takes from the smallest free block that holds one of `length`, the lowest of those (BestFit). */
export function* takeBest(space: Space, length: number): Step<IpPrefix | undefined> {
  const best = lengthsUpTo(space, length).at(-1);
  return best === undefined ? undefined : yield* takeHead(space, best, length);
}

/** Takes exactly `wanted`, or undefined where part of it is not free. */
export function* takeExactly(space: Space, wanted: IpPrefix): Step<IpPrefix | undefined> {
  for (const length of lengthsUpTo(space, wanted.length).reverse()) {
    const around = IpPrefix.of(space.family, wanted.start, length);
    if (!(yield* removeFree(space, around))) continue;
    yield* splitOff(space, around, wanted);
    return wanted;
  }
  return undefined;
}

/** Makes `block` free again, joined with its free neighbours up to `pool`. */
export function* give(space: Space, block: IpPrefix, pool: IpPrefix): Step<void> {
  space.used -= block.size;
  space.freed = true;
  let whole = block;
  while (whole.length > pool.length && space.free[whole.length] !== undefined) {
    if (!(yield* removeFree(space, whole.sibling()!))) break;
    whole = whole.parent()!;
  }
  yield* addFree(space, whole);
}

function* takeHead(space: Space, from: number, length: number): Step<IpPrefix> {
  const block = IpPrefix.of(space.family, BigInt(`0x${headOf(space, from)}`), from);
  const wanted = IpPrefix.of(space.family, block.start, length);
  yield* removeFree(space, block);
  yield* splitOff(space, block, wanted);
  return wanted;
}

/** `around` is out of the list: what of it is not `wanted` goes back, in the fewest blocks. */
function* splitOff(space: Space, around: IpPrefix, wanted: IpPrefix): Step<void> {
  space.used += wanted.size;
  for (let length = around.length + 1; length <= wanted.length; length++) {
    yield* addFree(space, IpPrefix.of(space.family, wanted.start, length).sibling()!);
  }
}

function* addFree(space: Space, block: IpPrefix): Step<void> {
  const start = hexOf(block.start);
  yield* exec('INSERT INTO ipam_free (space, length, start) VALUES (?, ?, ?)', space.id, block.length, fromHex(start));
  const blocks = space.free[block.length];
  if (blocks === undefined) {
    space.free[block.length] = { starts: [start], whole: true };
    return;
  }
  const { starts } = blocks;
  const after = starts.findIndex((each) => each > start);
  if (after >= 0) starts.splice(after, 0, start);
  else if (blocks.whole) starts.push(start);
  if (starts.length > rememberedAtMost) {
    starts.length = readAtOnce;
    blocks.whole = false;
  }
}

/** Answers whether the block was free. Nothing is asked where that is known. */
function* removeFree(space: Space, block: IpPrefix): Step<boolean> {
  const start = hexOf(block.start);
  const { length } = block;
  const blocks = space.free[length];
  if (blocks === undefined) return false;
  const { starts } = blocks;
  const sql = 'DELETE FROM ipam_free WHERE space = ? AND length = ? AND start = ?';
  const index = starts.indexOf(start);
  if (index < 0) {
    if (blocks.whole || start < starts.at(-1)!) return false;
    return (yield* run(sql, space.id, length, fromHex(start))) > 0;
  }
  yield* exec(sql, space.id, length, fromHex(start));
  starts.splice(index, 1);
  if (starts.length > 0) return true;
  if (!blocks.whole) {
    const found = yield* rows(
      `SELECT start FROM ipam_free WHERE space = ? + 0 AND length = ? + 0 AND start > ? ORDER BY start LIMIT ${readAtOnce}`,
      space.id,
      length,
      fromHex(start),
    );
    for (const row of found) starts.push(toHex(row.start));
    blocks.whole = found.length < readAtOnce;
  }
  if (starts.length === 0) delete space.free[length];
  return true;
}

/** Start of the lowest free block of a length that has one. */
function headOf(space: Space, length: number): string {
  return space.free[length]!.starts[0]!;
}

/** Lengths of free blocks that hold one of `length`, shortest first. */
function lengthsUpTo(space: Space, length: number): number[] {
  const lengths: number[] = [];
  // Integer keys of an object come in ascending order.
  for (const key in space.free) {
    const each = Number(key);
    if (each > length) break;
    lengths.push(each);
  }
  return lengths;
}
