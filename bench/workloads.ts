/** What a workload of many instances costs: time, writes by plane, memory; and how long a roll of its template takes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Network, Workload } from '../src/api/index.ts';
import { type Client, createClient, kubeconfigTransport, systemClock } from '../src/kube/index.ts';
import { type PlatformProcess, startProcess } from '../test/harness/process.ts';
import { load, namespace, network, watchAddresses } from './harness/load.ts';
import type { Benchmark, Figure } from './harness/report.ts';
import { settled } from './harness/requests.ts';

const waitMilliseconds = 3_600_000;
const planes = ['cell', 'hub', 'project'] as const;
const name = 'load';

/** What realizes interfaces: nothing, so that the figures are compute's and the network's own, or the platform's fabric. */
const dataPlanes = ['none', 'fabric'] as const;
type DataPlane = (typeof dataPlanes)[number];

/** Runs `work` against a platform of its own with a cell in each of `locations`. */
async function onPlatform<T>(
  locations: readonly string[],
  dataPlane: DataPlane,
  work: (platform: PlatformProcess, project: Client) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
  const config = join(folder, 'config.yaml');
  await writeFile(config, `dataPlane: ${dataPlane}\n`);
  const args = ['--cells', locations.join(','), '--config', config];
  const platform = await startProcess({ folder: join(folder, 'data'), args });
  const transport = kubeconfigTransport(platform.kubeconfig, 'project-alpha');
  try {
    const project = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-bench' });
    await project.create(Network, network);
    return await work(platform, project);
  } finally {
    await transport.close();
    await platform.interrupt();
    await rm(folder, { recursive: true, force: true });
  }
}

/** From applying a workload of `count` until the project shows every address, in seconds. */
async function apply(project: Client, count: number, locations: readonly string[]): Promise<number> {
  const since = systemClock.monotonic();
  const watching = watchAddresses(project, count, since, waitMilliseconds);
  await project.create(Workload, load({ name, count, locations }));
  const { addressed } = await watching;
  return Math.max(...addressed.values()) / 1000;
}

/** Resolves once the workload says that all of `count` are of its present template, and ready. */
async function rolledOut(project: Client, count: number): Promise<void> {
  const deadline = systemClock.monotonic() + waitMilliseconds;
  for (;;) {
    const workload = await project.get(Workload, { namespace, name });
    const { observedGeneration, updatedReplicas, readyReplicas, replicas } = workload?.status ?? {};
    const seen = observedGeneration === workload?.metadata.generation;
    if (seen && updatedReplicas === count && readyReplicas === count && replicas === count) return;
    if (systemClock.monotonic() > deadline) throw new Error('the workload did not come to rest');
    await systemClock.sleep(20);
  }
}

/** From changing the template of a workload of `count` until every instance is a ready one of it, in seconds. */
async function roll(project: Client, count: number, locations: readonly string[]): Promise<number> {
  await apply(project, count, locations);
  await rolledOut(project, count);
  const since = systemClock.monotonic();
  const body = { spec: { template: { metadata: { annotations: { 'example.com/rolled': 'yes' } } } } };
  await project.patch(Workload, { namespace, name }, { type: 'merge', body });
  await rolledOut(project, count);
  return (systemClock.monotonic() - since) / 1000;
}

interface Size {
  count: number;
  locations: readonly string[];
  dataPlane: DataPlane;
}

/** What it takes to bring up a workload. */
async function cost(
  platform: PlatformProcess,
  project: Client,
  { count, locations, dataPlane }: Size,
  say: (text: string) => void,
): Promise<Figure[]> {
  const before = await settled(platform.kubeconfig);
  const cpuBefore = platform.cpuSeconds();
  say(`platform at ${platform.url}, data plane ${dataPlane}: ${count} instances over ${locations.length} cells`);
  const seconds = await apply(project, count, locations);
  await rolledOut(project, count);
  const after = await settled(platform.kubeconfig);
  const writes = (plane: string): number => (after.byPlane[plane] ?? 0) - (before.byPlane[plane] ?? 0);
  const of = { count, cells: locations.length, dataPlane };
  const perInstance = (plane: string, total: number): Figure => ({
    name: 'writes-per-instance',
    value: total / count,
    unit: '',
    ...of,
    plane,
  });
  const all = planes.reduce((sum, plane) => sum + writes(plane), 0);
  return [
    { name: 'all-addressed', value: seconds, unit: 's', ...of },
    ...planes.map((plane) => perInstance(plane, writes(plane))),
    perInstance('all', all),
    { name: 'cpu', value: platform.cpuSeconds() - cpuBefore, unit: 's', ...of },
    { name: 'rss', value: platform.peakMebibytes(), unit: 'MiB', ...of },
  ];
}

export const workloads: Benchmark = {
  name: 'workloads',
  description:
    'From applying a workload of --count instances over --cells cells to every address shown in the project, what each costs in writes, and a roll of --roll.',
  options: { count: 1000, cells: 2, roll: 200 },
  async run({ count = 1000, cells = 2, roll: rolled = 200 }, say) {
    const locations = Array.from({ length: cells }, (_, index) => `bench-${index + 1}`);
    const figures: Figure[] = [];
    for (const dataPlane of dataPlanes) {
      figures.push(
        ...(await onPlatform(locations, dataPlane, (platform, project) =>
          cost(platform, project, { count, locations, dataPlane }, say),
        )),
      );
    }
    say(`rolling a workload of ${rolled} instances`);
    const value = await onPlatform(locations, 'none', (_, project) => roll(project, rolled, locations));
    return [...figures, { name: 'roll', value, unit: 's', count: rolled, cells }];
  },
};
