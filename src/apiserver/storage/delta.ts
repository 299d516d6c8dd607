/**
 * A value as its difference from another, as git packs objects: what is alike is copied, what is not is inserted. Objects of
 * one kind differ in names, addresses and times: 5,400 bytes of an Instance become some 200, in 10 microseconds, and are
 * whole again in 2 (deflate with a dictionary: 180, in 30 and 9).
 *
 * Layout: length of the value, then, until it is complete: how many bytes to insert, those bytes, how many to copy, from
 * where. Numbers are LEB128. A delta is kept as text of one byte per character: a buffer would take twice its memory again.
 */

/** Shorter matches are not looked for: they would save next to nothing. */
const shortestMatch = 8;
/** Largest value that is made a delta of. */
export const largestValue = 2 ** 18;
/** Positions of a base that are indexed, being kept in 16 bits. What comes later is found as long as it stays in step. */
const indexedBytes = 2 ** 16 - 1;
/** Copies shorter than this are made byte by byte, which is then faster than a call. */
const shortCopy = 24;
/** After every so many bytes without a match the search takes longer steps: what has nothing in common is soon given up. */
const missesPerStep = 64;
/** Most that the numbers of one insertion and one copy take. */
const numbersBytes = 16;

/** What deltas are made against. Its bytes must not change. */
export class DeltaBase {
  readonly bytes: Buffer;
  #index: Uint16Array | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** By hash of `shortestMatch` bytes, one more than the first position they are at; 0: none. Its length is a power of two. */
  get index(): Uint16Array {
    this.#index ??= indexOf(this.bytes);
    return this.#index;
  }
}

function indexOf(bytes: Buffer): Uint16Array {
  const end = Math.min(bytes.length, indexedBytes) - shortestMatch;
  let size = 256;
  while (size < bytes.length / 2 && size < 2 ** 14) size *= 2;
  const index = new Uint16Array(size);
  for (let at = end; at >= 0; at -= 1) index[hashAt(bytes, at) & (size - 1)] = at + 1;
  return index;
}

const scratch = Buffer.allocUnsafeSlow(largestValue + numbersBytes);
let written = 0;

/** The delta from `base` to `value`, or undefined where it would take more than `limit` characters. */
export function deltaOf(base: DeltaBase, value: Uint8Array, limit: number): string | undefined {
  const { bytes, index } = base;
  const length = value.length;
  const room = Math.min(limit, largestValue) - numbersBytes;
  const lastStart = length - shortestMatch;
  /** Everything before it is in the delta. */
  let done = 0;
  /** Where in the base the last copy ended. */
  let inStep = 0;
  let misses = 0;
  written = 0;
  writeNumber(length);
  for (let at = 0; at <= lastStart; ) {
    let from = inStep + at - done;
    // What was replaced by something as long leaves the rest where it was.
    if (!matches(bytes, from, value, at)) {
      from = index[hashAt(value, at) & (index.length - 1)]! - 1;
      if (from < 0 || !matches(bytes, from, value, at)) {
        misses += 1;
        at += 1 + Math.floor(misses / missesPerStep);
        if (written + at - done > room) return undefined;
        continue;
      }
    }
    misses = 0;
    let end = at + shortestMatch;
    for (
      let next = from + shortestMatch;
      end < length && next < bytes.length && bytes[next] === value[end];
      next += 1
    ) {
      end += 1;
    }
    for (; at > done && from > 0 && bytes[from - 1] === value[at - 1]; at -= 1) from -= 1;
    if (written + at - done > room) return undefined;
    insert(value, done, at);
    writeNumber(end - at);
    writeNumber(from);
    inStep = from + end - at;
    done = end;
    at = end;
  }
  if (written + length - done > room) return undefined;
  if (done < length) insert(value, done, length);
  return scratch.toString('latin1', 0, written);
}

function insert(value: Uint8Array, from: number, to: number): void {
  writeNumber(to - from);
  for (let at = from; at < to; at += 1) scratch[written++] = value[at]!;
}

function matches(base: Buffer, from: number, value: Uint8Array, at: number): boolean {
  if (from + shortestMatch > base.length) return false;
  for (let index = 0; index < shortestMatch; index += 1) if (base[from + index] !== value[at + index]) return false;
  return true;
}

/** Of `shortestMatch` bytes. */
function hashAt(bytes: Uint8Array, at: number): number {
  const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  const high = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
  return Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 16;
}

function writeNumber(number: number): void {
  let rest = number;
  for (; rest > 0x7f; rest >>>= 7) scratch[written++] = (rest & 0x7f) | 0x80;
  scratch[written++] = rest;
}

let read = 0;

/** The value that `delta` makes of `base`, in a buffer of its own. */
export function applyDelta(base: DeltaBase, delta: string): Uint8Array {
  const { bytes } = base;
  read = 0;
  const length = readNumber(delta);
  const value = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const inserted = readNumber(delta);
    for (let index = 0; index < inserted; index += 1) value[done++] = delta.charCodeAt(read++);
    if (done === length) break;
    const copied = readNumber(delta);
    const from = readNumber(delta);
    if (copied >= shortCopy) bytes.copy(value, done, from, from + copied);
    else for (let index = 0; index < copied; index += 1) value[done + index] = bytes[from + index]!;
    done += copied;
  }
  return value;
}

function readNumber(delta: string): number {
  let number = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = delta.charCodeAt(read++);
    number |= (byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
}
