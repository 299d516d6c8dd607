import { bitsOf, type IpFamily } from '../address/index.ts';
import { sizeOf } from './fixed-ranges.ts';
import { fixedOf } from './pool-record.ts';
import { rows, type Step } from './work.ts';

/** What gauges show, of every plane. Shares are 0 to 1. */
export interface Figures {
  /** Pools people wrote: of a pool with several address spaces, the fullest. */
  pools: { plane: string; pool: string; share: number }[];
  /** Of a class: what it offers and what it provisioned, together. */
  classes: { plane: string; class: string; share: number }[];
  /** Released blocks that nobody may have yet. */
  resting: { plane: string; blocks: number }[];
}

/** Read when somebody asks for metrics: the sums are the database's, so a million allocations cost nothing. */
export function* figures(): Step<Figures> {
  const classes = new Map<string, { plane: string; class: string; used: number; total: number }>();
  const add = (plane: string, name: string, used: number, total: number) => {
    const key = JSON.stringify([plane, name]);
    const sum = classes.get(key) ?? { plane, class: name, used: 0, total: 0 };
    classes.set(key, { ...sum, used: sum.used + used, total: sum.total + total });
  };

  const pools = new Map<number, { plane: string; pool: string; used: bigint; total: bigint }>();
  const authored = yield* rows(
    `SELECT p.id, p.plane, p.name, p.family, p.length, p.reserved, s.used
     FROM ipam_pool p JOIN ipam_space s ON s.pool = p.id WHERE p.class IS NULL`,
  );
  for (const row of authored) {
    const excluded = sizeOf(fixedOf(row.reserved as string).excluded);
    const total = (1n << BigInt(bitsOf[Number(row.family) as IpFamily] - Number(row.length))) - excluded;
    const used = BigInt(row.used as string) - excluded;
    const known = pools.get(Number(row.id));
    if (known !== undefined && known.used >= used) continue;
    pools.set(Number(row.id), { plane: row.plane as string, pool: row.name as string, used, total });
  }
  for (const offer of yield* rows('SELECT class, pool FROM ipam_offer')) {
    const pool = pools.get(Number(offer.pool));
    if (pool !== undefined) add(pool.plane, offer.class as string, Number(pool.used), Number(pool.total));
  }
  const provisioned = yield* rows(
    `SELECT p.plane, p.class, p.family, p.length, count(*) AS spaces, sum(CAST(s.used AS DOUBLE PRECISION)) AS used
     FROM ipam_pool p JOIN ipam_space s ON s.pool = p.id WHERE p.class IS NOT NULL
     GROUP BY p.plane, p.class, p.family, p.length`,
  );
  for (const row of provisioned) {
    const size = 2 ** (bitsOf[Number(row.family) as IpFamily] - Number(row.length));
    add(row.plane as string, row.class as string, Number(row.used), Number(row.spaces) * size);
  }
  // Of these there are few: a class excludes nothing, somebody wrote it into the pool.
  const excluding = yield* rows(
    `SELECT p.plane, p.class, p.reserved, count(*) AS spaces FROM ipam_pool p JOIN ipam_space s ON s.pool = p.id
     WHERE p.class IS NOT NULL AND p.reserved LIKE '{%' GROUP BY p.id, p.plane, p.class, p.reserved`,
  );
  for (const row of excluding) {
    const excluded = Number(row.spaces) * Number(sizeOf(fixedOf(row.reserved as string).excluded));
    add(row.plane as string, row.class as string, -excluded, -excluded);
  }
  const resting = yield* rows(
    `SELECT s.plane, count(*) AS blocks FROM ipam_block b JOIN ipam_space s ON s.id = b.space
     WHERE b.state = 'resting' GROUP BY s.plane`,
  );
  return {
    pools: [...pools.values()].map(({ plane, pool, used, total }) => ({
      plane,
      pool,
      share: total === 0n ? 1 : Number((used * 1_000_000n) / total) / 1_000_000,
    })),
    classes: [...classes.values()].map(({ used, total, ...of }) => ({ ...of, share: total === 0 ? 1 : used / total })),
    resting: resting.map((row) => ({ plane: row.plane as string, blocks: Number(row.blocks) })),
  };
}
