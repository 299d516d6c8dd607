import { beforeAll, expect, test } from 'vitest';
import { NetworkInterface } from '../../src/api/index.ts';
import { conflists, followEverything, type Scene } from './fabric/egress.ts';
import { networkObject } from './support/objects.ts';
import { usePlatform } from './support/platform.ts';
import { type Holdings, Tenant } from './support/tenant.ts';

/** The platform as `npm start` runs it, over its port, with the credentials of its kubeconfig. */

const running = usePlatform();

let tenant: Tenant;
let scene: Scene;
let held: Holdings;

beforeAll(async () => {
  tenant = new Tenant(running());
  held = await tenant.run({ name: 'web', replicas: 20 }, networkObject('default'));
  const { hub, session } = running();
  scene = {
    hub,
    cell: running().cell(),
    project: running().project(),
    namespace: await running().hubNamespace(),
    async within(what, look) {
      await session.until(what, async () => (await look()) ?? true);
    },
  };
});

test('an instance starts once its attachment is there, and the node\u2019s part is not claimed', async () => {
  const names = Object.keys(held.interfaces);
  expect(Object.keys(await conflists(scene)).sort()).toEqual(names.sort());
  for (const name of names) {
    const found = await scene.cell.get(NetworkInterface, { namespace: scene.namespace, name });
    expect(found?.status?.attachmentRef).toEqual({ apiGroup: 'cloud.datumapis.com', kind: 'VPCAttachment', name });
    const conditions = found?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
    expect(conditions?.sort()).toEqual([
      'Allocated=True Allocated',
      'Prepared=True AttachmentReady',
      'Programmed=Unknown AwaitingDataPlane',
    ]);
  }
});

test('20 running instances are given a way out, follow all that it depends on, and end as they began', async () => {
  await followEverything(scene, 'default');
  expect(await tenant.ready('web', 20)).toEqual(held);
});
