/** How long a cell's fabric takes to make attachments, and to carry a change of one shard to every attachment it concerns. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  crdsOf,
  EgressShard,
  EgressShardParameters,
  fabricLabels,
  NetworkContext,
  NetworkInterface,
  VPC,
} from '../src/api/index.ts';
import { planePath, serviceAccountIdentity } from '../src/apiserver/index.ts';
import { TestServer } from '../src/apiserver/testing/index.ts';
import { fabricCellControllers, formatIdentifier, vpcIdentifier } from '../src/fabric/index.ts';
import {
  applyStatus,
  type Client,
  createManager,
  mergeStatus,
  planeRef,
  Recorders,
  systemClock,
  systemRandom,
  type TransportRequest,
} from '../src/kube/index.ts';
import { apiVersionOf, controllerReference, formatTime, Namespace, type Stored } from '../src/meta/index.ts';
import type { Benchmark, Figure } from './harness/report.ts';

const cell = planeRef('cell', 'us-central-1');
const namespace = 'ns-bench';
const shardNamespace = 'galactic-system';
const clients = 32;
/** Networks take turns in asking for either: a shard of one concerns half of the attachments. */
const pools = ['one', 'two'] as const;
const quietMilliseconds = 2_000;
const waitMilliseconds = 600_000;

/** What the controllers write, by kind, and when the last of it was answered. */
class Writes {
  readonly #counts = new Map<string, number>();
  lastAt = 0;

