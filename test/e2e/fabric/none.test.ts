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
} from '../../../src/api/index.ts';
import { ready } from '../../../src/cli/index.ts';
import { ClusterRole, type Condition, type ResourceType } from '../../../src/meta/index.ts';
import { examples, locations, usePlatform } from '../support/platform.ts';

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
