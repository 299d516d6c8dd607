import type { NetworkInterfaceClaim } from '../../../api/index.ts';
import { isConditionTrue, parseTime, type Stored } from '../../../meta/index.ts';

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

  /** Milliseconds from the making of a claim until now, when it has its addresses for the first time; else undefined. */
  served(before: Stored<NetworkInterfaceClaim>, after: Stored<NetworkInterfaceClaim>, now: number): number | undefined {
    const { uid, creationTimestamp } = after.metadata;
    if (before.status?.networkInterfaceRef !== undefined) return undefined;
    if (!isConditionTrue(after.status?.conditions, 'Allocated')) return undefined;
    const created = parseTime(creationTimestamp) ?? now;
    const made = Math.min(this.#seen.get(uid) ?? now, created + 999);
    this.#seen.delete(uid);
    return Math.max(0, now - Math.max(made, created));
  }
}
