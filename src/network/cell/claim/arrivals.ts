import type { NetworkInterfaceClaim } from '../../../api/index.ts';
import { type Condition, isConditionTrue, parseTime, type Stored } from '../../../meta/index.ts';

/**
 * When claims were made. Their creationTimestamp is cut to the second; a claim that was seen within that second was made
 * no later than that.
 */
export class Arrivals {
  /** By UID, of claims that have no interface yet. Milliseconds since the Unix epoch. */
  readonly #seen = new Map<string, number>();

  saw({ metadata, status }: Stored<NetworkInterfaceClaim>, now: number): void {
    if (status?.networkInterfaceRef === undefined && !this.#seen.has(metadata.uid)) this.#seen.set(metadata.uid, now);
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
  }

  /**
   * Milliseconds from the making of a claim until now, when `said` tells for the first time that it has its addresses; else
   * undefined.
   */
  served(
    { metadata }: Stored<NetworkInterfaceClaim>,
    said: readonly Condition[] | undefined,
    now: number,
  ): number | undefined {
    const seen = this.#seen.get(metadata.uid);
    if (seen === undefined || !isConditionTrue(said, 'Allocated')) return undefined;
    this.#seen.delete(metadata.uid);
    const created = parseTime(metadata.creationTimestamp) ?? now;
    const made = Math.min(seen, created + 999);
    return Math.max(0, now - Math.max(made, created));
  }
}
