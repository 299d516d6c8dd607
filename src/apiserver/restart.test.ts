import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeList, KubeObject } from '../meta/index.ts';
import { base, startServer, widget, widgets } from './testing/fixture.ts';
import { openTestStorage } from './testing/storage.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-restart-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function start() {
  const storage = await openTestStorage({ file: join(folder, 'state.db') });
  return startServer({ storage });
}

it('has everything after a restart, writes nothing for it, and a watch goes on where it was', async () => {
  const first = await start();
  const made = (await first.send('POST', widgets, widget('kept'))).body;
  await first.send('POST', widgets, widget('next'));
  const before = (await first.send<KubeList<KubeObject>>('GET', widgets)).body;
  await first.close();

  const second = await start();
  const after = (await second.send<KubeList<KubeObject>>('GET', widgets)).body;
  expect(after).toEqual(before);
  const log = await second.watch(`${widgets}?watch=true&resourceVersion=${made.metadata.resourceVersion}`);
  expect((await log.until(1))[0]!.object.metadata.name).toBe('next');
  log.close();
  await second.close();
});

it('goes on taking a deleted CRD away after a restart', async () => {
  const first = await start();
  const crd = `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gears.test.io`;
  await first.send('POST', crd.slice(0, crd.lastIndexOf('/')), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.test.io' },
    spec: {
      group: 'test.io',
      scope: 'Cluster',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const gears = `${base}/apis/test.io/v1/gears`;
  const gear = { apiVersion: 'test.io/v1', kind: 'Gear', metadata: { name: 'g', finalizers: ['a.b/c'] } };
  await first.send('POST', gears, gear);
  await first.send('DELETE', crd);
  await first.close();

  const second = await start();
  await second.send('PATCH', `${gears}/g`, { metadata: { finalizers: null } }, 'application/merge-patch+json');
  await expect.poll(async () => (await second.send('GET', crd)).status).toBe(404);
  await second.close();
});
