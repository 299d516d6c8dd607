import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { ApiError } from '../meta/index.ts';
import { apiVersion, type IPAllocation, type IPClass, type IPPool } from './objects.ts';
import { refusalOf, scopeOf, TestIpam } from './testing.ts';

/** Where numbers, chains and times end. */

const newClass = (ipam: TestIpam, name: string, spec: Partial<NonNullable<IPClass['spec']>>) =>
  ipam.create<IPClass>('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name },
    spec: { ipFamily: 'IPv4', ...spec },
  });
const newPool = (ipam: TestIpam, name: string, spec: Partial<NonNullable<IPPool['spec']>>) =>
  ipam.create<IPPool>('alpha', 'ippools', { apiVersion, kind: 'IPPool', metadata: { name }, spec });
const root = (cidr: string, classNames: string[] = []) => ({
  cidr,
  ipFamily: cidr.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
  classNames,
});

test.each([
  ['::/0', '128', String(2n ** 128n), String(2n ** 128n - 1n)],
  ['0.0.0.0/0', '32', String(2n ** 32n), String(2n ** 32n - 1n)],
])(
  'a pool of the whole space %s gives its first and its last block, and counts them',
  async (cidr, length, total, left) => {
    const ipam = new TestIpam();
    const ipFamily = cidr.includes(':') ? ('IPv6' as const) : ('IPv4' as const);
    await newClass(ipam, 'c', { ipFamily, defaultPrefixLength: Number(length) });
    const pool = await newPool(ipam, 'p', root(cidr, ['c']));
    expect(pool.status?.capacity).toEqual({ total, allocated: '0', available: total });
    const last = cidr.includes(':') ? 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' : '255.255.255.255';
    const claim = await ipam.claim('alpha', 'last', { className: 'c', address: last });
    expect(claim.status?.allocatedCIDR).toBe(`${last}/${length}`);
    const first = await ipam.claim('alpha', 'first', { className: 'c' });
    expect(first.status?.allocatedCIDR).toBe(`${cidr.split('/')[0]}/${length}`);
    await ipam.release('alpha', 'first');
    ipam.ipam.start();
    await ipam.clock.advance(1100);
    const shown = ipam.get<IPPool>('alpha', 'ippools', 'p')?.status;
    expect(shown?.capacity).toEqual({ total, allocated: '1', available: left });
    expect(shown).toMatchObject({ phase: 'Ready', largestFreePrefixLength: 1, utilizationPercent: 0 });
    await ipam.ipam.stop();
    for (const other of [`${last}/${length}`, cidr]) {
      const refused = await refusalOf(newPool(ipam, 'q', root(other)));
      expect(refused).toMatchObject({ code: 409, message: expect.stringContaining(`overlaps ${cidr} of IPPool "p"`) });
    }
  },
);

