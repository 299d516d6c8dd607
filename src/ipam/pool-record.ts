import { bitsOf, type IpFamily, IpPrefix } from '../address/index.ts';
import { numberOf } from './bytes.ts';
import type { ClassRecord } from './classes.ts';
import { one, type Row, rows, type Step, type Work } from './work.ts';

/** A pool as allocation reads it. */
export interface PoolRecord {
  readonly id: number;
  readonly name: string;
  readonly prefix: IpPrefix;
  readonly parent: number | undefined;
  /** The class that provisioned it; undefined for an authored one. */
  readonly class: string | undefined;
  readonly digest: string | undefined;
  /** `<namespace>/<name>` of the ScopeRange claim that holds it. */
  readonly holder: string | undefined;
  /** The `uniqueWithin` of the classes that draw from it, as JSON; undefined while none has. */
  readonly roles: string | undefined;
  readonly strategy: string;
  readonly minLength: number;
  readonly maxLength: number;
  /** Milliseconds a freed block rests; undefined: as its class or the server says. */
  readonly rest: number | undefined;
  readonly maxLease: number | undefined;
  readonly fixed: FixedRanges;
}

/** What of a pool is never handed out, as CIDR texts; no two of them overlap. */
export interface FixedRanges {
  /** Shown as allocations of purpose Reservation, and counted as allocated. */
  readonly reserved: readonly string[];
  /** No part of the pool's capacity. */
  readonly excluded: readonly string[];
}

export const poolColumns =
  'id, name, family, start, length, parent, class, digest, holder, roles, strategy, min_length, max_length, rest, max_lease, reserved';

export function poolOf(row: Row): PoolRecord {
  const family = Number(row.family) as IpFamily;
  const optional = <T>(value: unknown, of: (value: unknown) => T) => (value === null ? undefined : of(value));
  return {
    id: Number(row.id),
    name: row.name as string,
    prefix: IpPrefix.of(family, numberOf(row.start), Number(row.length)),
    parent: optional(row.parent, Number),
    class: optional(row.class, String),
    digest: optional(row.digest, String),
    holder: optional(row.holder, String),
    roles: optional(row.roles, String),
    strategy: row.strategy as string,
    minLength: optional(row.min_length, Number) ?? 0,
    maxLength: optional(row.max_length, Number) ?? bitsOf[family],
    rest: optional(row.rest, Number),
    maxLease: optional(row.max_lease, Number),
    fixed: fixedOf(row.reserved as string),
  };
}

const nothingFixed: FixedRanges = { reserved: [], excluded: [] };

/** A list: what is reserved, and nothing is excluded. */
export function fixedOf(text: string): FixedRanges {
  if (text === '[]') return nothingFixed;
  const parsed = JSON.parse(text) as string[] | FixedRanges;
  return Array.isArray(parsed) ? { reserved: parsed, excluded: [] } : parsed;
}

export function fixedText({ reserved, excluded }: FixedRanges): string {
  return JSON.stringify(excluded.length === 0 ? reserved : { reserved, excluded });
}

export function poolById(work: Work, id: number): Step<PoolRecord> {
  return work.remember(`pool/${id}`, readPool(id));
}

function* readPool(id: number): Step<PoolRecord> {
  return poolOf((yield* one(`SELECT ${poolColumns} FROM ipam_pool WHERE id = ?`, id))!);
}

export function poolNamed(work: Work, name: string): Step<PoolRecord | undefined> {
  return work.remember(`named/${work.plane}/${name}`, readPoolNamed(work, name));
}

function* readPoolNamed(work: Work, name: string): Step<PoolRecord | undefined> {
  const row = yield* one(`SELECT ${poolColumns} FROM ipam_pool WHERE plane = ? AND name = ?`, work.plane, name);
  return row === undefined ? undefined : poolOf(row);
}

/** The pool a class has provisioned for this combination of roles, if it has. */
export function provisionedPool(work: Work, record: ClassRecord, digest: string): Step<PoolRecord | undefined> {
  return work.remember(`provisioned/${work.plane}/${record.name}/${digest}`, readProvisioned(work, record, digest));
}

function* readProvisioned(work: Work, record: ClassRecord, digest: string): Step<PoolRecord | undefined> {
  const row = yield* one(
    `SELECT ${poolColumns} FROM ipam_pool WHERE plane = ? AND class = ? AND digest = ?`,
    work.plane,
    record.name,
    digest,
  );
  return row === undefined ? undefined : poolOf(row);
}

/** Authored pools of the class's family that offer it, by name. */
export function offeringPools(work: Work, record: ClassRecord): Step<readonly PoolRecord[]> {
  return work.remember(`offers/${work.plane}/${record.name}`, readOffers(work, record));
}

function* readOffers(work: Work, record: ClassRecord): Step<readonly PoolRecord[]> {
  const offers = yield* rows('SELECT pool FROM ipam_offer WHERE plane = ? AND class = ?', work.plane, record.name);
  const pools: PoolRecord[] = [];
  for (const offer of offers) pools.push(yield* poolById(work, Number(offer.pool)));
  return pools.filter((pool) => pool.prefix.family === record.family).sort((a, b) => (a.name < b.name ? -1 : 1));
}
