import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { AddressError, IpAddress, IpPrefix, prefixesOfRange, subtract, union } from './index.ts';

const family = fc.constantFrom<4 | 6>(4, 6);
const anyPrefix = family.chain((of) =>
  fc
    .tuple(
      fc.bigInt({ min: 0n, max: (1n << (of === 4 ? 32n : 128n)) - 1n }),
      fc.integer({ min: 0, max: of === 4 ? 32 : 128 }),
    )
    .map(([value, length]) => IpPrefix.of(of, value, length)),
);
/** Inside 10.0.0.0/24, where sets can be counted address by address. */
const small = fc
  .tuple(fc.bigInt({ min: 0n, max: 255n }), fc.integer({ min: 24, max: 32 }))
  .map(([offset, length]) => IpPrefix.of(4, 0x0a000000n + offset, length));

function members(prefixes: IpPrefix[]): Set<bigint> {
  return new Set(prefixes.flatMap((prefix) => [...prefix.addresses()].map((address) => address.value)));
}

test('text reads back, and contains agrees with an independent library', () => {
  fc.assert(
    fc.property(anyPrefix, anyPrefix, (prefix, other) => {
      expect(IpPrefix.parse(prefix.toString()).equals(prefix)).toBe(true);
      if (prefix.family !== other.family) {
        expect(prefix.contains(other)).toBe(false);
        return;
      }
      const [base] = ipaddr.parseCIDR(prefix.toString());
      const inside = (ipaddr.parse(other.first.toString()) as ipaddr.IPv6).match(base as ipaddr.IPv6, prefix.length);
      expect(prefix.contains(other.first)).toBe(inside);
      expect(prefix.contains(other)).toBe(inside && other.length >= prefix.length);
      expect(prefix.overlaps(other)).toBe(prefix.contains(other.first) || other.contains(prefix.first));
    }),
  );
});

test('a prefix and its sibling are the two halves of its parent', () => {
  fc.assert(
    fc.property(anyPrefix, (prefix) => {
      fc.pre(prefix.length > 0);
      const halves = [...prefix.parent()!.split(prefix.length)].map(String);
      expect([prefix.toString(), prefix.sibling()!.toString()].sort()).toEqual([...halves].sort());
    }),
  );
});

test('next and previous are the neighbours of the same size', () => {
  fc.assert(
    fc.property(anyPrefix, (prefix) => {
      const next = prefix.next();
      if (next === undefined) {
        expect(prefix.last.next()).toBeUndefined();
        return;
      }
      expect(next.start).toBe(prefix.end + 1n);
      expect(next.previous()!.equals(prefix)).toBe(true);
    }),
  );
});

test('subtraction and union hold exactly the right addresses, in the fewest prefixes', () => {
  fc.assert(
    fc.property(small, fc.array(small, { maxLength: 8 }), (from, removed) => {
      const left = subtract(from, removed);
      expect(members(left)).toEqual(members([from]).difference(members(removed)));
      const joined = union(removed);
      expect(members(joined)).toEqual(members(removed));
      for (const list of [left, joined]) {
        for (const prefix of list) {
          expect(list.some((other) => prefix.sibling()?.equals(other) === true)).toBe(false);
        }
      }
    }),
  );
});

test('a range becomes the fewest prefixes', () => {
  const range = prefixesOfRange(IpAddress.parse('10.0.0.1'), IpAddress.parse('10.0.0.6'));
  expect(range.map(String)).toEqual(['10.0.0.1/32', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6/32']);
  expect(prefixesOfRange(IpAddress.parse('::'), IpAddress.of(6, (1n << 128n) - 1n)).map(String)).toEqual(['::/0']);
  expect(prefixesOfRange(IpAddress.parse('::2'), IpAddress.parse('::1'))).toEqual([]);
});

test('a block knows its addresses by place', () => {
  const subnet = IpPrefix.parse('fd20:1000:0:1::/64');
  expect(subnet.at(1)?.toString()).toBe('fd20:1000:0:1::1');
  expect(subnet.at(subnet.size)).toBeUndefined();
  expect(subnet.last.toString()).toBe('fd20:1000:0:1:ffff:ffff:ffff:ffff');
  expect(IpPrefix.parse('::/0').size).toBe(1n << 128n);
  expect([...IpPrefix.parse('10.0.0.0/30').addresses()].map(String)).toEqual([
    '10.0.0.0',
    '10.0.0.1',
    '10.0.0.2',
    '10.0.0.3',
  ]);
  expect(() => [...subnet.split(63)]).toThrow(RangeError);
});

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/', '10.0.0.0/-1', 'fd20::/129', '/8', '1.2.3.4/5/6'])(
  '%j is refused',
  (text) => {
    expect(() => IpPrefix.parse(text)).toThrow(AddressError);
  },
);

test('bits behind the length are refused, with what would be right', () => {
  expect(() => IpPrefix.parse('10.0.0.1/24')).toThrow('10.0.0.0/24 would be right');
});
