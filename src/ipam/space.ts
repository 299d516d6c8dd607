import { bitsOf, type IpFamily, IpPrefix } from '../address/index.ts';
import { one, type Row, rows, run, type Step } from './work.ts';

/** One address space of a pool, while a transaction works on it. `save` writes the summary back. */
export interface Space {
  readonly id: number;
  readonly plane: string;
  readonly family: IpFamily;
  /** Bit n: there is a free block of length n. */
  lengths: bigint;
  /** Addresses reserved, held or resting. */
  used: bigint;
  /** Blocks held by claims or carved for pools, retained ones included. */
  live: number;
}

export function bytesOf(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(32, '0'), 'hex');
}

export function numberOf(bytes: unknown): bigint {
  const view = bytes as Uint8Array;
  return BigInt(`0x${Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex')}`);
}

/** The free blocks a new space starts with. */
export function* createSpace(
  plane: string,
  pool: number,
  digest: string,
  family: IpFamily,
  free: readonly IpPrefix[],
  used: bigint,
): Step<Space> {
  const row = yield* one(
    `INSERT INTO ipam_space (plane, pool, digest, lengths, used, live, stale) VALUES (?, ?, ?, '0', ?, 0, 1) RETURNING id`,
    plane,
    pool,
    digest,
    String(used),
  );
  const space: Space = { id: Number(row!.id), plane, family, lengths: 0n, used, live: 0 };
  for (const block of free) yield* addFree(space, block);
  yield* save(space);
  return space;
}

export function* findSpace(plane: string, pool: number, digest: string, family: IpFamily): Step<Space | undefined> {
  const row = yield* one('SELECT id, lengths, used, live FROM ipam_space WHERE pool = ? AND digest = ?', pool, digest);
  return row === undefined ? undefined : spaceOf(plane, family, row);
}

export function* spaceById(plane: string, id: number, family: IpFamily): Step<Space> {
  const row = yield* one('SELECT id, lengths, used, live FROM ipam_space WHERE id = ?', id);
  return spaceOf(plane, family, row!);
}

function spaceOf(plane: string, family: IpFamily, row: Row): Space {
  return {
    id: Number(row.id),
    plane,
    family,
    lengths: BigInt(`0x${row.lengths}`),
    used: BigInt(row.used as string),
    live: Number(row.live),
  };
}

export function* save(space: Space): Step<void> {
  yield* run(
    'UPDATE ipam_space SET lengths = ?, used = ?, live = ?, stale = 1 WHERE id = ?',
    space.lengths.toString(16),
    String(space.used),
    space.live,
    space.id,
  );
}

/** Takes the lowest free block of `length` (FirstFit), or undefined where there is none. */
export function* takeFirst(space: Space, length: number): Step<IpPrefix | undefined> {
  const present = lengthsUpTo(space, length);
  if (present.length === 0) return undefined;
  const found = yield* one(lowestOf(present.length), ...present.flatMap((each) => [space.id, each]));
  return yield* takeFrom(space, IpPrefix.of(space.family, numberOf(found!.start), Number(found!.length)), length);
}

/** Takes from the smallest free block that holds one of `length`, the lowest of those (BestFit). */
export function* takeBest(space: Space, length: number): Step<IpPrefix | undefined> {
  const best = lengthsUpTo(space, length).at(-1);
  if (best === undefined) return undefined;
  const found = yield* one(
    'SELECT start FROM ipam_free WHERE space = ? AND length = ? ORDER BY start LIMIT 1',
    space.id,
    best,
  );
  return yield* takeFrom(space, IpPrefix.of(space.family, numberOf(found!.start), best), length);
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
  let whole = block;
  while (whole.length > pool.length && hasLength(space, whole.length)) {
    if (!(yield* removeFree(space, whole.sibling()!))) break;
    whole = whole.parent()!;
  }
  yield* addFree(space, whole);
}

/** Whole blocks of the largest size that is free; undefined where nothing is. */
export function largestFree(space: Space): number | undefined {
  for (let length = 0; length <= bitsOf[space.family]; length++) if (hasLength(space, length)) return length;
  return undefined;
}

function* takeFrom(space: Space, block: IpPrefix, length: number): Step<IpPrefix> {
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
  yield* run(
    'INSERT INTO ipam_free (space, length, start) VALUES (?, ?, ?)',
    space.id,
    block.length,
    bytesOf(block.start),
  );
  space.lengths |= 1n << BigInt(block.length);
}

function* removeFree(space: Space, block: IpPrefix): Step<boolean> {
  const removed = yield* run(
    'DELETE FROM ipam_free WHERE space = ? AND length = ? AND start = ?',
    space.id,
    block.length,
    bytesOf(block.start),
  );
  if (removed === 0) return false;
  const another = yield* rows('SELECT 1 FROM ipam_free WHERE space = ? AND length = ? LIMIT 1', space.id, block.length);
  if (another.length === 0) space.lengths &= ~(1n << BigInt(block.length));
  return true;
}

function hasLength(space: Space, length: number): boolean {
  return ((space.lengths >> BigInt(length)) & 1n) === 1n;
}

function lengthsUpTo(space: Space, length: number): number[] {
  const present: number[] = [];
  for (let each = 0; each <= length; each++) if (hasLength(space, each)) present.push(each);
  return present;
}

const lowest = new Map<number, string>();

/** One index seek per length that has free blocks, however many blocks there are. */
function lowestOf(count: number): string {
  let sql = lowest.get(count);
  if (sql === undefined) {
    const head =
      'SELECT * FROM (SELECT length, start FROM ipam_free WHERE space = ? AND length = ? ORDER BY start LIMIT 1)';
    sql = `SELECT length, start FROM (${Array(count).fill(head).join(' UNION ALL ')}) ORDER BY start LIMIT 1`;
    lowest.set(count, sql);
  }
  return sql;
}
