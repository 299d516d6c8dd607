import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Client } from '../../src/kube/index.ts';
import type { KubeObject, ResourceType } from '../../src/meta/index.ts';
import { berth } from '../harness/process.ts';
import { networkObject } from './support/objects.ts';
import { Running, start, useFolder } from './support/platform.ts';
import { Tenant } from './support/tenant.ts';

const folder = useFolder();

interface ConfigMap extends KubeObject {
  data: { count: string };
}
const ConfigMap: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

/** Writes one object after another until told to stop; says how many are acknowledged. */
function keepWriting(client: Client): { acknowledged(): number; stop(): Promise<void> } {
  let count = 0;
  let stopped = false;
  const work = (async () => {
    for (let next = 0; !stopped; next++) {
      await client.create(ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `n-${next}`, namespace: 'default' },
        data: { count: String(next) },
      });
      count = next + 1;
    }
  })();
  return {
    acknowledged: () => count,
    async stop() {
      stopped = true;
      await work;
    },
  };
}

/** Scales a workload up and down until told to stop. */
function keepScaling(tenant: Tenant, name: string): { stop(): Promise<void> } {
  let stopped = false;
  const work = (async () => {
    for (let replicas = 1; !stopped; replicas = (replicas % 6) + 1) await tenant.scale(name, replicas);
  })();
  return {
    async stop() {
      stopped = true;
      await work;
    },
  };
}

test('a platform started from a backup taken under load has everything acknowledged before it, and IPAM agrees', async () => {
  const running = await start(join(folder.path, 'data'));
  const tenant = new Tenant(running);
  const before = await tenant.run({ name: 'web', replicas: 4 }, networkObject('default'));
  await tenant.run({ name: 'busy', replicas: 2 });
  const writing = keepWriting(running.project());
  const scaling = keepScaling(tenant, 'busy');
  await running.session.until('a load', async () => writing.acknowledged() > 100 || 'it has only begun');

  const acknowledged = writing.acknowledged();
  const file = join(folder.path, 'backup');
  const said = await berth('backup', file, '--data-dir', join(folder.path, 'data'));
  expect(said).toMatchObject({ code: 0, stderr: '' });
  expect(said.stdout).toMatch(/^\S+\/data is backed up in \S+\/backup \(\d+\.\d MiB\)\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await scaling.stop();
  await writing.stop();
  expect(writing.acknowledged(), 'the load went on while the copy was made').toBeGreaterThan(acknowledged);
  await running.interrupt();

  await mkdir(join(folder.path, 'restored'));
  await copyFile(file, join(folder.path, 'restored', 'berth.db'));
  const restored = await start(join(folder.path, 'restored'));
  const { items } = await restored.project().list(ConfigMap, { namespace: 'default' });
  const counts = items.map(({ data }) => Number(data?.count)).sort((a, b) => a - b);
  expect(counts.length).toBeGreaterThanOrEqual(acknowledged);
  // One writer, one after the other: a state of one moment has no gaps.
  expect(counts).toEqual(counts.map((_, index) => index));
  const again = new Tenant(restored);
  await again.scale('busy', 3);
  await again.ready('busy', 3);
  expect(await again.ready('web', 4)).toEqual(before);

  // Who had a kubeconfig of the first still has one: authority and tokens came along.
  const old = new Running({ ...running.process, kubeconfig: await moved(running, restored) });
  expect((await old.project().list(ConfigMap, { namespace: 'default' })).items).toHaveLength(counts.length);
  await old.session.close();
  await restored.interrupt();
});

/** The kubeconfig of `from`, with the address of `to`, where it runs on now. */
async function moved(from: Running, to: Running): Promise<string> {
  const text = await readFile(from.process.kubeconfig, 'utf8');
  const file = join(folder.path, 'moved');
  await writeFile(file, text.replaceAll(from.process.url, to.process.url));
  return file;
}

test('a backup overwrites nothing, and says in one sentence what is wrong', async () => {
  const there = join(folder.path, 'there');
  await writeFile(there, 'precious');
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await berth('backup', ...args);
    expect([code, stdout]).toEqual([1, '']);
    return stderr;
  };
  expect(await refused(there, '--data-dir', join(folder.path, 'data'))).toBe(
    `berth: ${there} exists already: choose a new file for the backup\n`,
  );
  expect(await refused(join(folder.path, 'none', 'x'), '--data-dir', join(folder.path, 'data'))).toBe(
    `berth: the folder ${folder.path}/none does not exist: create it, or choose another place for the backup\n`,
  );
  expect(await refused(join(folder.path, 'x'), '--data-dir', folder.path)).toBe(
    `berth: there is no database ${folder.path}/berth.db: name the folder of the platform to back up\n`,
  );
  await mkdir(join(folder.path, 'damaged'));
  await writeFile(join(folder.path, 'damaged', 'berth.db'), 'not a database, for sixteen bytes and more');
  expect(await refused(join(folder.path, 'y'), '--data-dir', join(folder.path, 'damaged'))).toBe(
    `berth: ${folder.path}/damaged/berth.db is damaged (file is not a database): put a backup in its place, or move it away to start empty\n`,
  );
});
