import { IpPrefix, subtract } from '../address/index.ts';
import type { IPPool, Reservations } from './objects.ts';
import type { FixedRanges, PoolRecord } from './pool-record.ts';
import { type FieldCause, invalidValue } from './refusals.ts';

type PoolSpec = NonNullable<IPPool['spec']>;

/** How many ranges a pool may name. */
export const mostRanges = 1024;

/** What `spec` sets aside in a pool of the range `prefix`: units at its ends, and the ranges it names. */
export function fixedRangesOf(prefix: IpPrefix, spec: IPPool['spec']): FixedRanges {
  const excluded = (spec?.excludedRanges ?? []).map((text) => IpPrefix.parse(text));
  const named = (spec?.reservedRanges ?? []).map((text) => IpPrefix.parse(text));
  // What is named goes before the units: the same address is not set aside twice.
  const units = reservedUnits(prefix, spec?.reservations).flatMap((unit) => subtract(unit, [...excluded, ...named]));
  const texts = (prefixes: IpPrefix[]) => prefixes.sort((a, b) => a.compare(b)).map(String);
  return { reserved: texts([...named, ...units]), excluded: texts(excluded) };
}

/** Blocks of a pool of the range `prefix` that are free as long as nothing was handed out. */
export function freeAtFirst({ prefix, fixed }: Pick<PoolRecord, 'prefix' | 'fixed'>): IpPrefix[] {
  return subtract(
    prefix,
    [...fixed.reserved, ...fixed.excluded].map((text) => IpPrefix.parse(text)),
  );
}

export function sizeOf(texts: readonly string[]): bigint {
  return texts.reduce((sum, text) => sum + IpPrefix.parse(text).size, 0n);
}

/** What is wrong with the ranges a pool names. `prefix`: its range, where that is known already. */
export function rangeCauses(spec: PoolSpec, prefix: IpPrefix | undefined): FieldCause[] {
  const causes: FieldCause[] = [];
  const seen: { field: string; range: IpPrefix }[] = [];
  for (const list of ['reservedRanges', 'excludedRanges'] as const) {
    for (const [index, text] of (spec[list] ?? []).entries()) {
      const field = `spec.${list}[${index}]`;
      try {
        const range = IpPrefix.parse(text);
        if (prefix !== undefined && !prefix.contains(range)) {
          causes.push(invalidValue(field, text, `must lie inside the range of the pool, ${prefix}`));
        }
        seen.push({ field, range });
      } catch (error) {
        causes.push(invalidValue(field, text, (error as Error).message));
      }
    }
  }
  if (seen.length > mostRanges) {
    return [invalidValue('spec.reservedRanges', seen.length, `with spec.excludedRanges at most ${mostRanges} ranges`)];
  }
  seen.sort((a, b) => a.range.compare(b.range));
  for (const [index, { field, range }] of seen.entries()) {
    const before = seen[index - 1];
    if (before?.range.overlaps(range)) {
      causes.push(invalidValue(field, range.toString(), `overlaps ${before.range} (${before.field})`));
    }
  }
  return causes;
}

/** Refuses units that a pool of `length` has no room for: nothing would be set aside. */
export function unitCauses(reservations: Reservations | undefined, length: number): FieldCause[] {
  const unit = reservations?.unitPrefixLength;
  if (unit === undefined || unit >= length) return [];
  const why = `a unit of /${unit} is larger than the pool, a /${length}`;
  return [invalidValue('spec.reservations.unitPrefixLength', unit, why)];
}

/** What `reservations` of a pool sets aside: units from its start and from its end. */
export function reservedUnits(pool: IpPrefix, reservations: Reservations | undefined): IpPrefix[] {
  const unit = reservations?.unitPrefixLength;
  if (unit === undefined || unit < pool.length) return [];
  const units: IpPrefix[] = [];
  let front: IpPrefix | undefined = IpPrefix.of(pool.family, pool.start, unit);
  for (let n = 0; n < (reservations?.leading ?? 0) && front !== undefined && pool.contains(front); n++) {
    units.push(front);
    front = front.next();
  }
  const trailing: IpPrefix[] = [];
  let back: IpPrefix | undefined = IpPrefix.of(pool.family, pool.end, unit);
  for (let n = 0; n < (reservations?.trailing ?? 0) && back !== undefined && pool.contains(back); n++) {
    if (units.length > 0 && back.start <= units.at(-1)!.start) break;
    trailing.unshift(back);
    back = back.previous();
  }
  return [...units, ...trailing];
}
