/** How often something that keeps changing is said: at once after it was quiet, then no oftener than every so often. */
export class Pace {
  readonly #last = new Map<string, number>();

  /**
   * Milliseconds until `key` may be said again; 0 where it may be now, which then counts as said.
   * @param now monotonic milliseconds
   */
  turn(key: string, now: number, intervalMilliseconds: number): number {
    const last = this.#last.get(key);
    const left = last === undefined ? 0 : last + intervalMilliseconds - now;
    if (left > 0) return left;
    this.#last.set(key, now);
    return 0;
  }

  forget(key: string): void {
    this.#last.delete(key);
  }
}
