/** A claim that waits. */
export interface Waiting {
  uid: string;
  /** metadata.creationTimestamp of the claim, then its namespace and name: the order of the line. */
  order: string;
}

/** How many may try at once, where one success follows another: a pool that grew is used in a few rounds. */
const widest = 16;

/**
 * Claims that wait for the same thing, oldest first. The head tries when something may have changed; success moves on
 * to the next, refusal stops until the next change: however many wait, one request finds out whether it is worth while.
 * Pure: every method answers the UIDs whose turn it has become.
 */
export class Line {
  /** Sorted by `order`. */
  readonly #waiting: Waiting[] = [];
  readonly #turns = new Set<string>();
  #width = 1;
  /** A turn ended in refusal: the others' successes hand on no more. */
  #stopped = false;
  /** Something changed while a turn was out: what that turn finds may be older. */
  #again = false;

  get size(): number {
    return this.#waiting.length;
  }

  has(uid: string): boolean {
    return this.#waiting.some((each) => each.uid === uid);
  }

  /** Whether a claim in the line may try now. */
  mayTry(uid: string): boolean {
    return this.#turns.has(uid);
  }

  /** A claim was refused. A turn it had is over, and with it everybody's until the next change. */
  refuse(waiting: Waiting): string[] {
    const hadTurn = this.#turns.delete(waiting.uid);
    if (!this.has(waiting.uid)) this.#insert(waiting);
    if (!hadTurn) return [];
    this.#stopped = true;
    return this.#nextRound();
  }

  /** A claim waits no more: it was served, or is gone, or waits for something else. `served` lets more try after it. */
  leave(uid: string, served: boolean): string[] {
    const index = this.#waiting.findIndex((each) => each.uid === uid);
    if (index < 0) return [];
    this.#waiting.splice(index, 1);
    const hadTurn = this.#turns.delete(uid);
    if (served) this.#width = Math.min(this.#width * 2, widest);
    if (this.#stopped) return this.#nextRound();
    return served || hadTurn ? this.#hand() : [];
  }

  /** Something the line depends on has changed. */
  wake(): string[] {
    if (this.#turns.size > 0) {
      this.#again = true;
      return [];
    }
    return this.#begin();
  }

  /** After a refusal, and once every turn is over: only a change meanwhile begins anew. */
  #nextRound(): string[] {
    return this.#again && this.#turns.size === 0 ? this.#begin() : [];
  }

  #begin(): string[] {
    this.#width = 1;
    this.#again = false;
    this.#stopped = false;
    return this.#hand();
  }

  #hand(): string[] {
    const handed: string[] = [];
    for (const { uid } of this.#waiting) {
      if (this.#turns.size >= this.#width) break;
      if (this.#turns.has(uid)) continue;
      this.#turns.add(uid);
      handed.push(uid);
    }
    return handed;
  }

  #insert(waiting: Waiting): void {
    let low = 0;
    let high = this.#waiting.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#waiting[middle]!.order <= waiting.order) low = middle + 1;
      else high = middle;
    }
    this.#waiting.splice(low, 0, waiting);
  }
}
