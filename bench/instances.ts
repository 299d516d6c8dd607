/** How long it takes from applying a workload until every instance shows its addresses in the project. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Network, Workload } from '../src/api/index.ts';
import { createClient, kubeconfigTransport, systemClock } from '../src/kube/index.ts';
import { startProcess } from '../test/harness/process.ts';
import { load, network, watchAddresses } from './harness/load.ts';
import { type Benchmark, type Figure, percentile } from './harness/report.ts';

const waitMilliseconds = 300_000;

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

const dataPlanes = ['none', 'fabric'] as const;

async function measure(count: number, dataPlane: string, say: (text: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
  const config = join(folder, 'config.yaml');
  await writeFile(config, `dataPlane: ${dataPlane}\n`);
  const platform = await startProcess({ folder: join(folder, 'platform'), args: ['--config', config] });
  say(`platform at ${platform.url}, data plane ${dataPlane}; applying a workload of ${count} replicas`);
  const transport = kubeconfigTransport(platform.kubeconfig, 'project-alpha');
  try {
    const project = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-bench' });
    const before = await writes(platform.kubeconfig);
    const cpuBefore = platform.cpuSeconds();
    const since = systemClock.monotonic();
    const watching = watchAddresses(project, count, since, waitMilliseconds);
    await project.create(Network, network);
    const locations = ['us-central-1', 'eu-west-1'];
    await project.create(Workload, load({ name: 'load', count, locations }));
    const seen = await watching;
    const seconds = Math.max(...seen.addressed.values()) / 1000;
    const each = [...seen.addressed].map(([name, at]) => at - (seen.appeared.get(name) ?? at));
    const cpu = platform.cpuSeconds() - cpuBefore;
    const total = (await writes(platform.kubeconfig)) - before;
    const of = { count, dataPlane };
    return [
      { name: 'all-addressed', value: seconds, unit: 's', ...of },
      { name: 'instance-to-address', value: percentile(each, 0.5), unit: 'ms', ...of, percentile: 50 },
      { name: 'instance-to-address', value: percentile(each, 0.99), unit: 'ms', ...of, percentile: 99 },
      { name: 'api-writes', value: total / seconds, unit: '1/s', ...of },
      { name: 'writes-per-instance', value: total / count, unit: '', ...of },
      { name: 'cpu', value: cpu, unit: 's', ...of },
      { name: 'rss', value: platform.peakMebibytes(), unit: 'MiB', ...of },
    ];
  } finally {
    await transport.close();
    await platform.interrupt();
    await rm(folder, { recursive: true, force: true });
  }
}

export const instances: Benchmark = {
  name: 'instances',
  description:
    'From applying a workload of --count replicas over two cells to every address shown in the project, without a data plane and with the fabric.',
  options: { count: 100 },
  async run({ count = 100 }, say) {
    const figures: Figure[] = [];
    for (const dataPlane of dataPlanes) figures.push(...(await measure(count, dataPlane, say)));
    return figures;
  },
};
