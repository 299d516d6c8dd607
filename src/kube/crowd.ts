/**
 * What is under way in a process at one time. How long one of many takes goes by how many there were with it, not by how many
 * are left: who is served last has waited for all.
 */
export class Crowd {
  /** By key: what to add to `#total` to get how many others it has been with. */
  readonly #entered = new Map<string, number>();
  /** All that ever entered. */
  #total = 0;

  enter(key: string): void {
    if (this.#entered.has(key)) return;
    const there = this.#entered.size;
    this.#total++;
    this.#entered.set(key, there - this.#total);
  }

  leave(key: string): void {
    this.#entered.delete(key);
  }

  /** Everything whose key begins so leaves. */
  leaveAll(prefix: string): void {
    for (const key of this.#entered.keys()) if (key.startsWith(prefix)) this.#entered.delete(key);
  }

  /** How many others were there when it entered, and have entered since; 0 where it is not there. */
  others(key: string): number {
    const offset = this.#entered.get(key);
    return offset === undefined ? 0 : this.#total + offset;
  }
}
