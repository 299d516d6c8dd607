import { Crowd } from '../../../kube/index.ts';

/** How long a data plane may take to say what it makes of an interface that was offered to it, before the claim is told without. */
export const patienceMilliseconds = 1_000;
/** Among many that are offered at once each takes longer, and telling all of them twice would make it longer still. */
export const crowdPatienceMilliseconds = 10;

/** Interfaces that were offered to the data plane and whose claims have not been told yet: they are told once, of both. */
export class Offers {
  /** By UID of the claim. `Clock.monotonic` milliseconds. */
  readonly #since = new Map<string, number>();
  readonly #crowd = new Crowd();

  /** Milliseconds the data plane still has; counted from now where the interface has not been offered before. */
  left(uid: string, now: number): number {
    const since = this.#since.get(uid) ?? now;
    return Math.max(0, since + patienceMilliseconds + this.#crowd.others(uid) * crowdPatienceMilliseconds - now);
  }

  made(uid: string, now: number): void {
    if (this.#since.has(uid)) return;
    this.#since.set(uid, now);
    this.#crowd.enter(uid);
  }

  /** The claim was told, or is gone. */
  forget(uid: string): void {
    this.#since.delete(uid);
    this.#crowd.leave(uid);
  }
}