test('root pools of one address lie side by side, at both ends of the space', async () => {
  const ipam = new TestIpam();
  const ends = ['0.0.0.0/32', '255.255.255.255/32', '::/128', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128'];
  for (const [n, cidr] of [...ends, '0.0.0.1/32', '255.255.255.254/32'].entries())
    await newPool(ipam, `p-${n}`, root(cidr));
  for (const cidr of ends)
    expect((await refusalOf(newPool(ipam, 'q', root(cidr)))).message).toContain(`overlaps ${cidr}`);
  await ipam.delete('alpha', 'ippools', 'p-1');
  expect((await newPool(ipam, 'q', root('255.255.255.255/32'))).status?.capacity?.total).toBe('1');
});

test('a whole space may be one block', async () => {
  const ipam = new TestIpam();
  await newClass(ipam, 'c', { ipFamily: 'IPv6', defaultPrefixLength: 0 });
  await newPool(ipam, 'p', root('::/0', ['c']));
  expect((await ipam.claim('alpha', 'all', { className: 'c' })).status?.allocatedCIDR).toBe('::/0');
  expect((await refusalOf(ipam.claim('alpha', 'more', { className: 'c' }))).code).toBe(507);
  await ipam.release('alpha', 'all');
  expect((await ipam.claim('alpha', 'again', { className: 'c' })).status?.allocatedCIDR).toBe('::/0');
});

test.each([
  ['FirstFit', ['192.0.2.0/32', '192.0.2.1/32', '192.0.2.5/32']],
  ['BestFit', ['192.0.2.5/32', '192.0.2.0/32', '192.0.2.1/32']],
] as const)('%s: what is taken where holes are of two sizes', async (strategy, expected) => {
  const ipam = new TestIpam();
  await newClass(ipam, 'c', { defaultPrefixLength: 32, allowedPrefixLengths: { min: 30, max: 32 } });
  await newPool(ipam, 'p', { ...root('192.0.2.0/29', ['c']), allocation: { strategy } });
  for (const n of [2, 4, 6, 7, 3]) await ipam.claim('alpha', `at-${n}`, { className: 'c', address: `192.0.2.${n}` });
  // Free are a /31 at .0, and .5 alone.
  const taken: (string | undefined)[] = [];
  for (const name of ['a', 'b', 'd']) {
    taken.push((await ipam.claim('alpha', name, { className: 'c' })).status?.allocatedCIDR);
  }
  expect(taken).toEqual(expected);
});

test.each([
  ['that provide pools', { poolPer: ['network'] }],
  ['that provide none', {}],
])('a chain of parents %s that leads back, or is too long, is refused by name', async (_, each) => {
  const ipam = new TestIpam();
  const spec = { ...each, defaultPrefixLength: 28 };
  await newClass(ipam, 'a', { ...spec, parentClassName: 'b' });
  await newClass(ipam, 'b', { ...spec, parentClassName: 'a' });
  const scope = scopeOf('net');
  const before = ipam.snapshot();
  expect(await refusalOf(ipam.claim('alpha', 'k', { className: 'a', scope }))).toMatchObject({
    code: 400,
    message: 'IPClass "a" has more than 7 ancestors, or is its own',
    details: { causes: [{ reason: 'NoOfferingPool' }, { field: 'ipclasses/a' }, ...Array(7).fill({})] },
  });
  expect(ipam.snapshot()).toBe(before);

  await newPool(ipam, 'p', root('192.0.2.0/24', ['level-0']));
  const lengths = Array.from({ length: 9 }, (_, n) => 24 + Math.min(n, 8));
  for (const [n, length] of lengths.entries()) {
    const parent = n === 0 ? {} : { parentClassName: `level-${n - 1}` };
    await newClass(ipam, `level-${n}`, { ...each, ...parent, defaultPrefixLength: length });
  }
  expect((await ipam.claim('alpha', 'deep', { className: 'level-7', scope })).status?.allocatedCIDR).toBe(
    '192.0.2.0/31',
  );
  expect((await refusalOf(ipam.claim('alpha', 'k', { className: 'level-8', scope }))).message).toContain(
    'IPClass "level-8" has more than 7 ancestors',
  );
});

test('of two default classes of a family the first by name is meant, whichever was made first', async () => {
  const ipam = new TestIpam();
  for (const [name, octet] of [
    ['b', 2],
    ['a', 1],
  ] as const) {
    await newClass(ipam, name, { defaultPrefixLength: 32 });
    await ipam.update<IPClass>(
      'alpha',
      'ipclasses',
      (object) => {
        object.metadata.annotations = { 'ipam.miloapis.com/is-default-class': 'true' };
      },
      name,
    );
    await newPool(ipam, name, root(`192.0.2.${octet}/32`, [name]));
  }
  expect((await ipam.claim('alpha', 'k', { ipFamily: 'IPv4' })).status?.poolRef?.name).toBe('a');
  await ipam.delete('alpha', 'ipclasses', 'a');
  expect((await ipam.claim('alpha', 'l', { ipFamily: 'IPv4' })).status?.poolRef?.name).toBe('b');
});

test('an address asked for that has rested is given, and a pool may shrink over it, before anything has swept', async () => {
  const ipam = new TestIpam(30);
  await newClass(ipam, 'c', { defaultPrefixLength: 32 });
  await newPool(ipam, 'p', root('192.0.2.0/29', ['c']));
  const claims = Array.from({ length: 6 }, (_, n) => `k-${n}`);
  for (const name of claims) await ipam.claim('alpha', name, { className: 'c' });
  for (const name of claims.slice(2)) await ipam.release('alpha', name);
  await ipam.clock.advance(29_999);
  const asked = { className: 'c', address: '192.0.2.2' };
  expect((await refusalOf(ipam.claim('alpha', 'x', asked))).message).toContain('rests for 1 s more');
  const shrink = (cidr: string) =>
    ipam.update<IPPool>(
      'alpha',
      'ippools',
      (object) => {
        object.spec!.cidr = cidr;
      },
      'p',
    );
  expect((await refusalOf(shrink('192.0.2.0/30'))).message).toContain('192.0.2.4/32, which rests for 1 s more');
  await ipam.clock.advance(1);
  expect((await ipam.claim('alpha', 'x', asked)).status?.allocatedCIDR).toBe('192.0.2.2/32');
  expect((await shrink('192.0.2.0/30')).status?.allocatedCIDR).toBe('192.0.2.0/30');
  expect((await ipam.claim('alpha', 'y', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.3/32');
});

test.each([
  ['while it is retained', 1_800_000],
  ['while it is expiring', 4_000_000],
])('a claim of the same name that takes a retained address back %s ends its lease for good', async (_, after) => {
  const ipam = new TestIpam(0);
  await newClass(ipam, 'c', { defaultPrefixLength: 32, reclaimPolicy: 'Retain', retentionLease: '1h' });
  await newPool(ipam, 'p', root('192.0.2.0/30', ['c']));
  ipam.ipam.start();
  const { status } = await ipam.claim('alpha', 'a', { className: 'c' });
  await ipam.release('alpha', 'a');
  await ipam.clock.advance(after);
  expect((await ipam.claim('alpha', 'a', { className: 'c' })).status).toEqual(status);
  await ipam.clock.advance(40 * 3_600_000);
  const [held] = ipam.allocations('alpha');
  expect([held?.status?.allocatedCIDR, held?.status?.conditions]).toEqual(['192.0.2.0/32', undefined]);
  expect((await ipam.claim('alpha', 'b', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.1/32');
  await ipam.ipam.stop();
});

test('the lease is the shorter one of class and pool; without one, what is retained is kept for ever', async () => {
  const ipam = new TestIpam(0);
  await newClass(ipam, 'short', { defaultPrefixLength: 32, reclaimPolicy: 'Retain', retentionLease: '1h' });
  await newClass(ipam, 'long', { defaultPrefixLength: 32, reclaimPolicy: 'Retain', retentionLease: '100h' });
  await newClass(ipam, 'none', { defaultPrefixLength: 32, reclaimPolicy: 'Retain' });
  await newPool(ipam, 'p', { ...root('192.0.2.0/30', ['short', 'long']), maxRetentionLease: '2h' });
  await newPool(ipam, 'q', root('192.0.2.4/30', ['none']));
  ipam.ipam.start();
  for (const className of ['short', 'long', 'none']) {
    await ipam.claim('alpha', className, { className });
    await ipam.release('alpha', className);
  }
  const left = () => ipam.allocations('alpha').map((each) => each.spec?.className);
  await ipam.clock.advance(2 * 3_600_000 + 2000);
  expect(left()).toEqual(['long', 'none']);
  await ipam.clock.advance(2 * 3_600_000);
  expect(left()).toEqual(['none']);
  await ipam.clock.advance(1000 * 3_600_000);
  expect(left()).toEqual(['none']);
  await ipam.ipam.stop();
});

test('the block of a pool that goes rests as long as anything that was in it', async () => {
  const ipam = new TestIpam(0);
  await newClass(ipam, 'net', { poolPer: ['network'], defaultPrefixLength: 30 });
  await newClass(ipam, 'leaf', { parentClassName: 'net', defaultPrefixLength: 32, restPeriod: '1h' });
  await newPool(ipam, 'p', root('192.0.2.0/30', ['net']));
  const range = { className: 'net', target: 'ScopeRange' as const, scope: { network: scopeOf('one').network } };
  await ipam.claim('alpha', 'range', range);
  await ipam.claim('alpha', 'a', { className: 'leaf', scope: scopeOf('one') });
  await ipam.release('alpha', 'a');
  await ipam.clock.advance(600_000);
  await ipam.release('alpha', 'range');
  const other = () => ipam.claim('alpha', 'b', { className: 'leaf', scope: scopeOf('two') });
  expect((await refusalOf(other())).message).toContain('1 released block rests, the next is free in 3000 s');
  await ipam.clock.advance(3_000_000);
  expect((await other()).status?.allocatedCIDR).toBe('192.0.2.0/32');
});

test('reserved units that are larger than their pool are refused, not left out', async () => {
  const ipam = new TestIpam();
  const reservations = { leading: 1, unitPrefixLength: 24 };
  const why = 'is larger than the pool';
  const pool = await refusalOf(newPool(ipam, 'p', { ...root('192.0.2.0/28'), reservations }));
  expect(pool.details?.causes).toMatchObject([
    { field: 'spec.reservations.unitPrefixLength', message: expect.stringContaining(why) },
  ]);
  const ofClass = await refusalOf(newClass(ipam, 'c', { poolPer: ['network'], defaultPrefixLength: 28, reservations }));
  expect(ofClass.details?.causes).toMatchObject([
    { field: 'spec.reservations.unitPrefixLength', message: expect.stringContaining(why) },
  ]);
  await newPool(ipam, 'p', { ...root('192.0.2.0/28'), reservations: { leading: 1, unitPrefixLength: 29 } });
  const shrunk = ipam.update<IPPool>(
    'alpha',
    'ippools',
    (object) => {
      object.spec!.cidr = '192.0.2.0/30';
    },
    'p',
  );
  expect((await refusalOf(shrunk)).message).toContain(why);
  const child = newPool(ipam, 'child', {
    parentPoolRef: { name: 'p' },
    prefixLength: 30,
    reservations: { leading: 1, unitPrefixLength: 29 },
  });
  expect((await refusalOf(child)).message).toContain(why);
});

test('a child pool offers no class of the other family', async () => {
  const ipam = new TestIpam();
  await newClass(ipam, 'six', { ipFamily: 'IPv6', defaultPrefixLength: 128 });
  await newPool(ipam, 'p', root('192.0.2.0/28'));
  const child = { parentPoolRef: { name: 'p' }, prefixLength: 30, classNames: ['six'] };
  expect((await refusalOf(newPool(ipam, 'child', child))).details?.causes).toMatchObject([
    { field: 'spec.classNames[0]', message: expect.stringContaining('is a class for IPv6, the pool is IPv4') },
  ]);
});

test('a level that gives out no pool of the length its class has says so, and not that it is full', async () => {
  const ipam = new TestIpam();
  await newClass(ipam, 'net', { poolPer: ['network'], defaultPrefixLength: 30 });
  await newClass(ipam, 'leaf', { parentClassName: 'net', defaultPrefixLength: 32 });
  await newPool(ipam, 'p', { ...root('192.0.2.0/24', ['net']), allocation: { minPrefixLength: 31 } });
  const refused = await refusalOf(ipam.claim('alpha', 'k', { className: 'leaf', scope: scopeOf('net') }));
  expect(refused).toMatchObject({
    code: 400,
    message: 'no pool of IPClass "net" gives out a /30: IPPool "p" is 192.0.2.0/24 and allows /31 to /32',
    details: { causes: [{ reason: 'PrefixLengthRejected' }, { field: 'ippools/p' }, { field: 'ipclasses/net' }] },
  });
});

test('what is reserved or excluded in a pool that is in use is refused where something is held, and kept elsewhere', async () => {
  const ipam = new TestIpam();
  await newClass(ipam, 'c', { defaultPrefixLength: 32 });
  await newPool(ipam, 'p', root('192.0.2.0/30', ['c']));
  await ipam.claim('alpha', 'a', { className: 'c' });
  const set = (field: 'reservedRanges' | 'excludedRanges', ranges: string[]) =>
    ipam.update<IPPool>(
      'alpha',
      'ippools',
      (object) => {
        object.spec![field] = ranges;
      },
      'p',
    );
  for (const field of ['reservedRanges', 'excludedRanges'] as const) {
    const before = ipam.snapshot();
    expect(await refusalOf(set(field, ['192.0.2.0/31']))).toMatchObject({
      code: 409,
      message: expect.stringContaining('in the way is IPClaim "default/a" (192.0.2.0/32)'),
    });
    expect(ipam.snapshot()).toBe(before);
  }
  await set('reservedRanges', ['192.0.2.1/32']);
  await set('excludedRanges', ['192.0.2.3/32']);
  expect((await ipam.claim('alpha', 'b', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.2/32');
  expect((await refusalOf(ipam.claim('alpha', 'd', { className: 'c' }))).code).toBe(507);
  const reserved = ipam
    .list<IPAllocation>('alpha', 'ipallocations')
    .filter((each) => each.spec?.purpose === 'Reservation');
  expect(reserved.map((each) => each.status?.allocatedCIDR)).toEqual(['192.0.2.1/32']);
});

test('metrics count what validation refuses, and what the store could not do; without a store the others are still shown', async () => {
  const registry = new Registry();
  const ipam = new TestIpam(0, registry);
  await refusalOf(ipam.claim('alpha', 'a', {}));
  await refusalOf(ipam.create(undefined, 'ippools', { apiVersion, kind: 'IPPool', metadata: { name: 'p' }, spec: {} }));
  const call = ipam.store.call.bind(ipam.store);
  ipam.store.call = () => {
    throw ApiError.of('ServiceUnavailable', 'the database does not answer (gone); nothing was written');
  };
  expect((await refusalOf(newPool(ipam, 'p', root('192.0.2.0/30')))).code).toBe(503);
  const text = await registry.metrics();
  const counted = (resource: string, cause: string) =>
    expect(text).toContain(`berth_ipam_failures_total{resource="${resource}",verb="create",cause="${cause}"} 1`);
  counted('ipclaims', 'FieldValueRequired');
  counted('ippools', 'NoProjectScope');
  counted('ippools', 'ServiceUnavailable');
  expect(text).toContain('berth_ipam_attempts_total{resource="ippools",verb="create"} 2');
  ipam.store.call = call;
});
