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
  /** Addresses handed out and still held, per day; of several address spaces (`uniqueWithin`) in the one that fills up first. */
  allocatedPerDay: number;
  /** Until that one is full. Null: nothing was handed out lately, so it does not fill up. */
  daysLeft: number | null;
}

/** What was handed out of a pool, in addresses. */
interface Drawn {
  reserved: bigint;
  /** By the digest of the scope their addresses are unique within. */
  readonly spaces: Map<string, Space>;
}

interface Space {
  /** What rests is not in it: it is free before a pool is full. */
  readonly held: bigint;
  /** Of that, handed out within the window. */
  readonly recent: bigint;
}

/** Which pools there are, how full, and for how many days they last at the present rate. */
export async function pools(access: Access, now: number, all: boolean): Promise<Report> {
  const found = (await access.client.list(IPPool)).items.filter((pool) => all || pool.spec?.classRef === undefined);
  const drawn = new Map<string, Drawn>();
  for await (const allocation of access.allocations()) count(drawn, allocation, now);
  const rows = found
    .map((pool) => rowOf(pool, drawn.get(pool.metadata.name), now))
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

function count(found: Map<string, Drawn>, { spec, status, metadata }: Stored<IPAllocation>, now: number): void {
  const pool = spec?.poolRef?.name;
  const block = IpPrefix.tryParse(status?.allocatedCIDR ?? '');
  if (pool === undefined || block === undefined) return;
  const drawn = found.get(pool) ?? { reserved: 0n, spaces: new Map<string, Space>() };
  found.set(pool, drawn);
  if (spec?.purpose === 'Reservation') {
    drawn.reserved += block.size;
    return;
  }
  const digest = status?.scopeDigest ?? '';
  const { held, recent } = drawn.spaces.get(digest) ?? { held: 0n, recent: 0n };
  const lately = (parseTime(metadata.creationTimestamp) ?? 0) >= now - windowMilliseconds;
  drawn.spaces.set(digest, { held: held + block.size, recent: lately ? recent + block.size : recent });
}

function rowOf({ metadata, spec, status }: Stored<IPPool>, drawn: Drawn | undefined, now: number): PoolRow {
  const life = now - (parseTime(metadata.creationTimestamp) ?? 0);
  const days = Math.min(windowMilliseconds, Math.max(leastMilliseconds, life)) / dayMilliseconds;
  const capacity = {
    total: status?.capacity?.total ?? '0',
    allocated: status?.capacity?.allocated ?? '0',
    available: status?.capacity?.available ?? '0',
  };
  const length = status?.largestFreePrefixLength;
  const first = firstToFill(BigInt(capacity.total), drawn, days);
  return {
    name: metadata.name,
    cidr: status?.allocatedCIDR ?? spec?.cidr ?? '',
    classes: spec?.classRef === undefined ? (spec?.classNames ?? []) : [spec.classRef.name],
    provisioned: spec?.classRef !== undefined,
    capacity,
    utilizationPercent: status?.utilizationPercent ?? 0,
    largestFreeBlock: length === undefined ? null : `/${length}`,
    allocatedPerDay: first?.perDay ?? 0,
    daysLeft: first?.daysLeft ?? null,
  };
}

/** Each address space has the whole pool to itself, and a rate of its own. Undefined: from none was taken lately. */
function firstToFill(total: bigint, drawn: Drawn | undefined, days: number) {
  if (drawn === undefined) return undefined;
  return [...drawn.spaces.values()]
    .filter(({ recent }) => recent > 0n)
    .map(({ held, recent }) => {
      const perDay = Number(recent) / days;
      return { perDay, daysLeft: Number(total - drawn.reserved - held) / perDay };
    })
    .sort((a, b) => a.daysLeft - b.daysLeft)[0];
}

function percent(value: number): string {
  return value > 0 && value < 0.1 ? '<0.1%' : `${Math.round(value * 10) / 10}%`;
}

/** At most three digits that count: `0`, `0.21`, `8.4`, `310`, `1.2e+19`. */
function amount(value: number): string {
  if (value >= 100_000) return value.toExponential(1);
  return value >= 10 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
