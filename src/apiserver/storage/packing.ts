import { applyDelta, DeltaBase, deltaOf, largestValue } from './delta.ts';
import type { StorageKey, StoredRecord } from './storage.ts';

/** A record kept in memory: its value is bytes while it is fresh, and a delta once it has been packed. */
export class LiveRecord implements StoredRecord {
  readonly key: StorageKey;
  readonly revision: number;
  #bytes: Uint8Array | undefined;
  #base: DeltaBase | undefined;
  #delta = '';

  /** `value` in a buffer of its own. */
  constructor(key: StorageKey, revision: number, value: Uint8Array) {
    this.key = key;
    this.revision = revision;
    this.#bytes = value;
  }

  /** The same buffer every time while it is fresh, a new one every time once it is packed. */
  get value(): Uint8Array {
    return this.#bytes ?? applyDelta(this.#base!, this.#delta);
  }

  pack(base: DeltaBase, delta: string): void {
    this.#base = base;
    this.#delta = delta;
    this.#bytes = undefined;
  }
}

/** Values shorter than this are left as they are. */
const shortestValue = 256;
/** A delta of at most this part of its value says that the two are alike. */
const alike = 1 / 2;
const mostBases = 64;
const mostTried = 3;
/** How much is packed at a time, as a part of what may be fresh: finding the oldest costs as much for one as for many. */
const packedAtOnce = 1 / 64;

interface NamedBase {
  name: string;
  base: DeltaBase;
}

/** What the values of one resource are packed against, whichever plane they are in. */
class Bases {
  /** By name of the object it was the value of; the one that has not fitted for longest first. */
  readonly #byName = new Map<string, NamedBase>();
  /** Those that fitted last, the last first. */
  #latest: NamedBase[] = [];

  /** Packs what is like a base; the value of what is not becomes one, for those that follow. */
  pack(record: LiveRecord): void {
    const { value } = record;
    if (value.byteLength < shortestValue || value.byteLength > largestValue) return;
    const { name } = record.key;
    // Every plane has its own of a definition or a role, and a copied object keeps its name.
    const named = this.#byName.get(name);
    for (const candidate of named === undefined ? this.#latest : [named, ...this.#latest]) {
      const delta = deltaOf(candidate.base, value, value.byteLength * alike);
      if (delta === undefined) continue;
      this.#fitted(candidate);
      record.pack(candidate.base, delta);
      return;
    }
    this.#fitted({ name, base: new DeltaBase(value) });
    if (this.#byName.size > mostBases) this.#byName.delete(this.#byName.keys().next().value!);
  }

  #fitted(candidate: NamedBase): void {
    const { name } = candidate;
    this.#byName.delete(name);
    this.#byName.set(name, candidate);
    if (this.#latest[0] === candidate) return;
    this.#latest = [candidate, ...this.#latest.filter((other) => other !== candidate)].slice(0, mostTried);
  }
}

/**
 * Keeps values small: the newest are bytes, to be served as they are, up to a number of bytes in all; older ones are packed.
 * Most objects are written a few times when they come into being, and then rest.
 */
export class Packer {
  readonly #freshBytes: number;
  readonly #bases = new Map<string, Bases>();
  readonly #fresh = new Set<LiveRecord>();
  #bytes = 0;

  /** `freshBytes`: how many bytes of values are kept as they are. */
  constructor(freshBytes: number) {
    this.#freshBytes = freshBytes;
  }

  add(record: LiveRecord): void {
    this.#fresh.add(record);
    this.#bytes += record.value.byteLength;
    if (this.#bytes > this.#freshBytes) this.#pack();
  }

  /** The record has been replaced, deleted or dropped. */
  remove(record: LiveRecord): void {
    if (this.#fresh.delete(record)) this.#bytes -= record.value.byteLength;
  }

  #pack(): void {
    const until = this.#freshBytes * (1 - packedAtOnce);
    for (const record of this.#fresh) {
      if (this.#bytes <= until) return;
      this.remove(record);
      const { resource } = record.key;
      let bases = this.#bases.get(resource);
      if (bases === undefined) {
        bases = new Bases();
        this.#bases.set(resource, bases);
      }
      bases.pack(record);
    }
  }
}
