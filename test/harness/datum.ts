import { IPClass, IPPool } from '../../src/api/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { apiVersionOf } from '../../src/meta/index.ts';

/** Reference B.4: the classes and pools that the scenarios of section E run with. */

/** The classes of a project: networks of /48, subnets of /64 whose first /96 is kept back, and single addresses. */
function classes(): IPClass[] {
  const isDefault = { 'ipam.miloapis.com/is-default-class': 'true' };
  const of = (name: string, spec: NonNullable<IPClass['spec']>, annotations: Record<string, string> = {}): IPClass => ({
    apiVersion: apiVersionOf(IPClass),
    kind: IPClass.kind,
    metadata: { name, annotations },
    spec,
  });
  return [
    of('datum-network-v6', { ipFamily: 'IPv6', poolPer: ['network'], defaultPrefixLength: 48 }),
    of('datum-subnet-v6', {
      ipFamily: 'IPv6',
      parentClassName: 'datum-network-v6',
      poolPer: ['network', 'location'],
      defaultPrefixLength: 64,
      reservations: { leading: 1, unitPrefixLength: 96 },
    }),
    of(
      'datum-endpoint-v6',
      { ipFamily: 'IPv6', parentClassName: 'datum-subnet-v6', defaultPrefixLength: 96 },
      isDefault,
    ),
    of('datum-endpoint-v4', { ipFamily: 'IPv4', defaultPrefixLength: 32 }, isDefault),
    of('datum-public-v4', { ipFamily: 'IPv4', defaultPrefixLength: 32 }),
  ];
}

/** Root ranges of each project. */
const ranges = {
  'project-alpha': { v6: 'fd20:1000::/36', v4: '10.128.0.0/16', public: '198.51.100.0/24' },
  'project-beta': { v6: 'fd20:2000::/36', v4: '10.129.0.0/16', public: '203.0.113.0/24' },
  single: { v6: 'fd20:3000::/36', v4: '10.130.0.0/16', public: '192.0.2.0/24' },
} as const;

export type DatumProject = keyof typeof ranges;

export function isDatumProject(id: string): id is DatumProject {
  return Object.hasOwn(ranges, id);
}

/** A pool with a range of its own. */
export function rootPool(name: string, cidr: string, className: string): IPPool {
  const ipFamily = cidr.includes(':') ? 'IPv6' : 'IPv4';
  return {
    apiVersion: apiVersionOf(IPPool),
    kind: IPPool.kind,
    metadata: { name },
    spec: { cidr, ipFamily, classNames: [className] },
  };
}

/** Writes a project's classes and pools into it. */
export async function seedDatum(project: Client, id: DatumProject): Promise<void> {
  for (const each of classes()) await project.create(IPClass, each);
  const { v6, v4, public: external } = ranges[id];
  await project.create(IPPool, rootPool('v6', v6, 'datum-network-v6'));
  await project.create(IPPool, rootPool('v4', v4, 'datum-endpoint-v4'));
  await project.create(IPPool, rootPool('public', external, 'datum-public-v4'));
}
