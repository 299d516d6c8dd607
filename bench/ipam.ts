import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IpPrefix } from '../src/address/index.ts';
import { IPClaim, IPClass, IPPool } from '../src/api/index.ts';
import { openPostgresStorage, type Storage } from '../src/apiserver/index.ts';
import { proceduresUrl } from '../src/ipam/index.ts';
import { type Client, systemClock } from '../src/kube/index.ts';
import { type IpamServer, openIpamStorage, startIpamServer } from '../test/harness/ipam-server.ts';
import { type Cluster, startCluster } from '../test/postgres/cluster.ts';
import { type Benchmark, type Figure, percentile } from './harness/report.ts';

const apiVersion = 'ipam.miloapis.com/v1alpha1';
const project = 'alpha';

/** `count` blocks of /96, of which `fill` is taken before the clock starts. */
interface Case {
  store: 'sqlite' | 'postgres';
  clients: number;
  fill: number;
  existing: number;
}

export const ipam: Benchmark = {
  name: 'ipam',
  description:
    'Durable allocations and releases per second through the API, by clients, fill of the pool, and allocations there are. --existing: the largest number of allocations there are, in thousands (1000 makes the whole matrix).',
  options: { clients: 64, allocations: 3000, existing: 100 },
  async run(options, say) {
    const figures: Figure[] = [];
    const all = options.allocations!;
    const many = options.clients!;
    const sizes = [1000, 100_000, 1_000_000].filter((size) => size <= options.existing! * 1000);
    const small = (store: Case['store']): Case[] => [
      ...[0, 0.5, 0.999].map((fill) => ({ store, clients: many, fill, existing: 1000 })),
      { store, clients: 1, fill: 0, existing: 1000 },
    ];
    const large = sizes.slice(1).map((existing) => ({ store: 'sqlite' as const, clients: many, fill: 0.5, existing }));
    const cluster = await startCluster().catch((error: Error) => {
      say(`${error.message}; PostgreSQL is left out`);
      return undefined;
    });
    try {
      for (const each of [...small('sqlite'), ...large, ...(cluster === undefined ? [] : small('postgres'))]) {
        say(`${each.store}: ${each.clients} clients, fill ${each.fill}, ${each.existing} allocations there already …`);
        figures.push(...(await measure(each, all, cluster)));
      }
    } finally {
      await cluster?.stop();
    }
    for (const store of cluster === undefined ? ['sqlite'] : ['sqlite', 'postgres']) {
      const speeds = figures.filter(
        ({ name, clients, store: of }) => name === 'allocations' && clients === many && of === store,
      );
      const values = speeds.map((each) => each.value);
      figures.push({ name: 'fastest-to-slowest', value: Math.max(...values) / Math.min(...values), unit: 'x', store });
    }
    return figures;
  },
};

async function measure(
  { store, clients, fill, existing }: Case,
  count: number,
  cluster: Cluster | undefined,
): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-ipam-'));
  try {
    const url = store === 'postgres' ? await cluster!.database() : undefined;
    const open = () => (url === undefined ? openIpamStorage(join(folder, 'db')) : openPostgres(url));
    let server = await serve(await open());
    const client = server.client(project);
    await seed(client, fill, existing + count);
    await timed(256, existing, (n) => client.create(IPClaim, claim(`e-${n}`)));
    const of = { clients, store, fill, existing };
    const figures: Figure[] = [];
    const before = process.cpuUsage();
    const allocating = await timed(clients, count, (n) => client.create(IPClaim, claim(`m-${n}`)));
    const { user, system } = process.cpuUsage(before);
    figures.push({ name: 'allocations', value: count / allocating.seconds, unit: '1/s', ...of });
    figures.push({ name: 'allocation-latency', value: percentile(allocating.took, 0.99), unit: 'ms p99', ...of });
    // Both threads; not the database server's. It tells of the work where a busy machine spoils the time.
    figures.push({ name: 'allocation-processor', value: (user + system) / count, unit: 'µs', ...of });
    const releasing = await timed(clients, count, (n) =>
      client.delete(IPClaim, { namespace: 'default', name: `m-${n}` }),
    );
    figures.push({ name: 'releases', value: count / releasing.seconds, unit: '1/s', ...of });
    if (existing >= 100_000) {
      figures.push({ name: 'memory', value: process.memoryUsage.rss() / 2 ** 20, unit: 'MiB', ...of });
      await server.stop();
      const from = systemClock.monotonic();
      server = await serve(await open());
      await server.client(project).create(IPClaim, claim('first'));
      figures.push({ name: 'ready', value: systemClock.monotonic() - from, unit: 'ms', ...of });
    }
    await server.stop();
    return figures;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function openPostgres(url: string): Promise<Storage> {
  return openPostgresStorage({
    url,
    clock: systemClock,
    log: () => {},
    procedures: [proceduresUrl],
    onFatal: (error) => {
      throw error;
    },
  });
}

function serve(storage: Storage): Promise<IpamServer> {
  return startIpamServer({ projects: [project], storage, seed: false });
}

/**
 * A pool whose free room, enough for `needed` blocks of /96, is in small holes all over it: chunks of which larger claims
 * have taken `fill`. Answers nothing: the claims are there.
 */
async function seed(client: Client, fill: number, needed: number): Promise<void> {
  await client.create(IPClass, {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'block' },
    spec: { ipFamily: 'IPv6', defaultPrefixLength: 96, allowedPrefixLengths: { min: 64, max: 96 } },
  });
  // Halvings of a chunk that are taken: none, one (half of it), ten (all but a 1024th).
  const halvings = fill === 0 ? 0 : Math.round(-Math.log2(1 - fill));
  const chunks = fill === 0 ? 0 : halvings > 1 ? 10 : 6;
  const hole = Math.ceil(Math.log2(needed / 2 ** chunks));
  const length = 96 - chunks - halvings - hole;
  const spec = { ipFamily: 'IPv6' as const, cidr: `fd00::/${length}`, classNames: ['block'] };
  await client.create(IPPool, { apiVersion, kind: 'IPPool', metadata: { name: 'pool' }, spec });
  if (fill === 0) return;
  const wanted: IPClaim[] = [];
  for (const [n, chunk] of [...IpPrefix.parse(spec.cidr).split(length + chunks)].entries()) {
    let rest = chunk;
    for (let halving = 0; halving < halvings; halving++) {
      const half = IpPrefix.of(6, rest.start, rest.length + 1);
      const address = half.first.toString();
      wanted.push(claim(`f-${n}-${halving}`, { address, prefixLength: half.length }));
      rest = half.sibling()!;
    }
  }
  await timed(256, wanted.length, (n) => client.create(IPClaim, wanted[n]!));
}

const claim = (name: string, spec: IPClaim['spec'] = {}): IPClaim => ({
  apiVersion,
  kind: 'IPClaim',
  metadata: { name, namespace: 'default' },
  spec: { className: 'block', ...spec },
});

/** `clients` callers, each the next of `count` as soon as its last one is answered. */
async function timed(
  clients: number,
  count: number,
  call: (n: number) => Promise<unknown>,
): Promise<{ seconds: number; took: number[] }> {
  const took: number[] = [];
  let next = 0;
  const from = systemClock.monotonic();
  const caller = async () => {
    for (let n = next++; n < count; n = next++) {
      const started = systemClock.monotonic();
      await call(n);
      took.push(systemClock.monotonic() - started);
    }
  };
  await Promise.all(Array.from({ length: clients }, caller));
  return { seconds: (systemClock.monotonic() - from) / 1000, took };
}
