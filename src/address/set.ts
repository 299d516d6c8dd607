import { bitsOf, type IpAddress, type IpFamily } from './address.ts';
import { IpPrefix } from './prefix.ts';

/** The fewest prefixes that hold exactly the addresses from `first` to `last`, in order; none where first is behind last. */
export function prefixesOfRange(first: IpAddress, last: IpAddress): IpPrefix[] {
  if (first.family !== last.family) throw new RangeError(`${first} and ${last} are not of one family`);
  return cover(first.family, first.value, last.value);
}

/** What is left of `prefix` without `removed` (which may overlap each other), as the fewest prefixes, in order. */
export function subtract(prefix: IpPrefix, removed: Iterable<IpPrefix>): IpPrefix[] {
  const holes = [...removed].filter((hole) => hole.overlaps(prefix)).sort((a, b) => a.compare(b));
  const left: IpPrefix[] = [];
  let at = prefix.start;
  for (const hole of holes) {
    if (hole.start > at) left.push(...cover(prefix.family, at, hole.start - 1n));
    if (hole.end >= at) at = hole.end + 1n;
  }
  if (at <= prefix.end) left.push(...cover(prefix.family, at, prefix.end));
  return left;
}

/** The fewest prefixes that hold exactly the addresses of `prefixes`, in order. */
export function union(prefixes: Iterable<IpPrefix>): IpPrefix[] {
  const runs: { family: IpFamily; start: bigint; end: bigint }[] = [];
  for (const prefix of [...prefixes].sort((a, b) => a.compare(b))) {
    const run = runs.at(-1);
    if (run !== undefined && run.family === prefix.family && prefix.start <= run.end + 1n) {
      if (prefix.end > run.end) run.end = prefix.end;
    } else {
      runs.push({ family: prefix.family, start: prefix.start, end: prefix.end });
    }
  }
  return runs.flatMap((run) => cover(run.family, run.start, run.end));
}

function cover(family: IpFamily, first: bigint, last: bigint): IpPrefix[] {
  const bits = bitsOf[family];
  const prefixes: IpPrefix[] = [];
  let at = first;
  while (at <= last) {
    let host = 0;
    while (host < bits && (at >> BigInt(host)) % 2n === 0n && at + (2n << BigInt(host)) - 1n <= last) host++;
    prefixes.push(IpPrefix.of(family, at, bits - host));
    at += 1n << BigInt(host);
  }
  return prefixes;
}
