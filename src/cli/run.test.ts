import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../test/postgres/cluster.ts';
import { IPAllocation, IPClaim, IPClass, IPPool } from '../api/index.ts';
import {
  type Client,
  createClient,
  kubeconfigTransport,
  seededRandom,
  systemClock,
  type Transport,
} from '../kube/index.ts';
import { isApiError } from '../meta/index.ts';

const apiVersion = 'ipam.miloapis.com/v1alpha1';
const command = new URL('./berth.mjs', import.meta.url).pathname;
let cluster: Cluster;
let folder: string;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  cluster = await startCluster();
  folder = mkdtempSync(join(tmpdir(), 'berth-run-ipam-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** One `berth run ipam`, which can be killed and started again. */
class Server {
  readonly #store: string;
  readonly #data: string;
  #child: ChildProcess | undefined;
  #transport: Transport | undefined;
  client!: Client;

  constructor(store: string, name: string) {
    this.#store = store;
    this.#data = join(folder, name);
  }

  async start(): Promise<this> {
    const flags = ['--store', this.#store, '--projects', 'alpha', '--port', '0', '--data-dir', this.#data];
    const child = spawn(process.execPath, [command, 'run', 'ipam', ...flags, '--rest-seconds', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    children.add(child);
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        said += chunk;
        if (said.includes('projects     alpha')) resolve();
      };
      child.stdout!.on('data', hear);
      child.stderr!.on('data', hear);
      child.once('exit', () => reject(new Error(`berth run ipam ended: ${said}`)));
    });
    await this.#transport?.close();
    this.#transport = kubeconfigTransport(join(this.#data, 'kubeconfig'), 'project-alpha');
    this.client = createClient({ transport: this.#transport, basePath: '' });
    return this;
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child!;
    children.delete(child);
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const code = await ended;
    if (signal === 'SIGTERM') await this.#transport?.close();
    return code;
  }
}

test('64 clients on three servers of one database, killed at random: no duplicate, no leak, nothing lost, no watch that skips', async () => {
  const store = await cluster.database();
  const servers = await Promise.all(['one', 'two', 'three'].map((name) => new Server(store, name).start()));
  const random = seededRandom(7);
  const { client } = servers[0]!;
  const classSpec = { ipFamily: 'IPv4' as const, defaultPrefixLength: 32 };
  await client.create(IPClass, { apiVersion, kind: 'IPClass', metadata: { name: 'c' }, spec: classSpec });
  const spec = { ipFamily: 'IPv4' as const, cidr: '10.0.0.0/16', classNames: ['c'] };
  await client.create(IPPool, { apiVersion, kind: 'IPPool', metadata: { name: 'p' }, spec });
  const pick = () => servers[Math.floor(random.next() * servers.length)]!;

  const seen = new Map<string, number>();
  let over = false;
  let from = (await client.list(IPClaim)).resourceVersion;
  const following = (async () => {
    while (!over) {
      try {
        for await (const event of pick().client.watch(IPClaim, { resourceVersion: from, timeoutSeconds: 2 })) {
          if (event.type === 'BOOKMARK') continue;
          const version = Number(event.object.metadata.resourceVersion);
          expect(version).toBeGreaterThan(Number(from));
          from = String(version);
          if (event.type === 'ADDED') seen.set(event.object.metadata.name, version);
        }
      } catch (error) {
        // The server it came from was killed: it goes on from the last version, on any.
        if (isApiError(error) && error.code < 500) throw error;
        await systemClock.sleep(20);
      }
    }
  })();

  const acknowledged = new Map<string, string>();
  let next = 0;
  const wanted = 640;
  const caller = async () => {
    while (acknowledged.size < wanted) {
      const name = `c-${next++}`;
      const claim: IPClaim = {
        apiVersion,
        kind: 'IPClaim',
        metadata: { name, namespace: 'default' },
        spec: { className: 'c' },
      };
      try {
        acknowledged.set(name, (await pick().client.create(IPClaim, claim)).status!.allocatedCIDR!);
      } catch (error) {
        if (isApiError(error)) expect([409, 503]).toContain(error.code);
        await systemClock.sleep(20);
      }
    }
  };
  const killer = (async () => {
    for (let kills = 0; kills < 4; kills++) {
      const until = Math.min(wanted, acknowledged.size + 100);
      while (acknowledged.size < until) await systemClock.sleep(10);
      const victim = pick();
      await victim.end('SIGKILL');
      await victim.start();
    }
  })();
  await Promise.all([...Array.from({ length: 64 }, caller), killer]);

  const claims = (await pick().client.list(IPClaim)).items;
  const held = (await pick().client.list(IPAllocation)).items.filter((each) => each.spec?.purpose === 'Claim');
  const blocks = held.map((each) => each.status?.allocatedCIDR);
  expect(new Set(blocks).size).toBe(blocks.length);
  expect(new Set(claims.map((each) => each.status?.allocatedCIDR))).toEqual(new Set(blocks));
  const there = new Map(claims.map((each) => [each.metadata.name, each.status?.allocatedCIDR]));
  for (const [name, block] of acknowledged) expect(there.get(name)).toBe(block);
  while (claims.some((each) => !seen.has(each.metadata.name))) await systemClock.sleep(20);
  for (const { metadata } of claims) expect(seen.get(metadata.name)).toBe(Number(metadata.resourceVersion));
  over = true;
  await following;
  expect(await Promise.all(servers.map((each) => each.end('SIGTERM')))).toEqual([0, 0, 0]);
}, 240_000);
