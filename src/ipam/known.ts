import type { IpFamily } from '../address/index.ts';

/** One address space of a pool, as its tables say. `save` writes the summary back. */
export interface Space {
  readonly id: number;
  /** 0: the space of the root pools. */
  readonly pool: number;
  readonly family: IpFamily;
  /** Lengths that have a free block: what is next is known without a search. */
  readonly free: Record<number, FreeBlocks>;
  /** Addresses reserved, held or resting. */
  used: bigint;
  /** Whether something was made free since it was saved: the pool's object changes then, be its figures the same. */
  freed: boolean;
  /** Blocks held by claims or carved for pools, retained ones included. */
  live: number;
}

/** The lowest free blocks of one length. */
interface FreeBlocks {
  /** Where they start, as 32 hex digits, ascending; at least one. */
  readonly starts: string[];
  /** Whether there are no others. */
  whole: boolean;
}

/** How much is remembered at most: what is asked for again and again is far less. */
const mostKnown = 1000;

/** What was read of the tables, and is as they say: the store empties it where that is not certain (`ProcedureTransaction`). */
export class Known {
  /** Classes, pools and offers, by what they were asked for with. */
  readonly records = new Map<string, unknown>();
  readonly spaces = new Map<number, Space>();

  static of(kept: Map<string, unknown>): Known {
    let known = kept.get('ipam') as Known | undefined;
    if (known === undefined || known.records.size > mostKnown || known.spaces.size > mostKnown) {
      known = new Known();
      kept.set('ipam', known);
    }
    return known;
  }
}
