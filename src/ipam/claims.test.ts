import { expect, test } from 'vitest';
import type { IPAllocation, IPClaim, IPPool } from './objects.ts';
import { refusalOf, scopeOf, TestIpam } from './testing.ts';
import { audit } from './testing-audit.ts';

async function seeded(rest = 0): Promise<TestIpam> {
  const ipam = new TestIpam(rest);
  await ipam.seed('alpha');
  return ipam;
}

const endpoint = (network = 'net', location = 'us-central-1') => ({
  ipFamily: 'IPv6' as const,
  scope: scopeOf(network, location),
});

test('the response to a create is bound and carries the block', async () => {
  const ipam = await seeded();
  const claim = await ipam.claim('alpha', 'web-0-f-ipv6', endpoint());
  // The first /96 of the /64 is reserved: the gateway is in it.
  expect(claim.status).toMatchObject({ phase: 'Bound', allocatedCIDR: 'fd20:1000::1:0:0/96' });
  expect(claim.spec?.ownerRef).toEqual({ apiGroup: 'resourcemanager.miloapis.com', kind: 'Project', name: 'alpha' });
  expect(ipam.get<IPClaim>('alpha', 'ipclaims', 'web-0-f-ipv6', 'default')).toEqual(claim);
  const name = claim.status?.boundAllocationRef?.name as string;
  expect(name).toMatch(/^alloc-[0-9a-f]{16}$/);
  expect(ipam.get<IPAllocation>('alpha', 'ipallocations', name, 'default')).toMatchObject({
    spec: { purpose: 'Claim', className: 'endpoint-ipv6', claimRef: { name: 'web-0-f-ipv6' }, reclaimPolicy: 'Delete' },
    status: { phase: 'Ready', allocatedCIDR: 'fd20:1000::1:0:0/96' },
  });
  const pool = ipam.get<IPPool>('alpha', 'ippools', claim.status?.poolRef?.name as string);
  expect(pool?.status?.allocatedCIDR).toBe('fd20:1000::/64');
  expect(pool?.metadata.name).toMatch(/^subnet-ipv6-net-us-central-1-[0-9a-f]{8}$/);
});

test('IPv4 comes from the subnet of the location, between its reserved ends', async () => {
  const ipam = await seeded();
  const first = await ipam.claim('alpha', 'a', { ipFamily: 'IPv4', scope: scopeOf('net') });
  expect(first.status?.allocatedCIDR).toBe('10.128.0.2/32');
  const elsewhere = await ipam.claim('alpha', 'b', { ipFamily: 'IPv4', scope: scopeOf('net', 'eu-west-1') });
  expect(elsewhere.status?.allocatedCIDR).toBe('10.128.16.2/32');
  expect(ipam.allocations('alpha', 'Reservation').map((each) => each.status?.allocatedCIDR)).toEqual([
    '10.128.0.0/32',
    '10.128.0.1/32',
    '10.128.15.254/32',
    '10.128.15.255/32',
    '10.128.16.0/32',
    '10.128.16.1/32',
    '10.128.31.254/32',
    '10.128.31.255/32',
  ]);
});

test('a hundred claims at once on a fresh network and location make one /48, one /64 and a hundred blocks', async () => {
  const ipam = await seeded();
  const claims = await Promise.all(Array.from({ length: 100 }, (_, n) => ipam.claim('alpha', `c-${n}`, endpoint())));
  expect(new Set(claims.map((claim) => claim.status?.allocatedCIDR)).size).toBe(100);
  const ranges = ipam.pools('alpha').map((pool) => pool.status?.allocatedCIDR);
  expect(ranges.filter((range) => range?.endsWith('/48'))).toEqual(['fd20:1000::/48']);
  expect(ranges.filter((range) => range?.endsWith('/64'))).toEqual(['fd20:1000::/64']);
});

test('two projects with the same class names share nothing', async () => {
  const ipam = await seeded();
  await ipam.seed('beta', 1);
  const alpha = await ipam.claim('alpha', 'same', endpoint());
  const beta = await ipam.claim('beta', 'same', endpoint());
  expect(alpha.status?.allocatedCIDR).toBe('fd20:1000::1:0:0/96');
  expect(beta.status?.allocatedCIDR).toBe('fd20:2000::1:0:0/96');
  expect(alpha.status?.poolRef?.name).not.toBe(beta.status?.poolRef?.name);
  await ipam.release('alpha', 'same');
  expect(ipam.get<IPClaim>('beta', 'ipclaims', 'same', 'default')?.status?.phase).toBe('Bound');
  await ipam.ipam.dropProject('project/alpha');
  expect((await ipam.claim('beta', 'next', endpoint())).status?.allocatedCIDR).toBe('fd20:2000::2:0:0/96');
  for (const table of ['class', 'pool', 'offer', 'space', 'block']) {
    const rows = ipam.store.database.prepare(`SELECT DISTINCT plane FROM ipam_${table}`).all();
    expect(rows).toEqual([{ plane: 'project/beta' }]);
  }
});

