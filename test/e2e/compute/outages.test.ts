import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  Instance,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { applyStatus } from '../../../src/kube/index.ts';
import { formatTime, isApiError } from '../../../src/meta/index.ts';
import { workloadObject } from '../support/objects.ts';
import { type Held, here, World } from './world.ts';

// What runs goes on running, with its addresses, whatever is away or has gone; and when it is back, all is as asked.

let world: World;
let before: Held;
beforeEach(async () => {
  world = await World.open({ quietPeriodSeconds: 20 });
  before = await world.run({ name: 'web', replicas: 3 });
});
afterEach(() => world.stack.close());

const hub = { id: 'hub', role: 'hub', name: 'hub' } as const;
const alpha = { id: 'project/alpha', role: 'project', name: 'alpha' } as const;
const first = `web-here-${here}-0`;

/** What the cell itself says of the instances: address and readiness, by name. */
async function inCell(): Promise<Record<string, string>> {
  const { items } = await world.stack.cell(here).list(Instance, { namespace: world.namespace });
  return Object.fromEntries(
    items.map((each) => [
      each.metadata.name,
      `${each.status?.networkInterfaces?.[0]?.assignments?.networkIP} ${World.readyOf(each)}`,
    ]),
  );
}

/** Replaces an instance in the cell and waits until its successor runs. */
async function replace(name: string): Promise<void> {
  const cell = world.stack.cell(here);
  const key = { namespace: world.namespace, name };
  const former = await cell.get(Instance, key);
  await cell.delete(Instance, key);
  await world.stack.until(`${name} replaced`, async () => {
    const now = await cell.get(Instance, key);
    return now !== undefined && now.metadata.uid !== former?.metadata.uid && World.readyOf(now) === 'True Available';
  });
}

const network = ({ shown, claims, interfaces }: Held) => ({ shown, claims, interfaces });

describe('the hub away for ten minutes', () => {
  test('takes nothing away, replacements go on, and what was asked meanwhile is done once, afterwards', async () => {
    const running = await inCell();
    await world.stack.disengage('hub');
    await world.scale('web', 5);
    await replace(first);
    await world.stack.pass(600);
    expect(await inCell()).toEqual(running);
    world.stack.engage(hub);
    const after = await world.ready('web', 5);
    expect(after.shown).toMatchObject(before.shown);
    expect(after.interfaces).toMatchObject(before.interfaces);
    expect(await world.deployments()).toHaveLength(1);
    const where = { namespace: world.namespace };
    expect((await world.stack.hub.list(WorkloadDeployment, where)).items).toHaveLength(1);
    expect((await world.stack.hub.list(NetworkBinding, where)).items).toHaveLength(1);
    expect((await world.claims()).length).toBe(5);
  });
});

describe('a project away for ten minutes', () => {
  test('loses nothing: what became of its instances is shown afterwards', async () => {
    await world.stack.disengage(alpha.id);
    await replace(first);
    await world.stack.pass(600);
    world.stack.engage(alpha);
    await world.stack.until('the successor is shown', async () => {
      const [instance] = await world.instances('web');
      return instance?.metadata.uid !== before.instances[first] && instance !== undefined;
    });
    expect(network(await world.ready('web', 3))).toEqual(network(before));
  });
});

describe('a cell', () => {
  test('started from nothing but its own store keeps what runs, and replaces without hub, project and IPAM', async () => {
    const running = await inCell();
    await world.stack.stop();
    for (const id of ['hub', alpha.id]) await world.stack.disengage(id);
    world.stack.ipamDown = true;
    world.stack.start();
    await world.stack.pass(300);
    expect(await inCell()).toEqual(running);
    await replace(first);
    expect(await inCell()).toEqual(running);

    world.stack.ipamDown = false;
    for (const plane of [hub, alpha]) world.stack.engage(plane);
    expect(network(await world.ready('web', 3))).toEqual(network(before));
  });

  test('away for ten minutes while its workload goes and comes gets rid of the one and runs the other', async () => {
    const cell = { id: `cell/${here}`, role: 'cell', name: here } as const;
    await world.stack.disengage(cell.id);
    await world.project.delete(Workload, { namespace: 'default', name: 'web' });
    await world.stack.pass(600);
    // Nobody says that the name is free while the cell may still hold its addresses.
    expect((await world.deployments()).map(({ metadata }) => metadata.name)).toEqual([`web-here-${here}`]);
    world.stack.engage(cell);
    await world.stack.until('all of it is gone', async () => (await world.workload('web')) === undefined);
    const after = await world.run({ name: 'web', replicas: 2 });
    expect(Object.values(after.interfaces).some((uid) => Object.values(before.interfaces).includes(uid))).toBe(false);
    expect(await world.allocated()).toHaveLength(4);
  });
});

