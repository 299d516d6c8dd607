import { expect, test } from 'vitest';
import { IpPrefix } from '../../address/index.ts';
import {
  advertisementName,
  attachmentIdentifier,
  formatIdentifier,
  fromBase62,
  fromHex,
  guestDevice,
  hostDevice,
  namePart,
  nodePrefix,
  nodeSegment,
  parseAdvertisementName,
  parseIdentifier,
  parseSegment,
  routeDistinguisher,
  routeTarget,
  shardSegment,
  tenantId,
  toHex,
  vpcIdentifier,
  vrfDevice,
  vrfInstanceName,
} from './index.ts';

/** The worked examples of the fabric's contract: node software elsewhere computes the same texts. */

const vpcs: [id: number, hex: string, base62: string, inNames: string, vrf: string, target: string][] = [
  [1, '000000000001', '1', '1', 'G000000001V', '65010:1'],
  [10, '00000000000a', 'a', 'a', 'G00000000aV', '65010:10'],
  [36, '000000000024', 'A', '24', 'G00000000AV', '65010:36'],
  [42, '00000000002a', 'G', '2a', 'G00000000GV', '65010:42'],
  [61, '00000000003d', 'Z', '3d', 'G00000000ZV', '65010:61'],
  [62, '00000000003e', '10', '3e', 'G000000010V', '65010:62'],
  [28200, '000000006e28', '7kQ', '6e28', 'G0000007kQV', '65010:28200'],
  [999999999, '00003b9ac9ff', '15FTGf', '3b9ac9ff', 'G00015FTGfV', '65010:999999999'],
  [1000000000, '00003b9aca00', '15FTGg', '3b9aca00', 'G00015FTGgV', '65010:1000000000'],
  [4294967295, '0000ffffffff', '4GFfc3', 'ffffffff', 'G0004GFfc3V', '65010:4294967295'],
  [4294967296, '000100000000', '4GFfc4', '100000000', 'G0004GFfc4V', '65010:0'],
  [136610189600171, '7c3f09d2e5ab', 'CN68xCxt', '7c3f09d2e5ab', 'G0CN68xCxtV', '65010:164816299'],
  [281474976710654, 'fffffffffffe', '1hVwxnaA6', 'fffffffffffe', 'G1hVwxnaA6V', '65010:4294967294'],
];

test.each(vpcs)('VPC %d', (id, hex, base62, inNames, vrf, target) => {
  expect(toHex(vpcIdentifier, id)).toBe(hex);
  expect(fromHex(vpcIdentifier, hex)).toBe(id);
  expect(formatIdentifier(vpcIdentifier, id)).toBe(base62);
  expect(parseIdentifier(vpcIdentifier, base62)).toBe(id);
  expect(namePart(vpcIdentifier, base62)).toBe(inNames);
  expect(vrfDevice(id)).toBe(vrf);
  expect(routeTarget(65010, id)).toBe(target);
});

const attachments: [id: number, hex: string, base62: string, inDevice: string, inNames: string][] = [
  [1, '0001', '1', '001', '1'],
  [36, '0024', 'A', '00A', '24'],
  [62, '003e', '10', '010', '3e'],
  [73, '0049', '1b', '01b', '49'],
  [657, '0291', 'aB', '0aB', '291'],
  [2243, '08c3', 'Ab', '0Ab', '8c3'],
  [3843, '0f03', 'ZZ', '0ZZ', 'f03'],
  [3844, '0f04', '100', '100', 'f04'],
  [4660, '1234', '1da', '1da', '1234'],
  [65534, 'fffe', 'h30', 'h30', 'fffe'],
];

test.each(attachments)('attachment %d', (id, hex, base62, inDevice, inNames) => {
  expect(toHex(attachmentIdentifier, id)).toBe(hex);
  expect(formatIdentifier(attachmentIdentifier, id)).toBe(base62);
  expect(parseIdentifier(attachmentIdentifier, base62)).toBe(id);
  expect(hostDevice({ vpc: 1, attachment: id })).toBe(`G000000001${inDevice}H`);
  expect(namePart(attachmentIdentifier, base62)).toBe(inNames);
});

