import { fabricAnnotations, largestFabricIdentity } from '../../../api/index.ts';
import type { Client } from '../../../kube/index.ts';
import { Namespace } from '../../../meta/index.ts';

const system = { namespace: '', name: 'kube-system' };

/** What `Numbers` needs on the hub. */
export const numbersRule = {
  apiGroups: [''],
  resources: ['namespaces'],
  resourceNames: [system.name],
  verbs: ['get', 'patch'],
};

/** Numbers that are held, as far as is known. */
export interface Held {
  has(number: number): boolean;
  count(): number;
}

/**
 * Hands out numbers in order, around and around, so that a freed one comes again only after all others: something that
 * was away may still go by it. What has been handed out is reserved first, a block at a time, on the hub's `kube-system`:
 * a process that ends skips the rest of its block, and never goes back.
 */
export class Numbers {
  readonly #largest: number;
  readonly #blockSize: number;
  #next = 1;
  #left = 0;
  #reserving: Promise<void> | undefined;

  constructor({ largest = largestFabricIdentity, blockSize = 256 } = {}) {
    this.#largest = largest;
    this.#blockSize = Math.min(blockSize, largest);
  }

  /** The next number that is not held; undefined where all are. Rejects where none can be reserved just now. */
  async take(hub: Client, held: Held): Promise<number | undefined> {
    // Those already looked at in this round are held still or freed just now, which is not "last".
    for (let seen = 0; seen < this.#largest; seen++) {
      while (this.#left === 0) await this.#reserve(hub);
      const number = this.#next;
      this.#next = this.#after(number, 1);
      this.#left--;
      if (!held.has(number)) return number;
      if (held.count() >= this.#largest) return undefined;
    }
    return undefined;
  }

  /** `number` and what follows, `by` further; 1 comes after the largest. */
  #after(number: number, by: number): number {
    return ((number - 1 + by) % this.#largest) + 1;
  }

  /** One write for all who wait for it. */
  #reserve(hub: Client): Promise<void> {
    this.#reserving ??= this.#reserveNow(hub).finally(() => {
      this.#reserving = undefined;
    });
    return this.#reserving;
  }

  async #reserveNow(hub: Client): Promise<void> {
    const namespace = await hub.get(Namespace, system);
    if (namespace === undefined) throw new Error('namespace kube-system is not there: it says which numbers are used');
    const { resourceVersion, annotations } = namespace.metadata;
    const last = this.#read(annotations?.[fabricAnnotations.identitiesReserved]);
    const reserved = last === undefined ? this.#blockSize : this.#after(last, this.#blockSize);
    const body = {
      metadata: { resourceVersion, annotations: { [fabricAnnotations.identitiesReserved]: String(reserved) } },
    };
    await hub.patch(Namespace, system, { type: 'merge', body });
    this.#next = last === undefined ? 1 : this.#after(last, 1);
    this.#left = this.#blockSize;
  }

  #read(text: string | undefined): number | undefined {
    const value = Number(text);
    return Number.isInteger(value) && value >= 1 && value <= this.#largest ? value : undefined;
  }
}
