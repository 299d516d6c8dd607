/** What a project costs that nothing is in: memory, and the time until it is served. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Project } from '../src/api/index.ts';
import { type Client, createClient, kubeconfigTransport, systemClock } from '../src/kube/index.ts';
import { apiVersionOf, isConditionTrue } from '../src/meta/index.ts';
import { type PlatformProcess, startProcess } from '../test/harness/process.ts';
import type { Benchmark, Figure } from './harness/report.ts';

const together = 16;
const restMilliseconds = 5_000;

export const planes: Benchmark = {
  name: 'planes',
  description: 'What an empty project costs: memory, processor and time until it is served, of --count of them.',
  options: { count: 1000 },
  async run({ count = 1000 }, say) {
    const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'));
    const platform = await startProcess({ folder });
    const transport = kubeconfigTransport(platform.kubeconfig, 'root');
    try {
      const root = createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-bench' });
      await systemClock.sleep(restMilliseconds);
      const before = { memory: await residentMebibytes(platform), cpu: platform.cpuSeconds() };
      say(`making ${count} projects`);
      const since = systemClock.monotonic();
      await makeAll(root, count);
      await allReady(root, count);
      const seconds = (systemClock.monotonic() - since) / 1000;
      const cpu = platform.cpuSeconds() - before.cpu;
      await systemClock.sleep(restMilliseconds);
      const memory = await residentMebibytes(platform);
      const atRest = await idleCores(platform);
      const figures: Figure[] = [
        { name: 'served', value: count / seconds, unit: '1/s', count },
        { name: 'processor', value: (cpu / count) * 1000, unit: 'ms', count },
        { name: 'memory', value: (memory - before.memory) / count, unit: 'MiB', count },
        { name: 'rss', value: memory, unit: 'MiB', count },
        { name: 'processor-at-rest', value: atRest, unit: 'cores', count },
      ];
      return figures;
    } finally {
      await transport.close();
      await platform.interrupt();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function makeAll(root: Client, count: number): Promise<void> {
  let next = 0;
  const make = async (): Promise<void> => {
    while (next < count) {
      const metadata = { name: `p-${next++}` };
      await root.create(Project, { apiVersion: apiVersionOf(Project), kind: Project.kind, metadata, spec: {} });
    }
  };
  await Promise.all(Array.from({ length: together }, make));
}

async function allReady(root: Client, count: number): Promise<void> {
  const ready = new Set<string>();
  const { items, resourceVersion } = await root.list(Project);
  const see = (project: Project): void => {
    const { name } = project.metadata;
    if (name.startsWith('p-') && isConditionTrue(project.status?.conditions, 'Ready')) ready.add(name);
  };
  for (const project of items) see(project);
  if (ready.size === count) return;
  for await (const event of root.watch(Project, { resourceVersion })) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') see(event.object);
    if (ready.size === count) return;
  }
  throw new Error(`the watch ended when ${ready.size} of ${count} projects were ready`);
}

async function residentMebibytes({ child }: PlatformProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** Processor it uses while nothing is asked of it. */
async function idleCores(platform: PlatformProcess): Promise<number> {
  const before = platform.cpuSeconds();
  await systemClock.sleep(restMilliseconds);
  return (platform.cpuSeconds() - before) / (restMilliseconds / 1000);
}