const pairs: [vpc: string, attachment: string, device: string, vrf: string, advertisement: string, tenant: string][] = [
  ['1', '1', 'G000000001001', '1-node-a', '1-1-node-a', '1-1'],
  ['G', '10', 'G00000000G010', '2a-node-a', '2a-3e-node-a', 'G-10'],
  ['7kQ', '1b', 'G0000007kQ01b', '6e28-node-a', '6e28-49-node-a', '7kQ-1b'],
  ['Zz0Aa', 'aB', 'G0000Zz0Aa0aB', '3638ec7a-node-a', '3638ec7a-291-node-a', 'Zz0Aa-aB'],
  ['CN68xCxt', '1da', 'G0CN68xCxt1da', '7c3f09d2e5ab-node-a', '7c3f09d2e5ab-1234-node-a', 'CN68xCxt-1da'],
  ['1hVwxnaA6', 'h30', 'G1hVwxnaA6h30', 'fffffffffffe-node-a', 'fffffffffffe-fffe-node-a', '1hVwxnaA6-h30'],
];

test.each(pairs)('names of VPC %s, attachment %s on node-a', (vpc, attachment, device, vrf, advertisement, tenant) => {
  const ids = {
    vpc: parseIdentifier(vpcIdentifier, vpc)!,
    attachment: parseIdentifier(attachmentIdentifier, attachment)!,
  };
  expect(hostDevice(ids)).toBe(`${device}H`);
  expect(guestDevice(ids)).toBe(`${device}G`);
  expect(vrfInstanceName(vpc, 'node-a')).toBe(vrf);
  expect(advertisementName(vpc, attachment, 'node-a')).toBe(advertisement);
  expect(parseAdvertisementName(advertisement)).toEqual(ids);
  expect(parseAdvertisementName(advertisement.replace('-node-a', ''))).toEqual(ids);
  expect(tenantId(ids)).toBe(tenant);
});

const block = IpPrefix.parse('2001:db8:ff01::/48');

test.each([
  [1, 1, '2001:db8:ff01:1:e001::', '2001:db8:ff01:1::/64'],
  [1, 42, '2001:db8:ff01:1:e02a::', '2001:db8:ff01:1::/64'],
  [254, 4095, '2001:db8:ff01:fe:efff::', '2001:db8:ff01:fe::/64'],
  [0xa001, 42, '2001:db8:ff01:a001:e02a::', '2001:db8:ff01:a001::/64'],
  [0xdfff, 4095, '2001:db8:ff01:dfff:efff::', '2001:db8:ff01:dfff::/64'],
])('segment of node %d, argument %d', (node, argument, segment, prefix) => {
  expect(`${nodeSegment({ block, node, argument })}`).toBe(segment);
  expect(`${nodePrefix({ block, node })}`).toBe(prefix);
});

test('a shard\u2019s own segment may carry argument 0, a node\u2019s may not', () => {
  const segment = shardSegment({ block, node: 0xa001, argument: 0 });
  expect(`${segment}`).toBe('2001:db8:ff01:a001:e000::');
  expect(parseSegment(segment)).toEqual({ block, node: 0xa001, argument: 0 });
  expect(() => nodeSegment({ block, node: 0xa001, argument: 0 })).toThrow('argument 0 is not within 1 to 4095');
});

test('route distinguishers', () => {
  expect(routeDistinguisher('192.0.2.7', 42)).toBe('192.0.2.7:42');
  expect(routeDistinguisher('192.0.2.7')).toBe('192.0.2.7:0');
});

test('a part that is no identifier is hashed into a name', () => {
  expect(namePart(vpcIdentifier, 'my-vpc')).toBe('x2a782ed0b0dc');
  expect(namePart(vpcIdentifier, '7k_Q')).toBe('x8731442b807c');
});

test('leading zeros say nothing: G and 000000G are one identifier; case does', () => {
  expect(fromBase62('000000G')).toBe(42);
  expect(fromBase62('g')).toBe(16);
});
