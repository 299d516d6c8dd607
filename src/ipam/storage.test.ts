import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { IpPrefix } from '../address/index.ts';
import type { BackingRequest, ServedResource } from '../apiserver/index.ts';
import { openTestStorage } from '../apiserver/testing/index.ts';
import { VirtualClock } from '../kube/index.ts';
import type { KubeObject } from '../meta/index.ts';
import { createIpam, proceduresUrl, seedClasses, seedPools, seedRanges } from './index.ts';
import { apiVersion, type IPClaim, type Plural } from './objects.ts';
import { refusalOf, scopeOf } from './testing.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ipam-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function open() {
  const clock = new VirtualClock();
  const storage = await openTestStorage({ file: join(folder, 'db'), clock, procedures: [proceduresUrl] });
  const ipam = createIpam({ storage, clock, log: { error: () => {} }, defaultRestSeconds: 60 });
  const request = (plural: Plural, dryRun: boolean): BackingRequest => ({
    plane: 'project/alpha',
    project: 'alpha',
    resource: { plural } as ServedResource,
    subresource: '',
    identity: { user: 'test', groups: [], extra: {} },
    dryRun,
    storage,
    now: clock.now(),
  });
  const backing = (plural: Plural) => ipam.backings.find((each) => each.plural === plural)!.backing;
  return {
    storage,
    create: async <T extends KubeObject>(plural: Plural, object: T, dryRun = false) => {
      const metadata = { ...object.metadata, uid: `uid-of-${object.metadata.name}` };
      return (await backing(plural).create(request(plural, dryRun), { ...object, metadata })) as T;
    },
    delete: (plural: Plural, object: KubeObject) => backing(plural).delete(request(plural, false), object),
    list: async <T>(plural: Plural) => {
      const page = await storage.list({ plane: 'project/alpha', resource: `ipam.miloapis.com/${plural}` });
      return page.records.map((record) => JSON.parse(Buffer.from(record.value).toString()) as T);
    },
  };
}

const claim = (name: string, family: 'IPv4' | 'IPv6' = 'IPv6'): IPClaim => ({
  apiVersion,
  kind: 'IPClaim',
  metadata: { name, namespace: 'default' },
  spec: { ipFamily: family, scope: scopeOf('net') },
});

test('in the real store a hundred claims at once get distinct blocks, and a new process goes on from there', async () => {
  let server = await open();
  for (const each of seedClasses()) await server.create('ipclasses', each);
  for (const each of seedPools(seedRanges(0))) await server.create('ippools', each);
  const claims = await Promise.all(Array.from({ length: 100 }, (_, n) => server.create('ipclaims', claim(`c-${n}`))));
  const blocks = new Set(claims.map((each) => each.status?.allocatedCIDR));
  expect(blocks.size).toBe(100);
  const stored = await server.list<IPClaim>('ipclaims');
  expect(new Map(stored.map((each) => [each.metadata.name, each]))).toEqual(
    new Map(claims.map((each) => [each.metadata.name, each])),
  );

  const before = { revision: server.storage.revision, pools: await server.list('ippools') };
  const dry = await server.create('ipclaims', claim('v4', 'IPv4'), true);
  expect(dry.status?.allocatedCIDR).toBe('10.128.0.2/32');
  const refused = await refusalOf(server.create('ipclaims', { ...claim('none'), spec: { className: 'nope' } }));
  expect(refused).toMatchObject({
    code: 400,
    details: { causes: [{ reason: 'ClassNotFound' }, { reason: 'DependsOn' }] },
  });
  expect(await server.list('ippools')).toEqual(before.pools);
  expect(await server.list('ipclaims')).toHaveLength(100);

  await server.delete('ipclaims', claims[0]!);
  await server.storage.close();
  server = await open();
  expect(await server.list('ipclaims')).toHaveLength(99);
  const next = await server.create('ipclaims', claim('next'));
  // What was released rests: nobody else has it yet.
  expect(blocks.has(next.status?.allocatedCIDR)).toBe(false);
  await server.storage.close();
});

test('a file of an older version, with columns and indexes of its own, is opened, and goes on', async () => {
  let server = await open();
  for (const each of seedClasses()) await server.create('ipclasses', each);
  for (const each of seedPools(seedRanges(0))) await server.create('ippools', each);
  const before = await server.create('ipclaims', claim('before'));
  await server.storage.close();
  const database = new DatabaseSync(join(folder, 'db'));
  database.exec(`ALTER TABLE ipam_space ADD COLUMN heads TEXT NOT NULL DEFAULT '{}';
    CREATE UNIQUE INDEX ipam_block_name ON ipam_block (plane, namespace, name) WHERE name IS NOT NULL`);
  database.close();
  server = await open();
  const [next, other] = [
    await server.create('ipclaims', claim('next')),
    await server.create('ipclaims', claim('other', 'IPv4')),
  ];
  expect(IpPrefix.parse(next.status!.allocatedCIDR!)).toEqual(IpPrefix.parse(before.status!.allocatedCIDR!).next());
  expect(other.status?.phase).toBe('Bound');
  await server.storage.close();
  const after = new DatabaseSync(join(folder, 'db'));
  const columns = after.prepare(`SELECT name FROM pragma_table_info('ipam_space')`).all();
  const indexes = after.prepare(`SELECT name FROM sqlite_schema WHERE name = 'ipam_block_name'`).all();
  after.close();
  expect(indexes).toEqual([]);
  expect(columns.map((column) => column.name)).toEqual(['id', 'plane', 'pool', 'digest', 'used', 'live', 'stale']);
});