test('a network re-created under its name is another scope', async () => {
  const ipam = await seeded();
  await ipam.claim('alpha', 'a', endpoint());
  const scope = scopeOf('net');
  const again = await ipam.claim('alpha', 'b', {
    ...endpoint(),
    scope: { ...scope, network: { ...scope.network, uid: 'another' } },
  });
  expect(again.status?.allocatedCIDR).toBe('fd20:1000:1::1:0:0/96');
});

test('a request without a project is refused', async () => {
  const ipam = await seeded();
  const object: IPClaim = {
    apiVersion: 'ipam.miloapis.com/v1alpha1',
    kind: 'IPClaim',
    metadata: { name: 'a', namespace: 'default' },
    spec: endpoint(),
  };
  const status = await refusalOf(ipam.create(undefined, 'ipclaims', object));
  expect(status).toMatchObject({
    code: 400,
    reason: 'BadRequest',
    details: { causes: [{ reason: 'NoProjectScope' }] },
  });
});

test('an address asked for is given, or refused with who holds it', async () => {
  const ipam = await seeded(60);
  const asked = { className: 'public-unicast-ipv4', address: '198.51.100.77' };
  const claim = await ipam.claim('alpha', 'a', asked);
  expect(claim.status?.allocatedCIDR).toBe('198.51.100.77/32');
  const taken = await refusalOf(ipam.claim('alpha', 'b', asked));
  expect(taken).toMatchObject({ code: 409, reason: 'Conflict', details: { kind: 'ipclaims', name: 'b' } });
  expect(taken.message).toContain('198.51.100.77/32 of IPPool "public-ipv4" is held by an IPClaim');
  await ipam.release('alpha', 'a');
  expect((await refusalOf(ipam.claim('alpha', 'b', asked))).message).toContain('rests for 60 s more');
  const outside = await refusalOf(ipam.claim('alpha', 'b', { ...asked, address: '192.0.2.1' }));
  expect(outside.details?.causes?.[0]).toMatchObject({ reason: 'NoOfferingPool', field: 'spec.address' });
  const family = await refusalOf(ipam.claim('alpha', 'b', { ...asked, address: 'fd20::1' }));
  expect(family).toMatchObject({ code: 422, details: { causes: [{ field: 'spec.address' }] } });
  const reserved = await refusalOf(ipam.claim('alpha', 'b', { ...endpoint(), address: 'fd20:1000::1' }));
  expect(reserved.message).toContain('a Reservation of IPPool');
});

test('a dry run computes the very block and keeps nothing', async () => {
  const ipam = await seeded();
  const before = ipam.snapshot();
  const dry = await ipam.claim('alpha', 'a', endpoint(), { dryRun: true });
  expect(ipam.snapshot()).toBe(before);
  const real = await ipam.claim('alpha', 'a', endpoint());
  expect(dry.status).toEqual(real.status);
  expect(dry.metadata.resourceVersion).toBeUndefined();
});

