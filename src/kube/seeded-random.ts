import { createHash } from 'node:crypto';
import type { Random } from './random.ts';

/**
 * Chance that is the same for the same seed (xoshiro128**, Blackman and Vigna; state from SHA-256 of the seed). For
 * tests and simulation, never for secrets.
 */
export function seededRandom(seed: number | string): Random {
  const digest = createHash('sha256').update(String(seed)).digest();
  let [a, b, c, d] = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8), digest.readUInt32LE(12)];

  const next32 = (): number => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };

  const bytes = (length: number): Uint8Array => {
    const result = new Uint8Array(length);
    for (let index = 0; index < length; index++) result[index] = next32() >>> 24;
    return result;
  };

  return {
    next: () => ((next32() >>> 5) * 2 ** 26 + (next32() >>> 6)) / 2 ** 53,
    bytes,
    uuid() {
      const raw = bytes(16);
      raw[6] = (raw[6]! & 0x0f) | 0x40;
      raw[8] = (raw[8]! & 0x3f) | 0x80;
      const hex = Buffer.from(raw).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  };
}

function rotate(value: number, by: number): number {
  return ((value << by) | (value >>> (32 - by))) >>> 0;
}
