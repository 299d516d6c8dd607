import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import type { IPClass, IPPool } from './objects.ts';
import { refusalOf, scopeOf, TestIpam } from './testing.ts';

const apiVersion = 'ipam.miloapis.com/v1alpha1';

async function tiny(ipam: TestIpam, ofClass: object = {}, ofPool: object = {}): Promise<void> {
  await ipam.create('alpha', 'ipclasses', {
    apiVersion,
    kind: 'IPClass',
    metadata: { name: 'tiny' },
    spec: { ipFamily: 'IPv4', defaultPrefixLength: 32, ...ofClass },
  });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'tiny-pool' },
    spec: { cidr: '192.0.2.0/32', ipFamily: 'IPv4', classNames: ['tiny'], ...ofPool },
  });
}

async function tinyOf(ipam: TestIpam, name: string, spec: IPClass['spec'], cidr: string): Promise<void> {
  const metadata = { name };
  await ipam.create('alpha', 'ipclasses', { apiVersion, kind: 'IPClass', metadata, spec: spec! });
  const ofPool = { ipFamily: 'IPv4' as const, cidr, classNames: [name] };
  await ipam.create('alpha', 'ippools', { apiVersion, kind: 'IPPool', metadata, spec: ofPool });
}

test.each([
  ['the server says', {}, {}, 60],
  ['its class says', { restPeriod: '20s' }, {}, 20],
  ['its pool says', { restPeriod: '20s' }, { restPeriod: '5s' }, 5],
  ['its pool says, be it not at all', { restPeriod: '20s' }, { restPeriod: '0s' }, 0],
])('a freed address rests as long as %s', async (_, ofClass, ofPool, seconds) => {
  const ipam = new TestIpam(60);
  await tiny(ipam, ofClass, ofPool);
  await ipam.claim('alpha', 'a', { className: 'tiny' });
  await ipam.release('alpha', 'a');
  if (seconds > 0) {
    await ipam.clock.advance(seconds * 1000 - 1);
    expect((await refusalOf(ipam.claim('alpha', 'b', { className: 'tiny' }))).code).toBe(507);
    await ipam.clock.advance(1);
  }
  // Without the sweeper: an allocation that finds nothing frees what has rested.
  expect((await ipam.claim('alpha', 'b', { className: 'tiny' })).status?.allocatedCIDR).toBe('192.0.2.0/32');
});

test('a restart goes on with what rests and shows what was not yet shown', async () => {
  const ipam = new TestIpam(10);
  await tiny(ipam);
  await ipam.claim('alpha', 'a', { className: 'tiny' });
  await ipam.release('alpha', 'a');
  expect(ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')?.status?.phase).toBe('Ready');
  ipam.ipam.start();
  await ipam.clock.advance(100);
  expect(ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')?.status?.phase).toBe('Exhausted');
  await ipam.clock.advance(10_500);
  expect(ipam.get<IPPool>('alpha', 'ippools', 'tiny-pool')?.status?.phase).toBe('Ready');
  await ipam.ipam.stop();
});

test('metrics count attempts and failures by cause, and show how full a pool is', async () => {
  const registry = new Registry();
  const ipam = new TestIpam(0, registry);
  await tiny(ipam);
  ipam.ipam.start();
  await ipam.claim('alpha', 'a', { className: 'tiny' });
  await refusalOf(ipam.claim('alpha', 'b', { className: 'tiny' }));
  await refusalOf(ipam.claim('alpha', 'b', { className: 'nope' }));
  await ipam.clock.advance(1100);
  const text = await registry.metrics();
  expect(text).toContain('berth_ipam_attempts_total{resource="ipclaims",verb="create"} 3');
  expect(text).toContain('berth_ipam_failures_total{resource="ipclaims",verb="create",cause="Exhausted"} 1');
  expect(text).toContain('berth_ipam_failures_total{resource="ipclaims",verb="create",cause="ClassNotFound"} 1');
  expect(text).toContain('berth_ipam_pool_utilization_ratio{plane="project/alpha",pool="tiny-pool"} 1');
  expect(text).toContain('berth_ipam_class_utilization_ratio{plane="project/alpha",class="tiny"} 1');
  expect(text).not.toContain('berth_ipam_resting_blocks{');
  expect(text).toContain('berth_ipam_write_seconds_count{resource="ipclaims",verb="create"} 3');
  await ipam.ipam.stop();
});

test('gauges are right after a restart, for classes that provision, for what rests, and forget what is gone', async () => {
  const registry = new Registry();
  const ipam = new TestIpam(60, registry);
  await ipam.seed('alpha');
  await ipam.claim('alpha', 'a', { ipFamily: 'IPv4', scope: scopeOf('net') });
  await ipam.claim('alpha', 'b', { className: 'public-unicast-ipv4' });
  await ipam.release('alpha', 'a');
  const text = await registry.metrics();
  // The /20 carved from the /12, and in it two units at each end and the one that rests.
  const share = (4096 + 5) / (2 ** 20 + 4096);
  expect(text).toContain(`berth_ipam_class_utilization_ratio{plane="project/alpha",class="subnet-ipv4"} ${share}`);
  expect(text).toContain(
    'berth_ipam_class_utilization_ratio{plane="project/alpha",class="public-unicast-ipv4"} 0.00390625',
  );
  expect(text).toContain('berth_ipam_resting_blocks{plane="project/alpha"} 1');
  expect(text).toContain('berth_ipam_pool_utilization_ratio{plane="project/alpha",pool="private-ipv4"} 0.003906');
  await ipam.ipam.dropProject('project/alpha');
  expect(await registry.metrics()).not.toContain('project/alpha');
});

test('excluded ranges are no part of a class, in pools people wrote and in those it provisioned', async () => {
  const registry = new Registry();
  const ipam = new TestIpam(0, registry);
  const ofClass = (name: string, spec: IPClass['spec']) =>
    ipam.create('alpha', 'ipclasses', { apiVersion, kind: 'IPClass', metadata: { name }, spec: spec! });
  await ofClass('net', { ipFamily: 'IPv4', poolPer: ['network'], defaultPrefixLength: 28 });
  await ofClass('leaf', { ipFamily: 'IPv4', parentClassName: 'net', defaultPrefixLength: 32 });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'root' },
    spec: { ipFamily: 'IPv4', cidr: '192.0.2.0/26', classNames: ['net'], excludedRanges: ['192.0.2.32/27'] },
  });
  const made = await ipam.claim('alpha', 'a', { className: 'leaf', scope: scopeOf('one') });
  await ipam.claim('alpha', 'b', { className: 'leaf', scope: scopeOf('two') });
  const excludedRanges = ['192.0.2.8/30', '192.0.2.12/31'];
  await ipam.update<IPPool>(
    'alpha',
    'ippools',
    ({ spec }) => Object.assign(spec!, { excludedRanges }),
    made.status!.poolRef!.name,
  );
  const text = await registry.metrics();
  // Of the root 32 addresses count, of which the two /28 are carved; in those, 10 and 16, of which one each is held.
  expect(text).toContain(`berth_ipam_class_utilization_ratio{plane="project/alpha",class="net"} ${34 / 58}`);
  expect(text).toContain('berth_ipam_pool_utilization_ratio{plane="project/alpha",pool="root"} 1');
});

