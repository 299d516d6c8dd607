/** How long it takes from making interface claims in a cell until they have their addresses, and what each costs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clusterLabel,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterfaceClaim,
  networkingLabels,
  Subnet,
  upstreamLabels,
} from '../src/api/index.ts';
import { type Client, createClient, kubeconfigTransport, systemClock, type Transport } from '../src/kube/index.ts';
import { apiVersionOf, isConditionTrue, Namespace } from '../src/meta/index.ts';
import { startProcess } from '../test/harness/process.ts';
import { type Benchmark, type Figure, percentile } from './harness/report.ts';
import { settled } from './harness/requests.ts';

const waitMilliseconds = 600_000;
const location = 'us-central-1';
/** A network's IPv4 subnet in a location is a /20. */
const claimsPerNetwork = 4_000;
/** Claims that are being created at once. */
const clients = 16;
/** Claims made one at a time, each when the last one is served: enough that the p99 is not the slowest of them. */
const idleClaims = 300;

interface Planes {
  project: Client;
  hub: Client;
  cell: Client;
}

function planesOf(kubeconfig: string): Planes & { close(): Promise<void> } {
  const transports: Transport[] = [];
  const client = (context: string): Client => {
    const transport = kubeconfigTransport(kubeconfig, context);
    transports.push(transport);
    return createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-bench' });
  };
  return {
    project: client('project-alpha'),
    hub: client('hub'),
    cell: client(`cell-${location}`),
    async close() {
      for (const transport of transports) await transport.close();
    },
  };
}

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = systemClock.monotonic() + 60_000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (systemClock.monotonic() > deadline) throw new Error(`not within a minute: ${what}`);
    await systemClock.sleep(20);
  }
}

/** Networks that are present in the cell, subnets and all, by way of project and hub. Answers the cell's namespace. */
async function presence({ project, hub, cell }: Planes, networks: number): Promise<string> {
  const upstream = await project.get(Namespace, { namespace: '', name: 'default' });
  const namespace = `ns-${upstream?.metadata.uid}`;
  await hub.create(Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: namespace,
      labels: { [upstreamLabels.clusterName]: clusterLabel('alpha'), [upstreamLabels.namespace]: 'default' },
    },
  });
  for (let index = 0; index < networks; index++) {
    const name = `bench-${index}`;
    await project.create(Network, {
      apiVersion: apiVersionOf(Network),
      kind: Network.kind,
      metadata: { name, namespace: 'default' },
      spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6', 'IPv4'], mtu: 1460 },
    });
    await hub.create(NetworkBinding, {
      apiVersion: apiVersionOf(NetworkBinding),
      kind: NetworkBinding.kind,
      metadata: {
        name,
        namespace,
        labels: { [networkingLabels.network]: name, [networkingLabels.location]: location },
      },
      spec: { network: { name }, location: { name: location } },
    });
  }
  await until('the networks are in the cell', async () => {
    const contexts = await cell.list(NetworkContext, { namespace });
    const subnets = await cell.list(Subnet, { namespace });
    return contexts.items.length === networks && subnets.items.length === 2 * networks;
  });
  return namespace;
}

/** Claims of a cell namespace as they come to their addresses. */
class Served {
  /** Milliseconds of `systemClock.monotonic()`, by name. */
  readonly at = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();

