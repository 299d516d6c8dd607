/** One case in a process of its own: `node case.ts JSON`. Sends its figures, or nothing where it only seeds. */
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { IPClaim } from '../../src/api/index.ts';
import { openPostgresStorage, type Storage } from '../../src/apiserver/index.ts';
import { proceduresUrl } from '../../src/ipam/index.ts';
import { systemClock, systemRandom } from '../../src/kube/index.ts';
import { openIpamStorage, startIpamServer } from '../../test/harness/ipam-server.ts';
import { type Figure, percentile } from '../harness/report.ts';
import { claim, seed } from './seed.ts';

export interface Case {
  do: 'seed' | 'measure';
  store: 'sqlite' | 'postgres';
  /** A file, or a URL. */
  where: string;
  fill: number;
  existing: number;
  clients: readonly number[];
  /** Allocations of one round. */
  count: number;
}

const project = 'alpha';
/** The figure is the middle one. */
const rounds = 3;
const warmUp = 500;

function open({ store, where }: Case): Promise<Storage> {
  if (store === 'sqlite') return openIpamStorage(where);
  return openPostgresStorage({
    url: where,
    clock: systemClock,
    log: () => {},
    procedures: [proceduresUrl],
    onFatal: (error) => {
      throw error;
    },
  });
}

async function run(of: Case): Promise<Figure[]> {
  const from = systemClock.monotonic();
  const storage = await open(of);
  const server = await startIpamServer({ projects: [project], storage, seed: false });
  const client = server.client(project);
  const figures: Figure[] = [];
  if (of.do === 'seed') {
    await seed(client, storage, systemRandom, { project, fill: of.fill, existing: of.existing, room: 2 * of.count });
    await server.stop();
    if (of.store === 'postgres') await settle(of.where);
    return figures;
  }
  const { store, fill, existing } = of;
  const allocate = (n: number) => client.create(IPClaim, claim(`m-${n}`));
  const release = (n: number) => client.delete(IPClaim, { namespace: 'default', name: `m-${n}` });
  await allocate(0);
  figures.push({ name: 'ready', value: systemClock.monotonic() - from, unit: 'ms', store, fill, existing });
  await release(0);
  await timed(64, warmUp, allocate);
  await timed(64, warmUp, release);
  const database = await databaseProcessor(of);
  for (const clients of of.clients) {
    const tags = { clients, store, fill, existing };
    const count = clients === 1 ? Math.ceil(of.count / 6) : of.count;
    const allocating: number[] = [];
    const releasing: number[] = [];
    const took: number[] = [];
    const processor = { 'serving thread': 0, 'other threads': 0, database: 0 };
    for (let round = 0; round < rounds; round++) {
      const before = { all: process.cpuUsage(), own: process.threadCpuUsage(), database: database() };
      const timing = await timed(clients, count, allocate);
      const [all, own] = [process.cpuUsage(before.all), process.threadCpuUsage(before.own)];
      processor['serving thread'] += own.user + own.system;
      processor['other threads'] += all.user + all.system - own.user - own.system;
      processor.database += database() - before.database;
      took.push(...timing.took);
      allocating.push(count / timing.seconds);
      releasing.push(count / (await timed(clients, count, release)).seconds);
    }
    figures.push({ name: 'allocations', value: percentile(allocating, 0.5), unit: '1/s', ...tags });
    figures.push({ name: 'allocation-latency', value: percentile(took, 0.99), unit: 'ms p99', ...tags });
    figures.push({ name: 'releases', value: percentile(releasing, 0.5), unit: '1/s', ...tags });
    for (const [of, microseconds] of Object.entries(processor)) {
      const value = microseconds / (rounds * count);
      if (value > 0) figures.push({ name: 'allocation-processor', value, unit: 'µs', of, ...tags });
    }
  }
  figures.push({ name: 'memory', value: process.memoryUsage.rss() / 2 ** 20, unit: 'MiB', store, fill, existing });
  await server.stop();
  return figures;
}

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

/** What so many rows at once leave PostgreSQL to do later, and SQLite does as it is closed. */
async function settle(where: string): Promise<void> {
  const client = new pg.Client(where);
  await client.connect();
  await client.query('VACUUM (ANALYZE)');
  await client.query('CHECKPOINT');
  await client.end();
}

/** Processor time of PostgreSQL's processes, in microseconds, as /proc counts it: by hundredths of a second. */
async function databaseProcessor({ store, where }: Case): Promise<() => number> {
  if (store === 'sqlite') return () => 0;
  const client = new pg.Client(where);
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  await client.end();
  const server = readFileSync(`${rows[0]!.data_directory}/postmaster.pid`, 'utf8').split('\n')[0];
  return () => {
    let ticks = 0;
    for (const id of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
      const [parent, user, system] = statOf(id);
      if (id === server || parent === server) ticks += Number(user) + Number(system);
    }
    return ticks * 10_000;
  };
}

function statOf(id: string): [parent: string, user: string, system: string] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [fields[1]!, fields[11]!, fields[12]!];
  } catch {
    return ['', '0', '0'];
  }
}

const figures = await run(JSON.parse(process.argv[2] ?? '') as Case);
process.send?.(figures);
process.disconnect?.();