  saw(request: TransportRequest): void {
    const kind = /\/namespaces\/[^/]+\/([a-z-]+)/.exec(request.path)?.[1] ?? '';
    if (request.method === 'GET' || kind === 'events') return;
    const key = `${kind}${/\/status(\?|$)/.test(request.path) ? '/status' : ''}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.lastAt = systemClock.monotonic();
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  get all(): number {
    return [...this.#counts.values()].reduce((sum, each) => sum + each, 0);
  }

  reset(): void {
    this.#counts.clear();
  }

  /** Resolves once `count` writes of `key` are answered. */
  async reach(key: string, count: number): Promise<void> {
    const deadline = systemClock.monotonic() + waitMilliseconds;
    while (this.of(key) < count) {
      if (systemClock.monotonic() > deadline) throw new Error(`${this.of(key)} of ${count} writes of ${key}`);
      await systemClock.sleep(5);
    }
  }

  /** Resolves when nothing has been written for a while. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.all; ) {
      before = this.all;
      await systemClock.sleep(quietMilliseconds);
    }
  }
}

interface Cell {
  client: Client;
  writes: Writes;
  start(): void;
  close(): Promise<void>;
}

async function openCell(file: string): Promise<Cell> {
  const server = await TestServer.open({ storage: { file } });
  const { clock, random, log } = server;
  const recorders = new Recorders({ clock, random, domain: 'berth.datumapis.com', instance: 'bench' });
  const controllers = fabricCellControllers({
    clock,
    recorder: (plane, controller) => recorders.of(plane, controller),
  });
  // Without garbage collection: nothing is deleted here, and it is not what is measured.
  const client = await server.servePlane(cell, { crds: crdsOf('cell') }, controllers);
  const writes = new Writes();
  const manager = createManager({
    clock,
    random,
    log,
    connect: (_, identity) => {
      const transport = server.api.transport(serviceAccountIdentity(identity));
      const request = async (sent: TransportRequest) => {
        const response = await transport.request(sent);
        writes.saw(sent);
        return response;
      };
      return { transport: { request, close: () => transport.close() }, basePath: planePath(cell) };
    },
  });
  for (const controller of controllers) manager.add(controller);
  return {
    client,
    writes,
    start() {
      manager.engage(cell);
      manager.start();
    },
    async close() {
      await manager.stop();
      await server.close();
    },
  };
}

const networkOf = (index: number, vpcs: number) => `net-${index % vpcs}`;
const contextOf = (network: string) => `${network}-us-central-1`;

/** A network that asks for egress, its VPC and its identifier. */
async function makeNetwork(client: Client, index: number): Promise<void> {
  const network = `net-${index}`;
  const { group, kind } = EgressShardParameters;
  const parametersRef = { group, kind, name: pools[index % pools.length]! };
  const context = await client.create(NetworkContext, {
    apiVersion: apiVersionOf(NetworkContext),
    kind: NetworkContext.kind,
    metadata: { name: contextOf(network), namespace },
    spec: {
      network: { name: network },
      location: { name: 'us-central-1' },
      ipFamilies: ['IPv6', 'IPv4'],
      mtu: 1440,
      fabricIdentity: index + 1,
      egress: { internet: { mode: 'Enabled', reach: ['IPv6'], className: 'bench', sharing: 'Shared', parametersRef } },
    },
  });
  const vpc = await client.create(VPC, {
    apiVersion: apiVersionOf(VPC),
    kind: VPC.kind,
    metadata: { name: contextOf(network), namespace, ownerReferences: [controllerReference(context)] },
    spec: { networks: ['fd20:1000::/64', '10.128.0.0/20'] },
  });
  await mergeStatus(client, VPC, vpc, { vpc: formatIdentifier(vpcIdentifier, index + 1) });
}

/** An interface as network services leave it: held, and with its addresses. */
async function makeInterface(client: Client, index: number, vpcs: number): Promise<void> {
  const network = networkOf(index, vpcs);
  const name = `web-${index}-eth0`;
  const made = await client.create(NetworkInterface, {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: { name, namespace },
    spec: {
      network: { name: network },
      claimRef: { name, uid: systemRandom.uuid() },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      mtu: 1440,
      addresses: [
        { family: 'IPv6', address: `fd20:1000:0:0:${index.toString(16)}::/96`, gateway: 'fd20:1000::1', primary: true },
        { family: 'IPv4', address: `10.128.${index >> 8}.${index & 255}/32`, gateway: '10.128.0.1' },
      ],
      reclaimPolicy: 'Delete',
    },
  });
  const lastTransitionTime = formatTime(systemClock.now());
  const allocated = {
    type: 'Allocated',
    status: 'True',
    reason: 'Allocated',
    message: '',
    lastTransitionTime,
  } as const;
  const status = {
    phase: 'Bound' as const,
    networkContextRef: { name: contextOf(network) },
    conditions: [allocated],
  };
  await applyStatus(client, NetworkInterface, made, status, 'bench');
}

async function makeShards(client: Client): Promise<Stored<EgressShard>[]> {
  const shards: Stored<EgressShard>[] = [];
  for (const [at, pool] of pools.entries()) {
    await client.create(EgressShardParameters, {
      apiVersion: apiVersionOf(EgressShardParameters),
      kind: EgressShardParameters.kind,
      metadata: { name: pool },
      spec: { shardNamespace, shardSelector: { matchLabels: { [fabricLabels.egressPool]: pool } } },
    });
    const made = await client.create(EgressShard, {
      apiVersion: apiVersionOf(EgressShard),
      kind: EgressShard.kind,
      metadata: {
        name: `egress-${pool}`,
        namespace: shardNamespace,
        labels: { [fabricLabels.egressPool]: pool, [fabricLabels.egressIPv6]: 'true' },
      },
      spec: { targetRef: { kind: 'Node', name: `node-${pool}` } },
    });
    const status = { shardSID: sidOf(at + 1), shardAddressIPv6: `2001:db8:f00d:${at + 1}::100` };
    shards.push(await mergeStatus(client, EgressShard, made, status));
  }
  return shards;
}

const sidOf = (node: number) => `2001:db8:ff01:a${node.toString(16).padStart(3, '0')}:e000::`;

async function each(count: number, make: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const maker = async () => {
    for (let index = next++; index < count; index = next++) await make(index);
  };
  await Promise.all(Array.from({ length: clients }, maker));
}

export const fabric: Benchmark = {
  name: 'fabric',
  description:
    'A cell of --count attachments in --vpcs networks: making all of them, and a change of the shard that half of them use.',
  options: { count: 5000, vpcs: 50 },
  async run({ count = 5000, vpcs = 50 }, say) {
    const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
    const { client, writes, start, close } = await openCell(join(folder, 'berth.db'));
    try {
      say(`making ${count} interfaces in ${vpcs} networks`);
      for (const name of [namespace, shardNamespace]) {
        await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      }
      const [shard] = await makeShards(client);
      await each(vpcs, (index) => makeNetwork(client, index));
      await each(count, (index) => makeInterface(client, index, vpcs));

      say('attaching');
      const began = systemClock.monotonic();
      const cpuBefore = process.cpuUsage();
      start();
      await writes.reach('networkinterfaces/status', count);
      const attach = (writes.lastAt - began) / 1000;
      const cpu = process.cpuUsage(cpuBefore);
      await writes.quiet();
      const perAttachment = writes.all / count;

      const concerned = Array.from({ length: count }, (_, index) => index % vpcs).filter(
        (index) => index % pools.length === 0,
      ).length;
      say(`a change of one shard, which concerns ${concerned} attachments`);
      writes.reset();
      const changed = systemClock.monotonic();
      const changedShard = await mergeStatus(client, EgressShard, shard!, { ...shard!.status, shardSID: sidOf(9) });
      await writes.reach('network-attachment-definitions', concerned);
      const shardChange = (writes.lastAt - changed) / 1000;
      await writes.quiet();
      const written = writes.all;

      say('a shard that says how it feels');
      writes.reset();
      const lastTransitionTime = formatTime(systemClock.now());
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'DatapathAttached',
        message: '',
        lastTransitionTime,
      } as const;
      await mergeStatus(client, EgressShard, changedShard, { ...changedShard.status, conditions: [ready] });
      await writes.quiet();
      return figures({ count, vpcs, concerned, attach, perAttachment, shardChange, written, idle: writes.all, cpu });
    } finally {
      await close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

interface Measured {
  count: number;
  vpcs: number;
  concerned: number;
  attach: number;
  perAttachment: number;
  shardChange: number;
  written: number;
  idle: number;
  cpu: NodeJS.CpuUsage;
}

function figures(measured: Measured): Figure[] {
  const { count, vpcs, concerned, cpu } = measured;
  return [
    { name: 'attach', value: measured.attach, unit: 's', count, vpcs },
    { name: 'writes-per-attachment', value: measured.perAttachment, unit: '', count },
    { name: 'attach-cpu', value: (cpu.user + cpu.system) / 1e6, unit: 's', count },
    { name: 'shard-change', value: measured.shardChange, unit: 's', concerned },
    { name: 'writes', value: measured.written, unit: '', of: 'shard-change', concerned },
    { name: 'writes', value: measured.idle, unit: '', of: 'shard-condition', concerned: 0 },
    // Of the one process that serves, controls and measures.
    { name: 'rss', value: process.resourceUsage().maxRSS / 1024, unit: 'MiB', count },
  ];
}
