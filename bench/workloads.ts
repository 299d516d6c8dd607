/** What a workload of many instances costs: time, writes by plane, memory; and how long a roll of its template takes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Network, Workload } from '../src/api/index.ts';
import { type Client, createClient, kubeconfigTransport, systemClock } from '../src/kube/index.ts';
import { type PlatformProcess, startProcess } from '../test/harness/process.ts';
import { load, namespace, network, watchAddresses } from './harness/load.ts';
import type { Benchmark, Figure } from './harness/report.ts';
import { counters, settled } from './harness/requests.ts';

const waitMilliseconds = 3_600_000;
const planes = ['cell', 'hub', 'project'] as const;
const name = 'load';

/** Runs `work` against a platform of its own with a cell in each of `locations`. */
async function onPlatform<T>(
  locations: readonly string[],
  work: (platform: PlatformProcess, project: Client) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
  const platform = await startProcess({ folder, args: ['--cells', locations.join(',')] });
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

export const workloads: Benchmark = {
  name: 'workloads',
  description:
    'From applying a workload of --count instances over --cells cells to every address shown in the project, what each costs in writes, and a roll of --roll.',
  options: { count: 1000, cells: 2, roll: 200 },
  async run({ count = 1000, cells = 2, roll: rolled = 200 }, say) {
    const locations = Array.from({ length: cells }, (_, index) => `bench-${index + 1}`);
    const figures = await onPlatform(locations, async (platform, project): Promise<Figure[]> => {
      const before = await settled(platform.kubeconfig);
      const cpuBefore = platform.cpuSeconds();
      say(`platform at ${platform.url}; applying a workload of ${count} instances over ${cells} cells`);
      const seconds = await apply(project, count, locations);
      await rolledOut(project, count);
      await settled(platform.kubeconfig);
      const after = await counters(platform.kubeconfig);
      const of = (plane: string): number => (after.byPlane[plane] ?? 0) - (before.byPlane[plane] ?? 0);
      const total = planes.reduce((sum, plane) => sum + of(plane), 0);
      return [
        { name: 'all-addressed', value: seconds, unit: 's', count, cells },
        ...planes.map((plane) => ({
          name: 'writes-per-instance',
          value: of(plane) / count,
          unit: '',
          count,
          cells,
          plane,
        })),
        { name: 'writes-per-instance', value: total / count, unit: '', count, cells, plane: 'all' },
        { name: 'cpu', value: platform.cpuSeconds() - cpuBefore, unit: 's', count, cells },
        { name: 'rss', value: platform.peakMebibytes(), unit: 'MiB', count, cells },
      ];
    });
    say(`rolling a workload of ${rolled} instances`);
    const value = await onPlatform(locations, (_, project) => roll(project, rolled, locations));
    return [...figures, { name: 'roll', value, unit: 's', count: rolled, cells }];
  },
};
