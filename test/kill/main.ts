/**
 * `npm run test:kill [-- --rounds N --seed S]`: a platform is killed with SIGKILL at random moments while workloads scale and
 * instances go, and started again on the same folder. Each time every instance of the Retain workload has the addresses
 * it had, its interfaces are attached by what they were, and IPAM holds exactly what is published; once everything is deleted
 * neither IPAM nor the fabric holds anything. Ends with
 * `N passed, N failed, N skipped`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  Instance,
  IPClaim,
  Network,
  NetworkAttachmentDefinition,
  NetworkFabricIdentity,
  NetworkInterface,
  VPC,
  VPCAttachment,
  Workload,
} from '../../src/api/index.ts';
import { addressesOf, agreesWithIpam, CheckFailed, keyOf, ready, Session } from '../../src/cli/index.ts';
import { type Random, seededRandom, systemClock } from '../../src/kube/index.ts';
import type { ResourceType } from '../../src/meta/index.ts';
import { type PlatformProcess, startProcess } from '../harness/process.ts';

const examples = new URL('../../examples/', import.meta.url).pathname;
const mostMilliseconds = 2_500;

const { values } = parseArgs({ options: { rounds: { type: 'string' }, seed: { type: 'string' } } });
const rounds = Number(values.rounds ?? 8);
const seed = values.seed ?? String(systemClock.now());
const random = seededRandom(seed);
console.log(`${rounds} rounds, seed ${seed}`);

let passed = 0;

/** Runs one platform until `work` is done with it, then stops it as `work` says. */
async function withPlatform(folder: string, work: (session: Session, platform: PlatformProcess) => Promise<void>) {
  const platform = await startProcess({ folder });
  const session = new Session(platform.kubeconfig, systemClock);
  try {
    await work(session, platform);
  } finally {
    await session.close();
    await platform.kill();
  }
}

async function scale(session: Session, workload: string, replicas: number): Promise<void> {
  const client = session.client('project-alpha');
  const key = { namespace: 'default', name: workload };
  const object = await client.get(Workload, key);
  if (object === undefined) return;
  const placements = object.spec.placements.map((placement) => ({
    ...placement,
    scaleSettings: { ...placement.scaleSettings, minReplicas: replicas },
  }));
  await client.patch(Workload, key, { type: 'merge', body: { spec: { placements } } });
}

/** Something happens, so that the process is never killed at rest. */
async function disturb(session: Session, chance: Random): Promise<void> {
  const cell = session.client('cell-us-central-1');
  for (;;) {
    const choice = chance.next();
    if (choice < 0.4) await scale(session, 'api', Math.floor(chance.next() * 12));
    else if (choice < 0.8) {
      const { items } = await cell.list(Instance);
      const victim = items[Math.floor(chance.next() * items.length)];
      if (victim !== undefined) await cell.delete(Instance, keyOf(victim));
    } else {
      const key = { namespace: 'default', name: 'api' };
      await session.client('project-alpha').delete(Workload, key);
      await session.apply('project-alpha', join(examples, 'claim-templates.yaml')).catch(() => {});
    }
    await systemClock.sleep(chance.next() * 300);
  }
}

const cells = ['cell-us-central-1', 'cell-eu-west-1'];

/** What workload web has: addresses, and what nodes attach its interfaces by. */
async function holdings(session: Session): Promise<string> {
  const found = await ready(session, session.client('project-alpha'), 'web', 4);
  const lists = await Promise.all(cells.map((cell) => session.client(cell).list(NetworkAttachmentDefinition)));
  const conflists = lists
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => metadata.name.startsWith('web-'))
    .map(({ metadata, spec }) => [metadata.name, spec?.config]);
  return JSON.stringify([found.map((instance) => [instance.metadata.name, addressesOf(instance)]), conflists]);
}

/** Objects of the fabric there are in the cells and on the hub, such as `VPC default-eu-west-1`. */
async function ofTheFabric(session: Session): Promise<string[]> {
  const kinds = [VPC, VPCAttachment, NetworkAttachmentDefinition] as ResourceType[];
  const lists = await Promise.all([
    session.client('hub').list(NetworkFabricIdentity),
    ...cells.flatMap((cell) => kinds.map((kind) => session.client(cell).list(kind))),
  ]);
  return lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
}

async function run(folder: string): Promise<void> {
  let known = '';
  await withPlatform(folder, async (session) => {
    await session.apply('project-alpha', join(examples, 'workload.yaml'));
    await session.apply('project-alpha', join(examples, 'claim-templates.yaml'));
    known = await holdings(session);
  });
  for (let round = 1; round <= rounds; round++) {
    const after = Math.round(random.next() * mostMilliseconds);
    await withPlatform(folder, async (session) => {
      // Whatever a killed connection makes of a request is what the test is about.
      disturb(session, random).catch(() => {});
      await systemClock.sleep(after);
    });
    await withPlatform(folder, async (session) => {
      await scale(session, 'api', 2).catch(() => {});
      const now = await holdings(session);
      if (now !== known) throw new CheckFailed(`round ${round}: held was ${known} and is ${now}`);
      await agreesWithIpam(session, session.client('project-alpha'));
    });
    passed++;
    console.log(
      `✓ round ${round}: killed after ${after} ms; same addresses and attachments, nothing lost, nothing leaked`,
    );
  }
  await withPlatform(folder, async (session) => {
    const project = session.client('project-alpha');
    await session.until('everything deleted and given back', async () => {
      for (const type of [Workload, NetworkInterface, Network]) {
        for (const object of (await project.list<Workload | NetworkInterface | Network>(type)).items) {
          await project.delete(type, keyOf(object));
        }
      }
      const left = (await project.list(IPClaim)).items.map((claim) => claim.metadata.name);
      const networks = (await project.list(Network)).items.length;
      return left.length === 0 && networks === 0 ? true : `${networks} networks and claims ${left.join(', ')} are left`;
    });
    await session.until('nothing of the fabric left', async () => {
      const left = await ofTheFabric(session);
      return left.length === 0 ? true : `${left.join(', ')} left`;
    });
  });
  passed++;
  console.log('✓ everything deleted: IPAM and the fabric hold nothing');
}

const folder = await mkdtemp(join(tmpdir(), 'berth-kill-'));
let failed = 0;
try {
  await run(folder);
} catch (error) {
  failed = 1;
  console.log(`✗ ${(error as Error).message} (seed ${seed}, folder ${folder})`);
} finally {
  if (failed === 0) await rm(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed;