test('each refusal has its cause, its code, and the objects it depends on', async () => {
  const ipam = await seeded();
  await ipam.create('alpha', 'ipclasses', {
    apiVersion: 'ipam.miloapis.com/v1alpha1',
    kind: 'IPClass',
    metadata: { name: 'orphan' },
    spec: { ipFamily: 'IPv6', defaultPrefixLength: 96 },
  });
  await ipam.claim('alpha', 'there', endpoint());
  const before = ipam.snapshot();
  const cases: [IPClaim['spec'], number, string, string, string[]][] = [
    [{ className: 'nope' }, 400, 'ClassNotFound', 'IPClass "nope" does not exist', ['ipclasses/nope']],
    [{ className: 'orphan' }, 400, 'NoOfferingPool', 'offers IPClass "orphan"', ['ipclasses/orphan']],
    [
      { ...endpoint(), prefixLength: 64 },
      400,
      'PrefixLengthRejected',
      '/96 to /96, not /64',
      ['ipclasses/endpoint-ipv6'],
    ],
    [{ ipFamily: 'IPv6' }, 400, 'ScopeRolesMissing', 'network, location', ['ipclasses/endpoint-ipv6']],
    [{ ...endpoint(), className: 'endpoint-ipv4' }, 400, 'ClassNotFound', 'is for IPv4', ['ipclasses/endpoint-ipv4']],
  ];
  for (const [spec, code, cause, text, depends] of cases) {
    const status = await refusalOf(ipam.claim('alpha', 'refused', spec));
    expect(status.code).toBe(code);
    expect(status.message).toContain(text);
    expect(status.details?.causes?.[0]?.reason).toBe(cause);
    const fields = status.details?.causes?.filter((each) => each.reason === 'DependsOn').map((each) => each.field);
    expect(fields).toEqual(depends);
  }
  const roles = await refusalOf(ipam.claim('alpha', 'refused', { ipFamily: 'IPv6' }));
  expect(roles.details?.causes?.slice(0, 2).map((cause) => cause.field)).toEqual([
    'spec.scope.network',
    'spec.scope.location',
  ]);
  expect(await refusalOf(ipam.claim('alpha', 'there', endpoint()))).toMatchObject({
    code: 409,
    details: { kind: 'ipclaims', name: 'there', causes: [{ reason: 'ClaimExists' }] },
  });
  const nothing = await refusalOf(ipam.claim('alpha', 'refused', {}));
  expect(nothing).toMatchObject({
    code: 422,
    reason: 'Invalid',
    details: { causes: [{ reason: 'FieldValueRequired', field: 'spec.className' }] },
  });
  const role = await refusalOf(
    ipam.claim('alpha', 'refused', { ...endpoint(), scope: { project: { kind: 'Project', name: 'beta' } } }),
  );
  expect(role.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueForbidden', field: 'spec.scope.project' });
  expect(ipam.snapshot()).toBe(before);
});

test('without a default class a family is refused, naming the classes that could be it', async () => {
  const ipam = await seeded();
  await ipam.update(
    'alpha',
    'ipclasses',
    (object) => {
      object.metadata.annotations = {};
    },
    'endpoint-ipv6',
  );
  const status = await refusalOf(ipam.claim('alpha', 'a', endpoint()));
  expect(status).toMatchObject({
    code: 400,
    details: { causes: [{ reason: 'NoDefaultClass' }, { field: 'ipclasses/endpoint-ipv6' }, {}, {}] },
  });
});

async function smallPool(ipam: TestIpam, spec: Partial<IPPool['spec']> = {}): Promise<void> {
  const apiVersion = 'ipam.miloapis.com/v1alpha1';
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'tiny' },
    spec: { ipFamily: 'IPv4', defaultPrefixLength: 32 },
  });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'tiny-pool' },
    spec: { cidr: '192.0.2.0/30', ipFamily: 'IPv4', classNames: ['tiny'], ...spec },
  });
}

