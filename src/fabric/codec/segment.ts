import { IpAddress, IpPrefix } from '../../address/index.ts';

/**
 * Segment identifiers (reference B.4): 48 bits of block, 16 of node, 4 of function, 12 of argument, and zeros. Read at
 * fixed places, never shifted.
 */
export interface Segment {
  /** The locator, a /48. */
  block: IpPrefix;
  node: number;
  argument: number;
}

export const largestNode = 0xdfff;
export const largestArgument = 0xfff;

const blockBits = 48;
const nodeShift = 64n;
const functionShift = 60n;
const argumentShift = 48n;
/** End.DT46: the only function there is. */
const decapsulate = 0xen;

/**
 * The segment of a node's argument, or of a shard. `least`: the smallest argument allowed; 0 is a shard's own.
 * @throws RangeError where a part does not fit the layout
 */
function segmentOf({ block, node, argument }: Segment, least: 0 | 1): IpAddress {
  if (block.family !== 6 || block.length !== blockBits) throw new RangeError(`locator ${block} is not an IPv6 /48`);
  if (!within(node, 1, largestNode)) throw new RangeError(`node ${node} is not within 1 to ${largestNode}`);
  if (!within(argument, least, largestArgument)) {
    throw new RangeError(`argument ${argument} is not within ${least} to ${largestArgument}`);
  }
  const parts = (BigInt(node) << nodeShift) | (decapsulate << functionShift) | (BigInt(argument) << argumentShift);
  return IpAddress.of(6, block.start | parts);
}

/** The segment that leads to a VPC on a node. @throws RangeError */
export function nodeSegment(segment: Segment): IpAddress {
  return segmentOf(segment, 1);
}

/** The segment that leads to a shard, whose argument may be 0. @throws RangeError */
export function shardSegment(segment: Segment): IpAddress {
  return segmentOf(segment, 0);
}

/** The parts of a segment, undefined where the address is none of this layout. */
export function parseSegment(address: IpAddress): Segment | undefined {
  if (address.family !== 6) return undefined;
  const { value } = address;
  const node = Number((value >> nodeShift) & 0xffffn);
  const zeros = value & ((1n << argumentShift) - 1n);
  if (((value >> functionShift) & 0xfn) !== decapsulate || zeros !== 0n || !within(node, 1, largestNode)) {
    return undefined;
  }
  const argument = Number((value >> argumentShift) & 0xfffn);
  return { block: IpPrefix.containing(address, blockBits), node, argument };
}

/** The /64 that leads to a node, whatever the argument. */
export function nodePrefix({ block, node }: Pick<Segment, 'block' | 'node'>): IpPrefix {
  return IpPrefix.of(6, block.start | (BigInt(node) << nodeShift), 64);
}

function within(value: number, least: number, largest: number): boolean {
  return Number.isInteger(value) && value >= least && value <= largest;
}