  async watch(cell: Client, namespace: string): Promise<void> {
    const { resourceVersion } = await cell.list(NetworkInterfaceClaim, { namespace });
    const options = { namespace, resourceVersion, signal: this.#stop.signal };
    const watching = async () => {
      for await (const event of cell.watch(NetworkInterfaceClaim, options)) {
        if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
        const { metadata, status } = event.object;
        if (this.at.has(metadata.name) || !isConditionTrue(status?.conditions, 'Allocated')) continue;
        this.at.set(metadata.name, systemClock.monotonic());
        this.#waiting.get(metadata.name)?.();
      }
    };
    this.#watching = watching().catch((error) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  /** Resolves when the claim of this name has its addresses. */
  async of(name: string): Promise<void> {
    if (this.at.has(name)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.set(name, resolve);
    const timer = systemClock.after(waitMilliseconds, () => reject(new Error(`claim ${name} got no addresses`)));
    await promise;
    timer.cancel();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }
}

function claim(namespace: string, index: number): NetworkInterfaceClaim {
  return {
    apiVersion: apiVersionOf(NetworkInterfaceClaim),
    kind: NetworkInterfaceClaim.kind,
    metadata: { name: `claim-${index}`, namespace },
    spec: {
      network: { name: `bench-${Math.floor(index / claimsPerNetwork)}` },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      ipFamilies: ['IPv6', 'IPv4'],
      reclaimPolicy: 'Delete',
    },
  };
}

/** Makes claims `from` to `to`, so many at once, and answers how long each took to its addresses, in milliseconds. */
async function make(
  cell: Client,
  served: Served,
  namespace: string,
  [from, to]: readonly [number, number],
  atOnce: number,
  waits: boolean,
): Promise<number[]> {
  const asked = new Map<string, number>();
  let next = from;
  const caller = async () => {
    for (let index = next++; index < to; index = next++) {
      const object = claim(namespace, index);
      asked.set(object.metadata.name, systemClock.monotonic());
      await cell.create(NetworkInterfaceClaim, object);
      if (waits) await served.of(object.metadata.name);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  await Promise.all([...asked.keys()].map((name) => served.of(name)));
  return [...asked].map(([name, at]) => served.at.get(name)! - at);
}

export const claims: Benchmark = {
  name: 'claims',
  description:
    'From making --count dual-stack interface claims in one cell to their addresses, and what each costs in requests.',
  options: { count: 1000 },
  async run({ count = 1000 }, say) {
    const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
    const config = join(folder, 'config.yaml');
    await writeFile(config, 'dataPlane: none\n');
    const platform = await startProcess({ folder: join(folder, 'data'), args: ['--config', config] });
    const { close, ...planes } = planesOf(platform.kubeconfig);
    const served = new Served();
    try {
      say(`platform at ${platform.url}; making networks`);
      const namespace = await presence(planes, Math.ceil((count + idleClaims) / claimsPerNetwork));
      await served.watch(planes.cell, namespace);
      say(`${idleClaims} claims, one at a time`);
      const idle = await make(planes.cell, served, namespace, [0, idleClaims], 1, true);
      const before = await settled(platform.kubeconfig);
      const cpuBefore = platform.cpuSeconds();
      say(`${count} claims, ${clients} being made at once`);
      const since = systemClock.monotonic();
      const each = await make(planes.cell, served, namespace, [idleClaims, idleClaims + count], clients, false);
      const seconds = (Math.max(...served.at.values()) - since) / 1000;
      const after = await settled(platform.kubeconfig);
      const cpu = platform.cpuSeconds() - cpuBefore;
      const latency = (values: number[], share: number, load: string, of: number): Figure => ({
        name: 'claim-to-allocated',
        value: percentile(values, share),
        unit: 'ms',
        load,
        count: of,
        percentile: share * 100,
      });
      return [
        { name: 'all-allocated', value: seconds, unit: 's', count },
        latency(each, 0.5, 'all', count),
        latency(each, 0.99, 'all', count),
        latency(idle, 0.5, 'idle', idleClaims),
        latency(idle, 0.99, 'idle', idleClaims),
        { name: 'api-writes-per-claim', value: (after.writes - before.writes) / count, unit: '', count },
        ...['cell', 'hub', 'project'].map((plane) => ({
          name: 'api-writes-per-claim',
          value: ((after.byPlane[plane] ?? 0) - (before.byPlane[plane] ?? 0)) / count,
          unit: '',
          plane,
          count,
        })),
        { name: 'ipam-calls-per-claim', value: (after.ipam - before.ipam) / count, unit: '', count },
        { name: 'cpu', value: cpu, unit: 's', count },
        { name: 'rss', value: platform.peakMebibytes(), unit: 'MiB', count },
      ];
    } finally {
      await served.stop();
      await close();
      await platform.interrupt();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
