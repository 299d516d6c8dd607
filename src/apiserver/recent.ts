/**
 * What was worked out last, for who asks again soon: of many watchers of an event each would work it out. Bounded, because
 * what hangs on an object kept for long is kept as long.
 */
export class Recent<K, V> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();

  /** `limit`: most entries; the one that was set first goes first. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  set(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
