import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpAddress, IpPrefix } from '../../address/index.ts';
import {
  advertisementName,
  attachmentIdentifier,
  formatIdentifier,
  fromBase62,
  fromHex,
  hostDevice,
  parseAdvertisementName,
  parseAttachmentDevice,
  parseIdentifier,
  parseRouteTarget,
  parseSegment,
  parseTenantId,
  parseVrfDevice,
  parseVrfInstanceName,
  routeDistinguisher,
  routeTarget,
  shardSegment,
  toBase62,
  toHex,
  vpcIdentifier,
  vrfDevice,
  vrfInstanceName,
} from './index.ts';
import { block, faults, objectName, randomFaults } from './testing.ts';

test('random identifiers come back from every text they are written as, all of them legal', () => {
  expect(randomFaults(20_000)).toEqual([]);
});

test('the ends of every range', () => {
  for (const vpc of [1, 61, 62, 2 ** 32 - 1, 2 ** 32, vpcIdentifier.largest]) {
    for (const attachment of [1, 61, 62, 3843, 3844, attachmentIdentifier.largest]) {
      for (const node of [1, 0xdfff]) expect(faults(vpc, attachment, node, 0xfff)).toEqual([]);
    }
  }
});

test.each([0, 2 ** 48 - 1, 2 ** 48, -1, 1.5, Number.NaN])('%d is no VPC: nothing is made of it', (vpc) => {
  for (const make of [
    () => formatIdentifier(vpcIdentifier, vpc),
    () => toHex(vpcIdentifier, vpc),
    () => hostDevice({ vpc, attachment: 1 }),
    () => vrfDevice(vpc),
    () => routeTarget(65010, vpc),
  ]) {
    expect(make).toThrow(RangeError);
  }
});

test.each([0, 65535, 65536])('%d is no attachment', (attachment) => {
  expect(() => hostDevice({ vpc: 1, attachment })).toThrow('is not an identifier: 1 to 65534 are');
  expect(() => toHex(attachmentIdentifier, attachment)).toThrow(RangeError);
});

test('texts that stand for nothing are told apart from those that do', () => {
  for (const text of ['', '0', '-', 'a b', 'ü', '1hVwxnaA7', '1hVwxnaA8', 'ZZZZZZZZZZ', 'z'.repeat(300)]) {
    expect(parseIdentifier(vpcIdentifier, text), text).toBeUndefined();
  }
  for (const text of ['h31', 'h32', 'ZZZ']) expect(parseIdentifier(attachmentIdentifier, text), text).toBeUndefined();
  for (const text of ['', '0', 'ffffffffffff', '1000000000000', 'A', 'g']) {
    expect(fromHex(vpcIdentifier, text), text).toBeUndefined();
  }
  for (const name of [
    'eth0',
    'G0000000010001',
    'G000000000001H',
    'G000000001001X',
    'G0000000010010H',
    'H000000001001H',
  ]) {
    expect(parseAttachmentDevice(name), name).toBeUndefined();
  }
  for (const name of ['G000000000V', 'G0000000001V', 'vrf0']) expect(parseVrfDevice(name), name).toBeUndefined();
  for (const name of ['', '2a', 'node-a', 'x2a782ed0b0dc-1-n'])
    expect(parseAdvertisementName(name), name).toBeUndefined();
  for (const name of ['', '2a', 'x2a782ed0b0dc-n']) expect(parseVrfInstanceName(name), name).toBeUndefined();
  for (const text of ['', '1', '1-', '-1', '1-h31', '1-1-1']) expect(parseTenantId(text), text).toBeUndefined();
  for (const text of ['', '1', '0:1', '01:1', '65010:4294967296', '65536:65536']) {
    expect(parseRouteTarget(text), text).toBeUndefined();
  }
});

test('a route target that needs more than its eight bytes is refused', () => {
  expect(routeTarget(65535, 4294967295)).toBe('65535:4294967295');
  expect(routeTarget(4200000000, 65535)).toBe('4200000000:65535');
  expect(() => routeTarget(4200000000, 65536)).toThrow(
    'a route target can not hold both ASN 4200000000 and number 65536',
  );
  expect(() => routeTarget(0, 1)).toThrow(RangeError);
  expect(() => routeDistinguisher('192.0.2.7', 65536)).toThrow(RangeError);
});

test('a segment keeps to its layout', () => {
  const wrong: [object, string][] = [
    [{ node: 0 }, 'node 0 is not within 1 to 57343'],
    [{ node: 0xe000 }, 'node 57344 is not within'],
    [{ argument: 0x1000 }, 'argument 4096 is not within'],
    [{ block: IpPrefix.parse('2001:db8::/32') }, 'locator 2001:db8::/32 is not an IPv6 /48'],
    [{ block: IpPrefix.parse('10.0.0.0/8') }, 'is not an IPv6 /48'],
  ];
  for (const [part, message] of wrong) {
    expect(() => shardSegment({ block, node: 1, argument: 1, ...part })).toThrow(message);
  }
  for (const text of [
    '10.0.0.1',
    '2001:db8:ff01:1:f001::',
    '2001:db8:ff01:1:e001::1',
    '2001:db8:ff01:0:e001::',
    '::',
  ]) {
    expect(parseSegment(IpAddress.parse(text)), text).toBeUndefined();
  }
});

test('names stay legal however long the node\u2019s is, and whatever stands for a VPC', () => {
  const node = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,250}[a-z0-9])?$/);
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), node, (vpc, attachment, name) => {
      expect(vrfInstanceName(vpc, name)).toMatch(objectName);
      expect(advertisementName(vpc, attachment, name)).toMatch(objectName);
    }),
  );
});

test('base 62 holds every whole number JavaScript does', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      expect(fromBase62(toBase62(value))).toBe(value);
      expect(fromBase62(`00${toBase62(value)}`)).toBe(value);
    }),
  );
  expect(() => toBase62(-1)).toThrow(RangeError);
  expect(() => toBase62(2 ** 53)).toThrow(RangeError);
});
