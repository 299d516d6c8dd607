import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { AddressError, IpAddress } from './index.ts';

const ipv6Value = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
  // Runs of zero groups are where the text form has its rules.
  fc
    .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n)),
);

function bytesOf(value: bigint, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((value >> BigInt(8 * (count - 1 - index))) & 0xffn));
}

test('IPv6 text is what an independent library writes, and reads back', () => {
  fc.assert(
    fc.property(ipv6Value, (value) => {
      fc.pre(value >> 32n !== 0xffffn);
      const text = IpAddress.of(6, value).toString();
      expect(text).toBe(new ipaddr.IPv6(bytesOf(value, 16)).toRFC5952String());
      expect(IpAddress.parse(text).value).toBe(value);
      expect(IpAddress.parse(text.toUpperCase()).value).toBe(value);
      expect(IpAddress.parse(new ipaddr.IPv6(bytesOf(value, 16)).toNormalizedString()).value).toBe(value);
    }),
  );
});

test('IPv4 text is what an independent library writes, and reads back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 0xffffffffn }), (value) => {
      const text = IpAddress.of(4, value).toString();
      expect(text).toBe(new ipaddr.IPv4(bytesOf(value, 4)).toString());
      expect(IpAddress.parse(text).value).toBe(value);
    }),
  );
});

test('what is read is what an independent library reads, or nothing', () => {
  const piece = fc.constantFrom(
    '0',
    '1',
    'ffff',
    '00db8',
    'db8',
    ':',
    '::',
    '.',
    '255',
    '256',
    '01',
    '%eth0',
    '/',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
      const text = pieces.join('');
      const parsed = IpAddress.tryParse(text);
      if (parsed === undefined) return;
      expect(ipaddr.isValid(text)).toBe(true);
      expect(bytesOf(parsed.value, parsed.family === 4 ? 4 : 16)).toEqual(ipaddr.parse(text).toByteArray());
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['2001:0DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['::', '::'],
  ['1::', '1::'],
  ['::1', '::1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
])('%s is %s', (text, canonical) => {
  expect(IpAddress.parse(text).toString()).toBe(canonical);
});

test.each([
  '',
  '1.2.3',
  '1.2.3.04',
  '1.2.3.256',
  '1.2.3.4.5',
  '0x1.2.3.4',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7:8::',
  'fe80::1%eth0',
  '::12345',
  '::g',
  ':1',
  '1:',
  '1.2.3.4::',
  ' ::1',
])('%j is refused', (text) => {
  expect(() => IpAddress.parse(text)).toThrow(AddressError);
});

test('neighbours stop at the ends of the family', () => {
  expect(IpAddress.parse('255.255.255.255').next()).toBeUndefined();
  expect(IpAddress.parse('::').previous()).toBeUndefined();
  expect(IpAddress.parse('10.0.0.255').next()?.toString()).toBe('10.0.1.0');
  expect(IpAddress.parse('fd20::1:0').previous()?.toString()).toBe('fd20::ffff');
});

test('addresses order as numbers, IPv4 first', () => {
  const sorted = ['fd20::10', '10.0.0.10', 'fd20::9', '10.0.0.9'].map((text) => IpAddress.parse(text));
  sorted.sort((a, b) => a.compare(b));
  expect(sorted.map(String)).toEqual(['10.0.0.9', '10.0.0.10', 'fd20::9', 'fd20::10']);
});
