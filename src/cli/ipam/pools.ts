import { IpPrefix } from '../../address/index.ts';
import { type IPAllocation, IPPool } from '../../api/index.ts';
import { parseTime, type Stored } from '../../meta/index.ts';
import type { Access } from './access.ts';
import type { Report } from './output.ts';

const dayMilliseconds = 86_400_000;
/** The present rate is that of the last week; of a younger pool, that of its life, and at least of an hour. */
const windowMilliseconds = 7 * dayMilliseconds;
const leastMilliseconds = dayMilliseconds / 24;

export interface PoolRow {
  name: string;
  cidr: string;
  /** Classes it offers, or the one it was made for. */
  classes: readonly string[];
  provisioned: boolean;
  /** Addresses, as decimal text. */
  capacity: { total: string; allocated: string; available: string };
  utilizationPercent: number;
  /** In CIDR notation without an address: `/20`. Null: nothing is free. */
  largestFreeBlock: string | null;
  /** Addresses handed out and still held, per day. */
  allocatedPerDay: number;
  /** Null: nothing was handed out lately, so it does not fill up. */
  daysLeft: number | null;
}

/** Which pools there are, how full, and for how many days they last at the present rate. */
export async function pools(access: Access, now: number, all: boolean): Promise<Report> {
  const found = (await access.client.list(IPPool)).items.filter((pool) => all || pool.spec?.classRef === undefined);
  const recent = new Map<string, bigint>();
  for await (const allocation of access.allocations()) count(recent, allocation, now);
  const rows = found
    .map((pool) => rowOf(pool, recent.get(pool.metadata.name) ?? 0n, now))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    data: rows,
    head: ['POOL', 'RANGE', 'CLASSES', 'USED', 'LARGEST FREE', 'PER DAY', 'DAYS LEFT'],
    rows: rows.map((row) => [
      row.name,
      row.cidr,
      row.classes.join(',') || '-',
      percent(row.utilizationPercent),
      row.largestFreeBlock ?? 'none',
      amount(row.allocatedPerDay),
      row.daysLeft === null ? '-' : amount(row.daysLeft),
    ]),
    ...(rows.length === 0
      ? {
          note: all
            ? 'This project has no pools.'
            : 'This project has no pools that a person wrote; --all shows every pool.',
        }
      : {}),
  };
}

function count(recent: Map<string, bigint>, { spec, status, metadata }: Stored<IPAllocation>, now: number): void {
  const pool = spec?.poolRef?.name;
  const block = IpPrefix.tryParse(status?.allocatedCIDR ?? '');
  if (pool === undefined || block === undefined || spec?.purpose === 'Reservation') return;
  if ((parseTime(metadata.creationTimestamp) ?? 0) < now - windowMilliseconds) return;
  recent.set(pool, (recent.get(pool) ?? 0n) + block.size);
}

function rowOf({ metadata, spec, status }: Stored<IPPool>, recent: bigint, now: number): PoolRow {
  const life = now - (parseTime(metadata.creationTimestamp) ?? 0);
  const window = Math.min(windowMilliseconds, Math.max(leastMilliseconds, life));
  const perDay = Number(recent) / (window / dayMilliseconds);
  const capacity = {
    total: status?.capacity?.total ?? '0',
    allocated: status?.capacity?.allocated ?? '0',
    available: status?.capacity?.available ?? '0',
  };
  const length = status?.largestFreePrefixLength;
  return {
    name: metadata.name,
    cidr: status?.allocatedCIDR ?? spec?.cidr ?? '',
    classes: spec?.classRef === undefined ? (spec?.classNames ?? []) : [spec.classRef.name],
    provisioned: spec?.classRef !== undefined,
    capacity,
    utilizationPercent: status?.utilizationPercent ?? 0,
    largestFreeBlock: length === undefined ? null : `/${length}`,
    allocatedPerDay: perDay,
    daysLeft: perDay === 0 ? null : Number(capacity.available) / perDay,
  };
}

function percent(value: number): string {
  return value > 0 && value < 0.1 ? '<0.1%' : `${Math.round(value * 10) / 10}%`;
}

/** At most three digits that count: `0`, `0.21`, `8.4`, `310`, `1.2e+19`. */
function amount(value: number): string {
  if (value >= 100_000) return value.toExponential(1);
  return value >= 10 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
