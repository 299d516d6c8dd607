import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../test/postgres/cluster.ts';
import type { Benchmark, Figure } from './harness/report.ts';
import type { Case } from './ipam/case.ts';

const stores = ['sqlite', 'postgres'] as const;

/**
 * Each case is two processes: one that makes the allocations there are, and one that opens the store and is measured, so that its
 * memory and its warmth are its own. Requests go through the API's handlers without a socket, as those of the embedded platform do.
 */
export const ipam: Benchmark = {
  name: 'ipam',
  description:
    'Durable allocations and releases per second through the API, by clients, fill of the pool, and allocations there are; processor time of each, memory, and time to the first allocation. --existing: the largest number of allocations there are, in thousands (1000 makes the whole matrix); --stores 1: SQLite alone.',
  options: { clients: 64, allocations: 3000, existing: 100, stores: stores.length },
  async run(options, say) {
    const count = options.allocations!;
    const clients = options.clients === 1 ? [1] : [options.clients!, 1];
    const sizes = [1000, 100_000, 1_000_000].filter((size) => size <= options.existing! * 1000);
    const points = [
      ...[0, 0.5, 0.999].map((fill) => ({ fill, existing: 1000 })),
      ...sizes.slice(1).map((existing) => ({ fill: 0.5, existing })),
    ];
    const chosen = stores.slice(0, options.stores);
    const cluster = chosen.includes('postgres')
      ? await startCluster().catch((error: Error) => {
          say(`${error.message}; PostgreSQL is left out`);
          return undefined;
        })
      : undefined;
    const figures: Figure[] = [];
    try {
      for (const store of chosen) {
        if (store === 'postgres' && cluster === undefined) continue;
        const speeds: number[] = [];
        for (const point of points) {
          say(`${store}: fill ${point.fill}, ${point.existing} allocations there already …`);
          const measured = await measure({ store, ...point, clients, count }, cluster);
          figures.push(...measured);
          const speed = measured.find(({ name }) => name === 'allocations')!.value;
          say(`  ${Math.round(speed)} allocations/s`);
          speeds.push(speed);
        }
        figures.push({
          name: 'fastest-to-slowest',
          value: Math.max(...speeds) / Math.min(...speeds),
          unit: 'x',
          store,
        });
      }
    } finally {
      await cluster?.stop();
    }
    return figures;
  },
};

async function measure(of: Omit<Case, 'do' | 'where'>, cluster: Cluster | undefined): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-ipam-'));
  try {
    const where = of.store === 'sqlite' ? join(folder, 'db') : await cluster!.database();
    await child({ ...of, do: 'seed', where });
    return await child({ ...of, do: 'measure', where });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function child(of: Case): Promise<Figure[]> {
  const process = fork(new URL('ipam/case.ts', import.meta.url).pathname, [JSON.stringify(of)]);
  const figures: Figure[] = [];
  process.on('message', (sent) => figures.push(...(sent as Figure[])));
  const [code] = (await once(process, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`a case of the benchmark ended with ${code}: ${JSON.stringify(of)}`);
  return figures;
}
