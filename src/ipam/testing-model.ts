import { type IpAddress, IpPrefix, subtract } from '../address/index.ts';

export interface Taken {
  block: IpPrefix;
  state: 'held' | 'retained' | { restsUntil: number };
  retain: boolean;
}

/** What a pool is to be: a set of taken blocks, and the rule that picks the next one. */
export class Model {
  range: IpPrefix;
  /** The pool is deleted: what rested in it keeps its range. */
  gone = false;
  readonly taken = new Map<string, Taken>();
  readonly #best: boolean;
  readonly #rest: number;
  now = 0;
  #rests = 0;

  constructor(range: IpPrefix, best: boolean, rest: number) {
    this.range = range;
    this.#best = best;
    this.#rest = rest;
  }

  claim(name: string, length: number, address: IpAddress | undefined, retain: boolean): string {
    const kept = this.taken.get(name);
    if (kept?.state === 'held') return 'ClaimExists';
    if (kept !== undefined) {
      if (kept.block.length !== length || (address !== undefined && !kept.block.contains(address)))
        return 'AllocationRetained';
      kept.state = 'held';
      return kept.block.toString();
    }
    if (this.gone) return 'NoOfferingPool';
    const free = subtract(
      this.range,
      [...this.taken.values()].map((each) => each.block),
    );
    let block: IpPrefix | undefined;
    if (address !== undefined) {
      const wanted = IpPrefix.containing(address, length);
      if (!this.range.contains(wanted)) return 'NoOfferingPool';
      if (!free.some((each) => each.contains(wanted))) return 'AddressInUse';
      block = wanted;
    } else {
      const fitting = free.filter((each) => each.length <= length);
      fitting.sort((a, b) => (this.#best ? b.length - a.length || a.compare(b) : a.compare(b)));
      if (fitting[0] === undefined) return 'Exhausted';
      block = IpPrefix.of(4, fitting[0].start, length);
    }
    this.taken.set(name, { block, state: 'held', retain });
    return block.toString();
  }

  /** The claim goes. */
  release(name: string): void {
    const held = this.taken.get(name)!;
    if (held.retain) held.state = 'retained';
    else this.free(name);
  }

  /** The allocation goes. */
  free(name: string): void {
    const { block } = this.taken.get(name)!;
    this.taken.delete(name);
    const state = { restsUntil: this.now + this.#rest };
    if (this.#rest > 0) this.taken.set(`resting ${++this.#rests}`, { block, state, retain: false });
  }

  pass(milliseconds: number): void {
    this.now += milliseconds;
    for (const [name, { state }] of this.taken) {
      if (typeof state === 'object' && state.restsUntil <= this.now) this.taken.delete(name);
    }
  }

  /** The pool goes, or comes back with its range: answers whether it may. */
  toggle(): boolean {
    const rests = [...this.taken.values()].map(({ state }) =>
      typeof state === 'object' ? state.restsUntil : Infinity,
    );
    if (this.gone) {
      if (rests.length > 0) return false;
      this.gone = false;
      return true;
    }
    const restsUntil = Math.max(0, ...rests);
    if (restsUntil === Infinity) return false;
    this.taken.clear();
    if (restsUntil > this.now) this.taken.set('the pool', { block: this.range, state: { restsUntil }, retain: false });
    this.gone = true;
    return true;
  }

  /** The pool gets another range: answers whether nothing is in the way. */
  resize(range: IpPrefix): boolean {
    const fits = [...this.taken.values()].every(({ block }) => range.contains(block));
    if (fits) this.range = range;
    return fits;
  }
}
