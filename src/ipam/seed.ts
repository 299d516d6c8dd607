import { IpPrefix } from '../address/index.ts';
import { apiVersion, type ClassSpec, type IPClass, type IPPool, isDefaultClass } from './objects.ts';

/** Range of each root pool of a project. */
export interface SeedRanges {
  ipv6: string;
  ipv4: string;
  public: string;
}

/** The classes a project starts with. */
export function seedClasses(): IPClass[] {
  const of = (name: string, spec: ClassSpec, isDefault = false): IPClass => ({
    apiVersion,
    kind: 'IPClass',
    metadata: { name, ...(isDefault ? { annotations: { [isDefaultClass]: 'true' } } : {}) },
    spec,
  });
  const exactly = (length: number) => ({
    defaultPrefixLength: length,
    allowedPrefixLengths: { min: length, max: length },
  });
  return [
    of('network-ipv6', { ipFamily: 'IPv6', poolPer: ['network'], ...exactly(48) }),
    of('subnet-ipv6', {
      ipFamily: 'IPv6',
      parentClassName: 'network-ipv6',
      poolPer: ['network', 'location'],
      ...exactly(64),
      // The gateway (::1) is in it.
      reservations: { leading: 1, unitPrefixLength: 96 },
    }),
    of('endpoint-ipv6', { ipFamily: 'IPv6', parentClassName: 'subnet-ipv6', ...exactly(96) }, true),
    of('subnet-ipv4', {
      ipFamily: 'IPv4',
      poolPer: ['network', 'location'],
      ...exactly(20),
      // Network address, gateway, one in hand, broadcast.
      reservations: { leading: 2, trailing: 2, unitPrefixLength: 32 },
    }),
    of('endpoint-ipv4', { ipFamily: 'IPv4', parentClassName: 'subnet-ipv4', ...exactly(32) }, true),
    of('public-unicast-ipv4', { ipFamily: 'IPv4', ...exactly(32) }),
  ];
}

/** The root pools that offer those classes. */
export function seedPools(ranges: SeedRanges): IPPool[] {
  const of = (name: string, cidr: string, className: string): IPPool => ({
    apiVersion,
    kind: 'IPPool',
    metadata: { name },
    spec: { cidr, ipFamily: cidr.includes(':') ? 'IPv6' : 'IPv4', classNames: [className] },
  });
  return [
    of('private-ipv6', ranges.ipv6, 'network-ipv6'),
    of('private-ipv4', ranges.ipv4, 'subnet-ipv4'),
    of('public-ipv4', ranges.public, 'public-unicast-ipv4'),
  ];
}

/** How many projects have ranges of their own. */
export const seedableProjects = 65_536;

/** The first so many are spread out, and have what documentation and benchmarks are given; all others lie between them. */
const spreadProjects = 255;

/**
 * Ranges of the project with this index (0 is the first one a platform is started with), distinct for all of them:
 * IPv6 fd20:1000::/36 and on, private IPv4 10.128.0.0/12 and on (shared again after eight projects: private addresses
 * are unique within a project only), public addresses from the ranges for documentation (RFC 5737), then for benchmarks (RFC 2544), then from what is reserved
 * for the future (RFC 1112).
 * @throws RangeError
 */
export function seedRanges(index: number): SeedRanges {
  if (!Number.isInteger(index) || index < 0 || index >= seedableProjects) {
    throw new RangeError(`project number ${index} has no ranges: there are ranges for ${seedableProjects} projects`);
  }
  const [round, place] = [Math.floor(index / spreadProjects), index % spreadProjects];
  const ipv6 = IpPrefix.of(6, (0xfd200000n << 96n) + (BigInt(place + 1) << 108n) + (BigInt(round) << 92n), 36);
  const ipv4 = IpPrefix.of(4, 0x0a800000n + (BigInt(index % 8) << 20n), 12);
  const documentation = ['198.51.100.0/24', '203.0.113.0/24', '192.0.2.0/24'];
  return {
    ipv6: ipv6.toString(),
    ipv4: ipv4.toString(),
    public: documentation[index] ?? publicRange(index),
  };
}

function publicRange(index: number): string {
  const start =
    index < spreadProjects
      ? 0xc6120000n + (BigInt(index - 3) << 8n)
      : 0xf0000000n + (BigInt(index - spreadProjects) << 8n);
  return IpPrefix.of(4, start, 24).toString();
}
