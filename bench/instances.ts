/** How long it takes from applying a workload until every instance shows its addresses in the project. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Instance, Network, Workload } from '../src/api/index.ts';
import { type Client, createClient, kubeconfigTransport, systemClock } from '../src/kube/index.ts';
import { apiVersionOf } from '../src/meta/index.ts';
import { startProcess } from '../test/harness/process.ts';
import { type Benchmark, type Figure, percentile } from './harness/report.ts';

const waitMilliseconds = 300_000;

function workload(count: number): Workload {
  const half = Math.floor(count / 2);
  const placement = (name: string, location: string, replicas: number) => ({
    name,
    locations: [{ name: location }],
    scaleSettings: { minReplicas: replicas, instanceManagementPolicy: 'OrderedReady' },
  });
  return {
    apiVersion: apiVersionOf(Workload),
    kind: Workload.kind,
    metadata: { name: 'load', namespace: 'default' },
    spec: {
      template: {
        spec: {
          runtime: {
            resources: { instanceType: 'datumcloud/d1-standard-2' },
            sandbox: { containers: [{ name: 'app', image: 'docker.io/library/nginx:1.29' }] },
          },
          networkInterfaces: [
            { name: 'eth0', network: { name: 'default' }, ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy: 'Delete' },
          ],
        },
      },
      placements: [
        placement('america', 'us-central-1', count - half),
        ...(half === 0 ? [] : [placement('europe', 'eu-west-1', half)]),
      ],
    },
  };
}

interface Seen {
  /** Milliseconds from applying to the first sight of the instance, and to its addresses, by name. */
  appeared: Map<string, number>;
  addressed: Map<string, number>;
}

/** Watches the project until `count` instances show both addresses. */
async function watchAddresses(project: Client, count: number, since: number, seen: Seen): Promise<void> {
  const { resourceVersion } = await project.list(Instance, { namespace: 'default' });
  const deadline = new AbortController();
  const timer = systemClock.after(waitMilliseconds, () => deadline.abort(new Error('not all instances got addresses')));
  const options = { namespace: 'default', resourceVersion, signal: deadline.signal };
  for await (const event of project.watch(Instance, options)) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const { name } = event.object.metadata;
    const at = systemClock.monotonic() - since;
    if (!seen.appeared.has(name)) seen.appeared.set(name, at);
    const addresses = event.object.status?.networkInterfaces?.[0]?.addresses ?? [];
    if (addresses.length === 2 && !seen.addressed.has(name)) seen.addressed.set(name, at);
    if (seen.addressed.size === count) break;
  }
  timer.cancel();
}

/** Requests that changed something, as the server counted them. */
async function writes(kubeconfig: string): Promise<number> {
  const transport = kubeconfigTransport(kubeconfig, 'root');
  const response = await transport.request({ method: 'GET', path: '/metrics' });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
  await transport.close();
  const pattern = /^apiserver_request_total\{([^}]*)\} (\d+)/gm;
  let total = 0;
  for (const [, labels = '', value = '0'] of text.matchAll(pattern)) {
    if (/verb="(POST|PUT|PATCH|DELETE|create|update|patch|delete)"/i.test(labels)) total += Number(value);
  }
  return total;
}

export const instances: Benchmark = {
  name: 'instances',
  description: 'From applying a workload of --count replicas over two cells to every address shown in the project.',
  options: { count: 100 },
  async run({ count = 100 }, say) {
    const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
    const platform = await startProcess({ folder });
    say(`platform at ${platform.url}; applying a workload of ${count} replicas`);
    const transport = kubeconfigTransport(platform.kubeconfig, 'project-alpha');
    try {
      const project = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-bench' });
      const before = await writes(platform.kubeconfig);
      const cpuBefore = platform.cpuSeconds();
      const seen: Seen = { appeared: new Map(), addressed: new Map() };
      const since = systemClock.monotonic();
      const watching = watchAddresses(project, count, since, seen);
      await project.create(Network, {
        apiVersion: apiVersionOf(Network),
        kind: Network.kind,
        metadata: { name: 'default', namespace: 'default' },
        spec: { ipam: { mode: 'Auto' }, ipFamilies: ['IPv6', 'IPv4'], mtu: 1460 },
      });
      await project.create(Workload, workload(count));
      await watching;
      const seconds = Math.max(...seen.addressed.values()) / 1000;
      const each = [...seen.addressed].map(([name, at]) => at - (seen.appeared.get(name) ?? at));
      const cpu = platform.cpuSeconds() - cpuBefore;
      const total = (await writes(platform.kubeconfig)) - before;
      const figures: Figure[] = [
        { name: 'all-addressed', value: seconds, unit: 's', count },
        { name: 'instance-to-address', value: percentile(each, 0.5), unit: 'ms', count, percentile: 50 },
        { name: 'instance-to-address', value: percentile(each, 0.99), unit: 'ms', count, percentile: 99 },
        { name: 'api-writes', value: total / seconds, unit: '1/s', count },
        { name: 'writes-per-instance', value: total / count, unit: '', count },
        { name: 'cpu', value: cpu, unit: 's', count },
        { name: 'rss', value: platform.peakMebibytes(), unit: 'MiB', count },
      ];
      return figures;
    } finally {
      await transport.close();
      await platform.interrupt();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
