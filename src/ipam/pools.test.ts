import { expect, test } from 'vitest';
import { apiVersion, type ClassSpec, type IPClass, type IPPool } from './objects.ts';
import { seedableProjects, seedRanges } from './seed.ts';
import { refusalOf, scopeOf, TestIpam } from './testing.ts';
import { audit } from './testing-audit.ts';

type PoolSpec = NonNullable<IPPool['spec']>;
const pool = (name: string, spec: PoolSpec): IPPool => ({ apiVersion, kind: 'IPPool', metadata: { name }, spec });
const classOf = (name: string, spec: ClassSpec): IPClass => ({ apiVersion, kind: 'IPClass', metadata: { name }, spec });

test('root pools of one project may not overlap; those of two projects may', async () => {
  const ipam = new TestIpam();
  const create = (project: string, name: string, cidr: string) =>
    ipam.create(project, 'ippools', pool(name, { cidr, ipFamily: 'IPv4' }));
  await create('alpha', 'a', '10.0.0.0/16');
  for (const cidr of ['10.0.0.0/16', '10.0.0.0/8', '10.0.128.0/17', '0.0.0.0/0']) {
    const status = await refusalOf(create('alpha', 'b', cidr));
    expect(status).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(status.message).toContain('overlaps 10.0.0.0/16 of IPPool "a" in project "alpha"');
  }
  await create('alpha', 'b', '10.1.0.0/16');
  await create('beta', 'a', '10.0.0.0/8');
  await ipam.delete('alpha', 'ippools', 'a');
  await create('alpha', 'c', '10.0.0.0/17');
  expect([...audit(ipam, 'alpha'), ...audit(ipam, 'beta')]).toEqual([]);
});

