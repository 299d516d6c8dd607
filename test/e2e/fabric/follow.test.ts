import { afterEach, expect, it } from 'vitest';
import { VPCAttachment, Workload } from '../../../src/api/index.ts';
import { apiVersionOf, findCondition } from '../../../src/meta/index.ts';
import { World } from '../compute/world.ts';
import { workloadObject } from '../support/objects.ts';
import { conflists, followEverything, type Scene } from './egress.ts';

let world: World;
afterEach(() => world.stack.close());

function sceneOf({ stack, project, namespace }: World, seconds: number): Scene {
  return {
    hub: stack.hub,
    cell: stack.cell(),
    project,
    namespace,
    async within(what, look) {
      let objection: string | undefined;
      const done = async () => {
        objection = await look();
        return objection === undefined;
      };
      await stack.until(what, done, seconds).catch((error) => {
        throw new Error(`${error.message}: ${objection}`);
      });
    },
  };
}

it('20 running instances follow everything their way out depends on, within a second of virtual time', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  const held = await world.run({ name: 'web', replicas: 20 });
  const scene = sceneOf(world, 1);
  expect(Object.keys(await conflists(scene))).toHaveLength(20);
  await followEverything(scene, 'default');
  // Nobody was disturbed, and nobody has anything left to do.
  expect(await world.ready('web', 20)).toEqual(held);
  await world.stack.pass(5);
  world.stack.wire.writes.splice(0);
  await world.stack.restart();
  await world.stack.pass(5);
  expect(world.stack.wire.writes).toEqual([]);
  // The new process is at work all the same.
  await world.scale('web', 21);
  await world.ready('web', 21);
  expect(Object.keys(await conflists(scene))).toHaveLength(21);
});

it('with caches that are late all attachments come to the same', async () => {
  world = await World.open({ dataPlane: 'fabric', lag: 5, seed: 11 });
  await world.run({ name: 'web', replicas: 5 });
  const scene = sceneOf(world, 30);
  await scene.within('attachments', async () => {
    const count = Object.keys(await conflists(scene)).length;
    return count === 5 ? undefined : `${count}`;
  });
  await followEverything(scene, 'default');
});

it('an instance whose interface can not be attached says why, and starts once it can', async () => {
  world = await World.open({ dataPlane: 'fabric' });
  const { stack, namespace } = world;
  await world.run({ name: 'first', replicas: 1 });
  const metadata = { name: 'web-here-us-central-1-0-eth0', namespace };
  const spec = {
    vpc: { name: 'somebody' },
    interfaceRef: { name: 'else' },
    interface: { name: 'eth0', mode: 'Netns' },
  } as const;
  await stack
    .cell()
    .create(VPCAttachment, { apiVersion: apiVersionOf(VPCAttachment), kind: VPCAttachment.kind, metadata, spec });
  await world.project.create(Workload, workloadObject({ name: 'web', replicas: 2 }));
  await stack.until('the reason on the instance', async () => {
    const instances = await world.instances('web');
    return instances.map(World.readyOf).sort().join() === 'False AttachmentNameTaken,True Available';
  });
  const ready = await stack.until('the reason on the workload', async () => {
    const workload = await world.workload('web');
    const condition = findCondition(workload?.status?.conditions, 'ReplicasReady');
    return condition?.message.includes('AttachmentNameTaken') && condition;
  });
  expect(ready).toMatchObject({
    status: 'False',
    message: expect.stringContaining(
      '1 of 2 instances wait: AttachmentNameTaken: VPCAttachment web-here-us-central-1-0-eth0 belongs to something else',
    ),
  });
  await stack.cell().delete(VPCAttachment, metadata);
  await world.ready('web', 2);
});