test('exhaustion names the pool, leaves nothing behind, and ends when a freed address has rested', async () => {
  const ipam = await seeded();
  await smallPool(ipam, { restPeriod: '30s' });
  ipam.ipam.start();
  for (let n = 0; n < 4; n++) await ipam.claim('alpha', `t-${n}`, { className: 'tiny' });
  await ipam.clock.advance(2000);
  const full = ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')!;
  expect(full.status).toMatchObject({
    phase: 'Exhausted',
    capacity: { total: '4', allocated: '4', available: '0' },
    utilizationPercent: 100,
  });
  const before = ipam.snapshot();
  for (let n = 0; n < 100; n++) {
    const status = await refusalOf(ipam.claim('alpha', `u-${n}`, { className: 'tiny' }));
    expect(status).toMatchObject({
      code: 507,
      reason: 'InsufficientStorage',
      details: { group: 'ipam.miloapis.com', kind: 'ippools', name: 'tiny-pool' },
    });
    expect(status.details?.causes?.map((cause) => cause.reason)).toEqual(['Exhausted', 'DependsOn', 'DependsOn']);
    expect(status.message).toBe(
      'IPClass "tiny" (IPv4) has no free /32 in IPPool "tiny-pool" (192.0.2.0/30); release an address, or add a pool',
    );
    expect(status.details?.causes?.[0]?.message).toBe(
      'no IPv4 /32 is free in 192.0.2.0/30; release an address, or add a pool',
    );
    expect(status.details?.causes?.[1]?.field).toBe('ippools/tiny-pool');
  }
  expect(ipam.snapshot()).toBe(before);
  await ipam.release('alpha', 't-2');
  await ipam.clock.advance(10_000);
  const waiting = await refusalOf(ipam.claim('alpha', 'u', { className: 'tiny' }));
  expect(waiting.message).toContain('1 released block rests, the next is free in 20 s');
  expect(ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')).toEqual(full);
  await ipam.clock.advance(20_500);
  const freed = ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')!;
  expect(freed.status).toMatchObject({ phase: 'Ready', capacity: { allocated: '3', available: '1' } });
  await ipam.clock.advance(60_000);
  expect(ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')).toEqual(freed);
  expect((await ipam.claim('alpha', 'u', { className: 'tiny' })).status?.allocatedCIDR).toBe('192.0.2.2/32');
  expect(ipam.errors).toEqual([]);
  await ipam.ipam.stop();
});

test('an ancestor that ran out is named, with no pool in the details', async () => {
  const ipam = await seeded();
  const apiVersion = 'ipam.miloapis.com/v1alpha1';
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'top' },
    spec: { ipFamily: 'IPv4', poolPer: ['network'], defaultPrefixLength: 30 },
  });
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'leaf' },
    spec: { ipFamily: 'IPv4', parentClassName: 'top', defaultPrefixLength: 32 },
  });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'top-pool' },
    spec: { cidr: '192.0.2.0/30', ipFamily: 'IPv4', classNames: ['top'] },
  });
  await ipam.claim('alpha', 'a', { className: 'leaf', scope: scopeOf('one') });
  const status = await refusalOf(ipam.claim('alpha', 'b', { className: 'leaf', scope: scopeOf('two') }));
  expect(status.code).toBe(507);
  expect(status.details?.name).toBeUndefined();
  expect(status.message).toContain(
    'IPClass "top" (IPv4) cannot provision its /30 pool for this scope: IPPool "top-pool"',
  );
  expect(status.details?.causes?.map((cause) => cause.field)).toEqual([undefined, 'ippools/top-pool', 'ipclasses/top']);
});

test('Retain keeps the address and blocks the name for anything else', async () => {
  const ipam = await seeded();
  const spec = { className: 'public-unicast-ipv4', reclaimPolicy: 'Retain' as const };
  const first = await ipam.claim('alpha', 'a', spec);
  await ipam.release('alpha', 'a');
  expect(ipam.get('alpha', 'ipclaims', 'a', 'default')).toBeUndefined();
  const [kept] = ipam.allocations('alpha');
  expect(kept?.spec?.claimRef).toBeUndefined();
  expect(kept?.status?.conditions?.[0]).toMatchObject({ type: 'Retained', status: 'True' });
  const other = await refusalOf(ipam.claim('alpha', 'a', { ...endpoint() }));
  expect(other).toMatchObject({
    code: 409,
    details: {
      kind: 'ipclaims',
      name: 'a',
      causes: [{ reason: 'AllocationRetained', message: kept?.metadata.name }, {}],
    },
  });
  const again = await ipam.claim('alpha', 'a', spec);
  expect(again.status).toEqual(first.status);
  expect(ipam.allocations('alpha')[0]?.spec?.claimRef).toMatchObject({ name: 'a', uid: again.metadata.uid });
  expect(
    (await refusalOf(ipam.delete('alpha', 'ipallocations', kept!.metadata.name, 'default'))).details?.causes?.[0],
  ).toMatchObject({
    reason: 'FieldValueForbidden',
    field: 'spec.claimRef',
  });
  await ipam.release('alpha', 'a');
  await ipam.delete('alpha', 'ipallocations', kept!.metadata.name, 'default');
  expect(ipam.allocations('alpha')).toEqual([]);
  expect((await ipam.claim('alpha', 'a', { ...endpoint() })).status?.phase).toBe('Bound');
  expect((await ipam.claim('alpha', 'b', spec)).status?.allocatedCIDR).toBe(first.status?.allocatedCIDR);
});