test('what rests in a root pool outlives it: no pool is made over its range before the last of it is due', async () => {
  const ipam = new TestIpam(0);
  const root = (name: string, cidr: string, classNames: string[] = []) =>
    pool(name, { ipFamily: 'IPv4', cidr, classNames, restPeriod: '60s' });
  await ipam.create('alpha', 'ipclasses', classOf('c', { ipFamily: 'IPv4', defaultPrefixLength: 32 }));
  await ipam.create('alpha', 'ippools', root('old', '192.0.2.0/24', ['c']));
  for (const name of ['a', 'b']) await ipam.claim('alpha', name, { className: 'c' });
  ipam.ipam.start();
  await ipam.release('alpha', 'a');
  await ipam.clock.advance(20_000);
  await ipam.release('alpha', 'b');
  await ipam.delete('alpha', 'ippools', 'old');
  expect(audit(ipam, 'alpha')).toEqual([]);

  // Larger, smaller, or an existing pool grown around it: whatever meets the range.
  await ipam.create('alpha', 'ippools', root('beside', '192.0.3.0/24'));
  const grown = ipam.update<IPPool>(
    'alpha',
    'ippools',
    (each) => Object.assign(each.spec!, { cidr: '192.0.2.0/23' }),
    'beside',
  );
  const made = ['192.0.2.0/24', '192.0.2.128/25'].map((cidr) => ipam.create('alpha', 'ippools', root('new', cidr)));
  for (const request of [grown, ...made]) {
    const { code, message } = await refusalOf(request);
    expect(code).toBe(409);
    expect(message).toContain(
      'overlaps 192.0.2.0/24 of a deleted IPPool, in which released addresses rest for 60 s more; try again then',
    );
  }
  // Another project's range is another one.
  await ipam.create('beta', 'ippools', root('new', '192.0.2.0/24'));

  await ipam.clock.advance(59_000);
  expect((await refusalOf(ipam.create('alpha', 'ippools', root('new', '192.0.2.0/24')))).message).toContain(
    'for 1 s more',
  );
  await ipam.clock.advance(2000);
  expect(audit(ipam, 'alpha')).toEqual([]);
  await ipam.create('alpha', 'ippools', root('new', '192.0.2.0/24', ['c']));
  expect((await ipam.claim('alpha', 'a', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.0/32');
  expect(audit(ipam, 'alpha')).toEqual([]);
  expect(ipam.errors).toEqual([]);
  await ipam.ipam.stop();
});

test('capacity is exact for the largest pool there is', async () => {
  const ipam = new TestIpam();
  const created = await ipam.create('alpha', 'ippools', pool('all', { cidr: '::/0', ipFamily: 'IPv6' }));
  expect(created.status).toMatchObject({
    phase: 'Ready',
    allocatedCIDR: '::/0',
    capacity: {
      total: '340282366920938463463374607431768211456',
      allocated: '0',
      available: '340282366920938463463374607431768211456',
    },
    utilizationPercent: 0,
    conditions: [{ type: 'Allocated', status: 'True', reason: 'AllocationSucceeded' }],
  });
  const child = await ipam.create(
    'alpha',
    'ippools',
    pool('half', { parentPoolRef: { name: 'all' }, prefixLength: 1 }),
  );
  expect(child.status).toMatchObject({ allocatedCIDR: '::/1', ipFamily: 'IPv6' });
  ipam.ipam.start();
  await ipam.clock.advance(1100);
  expect(ipam.get<IPPool>('alpha', 'ippools', 'all')?.status).toMatchObject({
    capacity: {
      allocated: '170141183460469231731687303715884105728',
      available: '170141183460469231731687303715884105728',
    },
    utilizationPercent: 50,
  });
  expect(ipam.allocations('alpha', 'PoolCarve').map((each) => each.status?.allocatedCIDR)).toEqual(['::/1']);
  const inUse = await refusalOf(ipam.delete('alpha', 'ippools', 'all'));
  expect(inUse).toMatchObject({ code: 409 });
  expect(inUse.message).toContain('(PoolCarve)');
  await ipam.delete('alpha', 'ippools', 'half');
  await ipam.delete('alpha', 'ippools', 'all');
  expect(ipam.list('alpha', 'ipallocations')).toEqual([]);
  await ipam.ipam.stop();
});

test('a pool is written once a second however many addresses it hands out', async () => {
  const ipam = new TestIpam();
  await ipam.seed('alpha');
  ipam.ipam.start();
  const versions = new Set<string>();
  for (let second = 0; second < 3; second++) {
    for (let n = 0; n < 20; n++) {
      await ipam.claim('alpha', `c-${second}-${n}`, { className: 'public-unicast-ipv4' });
      await ipam.clock.advance(50);
      versions.add(ipam.get<IPPool>('alpha', 'ippools', 'public-ipv4')!.metadata.resourceVersion!);
    }
  }
  expect(versions.size).toBeLessThanOrEqual(4);
  await ipam.clock.advance(1100);
  expect(ipam.get<IPPool>('alpha', 'ippools', 'public-ipv4')?.status?.capacity?.allocated).toBe('60');
  const { revision } = ipam.store;
  await ipam.clock.advance(600_000);
  expect(ipam.store.revision).toBe(revision);
  await ipam.ipam.stop();
});

test('a class changes when a pool begins or ceases to offer it', async () => {
  const ipam = new TestIpam();
  const offering = () => ipam.get<IPClass>('alpha', 'ipclasses', 'c')?.status?.offeringPools;
  await ipam.create('alpha', 'ipclasses', classOf('c', { ipFamily: 'IPv4', defaultPrefixLength: 32 }));
  expect(offering()).toBe(0);
  await ipam.create('alpha', 'ippools', pool('p', { cidr: '192.0.2.0/24', ipFamily: 'IPv4' }));
  await ipam.update<IPPool>(
    'alpha',
    'ippools',
    (object) => {
      object.spec!.classNames = ['c'];
    },
    'p',
  );
  expect(offering()).toBe(1);
  expect((await ipam.claim('alpha', 'a', { className: 'c' })).status?.allocatedCIDR).toBe('192.0.2.0/32');
  await ipam.update<IPPool>(
    'alpha',
    'ippools',
    (object) => {
      object.spec!.classNames = [];
    },
    'p',
  );
  expect(offering()).toBe(0);
  expect((await refusalOf(ipam.claim('alpha', 'b', { className: 'c' }))).details?.causes?.[0]?.reason).toBe(
    'NoOfferingPool',
  );
});

test('a class goes when its pools have gone, and an empty provisioned pool can be deleted', async () => {
  const ipam = new TestIpam();
  await ipam.seed('alpha');
  await ipam.claim('alpha', 'a', { ipFamily: 'IPv4', scope: scopeOf('net') });
  const provisioned = ipam.pools('alpha').find((each) => each.spec?.classRef?.name === 'subnet-ipv4')!.metadata.name;
  expect((await refusalOf(ipam.delete('alpha', 'ipclasses', 'subnet-ipv4'))).message).toContain(
    `IPPool "${provisioned}"`,
  );
  expect((await refusalOf(ipam.delete('alpha', 'ippools', provisioned))).message).toContain('of IPClaim "default/a"');
  await ipam.release('alpha', 'a');
  await ipam.delete('alpha', 'ippools', provisioned);
  await ipam.delete('alpha', 'ipclasses', 'subnet-ipv4');
  expect(audit(ipam, 'alpha')).toEqual([]);
});

test('BestFit takes the smallest hole that fits', async () => {
  const ipam = new TestIpam();
  await ipam.create(
    'alpha',
    'ipclasses',
    classOf('c', { ipFamily: 'IPv4', allowedPrefixLengths: { min: 24, max: 32 } }),
  );
  await ipam.create(
    'alpha',
    'ippools',
    pool('p', { cidr: '192.0.2.0/24', ipFamily: 'IPv4', classNames: ['c'], allocation: { strategy: 'BestFit' } }),
  );
  const claim = async (name: string, prefixLength: number) =>
    (await ipam.claim('alpha', name, { className: 'c', prefixLength })).status?.allocatedCIDR;
  expect(await claim('a', 26)).toBe('192.0.2.0/26');
  expect(await claim('b', 32)).toBe('192.0.2.64/32');
  await ipam.release('alpha', 'a');
  expect(await claim('c', 32)).toBe('192.0.2.65/32');
  expect(await claim('d', 27)).toBe('192.0.2.96/27');
  expect(await claim('e', 26)).toBe('192.0.2.0/26');
});

test.each<[string, PoolSpec, string, string]>([
  ['no range', { ipFamily: 'IPv4' }, 'FieldValueRequired', 'spec.cidr'],
  ['a range with bits behind its length', { cidr: '10.0.0.1/8', ipFamily: 'IPv4' }, 'FieldValueInvalid', 'spec.cidr'],
  ['another family', { cidr: '10.0.0.0/8', ipFamily: 'IPv6' }, 'FieldValueInvalid', 'spec.cidr'],
  [
    'a root with a length',
    { cidr: '10.0.0.0/8', ipFamily: 'IPv4', prefixLength: 8 },
    'FieldValueForbidden',
    'spec.prefixLength',
  ],
  [
    'a child with a range',
    { parentPoolRef: { name: 'x' }, prefixLength: 9, cidr: '10.0.0.0/9' },
    'FieldValueForbidden',
    'spec.cidr',
  ],
  ['a child without a length', { parentPoolRef: { name: 'x' } }, 'FieldValueRequired', 'spec.prefixLength'],
  [
    'LeastUtilized',
    { cidr: '10.0.0.0/8', ipFamily: 'IPv4', allocation: { strategy: 'LeastUtilized' } },
    'FieldValueForbidden',
    'spec.allocation.strategy',
  ],
  ['shared', { cidr: '10.0.0.0/8', ipFamily: 'IPv4', visibility: 'shared' }, 'FieldValueForbidden', 'spec.visibility'],
  [
    'a lease of nothing',
    { cidr: '10.0.0.0/8', ipFamily: 'IPv4', maxRetentionLease: '0s' },
    'FieldValueInvalid',
    'spec.maxRetentionLease',
  ],
  [
    'a class of its own making',
    { cidr: '10.0.0.0/8', ipFamily: 'IPv4', classRef: { name: 'c' } },
    'FieldValueForbidden',
    'spec.classRef',
  ],
])('a pool with %s is refused', async (_, spec, reason, field) => {
  const ipam = new TestIpam();
  const status = await refusalOf(ipam.create('alpha', 'ippools', pool('p', spec)));
  expect(status).toMatchObject({
    code: 422,
    reason: 'Invalid',
    details: { kind: 'IPPool', name: 'p', causes: [{ reason, field }] },
  });
});

test.each<[string, ClassSpec, string, string]>([
  ['no family', {}, 'FieldValueRequired', 'spec.ipFamily'],
  ['another project as its source', { source: { project: 'beta', name: 'c' } }, 'FieldValueForbidden', 'spec.source'],
  ['itself as its parent', { ipFamily: 'IPv6', parentClassName: 'c' }, 'FieldValueInvalid', 'spec.parentClassName'],
  [
    'reservations but no pools',
    { ipFamily: 'IPv6', reservations: { leading: 1, unitPrefixLength: 96 } },
    'FieldValueForbidden',
    'spec.reservations',
  ],
  [
    'reservations of no size',
    { ipFamily: 'IPv6', poolPer: ['network'], reservations: { leading: 1 } },
    'FieldValueRequired',
    'spec.reservations.unitPrefixLength',
  ],
  [
    'a default it does not allow',
    { ipFamily: 'IPv4', allowedPrefixLengths: { min: 24, max: 28 }, defaultPrefixLength: 32 },
    'FieldValueInvalid',
    'spec.defaultPrefixLength',
  ],
  ['LeastUtilized', { ipFamily: 'IPv4', strategy: 'LeastUtilized' }, 'FieldValueForbidden', 'spec.strategy'],
  [
    'project to be unique within',
    { ipFamily: 'IPv4', uniqueWithin: ['project'] },
    'FieldValueInvalid',
    'spec.uniqueWithin',
  ],
  ['a role that is no role', { ipFamily: 'IPv4', poolPer: ['__proto__'] }, 'FieldValueInvalid', 'spec.poolPer[0]'],
])('a class with %s is refused', async (_, spec, reason, field) => {
  const ipam = new TestIpam();
  const status = await refusalOf(ipam.create('alpha', 'ipclasses', classOf('c', spec)));
  expect(status).toMatchObject({
    code: 422,
    reason: 'Invalid',
    details: { kind: 'IPClass', name: 'c', causes: [{ reason, field }] },
  });
});

test('what defines a class or a pool is frozen', async () => {
  const ipam = new TestIpam();
  await ipam.seed('alpha');
  const ofClass = await refusalOf(
    ipam.update<IPClass>(
      'alpha',
      'ipclasses',
      (object) => {
        object.spec!.poolPer = ['location'];
      },
      'subnet-ipv4',
    ),
  );
  expect(ofClass.details?.causes).toMatchObject([{ reason: 'FieldValueInvalid', field: 'spec.poolPer' }]);
  const ofPool = await refusalOf(
    ipam.update<IPPool>(
      'alpha',
      'ippools',
      (object) => {
        object.spec!.scope = { network: { kind: 'Network', name: 'a' } };
      },
      'private-ipv4',
    ),
  );
  expect(ofPool.details?.causes).toMatchObject([{ reason: 'FieldValueInvalid', field: 'spec.scope' }]);
});

test('a write built on an object that has moved on is a conflict', async () => {
  const ipam = new TestIpam();
  await ipam.seed('alpha');
  const stale = ipam.update<IPPool>(
    'alpha',
    'ippools',
    (object) => {
      object.metadata.resourceVersion = '1';
    },
    'private-ipv4',
  );
  expect((await stale).metadata.resourceVersion).not.toBe('1');
  const backing = ipam.ipam.backings.find((each) => each.plural === 'ippools')!.backing;
  const object = ipam.get<IPPool>('alpha', 'ippools', 'private-ipv4')!;
  const old = { ...object, metadata: { ...object.metadata, resourceVersion: '1' } };
  const request = { plane: 'project/alpha', project: 'alpha', subresource: '', dryRun: false } as Parameters<
    typeof backing.update
  >[0];
  expect(await refusalOf(backing.update(request, object, old))).toMatchObject({ code: 409, reason: 'Conflict' });
  expect(
    await refusalOf(backing.delete(request, { ...object, metadata: { ...object.metadata, uid: 'other' } })),
  ).toMatchObject({ code: 409 });
  expect(await refusalOf(backing.update({ ...request, subresource: 'status' }, object, object))).toMatchObject({
    code: 403,
  });
});

test('projects get the ranges the documentation shows, and no two the same IPv6 or public range', () => {
  expect(seedRanges(0)).toEqual({ ipv6: 'fd20:1000::/36', ipv4: '10.128.0.0/12', public: '198.51.100.0/24' });
  expect(seedRanges(1)).toEqual({ ipv6: 'fd20:2000::/36', ipv4: '10.144.0.0/12', public: '203.0.113.0/24' });
  const all = Array.from({ length: seedableProjects }, (_, index) => seedRanges(index));
  expect(new Set(all.map((ranges) => ranges.ipv6)).size).toBe(seedableProjects);
  expect(new Set(all.map((ranges) => ranges.public)).size).toBe(seedableProjects);
  expect(seedRanges(255)).toMatchObject({ ipv6: 'fd20:1000:1000::/36', public: '240.0.0.0/24' });
  expect(() => seedRanges(seedableProjects)).toThrow(RangeError);
});
