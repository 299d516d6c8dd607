import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  EgressShard,
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkFabricIdentity,
  NetworkInterface,
  NetworkInterfaceClaim,
  VPC,
  VPCAttachment,
} from '../../src/api/index.ts';
import { ready } from '../../src/cli/index.ts';
import { ClusterRole, type Condition, isConditionTrue, type ResourceType } from '../../src/meta/index.ts';
import { networkObject } from './support/objects.ts';
import { examples, locations, start, useFolder, usePlatform, writeConfig } from './support/platform.ts';
import { Tenant } from './support/tenant.ts';

/** Cells without a data plane: instances run as soon as their addresses exist, and the fabric is not there. */

const running = usePlatform({ dataPlane: 'none' });

beforeAll(async () => {
  await running().session.apply('project-alpha', join(examples, 'workload.yaml'));
  await ready(running().session, running().project(), 'web', 4);
});

const said = (conditions: readonly Condition[] | undefined) =>
  (conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort();

describe('dataPlane: none', () => {
  test.each(locations)(
    'nothing of the fabric is written in %s, and nobody says that an interface is prepared',
    async (location) => {
      const cell = running().cell(location);
      for (const kind of [VPC, VPCAttachment, NetworkAttachmentDefinition, EgressShard] as ResourceType[]) {
        expect((await cell.list(kind)).items, kind.kind).toEqual([]);
      }
      for (const { status } of (await cell.list(NetworkInterface)).items) {
        expect(said(status?.conditions)).toEqual([
          'Allocated=True Allocated',
          'Prepared=Unknown Pending',
          'Programmed=Unknown Pending',
        ]);
      }
      for (const { status } of (await cell.list(NetworkInterfaceClaim)).items) {
        expect(said(status?.conditions)).toContain('Ready=Unknown NotPrepared');
      }
      const contexts = (await cell.list(NetworkContext)).items;
      expect(contexts).toHaveLength(1);
      expect(Object.keys(contexts[0]?.spec ?? {}).sort()).toEqual([
        'ipFamilies',
        'location',
        'mtu',
        'network',
        'networkGeneration',
      ]);
    },
  );

  test('no network has a number', async () => {
    expect((await running().hub.list(NetworkFabricIdentity)).items).toEqual([]);
  });

  test('no controller may read or write anything of it', async () => {
    const planes = [running().hub, running().project(), ...locations.map((location) => running().cell(location))];
    for (const plane of planes) {
      const { items } = await plane.list(ClusterRole);
      // What people may do is another matter: the kinds are served.
      const ours = items.filter(({ metadata }) => /^berth:(?!aggregate-)/.test(metadata.name));
      expect(ours.length).toBeGreaterThan(0);
      expect(ours.map(({ metadata }) => metadata.name).filter((name) => name.includes('fabric'))).toEqual([]);
      const readable = ours.flatMap(({ metadata, rules }) =>
        (rules ?? []).flatMap(({ apiGroups = [], resources = [] }) =>
          apiGroups.flatMap((group) => resources.map((resource) => `${metadata.name}: ${resource}.${group}`)),
        ),
      );
      const ofFabric =
        /(cloud\.datumapis\.com|k8s\.cni\.cncf\.io|\.network\.datumapis\.com|internetegressclasses\..*)$/;
      expect(readable.filter((each) => ofFabric.test(each))).toEqual([]);
    }
  });
});

describe('a platform that is started with another data plane', () => {
  const folder = useFolder();

  test('goes on with what runs: prepared from then on, or no longer asked to be', async () => {
    const data = join(folder.path, 'data');
    const none = await writeConfig(folder.path, { dataPlane: 'none' });
    let platform = await start(data, '--config', none);
    let tenant = new Tenant(platform);
    const held = await tenant.run({ name: 'web', replicas: 3 }, networkObject('default'));
    await platform.interrupt();

    platform = await start(data);
    tenant = new Tenant(platform);
    for (const name of Object.keys(held.interfaces)) {
      await platform.session.until(`${name} prepared`, async () => {
        const found = await tenant.interfaceOf(name);
        return isConditionTrue(found?.status?.conditions, 'Prepared') ? true : JSON.stringify(found?.status);
      });
    }
    expect(await tenant.ready('web', 3)).toEqual(held);
    const vpcs = (await tenant.cell.list(VPC)).items;
    expect(vpcs.map(({ status }) => status?.vpc)).toEqual(['1']);
    await platform.interrupt();

    platform = await start(data, '--config', none);
    tenant = new Tenant(platform);
    await tenant.scale('web', 4);
    expect((await tenant.ready('web', 4)).instances).toMatchObject(held.instances);
    expect((await tenant.cell.list(NetworkAttachmentDefinition)).items).toHaveLength(3);
    expect((await tenant.cell.list(VPC)).items).toEqual(vpcs);
    await platform.interrupt();
  });
});
