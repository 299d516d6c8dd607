import { type IpFamily, IpPrefix } from '../address/index.ts';
import { exec, nothing, one, type Row, rows, run, type Step, together } from './work.ts';

/** One address space of a pool, while a transaction works on it. `save` writes the summary back. */
export interface Space {
  readonly id: number;
  readonly plane: string;
  readonly family: IpFamily;
  /** Start of the lowest free block of each length that has one, as 32 hex digits: what is next is known without a search. */
  readonly heads: Record<number, string>;
  /** Addresses reserved, held or resting. */
  used: bigint;
  /** Blocks held by claims or carved for pools, retained ones included. */
  live: number;
}

export function bytesOf(value: bigint): Uint8Array {
  return fromHex(hexOf(value));
}

export function numberOf(bytes: unknown): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

/** Fixed in width, so that texts order as numbers do. */
function hexOf(value: bigint): string {
  return value.toString(16).padStart(32, '0');
}

function fromHex(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

function toHex(bytes: unknown): string {
  const view = bytes as Uint8Array;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex');
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
    `INSERT INTO ipam_space (plane, pool, digest, heads, used, live, stale) VALUES (?, ?, ?, '{}', ?, 0, 1) RETURNING id`,
    plane,
    pool,
    digest,
    String(used),
  );
  const space: Space = { id: Number(row!.id), plane, family, heads: {}, used, live: 0 };
  for (const block of free) yield* addFree(space, block);
  yield* save(space);
  return space;
}

export function* findSpace(plane: string, pool: number, digest: string, family: IpFamily): Step<Space | undefined> {
  const row = yield* one('SELECT id, heads, used, live FROM ipam_space WHERE pool = ? AND digest = ?', pool, digest);
  return row === undefined ? undefined : spaceOf(plane, family, row);
}

export function* spaceById(plane: string, id: number, family: IpFamily): Step<Space> {
  const row = yield* one('SELECT id, heads, used, live FROM ipam_space WHERE id = ?', id);
  return spaceOf(plane, family, row!);
}

/** How full a space is, and the lengths of its free blocks, the largest block first. */
export interface SpaceSummary {
  readonly used: bigint;
  readonly lengths: readonly number[];
}

/** Every space of a pool. */
export function* spacesOf(pool: number): Step<SpaceSummary[]> {
  const found = yield* rows('SELECT heads, used FROM ipam_space WHERE pool = ?', pool);
  return found.map((row) => ({
    used: BigInt(row.used as string),
    lengths: Object.keys(JSON.parse(row.heads as string) as object).map(Number),
  }));
}

function spaceOf(plane: string, family: IpFamily, row: Row): Space {
  return {
    id: Number(row.id),
    plane,
    family,
    heads: JSON.parse(row.heads as string) as Record<number, string>,
    used: BigInt(row.used as string),
    live: Number(row.live),
  };
}

export function* save(space: Space): Step<void> {
  yield* exec(
    'UPDATE ipam_space SET heads = ?, used = ?, live = ?, stale = 1 WHERE id = ?',
    JSON.stringify(space.heads),
    String(space.used),
    space.live,
    space.id,
  );
}

/** Takes the lowest free block of `length` (FirstFit), or undefined where there is none. */
export function* takeFirst(space: Space, length: number): Step<IpPrefix | undefined> {
  let lowest: number | undefined;
  for (const each of lengthsUpTo(space, length)) {
    if (lowest === undefined || space.heads[each]! < space.heads[lowest]!) lowest = each;
  }
  return lowest === undefined ? undefined : yield* takeHead(space, lowest, length);
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
  let whole = block;
  while (whole.length > pool.length && hasLength(space, whole.length)) {
    if (!(yield* removeFree(space, whole.sibling()!))) break;
    whole = whole.parent()!;
  }
  yield* addFree(space, whole);
}

function* takeHead(space: Space, from: number, length: number): Step<IpPrefix> {
  const block = IpPrefix.of(space.family, BigInt(`0x${space.heads[from]}`), from);
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
  const head = space.heads[block.length];
  if (head === undefined || start < head) space.heads[block.length] = start;
}

function* removeFree(space: Space, block: IpPrefix): Step<boolean> {
  const start = hexOf(block.start);
  const removing = run(
    'DELETE FROM ipam_free WHERE space = ? AND length = ? AND start = ?',
    space.id,
    block.length,
    fromHex(start),
  );
  if (space.heads[block.length] !== start) return (yield* removing) > 0;
  // The lowest of its length is there, and another one is the lowest now.
  const next = one(
    'SELECT start FROM ipam_free WHERE space = ? + 0 AND length = ? + 0 AND start > ? ORDER BY start LIMIT 1',
    space.id,
    block.length,
    fromHex(start),
  );
  const [, lowest] = yield* together(removing, next, nothing());
  if (lowest === undefined) delete space.heads[block.length];
  else space.heads[block.length] = toHex(lowest.start);
  return true;
}

function hasLength(space: Space, length: number): boolean {
  return space.heads[length] !== undefined;
}

/** Lengths of free blocks that hold one of `length`, shortest first. */
function lengthsUpTo(space: Space, length: number): number[] {
  // Integer keys of an object come in ascending order.
  return Object.keys(space.heads)
    .map(Number)
    .filter((each) => each <= length);
}
