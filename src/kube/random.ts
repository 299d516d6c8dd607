import { randomBytes, randomUUID } from 'node:crypto';

/** Chance, injected, so that a run can be replayed from its seed. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** An RFC 9562 version 4 UUID. */
  uuid(): string;
  bytes(length: number): Uint8Array;
}

/** The operating system's randomness. */
export const systemRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  uuid: () => randomUUID(),
  bytes: (length) => randomBytes(length),
};
