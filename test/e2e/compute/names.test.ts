import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  computeLabels,
  Instance,
  NetworkBinding,
  NetworkInterfaceClaim,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { apiVersionOf } from '../../../src/meta/index.ts';
import { workloadObject } from '../support/objects.ts';
import { type Held, here, World } from './world.ts';

// Names as long as they may be, and names that join to one another's.

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.stack.close());

/** A workload with a placement of any name, which keeps its addresses. */
function workload(name: string, placement: string, replicas: number): Workload {
  const object = workloadObject({ name, replicas, policy: 'Retain' });
  object.spec.placements[0]!.name = placement;
  return object;
}

/** Instances of a deployment in the project. */
async function instancesOf(uid: string): Promise<Instance[]> {
  const labelSelector = `${computeLabels.deploymentUID}=${uid}`;
  return (await world.project.list(Instance, { namespace: 'default', labelSelector })).items;
}

async function ready(name: string, count: number): Promise<Held> {
  const found = await world.stack.until(`${count} of ${name.slice(0, 20)} ready`, async () => {
    const [deployment] = (await world.deployments()).filter(({ spec }) => spec?.workloadRef.name === name);
    const items = await instancesOf(deployment?.metadata.uid ?? '');
    const all = items.every((each) => World.readyOf(each) === 'True Available');
    return items.length === count && all && items;
  });
  await world.agrees();
  return world.held(found as Parameters<World['held']>[0]);
}

/** The longest name a workload can have. */
const long = `w${'x'.repeat(61)}z`;
/** With it and the location, a deployment's name of 253 characters. */
const placement = 'p'.repeat(253 - long.length - here.length - 2);

describe('names of 253 characters', () => {
  test.each([
    ['that are there to the letter', placement],
    ['that were longer', 'A placement, said at length: '.repeat(8).trim()],
  ])('%s work from workload to address, replaced and made again', async (_, named) => {
    const object = workload(long, named, 3);
    await world.project.create(Workload, object);
    const before = await ready(long, 3);
    expect(Object.keys(before.shown)).toHaveLength(3);
    const [deployment] = await world.deployments();
    if (named === placement) expect(deployment?.metadata.name).toBe(`${long}-${placement}-${here}`);
    expect(deployment?.metadata.name.length).toBeGreaterThan(250);
    for (const name of [...Object.keys(before.shown), ...Object.keys(before.interfaces)]) {
      expect(name.length).toBeLessThanOrEqual(253);
      expect(name).toMatch(/-[0-9a-f]{12}$/);
    }
    const [instance] = (await world.stack.cell(here).list(Instance, { namespace: world.namespace })).items;
    for (const value of Object.values(instance?.metadata.labels ?? {})) expect(value.length).toBeLessThanOrEqual(63);
    expect(instance?.metadata.labels).toMatchObject({
      [computeLabels.workloadName]: long,
      [computeLabels.placementName]: expect.stringMatching(/^.{49,50}-[0-9a-f]{12}$/),
    });

    await world.stack.cell(here).delete(Instance, { namespace: world.namespace, name: instance!.metadata.name });
    await world.stack.until('the instance replaced', async () => {
      const now = await world.stack
        .cell(here)
        .get(Instance, { namespace: world.namespace, name: instance!.metadata.name });
      return now !== undefined && now.metadata.uid !== instance?.metadata.uid;
    });
    const replaced = await ready(long, 3);
    expect([replaced.shown, replaced.claims]).toEqual([before.shown, before.claims]);

    await world.project.delete(Workload, { namespace: 'default', name: long });
    await world.stack.until('it is gone', async () => (await world.workload(long)) === undefined);
    await world.project.create(Workload, object);
    const again = await ready(long, 3);
    expect([again.shown, again.claims, again.interfaces]).toEqual([before.shown, before.claims, before.interfaces]);
  });

  test('and labels of 63 characters pass from template to instance as they are', async () => {
    const object = workload('web', 'here', 1);
    const value = 'v'.repeat(63);
    object.spec.template.metadata = { labels: { [`example.com/${'k'.repeat(63)}`]: value } };
    await world.project.create(Workload, object);
    await ready('web', 1);
    const [shown] = await world.instances('web');
    expect(shown?.metadata.labels).toMatchObject({ [`example.com/${'k'.repeat(63)}`]: value });
  });
});

describe('names that join to one', () => {
  test('belong to two workloads all the same: each has its deployment, binding, instances and addresses, for good', async () => {
    await world.project.create(Workload, workload('a', 'b-c', 2));
    const one = await ready('a', 2);
    await world.project.create(Workload, workload('a-b', 'c', 2));
    const other = await ready('a-b', 2);
    const names = (await world.deployments()).map(({ metadata }) => metadata.name).sort();
    expect(names).toEqual([`a-b-c-${here}`, expect.stringMatching(new RegExp(`^a-b-c-${here}-[0-9a-f]{12}$`))]);
    const all = [...Object.values(one.shown), ...Object.values(other.shown)].flat();
    expect(new Set(all).size).toBe(8);
    for (const hub of [WorkloadDeployment, NetworkBinding] as const) {
      const { items } = await world.stack.hub.list<WorkloadDeployment | NetworkBinding>(hub as never, {
        namespace: world.namespace,
      });
      expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(names);
    }

    // The one whose name is readable goes; the other keeps its own.
    await world.project.delete(Workload, { namespace: 'default', name: 'a' });
    await world.stack.until('it is gone', async () => (await world.workload('a')) === undefined);
    await world.scale('a-b', 3);
    const grown = await ready('a-b', 3);
    expect(grown.shown).toMatchObject(other.shown);
  });

  test('leave a claim that a person made under the name of a slot to that person', async () => {
    const name = `web-here-${here}-0-eth0`;
    await world.run({ name: 'anchor', replicas: 1 });
    const cell = world.stack.cell(here);
    const made = await cell.create(NetworkInterfaceClaim, {
      apiVersion: apiVersionOf(NetworkInterfaceClaim),
      kind: NetworkInterfaceClaim.kind,
      metadata: { name, namespace: world.namespace },
      spec: { network: { name: 'default' } } as NetworkInterfaceClaim['spec'],
    });
    await world.project.create(Workload, workload('web', 'here', 2));
    const held = await ready('web', 2);
    expect(Object.keys(held.interfaces).sort()).toEqual([
      expect.stringMatching(new RegExp(`^${name}-[0-9a-f]{12}$`)),
      `web-here-${here}-1-eth0`,
    ]);
    await world.project.delete(Workload, { namespace: 'default', name: 'web' });
    await world.stack.until('the workload gone', async () => (await world.workload('web')) === undefined);
    expect((await cell.get(NetworkInterfaceClaim, { namespace: world.namespace, name }))?.metadata.uid).toBe(
      made.metadata.uid,
    );
  });
});