test('a lease that runs out is shown as Expiring, then releases the address', async () => {
  const ipam = await seeded();
  await smallPool(ipam, { maxRetentionLease: '1h' });
  ipam.ipam.start();
  await ipam.claim('alpha', 'a', { className: 'tiny', reclaimPolicy: 'Retain' });
  await ipam.release('alpha', 'a');
  await ipam.clock.advance(3_590_000);
  expect(ipam.allocations('alpha')[0]?.status?.conditions?.map((each) => each.type)).toEqual(['Retained']);
  await ipam.clock.advance(20_000);
  expect(ipam.allocations('alpha')[0]?.status?.conditions?.map((each) => each.type)).toEqual(['Retained', 'Expiring']);
  await ipam.clock.advance(3_601_000);
  expect(ipam.allocations('alpha')).toEqual([]);
  expect((await ipam.claim('alpha', 'b', { className: 'tiny', address: '192.0.2.0' })).status?.phase).toBe('Bound');
  await ipam.ipam.stop();
});

test('a ScopeRange claim holds the pool, which stays while anything is inside', async () => {
  const ipam = await seeded();
  const before = ipam.pools('alpha').length;
  const range = {
    className: 'network-ipv6',
    target: 'ScopeRange' as const,
    scope: { network: scopeOf('net').network },
  };
  const held = await ipam.claim('alpha', 'range', range);
  expect(held.status).toMatchObject({ phase: 'Bound', allocatedCIDR: 'fd20:1000::/48' });
  expect(held.status?.boundAllocationRef).toBeUndefined();
  expect(held.spec?.target).toBe('ScopeRange');
  const second = await refusalOf(ipam.claim('alpha', 'range-2', range));
  expect(second).toMatchObject({ code: 409, reason: 'Conflict' });
  expect(second.details?.causes?.map((cause) => cause.reason)).toEqual(['DependsOn']);
  await ipam.claim('alpha', 'a', endpoint());
  const occupied = await refusalOf(ipam.release('alpha', 'range'));
  expect(occupied.code).toBe(409);
  expect(occupied.message).toContain('IPClaim "default/a" is still inside');
  await ipam.release('alpha', 'a');
  await ipam.release('alpha', 'range');
  // The /64 below it, and its reservation, have gone with it.
  expect(ipam.pools('alpha')).toHaveLength(before);
  expect(ipam.list('alpha', 'ipallocations')).toEqual([]);
  expect((await ipam.claim('alpha', 'range', range)).status?.allocatedCIDR).toBe('fd20:1000::/48');
  const leaf = await refusalOf(
    ipam.claim('alpha', 'x', { ...endpoint(), className: 'endpoint-ipv6', ipFamily: 'IPv6', target: 'ScopeRange' }),
  );
  expect(leaf).toMatchObject({ code: 400 });
  expect(leaf.message).toContain('holds no range');
  const fields = await refusalOf(
    ipam.claim('alpha', 'x', { ...range, address: 'fd20::1', prefixLength: 48, reclaimPolicy: 'Retain' }),
  );
  expect(fields.details?.causes?.map((cause) => cause.field)).toEqual([
    'spec.address',
    'spec.prefixLength',
    'spec.reclaimPolicy',
  ]);
});

test('uniqueWithin makes one address space per combination of its roles', async () => {
  const ipam = await seeded();
  const apiVersion = 'ipam.miloapis.com/v1alpha1';
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'per-network' },
    spec: { ipFamily: 'IPv4', uniqueWithin: ['network'], defaultPrefixLength: 32 },
  });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'shared' },
    spec: { cidr: '192.0.2.0/30', ipFamily: 'IPv4', classNames: ['per-network', 'plain'] },
  });
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'plain' },
    spec: { ipFamily: 'IPv4', defaultPrefixLength: 32 },
  });
  const one = await ipam.claim('alpha', 'a', { className: 'per-network', scope: scopeOf('one') });
  const two = await ipam.claim('alpha', 'b', { className: 'per-network', scope: scopeOf('two') });
  const again = await ipam.claim('alpha', 'c', { className: 'per-network', scope: scopeOf('one', 'elsewhere') });
  expect([one, two, again].map((claim) => claim.status?.allocatedCIDR)).toEqual([
    '192.0.2.0/32',
    '192.0.2.0/32',
    '192.0.2.1/32',
  ]);
  expect(ipam.allocations('alpha')[0]?.spec?.scope).toEqual({ network: scopeOf('one').network });
  const mixed = await refusalOf(ipam.claim('alpha', 'd', { className: 'plain' }));
  expect(mixed.message).toContain('give it a pool of its own');
});

