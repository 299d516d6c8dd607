import { afterEach, describe, expect, test } from 'vitest';
import { Instance, NetworkInterfaceClaim, Workload } from '../../../src/api/index.ts';
import type { Sent } from '../../../src/apiserver/testing/index.ts';
import { workloadObject } from '../support/objects.ts';
import { here, World } from './world.ts';

// Who writes what, where: read off the requests that were sent, over a workload's whole life.

let world: World;
afterEach(() => world.stack.close());

/** `cell POST networkinterfaceclaims`, once for each that was sent. */
function kindsOf(writes: readonly Sent[]): string[] {
  const lines = writes.map(({ plane, method, path }) => {
    const [, group, rest = ''] = /^\/(?:apis\/([^/]+)|api)\/[^/]+\/(?:namespaces\/[^/]+\/)?(.*)$/.exec(path) ?? [];
    const [plural, , subresource] = rest.split('/');
    const kind = [plural, subresource].filter(Boolean).join('/');
    return `${plane.split('/')[0]} ${method} ${kind}${group === undefined ? '' : ` ${group.split('.')[0]}`}`;
  });
  return [...new Set(lines)].sort();
}

/** A workload's whole life: made, rolled, an instance replaced, scaled to nothing and up, deleted. */
async function live(): Promise<void> {
  await world.run({ name: 'web', replicas: 3 });
  const before = await world.instances('web');
  await world.project.patch(
    Workload,
    { namespace: 'default', name: 'web' },
    {
      type: 'json',
      body: [{ op: 'replace', path: '/spec/template/spec/runtime/sandbox/containers/0/image', value: 'nginx:2' }],
    },
  );
  await world.stack.until('all rolled', async () => {
    const now = await world.instances('web');
    return now.length === 3 && now.every(({ metadata }) => !before.some((each) => each.metadata.uid === metadata.uid));
  });
  await world.ready('web', 3);
  await world.stack.cell(here).delete(Instance, { namespace: world.namespace, name: `web-here-${here}-1` });
  await world.stack.pass(2);
  await world.ready('web', 3);
  for (const replicas of [0, 2]) {
    await world.scale('web', replicas);
    await world.ready('web', replicas);
  }
  await world.project.delete(Workload, { namespace: 'default', name: 'web' });
  await world.stack.until('the workload gone', async () => (await world.workload('web')) === undefined);
}

const byCompute = ({ by }: Sent) => by.startsWith('compute-');

describe('with networking', () => {
  test('compute writes claims in the cell, bindings on the hub, and nothing else of networking', async () => {
    world = await World.open();
    await live();
    const { writes } = world.stack.wire;
    const networking = kindsOf(writes.filter(byCompute)).filter((line) => line.endsWith(' networking'));
    expect(networking).toEqual([
      'cell DELETE networkinterfaceclaims networking',
      'cell PATCH networkinterfaceclaims networking',
      'cell POST networkinterfaceclaims networking',
      'hub POST networkbindings networking',
    ]);
    expect(writes.filter(({ path }) => path.includes('/subnetclaims'))).toEqual([]);
    const bindings = writes.filter(({ path, method }) => path.includes('/networkbindings') && method !== 'PATCH');
    expect(new Set(bindings.map(({ by, plane }) => `${by} ${plane}`))).toEqual(new Set(['compute-hub-federator hub']));
    // One for one deployment, however often its instances changed.
    expect(bindings).toHaveLength(1);
    // Interfaces are network services' in the cell, and copies elsewhere.
    const interfaces = writes.filter(
      ({ path, plane }) => path.includes('/networkinterfaces') && plane.startsWith('cell/'),
    );
    expect([...new Set(interfaces.map(({ by }) => by))].filter((by) => !by.startsWith('network-cell'))).toEqual([]);
  });

  test.each([
    ['none', 9],
    ['fabric', 13],
  ] as const)(
    'an instance that comes up costs few writes, and then nothing is written: data plane %s',
    async (dataPlane, inCell) => {
      world = await World.open({ dataPlane });
      await world.run({ name: 'anchor', replicas: 1 });
      await world.stack.pass(5);
      world.stack.wire.writes.length = 0;
      const count = 40;
      await world.run({ name: 'web', replicas: count });
      await world.stack.pass(5);
      const of = (plane: string) =>
        world.stack.wire.writes.filter(
          (each) => each.plane.startsWith(plane) && !each.path.includes('/ipam.miloapis.com/'),
        );
      const [cell = 0, hub = 0, project = 0] = ['cell/', 'hub', 'project/'].map((plane) => of(plane).length / count);
      const what = JSON.stringify({ cell, hub, project });
      // Besides, what is said of all of them together.
      expect(cell, what).toBeLessThan(inCell + 0.5);
      expect(hub, what).toBeLessThan(4.5);
      expect(project, what).toBeLessThan(4.5);
      for (const { metadata, status } of await world.instances('web')) {
        for (const { type, observedGeneration } of status?.conditions ?? []) {
          expect([type, observedGeneration]).toEqual([type, metadata.generation]);
        }
      }
      world.stack.wire.writes.length = 0;
      await world.stack.pass(60);
      expect(world.stack.wire.writes).toEqual([]);
    },
  );
});

describe('with networking off', () => {
  test('instances run, and compute neither writes nor may read anything of networking', async () => {
    world = await World.open({ networking: false });
    await world.project.create(Workload, workloadObject({ name: 'web', replicas: 2 }));
    await world.stack.until('both run', async () => {
      const items = await world.instances('web');
      return items.length === 2 && items.every((each) => World.readyOf(each) === 'True Available');
    });
    for (const { spec, status } of await world.instances('web')) {
      expect([spec?.controller?.schedulingGates ?? [], status?.networkInterfaces]).toEqual([[], undefined]);
    }
    const written = kindsOf(world.stack.wire.writes.filter(byCompute));
    expect(written).toContain('cell POST instances compute');
    expect(written.filter((line) => line.endsWith(' networking'))).toEqual([]);
    expect((await world.stack.cell(here).list(NetworkInterfaceClaim)).items).toEqual([]);
  });
});