describe('a presence', () => {
  test('whose context is deleted under running instances, in the cell and in the project, tears nothing down', async () => {
    const running = await inCell();
    const context = { namespace: world.namespace, name: `default-${here}` };
    await world.stack.cell(here).delete(NetworkContext, context);
    await world.project.delete(NetworkContext, { ...context, namespace: 'default' });
    await world.stack.pass(60);
    expect(await inCell()).toEqual(running);
    await replace(first);
    expect(network(await world.ready('web', 3))).toEqual(network(before));
  });

  test('that nobody asks for any longer than its quiet period is held by the interfaces alone', async () => {
    const running = await inCell();
    world.stack.wire.beforeWrite = async ({ by, method }) => {
      if (by === 'compute-hub-federator' && method === 'POST') throw new Error('connect ECONNREFUSED');
    };
    const { items } = await world.stack.hub.list(NetworkBinding, { namespace: world.namespace });
    for (const { metadata } of items) {
      await world.stack.hub.delete(NetworkBinding, { namespace: world.namespace, name: metadata.name });
    }
    await world.stack.pass(120);
    expect(await inCell()).toEqual(running);
    await replace(first);
    expect(await inCell()).toEqual(running);
    expect((await world.stack.cell(here).list(NetworkInterface, { namespace: world.namespace })).items).toHaveLength(3);
    world.stack.wire.beforeWrite = undefined;
    expect(network(await world.ready('web', 3))).toEqual(network(before));
  });
});

describe('an instance', () => {
  test('whose node is drained is not ready meanwhile, and has its addresses on the next node', async () => {
    const cell = world.stack.cell(here);
    const readiness: string[] = [];
    const watching = new AbortController();
    const watch = async () => {
      const { resourceVersion } = await world.project.list(Instance, { namespace: 'default' });
      const options = { namespace: 'default', resourceVersion, signal: watching.signal };
      for await (const event of world.project.watch(Instance, options)) {
        if (event.type !== 'BOOKMARK' && event.object.metadata.name === first)
          readiness.push(World.readyOf(event.object));
      }
    };
    const watched = watch().catch(() => {});
    const instance = await cell.get(Instance, { namespace: world.namespace, name: first });
    const says = (type: string, reason: string) => ({
      type,
      status: 'False' as const,
      reason,
      message: 'The node is drained',
      observedGeneration: instance!.metadata.generation ?? 1,
      lastTransitionTime: formatTime(world.stack.clock.now()),
    });
    const conditions = [says('Programmed', 'ProgrammingInProgress'), says('Available', 'Starting')];
    // The simulated provider finds it on the next node at once.
    await applyStatus(cell, Instance, instance!, { conditions }, 'simulated-provider');
    const after = await world.stack.until(
      'it runs again',
      async () => readiness.includes('True Available') && world.ready('web', 3),
    );
    expect(readiness).toContain('False ProgrammingInProgress');
    expect(after).toEqual(before);
    watching.abort();
    await watched;
  });

  test.each(['Delete', 'Retain'] as const)(
    'of a workload deleted and applied again within a second: %s',
    async (policy) => {
      const shape = { name: 'again', replicas: 2, policy };
      const former = await world.run(shape);
      await world.project.delete(Workload, { namespace: 'default', name: 'again' });
      await world.stack.until(
        'the name is free',
        async () => {
          try {
            await world.project.create(Workload, workloadObject(shape));
            return true;
          } catch (error) {
            if (isApiError(error, 'AlreadyExists')) return false;
            throw error;
          }
        },
        1,
      );
      const after = await world.ready('again', 2);
      if (policy === 'Retain') expect(network(after)).toEqual(network(former));
      else {
        const uids = Object.values({ ...former.claims, ...former.interfaces });
        expect(Object.values({ ...after.claims, ...after.interfaces }).filter((uid) => uids.includes(uid))).toEqual([]);
      }
    },
  );

  test.each(['Delete', 'Retain'] as const)('keeps its addresses when the template is rolled: %s', async (policy) => {
    const former = await world.run({ name: 'rolled', replicas: 3, policy });
    const path = '/spec/template/spec/runtime/sandbox/containers/0/image';
    const body = [{ op: 'replace' as const, path, value: 'docker.io/library/nginx:1.30' }];
    await world.project.patch(Workload, { namespace: 'default', name: 'rolled' }, { type: 'json', body });
    await world.stack.until('all are another', async () => {
      const now = await world.instances('rolled');
      const { updatedReplicas } = (await world.workload('rolled'))?.status ?? {};
      return (
        now.length === 3 &&
        updatedReplicas === 3 &&
        now.every((each) => former.instances[each.metadata.name] !== each.metadata.uid)
      );
    });
    const after = await world.ready('rolled', 3);
    expect(network(after)).toEqual(network(former));
  });
});
