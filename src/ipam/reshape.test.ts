import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpPrefix } from '../address/index.ts';
import { isApiError } from '../meta/index.ts';
import { apiVersion, type IPClass, type IPPool } from './objects.ts';
import { refusalOf, scopeOf, TestIpam } from './testing.ts';
import { audit } from './testing-audit.ts';

type PoolSpec = NonNullable<IPPool['spec']>;
const pool = (name: string, spec: PoolSpec): IPPool => ({ apiVersion, kind: 'IPPool', metadata: { name }, spec });

async function start(spec: PoolSpec, rest = 0): Promise<TestIpam> {
  const ipam = new TestIpam(rest);
  const ofClass: IPClass = {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'c' },
    spec: { ipFamily: 'IPv4', defaultPrefixLength: 32 },
  };
  await ipam.create('alpha', 'ipclasses', ofClass);
  await ipam.create('alpha', 'ippools', pool('p', { ipFamily: 'IPv4', classNames: ['c'], ...spec }));
  return ipam;
}

const change = (ipam: TestIpam, spec: PoolSpec, name = 'p') =>
  ipam.update<IPPool>('alpha', 'ippools', (object) => Object.assign(object.spec!, spec), name);

test('a full pool that grows keeps what is allocated and has room again; its object says so once', async () => {
  const ipam = await start({ cidr: '192.0.2.2/31' });
  for (const name of ['a', 'b']) await ipam.claim('alpha', name, { className: 'c' });
  const refused = await refusalOf(ipam.claim('alpha', 'd', { className: 'c' }));
  expect(refused.details?.causes).toContainEqual(expect.objectContaining({ reason: 'DependsOn', field: 'ippools/p' }));
  const grown = await change(ipam, { cidr: '192.0.2.0/29' });
  expect(grown.status).toMatchObject({
    phase: 'Ready',
    allocatedCIDR: '192.0.2.0/29',
    capacity: { total: '8', allocated: '2', available: '6' },
    utilizationPercent: 25,
    largestFreePrefixLength: 30,
    conditions: [{ message: 'The pool holds 192.0.2.0/29.' }],
  });
  expect((await ipam.claim('alpha', 'd', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.0/32');
  expect(audit(ipam, 'alpha')).toEqual([]);
});

test('a pool does not grow into another one, nor move to another range or family', async () => {
  const ipam = await start({ cidr: '192.0.2.0/26' });
  await ipam.create('alpha', 'ippools', pool('q', { cidr: '192.0.2.64/26', ipFamily: 'IPv4' }));
  const before = ipam.snapshot();
  const overlap = await refusalOf(change(ipam, { cidr: '192.0.2.0/25' }));
  expect(overlap).toMatchObject({ code: 409 });
  expect(overlap.message).toContain('overlaps 192.0.2.64/26 of IPPool "q"');
  const moved = await refusalOf(change(ipam, { cidr: '198.51.100.0/24' }));
  expect(moved).toMatchObject({ code: 422, details: { causes: [{ field: 'spec.cidr' }] } });
  expect(moved.message).toContain('the pool is 192.0.2.0/26: it can grow to a range that contains that');
  expect(await refusalOf(change(ipam, { cidr: '2001:db8::/32', ipFamily: 'IPv6' }))).toMatchObject({ code: 422 });
  expect(ipam.snapshot()).toBe(before);
});

test('shrinking below what is allocated is refused and names ten of what is in the way', async () => {
  const ipam = await start({ cidr: '192.0.2.0/28' }, 60);
  for (let n = 0; n < 14; n++) await ipam.claim('alpha', `c-${n}`, { className: 'c' });
  const before = ipam.snapshot();
  const many = await refusalOf(change(ipam, { cidr: '192.0.2.0/31' }));
  expect(many).toMatchObject({ code: 409, reason: 'Conflict', details: { kind: 'ippools', name: 'p' } });
  const [, named = ''] = /in the way are (.*); and more;/.exec(many.message ?? '') ?? [];
  expect(named.split('; ')).toHaveLength(10);
  expect(named).toContain('IPClaim "default/c-2" (192.0.2.2/32)');
  expect(ipam.snapshot()).toBe(before);

  await ipam.release('alpha', 'c-8');
  for (let n = 9; n < 13; n++) await ipam.release('alpha', `c-${n}`);
  await ipam.clock.advance(30_000);
  await ipam.release('alpha', 'c-13');
  const few = await refusalOf(change(ipam, { cidr: '192.0.2.0/29' }));
  expect(few.message).toContain('192.0.2.13/32, which rests for 60 s more');
  await ipam.clock.advance(60_000);
  await ipam.ipam.start();
  await ipam.clock.advance(2000);
  const shrunk = await change(ipam, { cidr: '192.0.2.0/29' });
  expect(shrunk.status).toMatchObject({ phase: 'Exhausted', capacity: { total: '8', allocated: '8' } });
  expect(audit(ipam, 'alpha')).toEqual([]);
  // What was cut off may be another pool's.
  await ipam.create('alpha', 'ippools', pool('q', { cidr: '192.0.2.8/29', ipFamily: 'IPv4' }));
  await ipam.ipam.stop();
});

test('a child pool grows around its range where its parent has room, and shrinks to its first part', async () => {
  const ipam = await start({ cidr: '10.0.0.0/16' });
  const child = (name: string) => pool(name, { parentPoolRef: { name: 'p' }, prefixLength: 24 });
  await ipam.create('alpha', 'ippools', child('one'));
  expect((await change(ipam, { prefixLength: 23 }, 'one')).status?.allocatedCIDR).toBe('10.0.0.0/23');
  expect(ipam.allocations('alpha', 'PoolCarve')[0]?.status?.allocatedCIDR).toBe('10.0.0.0/23');
  await ipam.create('alpha', 'ippools', child('two'));
  const full = await refusalOf(change(ipam, { prefixLength: 22 }, 'one'));
  expect(full).toMatchObject({ code: 507, details: { name: 'p' } });
  expect(full.message).toContain('cannot grow from 10.0.0.0/23 to 10.0.0.0/22');
  const shrinking = await refusalOf(change(ipam, { cidr: '10.0.0.0/23' }));
  expect(shrinking.message).toContain('in the way is IPPool "two" (10.0.2.0/24)');
  expect((await change(ipam, { prefixLength: 25 }, 'one')).status?.allocatedCIDR).toBe('10.0.0.0/25');
  expect(audit(ipam, 'alpha')).toEqual([]);
});

test('reserved ranges are shown and counted, excluded ones are no part of the pool; neither is handed out', async () => {
  const ipam = await start({
    cidr: '192.0.2.0/29',
    reservations: { leading: 2, unitPrefixLength: 32 },
    reservedRanges: ['192.0.2.1/32'],
    excludedRanges: ['192.0.2.4/30'],
  });
  expect(ipam.get<IPPool>('alpha', 'ippools', 'p')?.status).toMatchObject({
    capacity: { total: '4', allocated: '2', available: '2' },
    largestFreePrefixLength: 31,
  });
  expect(ipam.allocations('alpha', 'Reservation').map((each) => each.status?.allocatedCIDR)).toEqual(
    ['192.0.2.0/32', '192.0.2.1/32'].sort(),
  );
  const asked = (address: string) => refusalOf(ipam.claim('alpha', 'x', { className: 'c', address }));
  expect((await asked('192.0.2.1')).message).toContain('is held by a Reservation of IPPool "p"');
  expect((await asked('192.0.2.6')).message).toContain('is excluded by the pool (192.0.2.4/30)');
  expect((await ipam.claim('alpha', 'a', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.2/32');

  const inUse = await refusalOf(change(ipam, { excludedRanges: ['192.0.2.2/31'] }));
  expect(inUse.message).toContain('cannot set these ranges aside: in the way is IPClaim "default/a" (192.0.2.2/32)');
  const freed = await change(ipam, { reservedRanges: [], excludedRanges: ['192.0.2.5/32'] });
  expect(freed.status?.capacity).toEqual({ total: '7', allocated: '3', available: '4' });
  expect(audit(ipam, 'alpha')).toEqual([]);
});

test.each([
  [{ reservedRanges: ['192.0.2.0/24'] }, 'spec.reservedRanges[0]', 'must lie inside the range of the pool'],
  [{ excludedRanges: ['192.0.2.1'] }, 'spec.excludedRanges[0]', 'it has no "/"'],
  [{ excludedRanges: ['2001:db8::/64'] }, 'spec.excludedRanges[0]', 'must lie inside'],
  [
    { reservedRanges: ['192.0.2.0/30'], excludedRanges: ['192.0.2.2/32'] },
    'spec.excludedRanges[0]',
    'overlaps 192.0.2.0/30',
  ],
])('ranges that cannot be set aside are refused by field: %j', async (spec, field, why) => {
  const refused = await refusalOf(start({ cidr: '192.0.2.0/29', ...spec }));
  expect(refused).toMatchObject({ code: 422, details: { causes: [{ field }] } });
  expect(refused.message).toContain(why);
});

test('what a class provisioned keeps the shape its class gave it', async () => {
  const ipam = new TestIpam();
  await ipam.seed('alpha');
  await ipam.claim('alpha', 'a', { ipFamily: 'IPv6', scope: scopeOf('net') });
  const made = ipam.pools('alpha').find((each) => each.spec?.classRef?.name === 'subnet-ipv6')!.metadata.name;
  expect(await refusalOf(change(ipam, { prefixLength: 60 }, made))).toMatchObject({
    code: 422,
    details: { causes: [{ field: 'spec.prefixLength' }] },
  });
});

const step = fc.record({
  do: fc.constantFrom('claim', 'claim', 'release', 'resize', 'reserve', 'exclude'),
  at: fc.integer({ min: 0, max: 15 }),
  length: fc.integer({ min: 26, max: 31 }),
});

test('whatever is resized, reserved and excluded, the space stays whole and nobody loses an address', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const ipam = await start({ cidr: '192.0.2.0/28' });
      const held = new Map<string, string | undefined>();
      for (const { do: what, at, length } of steps) {
        const name = `c-${at}`;
        const range = (bits: number) => IpPrefix.of(4, 0xc0000200n + BigInt(at), bits).toString();
        try {
          if (what === 'claim')
            held.set(name, (await ipam.claim('alpha', name, { className: 'c' })).status?.allocatedCIDR);
          if (what === 'release' && held.delete(name)) await ipam.release('alpha', name);
          if (what === 'resize') await change(ipam, { cidr: range(length) });
          if (what === 'reserve') await change(ipam, { reservedRanges: [range(Math.max(30, length))] });
          if (what === 'exclude') await change(ipam, { excludedRanges: [range(Math.max(30, length))] });
        } catch (error) {
          if (!isApiError(error)) throw error;
          expect([409, 422, 507]).toContain(error.code);
        }
        expect(audit(ipam, 'alpha')).toEqual([]);
        const claims = ipam.allocations('alpha').map((each) => each.status?.allocatedCIDR);
        expect(claims.sort()).toEqual([...held.values()].sort());
      }
    }),
    { numRuns: 60 },
  );
});