test('ranges that are unique within a network are given back to the space they came from', async () => {
  const ipam = await seeded();
  const apiVersion = 'ipam.miloapis.com/v1alpha1';
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'ranges' },
    spec: { ipFamily: 'IPv4', poolPer: ['network'], uniqueWithin: ['network'], defaultPrefixLength: 28 },
  });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'above' },
    spec: { cidr: '192.0.2.0/27', ipFamily: 'IPv4', classNames: ['ranges'] },
  });
  const range = (name: string, network: string) =>
    ipam.claim('alpha', name, { className: 'ranges', target: 'ScopeRange', scope: scopeOf(network) });
  const [one, two] = [await range('one', 'first'), await range('two', 'second')];
  expect([one, two].map((claim) => claim.status?.allocatedCIDR)).toEqual(['192.0.2.0/28', '192.0.2.0/28']);
  await ipam.delete('alpha', 'ipclaims', 'two', 'default');
  expect(ipam.allocations('alpha', 'PoolCarve').map((each) => each.status?.allocatedCIDR)).toEqual(['192.0.2.0/28']);
  expect(audit(ipam, 'alpha')).toEqual([]);
  expect((await range('three', 'second')).status?.allocatedCIDR).toBe('192.0.2.0/28');
  await ipam.delete('alpha', 'ipclaims', 'one', 'default');
  await ipam.delete('alpha', 'ipclaims', 'three', 'default');
  expect(ipam.allocations('alpha', 'PoolCarve')).toEqual([]);
  expect(audit(ipam, 'alpha')).toEqual([]);
});

test('what a claim asked for is frozen, what it carries is not, and its labels are indexed', async () => {
  const ipam = await seeded();
  const labels = (name: string) => ({
    'networking.datumapis.com/cell-uid': 'cell-1',
    'networking.datumapis.com/interface-namespace': 'ns',
    'networking.datumapis.com/interface-name': name,
  });
  await ipam.claim('alpha', 'a', endpoint(), { labels: labels('if-1') });
  const identity = (name: string) => ({ plane: 'project/alpha', cellUid: 'cell-1', namespace: 'ns', name });
  expect(await ipam.ipam.claimsOf(identity('if-1'))).toEqual([{ namespace: 'default', name: 'a' }]);
  const frozen = await refusalOf(
    ipam.update<IPClaim>(
      'alpha',
      'ipclaims',
      (claim) => {
        claim.spec!.prefixLength = 80;
      },
      'a',
      'default',
    ),
  );
  expect(frozen.details?.causes).toEqual([
    { reason: 'FieldValueInvalid', field: 'spec.prefixLength', message: 'Invalid value: 80: field is immutable' },
  ]);
  const changed = await ipam.update<IPClaim>(
    'alpha',
    'ipclaims',
    (claim) => {
      claim.metadata.labels = labels('if-2');
      claim.spec!.ownerRef = { kind: 'Project', name: 'beta' };
      claim.status!.allocatedCIDR = '::/0';
    },
    'a',
    'default',
  );
  expect(changed.spec?.ownerRef?.name).toBe('alpha');
  expect(changed.status?.allocatedCIDR).toBe('fd20:1000::1:0:0/96');
  expect(await ipam.ipam.claimsOf(identity('if-1'))).toEqual([]);
  expect(await ipam.ipam.claimsOf(identity('if-2'))).toHaveLength(1);
  await ipam.release('alpha', 'a');
  expect(await ipam.ipam.claimsOf(identity('if-2'))).toEqual([]);
});

test('a finalizer holds the address until it is gone', async () => {
  const ipam = await seeded();
  const claim = await ipam.claim('alpha', 'a', endpoint());
  await ipam.update(
    'alpha',
    'ipclaims',
    (object) => {
      object.metadata.finalizers = ['example.com/hold'];
    },
    'a',
    'default',
  );
  const releasing = await ipam.release('alpha', 'a');
  expect(releasing.metadata.deletionTimestamp).toBeDefined();
  expect(releasing.status).toMatchObject({ phase: 'Releasing', allocatedCIDR: claim.status?.allocatedCIDR });
  expect((await ipam.claim('alpha', 'b', endpoint())).status?.allocatedCIDR).not.toBe(claim.status?.allocatedCIDR);
  await ipam.update(
    'alpha',
    'ipclaims',
    (object) => {
      object.metadata.finalizers = [];
    },
    'a',
    'default',
  );
  expect(ipam.get('alpha', 'ipclaims', 'a', 'default')).toBeUndefined();
  expect((await ipam.claim('alpha', 'c', endpoint())).status?.allocatedCIDR).toBe(claim.status?.allocatedCIDR);
});