test('a project is forgotten in parts, and nothing is left of it or missing of another', async () => {
  const ipam = new TestIpam(60);
  const spec = { ipFamily: 'IPv4' as const, uniqueWithin: ['network'], defaultPrefixLength: 32 };
  const pool = { ipFamily: 'IPv4' as const, cidr: '10.0.0.0/20', classNames: ['c'] };
  await ipam.seed('beta');
  await ipam.claim('beta', 'a', { className: 'public-unicast-ipv4' });
  const before = ipam.snapshot();
  await ipam.create('alpha', 'ipclasses', { apiVersion, kind: 'IPClass', metadata: { name: 'c' }, spec });
  await ipam.create('alpha', 'ippools', {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'p' },
    spec: { ...pool, reservations: { leading: 1024, unitPrefixLength: 32 } },
  });
  // Each network an address space of its own, with a thousand blocks set aside.
  for (const net of ['one', 'two', 'three', 'four']) {
    await ipam.claim('alpha', net, { className: 'c', scope: scopeOf(net) });
    await ipam.release('alpha', net);
  }
  const call = vi.spyOn(ipam.store, 'call');
  await ipam.ipam.dropProject('project/alpha');
  expect(call.mock.calls.length).toBeGreaterThan(2);
  for (const id of ipam.store.objects.keys()) if (id.includes('project/alpha')) ipam.store.objects.delete(id);
  expect(ipam.snapshot()).toBe(before);
});

test('a pool changes once for what is freed in it, also where its fullest address space is as full as before', async () => {
  const ipam = new TestIpam(10);
  const of = (name: string, spec: IPClass['spec'], cidr: string) =>
    tinyOf(ipam, name, { ipFamily: 'IPv4', defaultPrefixLength: 32, ...spec }, cidr);
  await of('spaces', { uniqueWithin: ['network'] }, '192.0.2.0/31');
  await of('plain', {}, '198.51.100.0/31');
  ipam.ipam.start();
  const scope = (net: string) => ({ className: 'spaces', scope: scopeOf(net) });
  for (const net of ['one', 'two']) {
    for (const n of [1, 2]) await ipam.claim('alpha', `${net}-${n}`, scope(net));
  }
  await ipam.claim('alpha', 'asked', { className: 'plain', address: '198.51.100.0' });
  await ipam.clock.advance(2000);
  const versions = () =>
    ['spaces', 'plain'].map((name) => ipam.get('alpha', 'ippools', name)!.metadata.resourceVersion);

  // Both of its spaces are full, and somebody waits in this one.
  expect((await refusalOf(ipam.claim('alpha', 'waits', scope('two')))).code).toBe(507);
  const [spaces] = versions();
  await ipam.release('alpha', 'two-1');
  await ipam.clock.advance(9900);
  expect(versions()[0]).toBe(spaces);
  await ipam.clock.advance(500);
  const [freed] = versions();
  expect(freed).not.toBe(spaces);
  await ipam.clock.advance(5000);
  expect(versions()[0]).toBe(freed);

  // Somebody waits for this very address; when it has rested another one is taken in the same moment.
  const asks = { className: 'plain', address: '198.51.100.0' };
  expect((await refusalOf(ipam.claim('alpha', 'waits', asks))).code).toBe(409);
  const [, plain] = versions();
  await ipam.release('alpha', 'asked');
  await ipam.clock.advance(9990);
  await ipam.claim('alpha', 'other', { className: 'plain' });
  await ipam.clock.advance(1500);
  expect(versions()[1]).not.toBe(plain);
  await ipam.claim('alpha', 'waits', asks);
  await ipam.ipam.stop();
});
