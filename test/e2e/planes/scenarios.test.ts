import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IpPrefix } from '../../../src/address/index.ts';
import {
  IPClass,
  Location,
  Network,
  NetworkContext,
  NetworkInterfaceClaim,
  networkingFinalizers,
  networkingLabels,
  ServingLocation,
  upstreamLabels,
} from '../../../src/api/index.ts';
import { apiVersionOf, Event, Namespace } from '../../../src/meta/index.ts';
import { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { createLocation, location, Tenant, topology } from './world.ts';

/** Reference E, from E12 on: what needs a project, the hub and cells together. Names and values are the reference's. */

let stack: Stack;
afterEach(() => stack.close());

const apiVersion = apiVersionOf(Location);

const servingIn = async (at: string) =>
  (await stack.cell(at).list(ServingLocation)).items.map(({ metadata }) => metadata.name).sort();

const covers = (range: string, part: string) => IpPrefix.parse(range).contains(IpPrefix.parse(part));

describe('a network and its presence', () => {
  let alpha: Tenant;
  beforeEach(async () => {
    stack = await Stack.open();
    await createLocation(stack, location, topology('DSM'));
    alpha = await Tenant.open(stack);
    await alpha.locationBinding(location);
  });

  it('E12 network-crud: families are defaulted, its finalizer is put on, and deletion completes within a minute', async () => {
    const { spec } = await alpha.network('crud-network');
    expect(spec.ipFamilies).toEqual(['IPv6']);
    await stack.until('finalizers', async () =>
      (await alpha.getNetwork('crud-network'))?.metadata.finalizers?.includes(networkingFinalizers.network),
    );
    await alpha.says('the network', () => alpha.getNetwork('crud-network'), 'Ready');
    await alpha.project.delete(Network, { namespace: 'default', name: 'crud-network' });
    await stack.until('the network gone', async () => (await alpha.getNetwork('crud-network')) === undefined, 60);
    expect(await alpha.held()).toEqual([]);
  });

  it('E15 network-ipv6-prefix: a range of its own before any interface, which endpoints lie in, given back with it', async () => {
    await alpha.network('v6prefix-net', ['IPv6']);
    const network = await alpha.says('the network', () => alpha.getNetwork('v6prefix-net'), 'Ready');
    const { ipv6Prefix = '', ipv6PrefixRef } = network.status?.ipam ?? {};
    expect(ipv6Prefix).toMatch(/^fd20:1[0-9a-f]{3}:.*\/48$/);
    expect(said(network, 'IPAMAllocated')).toMatchObject({ status: 'True', reason: 'Allocated' });
    const [pool, ...others] = await alpha.pools('datum-network-v6');
    expect(others).toEqual([]);
    expect(pool?.status?.allocatedCIDR).toBe(ipv6Prefix);
    expect(pool?.spec?.scope?.network).toMatchObject({ name: 'v6prefix-net', uid: network.metadata.uid });
    const [claim] = await alpha.held();
    expect(ipv6PrefixRef).toEqual({
      project: 'project-alpha',
      namespace: 'default',
      claimName: claim?.metadata.name,
      poolName: pool?.metadata.name,
    });
    expect(claim).toMatchObject({
      spec: { target: 'ScopeRange' },
      status: { phase: 'Bound', allocatedCIDR: ipv6Prefix },
    });
    expect(claim?.status?.boundAllocationRef).toBeUndefined();

    await alpha.bind('endpoint', 'v6prefix-net');
    await stack.until('the context in the cell', () => alpha.cellContext(`v6prefix-net-${location}`));
    await alpha.claim('v6prefix-endpoint', 'v6prefix-net');
    const endpoint = await alpha.allocated('v6prefix-endpoint');
    const address = endpoint.status?.addresses?.[0]?.address ?? '';
    expect(address).toMatch(/\/96$/);
    expect(covers(ipv6Prefix, address)).toBe(true);

    await alpha.deleteClaim('v6prefix-endpoint');
    await alpha.unbind('endpoint');
    await alpha.project.delete(Network, { namespace: 'default', name: 'v6prefix-net' });
    await stack.until('the network gone', async () => (await alpha.getNetwork('v6prefix-net')) === undefined);
    expect(await alpha.held()).toEqual([]);
    expect(await alpha.pools('datum-network-v6')).toEqual([]);
    expect(await alpha.project.get(IPClass, { namespace: '', name: 'datum-network-v6' })).toBeDefined();
  });

  it('E16 networkcontext-ipv6-subnet: the location’s /64 lies in the /48, endpoints in the /64, and the gateway is its second address', async () => {
    await alpha.network('ctxsubnet-net', ['IPv6']);
    await alpha.bind('ctxsubnet', 'ctxsubnet-net');
    const name = `ctxsubnet-net-${location}`;
    const context = await alpha.says('the context', () => alpha.context(name), 'Ready');
    expect(said(context, 'IPAMAllocated')).toMatchObject({ status: 'True', reason: 'Allocated' });
    expect(context.status?.ipam).toMatchObject({
      ipv6SubnetRef: { name: `${name}-ipv6` },
      ipv6ClaimRef: { project: 'project-alpha', namespace: 'default' },
    });
    const subnet = await alpha.subnet(`${name}-ipv6`);
    expect(subnet?.metadata.ownerReferences).toMatchObject([{ uid: context.metadata.uid, controller: true }]);
    expect(subnet?.spec).toMatchObject({ ipFamily: 'IPv6', prefixLength: 64, subnetClass: 'private' });
    const start = subnet?.spec?.startAddress ?? '';
    expect(start).toMatch(/^fd20:1/);
    expect(said(subnet, 'Allocated')?.status).toBe('True');
    const [pool] = await alpha.pools('datum-subnet-v6');
    expect(pool?.status?.allocatedCIDR).toBe(`${start}/64`);
    expect(pool?.spec?.scope).toMatchObject({ network: { name: 'ctxsubnet-net' }, location: { name: location } });
    const network = await alpha.getNetwork('ctxsubnet-net');
    expect(covers(network?.status?.ipam?.ipv6Prefix ?? '', `${start}/64`)).toBe(true);

    await stack.until('the context in the cell', () => alpha.cellContext(name));
    await alpha.claim('ctxsubnet-endpoint', 'ctxsubnet-net');
    const endpoint = await alpha.allocated('ctxsubnet-endpoint');
    expect(endpoint.status?.addresses?.[0]?.gateway, 'from the start').toBe(`${start}1`);
    expect((await alpha.getInterface('ctxsubnet-endpoint'))?.spec.addresses?.[0]?.gateway).toBe(`${start}1`);
    const address = (await alpha.getInterface('ctxsubnet-endpoint'))?.spec.addresses?.[0]?.address ?? '';
    expect(covers(`${start}/64`, address)).toBe(true);

    await alpha.deleteClaim('ctxsubnet-endpoint');
    await alpha.unbind('ctxsubnet');
    await stack.until('the context gone', async () => (await alpha.context(name)) === undefined);
    await stack.until('the subnet gone', async () => (await alpha.subnet(`${name}-ipv6`)) === undefined);
    expect(await alpha.pools('datum-subnet-v6')).toEqual([]);
    expect((await alpha.held()).map((claim) => claim.status?.allocatedCIDR)).toEqual([
      network?.status?.ipam?.ipv6Prefix,
    ]);
    await alpha.project.delete(Network, { namespace: 'default', name: 'ctxsubnet-net' });
    await stack.until('the network gone', async () => (await alpha.getNetwork('ctxsubnet-net')) === undefined);
    expect(await alpha.held()).toEqual([]);
  });
});

describe('locations and what reaches a cell', () => {
  beforeEach(async () => {
    stack = await Stack.open({ cells: ['us-central-1', 'e2e-publish', 'dfw'], projects: ['project-alpha'] });
  });

  it('E28 location-federation-cell-identity: a cell is what the one ServingLocation it has says, and never a guess', async () => {
    const alpha = await Tenant.open(stack);
    const cell = stack.cell();
    const namespace: Namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: alpha.namespace,
        labels: { [upstreamLabels.clusterName]: 'cluster-project-alpha', [upstreamLabels.namespace]: 'default' },
      },
    };
    await cell.create(Namespace, namespace);
    const deliver = (name: string) =>
      cell.create(ServingLocation, {
        apiVersion,
        kind: ServingLocation.kind,
        metadata: { name },
        spec: { topology: topology('DSM') },
      });
    await alpha.claim('identity-none', 'identity-net');
    await alpha.says('a claim', () => alpha.getClaim('identity-none'), 'NoLocationIdentity', 'Bound');

    await deliver('e2e-delivered');
    await alpha.claim('identity-one', 'identity-net');
    const one = await alpha.says(
      'a claim',
      () => alpha.getClaim('identity-one'),
      'NetworkNotAvailableInLocation',
      'Bound',
    );
    expect(said(one, 'Bound')?.message).toContain('identity-net-e2e-delivered');
    // Whoever waited for it hears of it too.
    await alpha.says('the first', () => alpha.getClaim('identity-none'), 'NetworkNotAvailableInLocation', 'Bound');

    await deliver('e2e-second');
    await alpha.claim('identity-two', 'identity-net');
    const two = await alpha.says('a claim', () => alpha.getClaim('identity-two'), 'AmbiguousLocationIdentity', 'Bound');
    expect(said(two, 'Bound')?.message).toContain('e2e-delivered, e2e-second');
    await cell.delete(ServingLocation, { namespace: '', name: 'e2e-second' });
    const again = await alpha.says(
      'a claim',
      () => alpha.getClaim('identity-two'),
      'NetworkNotAvailableInLocation',
      'Bound',
    );
    expect(said(again, 'Bound')?.message).toContain('identity-net-e2e-delivered');
    expect((await cell.list(NetworkInterfaceClaim)).items).toHaveLength(3);
  });

  it('E29 location-federation-publish: it reaches its cell and no other, follows edits, and 150 s of nothing write nothing', async () => {
    await createLocation(stack, 'e2e-publish', { ...topology('SJC') });
    const key = { namespace: '', name: 'e2e-publish' };
    const cell = stack.cell('e2e-publish');
    const arrived = await stack.until('the copy in its cell', () => cell.get(ServingLocation, key));
    expect(arrived.metadata.labels?.[networkingLabels.publishedBy]).toBe('location-publisher');
    expect(arrived.spec?.topology).toEqual(topology('SJC'));
    expect(arrived.spec?.source?.generation).toBe(1);
    const body = { spec: { topology: { 'topology.datum.net/region': 'us-west-2' } } };
    await stack.hub.patch(Location, key, { type: 'merge', body });
    const edited = await stack.until('the edit', async () => {
      const found = await cell.get(ServingLocation, key);
      return found?.spec?.topology?.['topology.datum.net/region'] === 'us-west-2' && found;
    });
    await stack.pass(150);
    const later = await cell.get(ServingLocation, key);
    expect(later?.metadata.resourceVersion).toBe(edited.metadata.resourceVersion);
    expect(later?.spec?.source?.publishedAt).toBe(edited.spec?.source?.publishedAt);
    expect(await servingIn('us-central-1')).toEqual([]);
  });

  it('E31 location-federation-removal-guard: a cell with a network’s presence keeps its identity, and loses it after the last', async () => {
    await createLocation(stack, 'us-central-1', topology('DSM'));
    const alpha = await Tenant.open(stack);
    await alpha.locationBinding('us-central-1');
    await alpha.network('guard-net', ['IPv6']);
    await alpha.bind('guard', 'guard-net');
    await stack.until('the presence', () => alpha.cellContext('guard-net-us-central-1'));
    await stack.hub.delete(Location, { namespace: '', name: 'us-central-1' });
    const blocked = () => stack.hub.get(ServingLocation, { namespace: '', name: 'us-central-1' });
    const why = await stack.until(
      'a reason',
      async () => (await blocked())?.metadata.annotations?.['networking.datumapis.com/removal-blocked'],
    );
    expect(why).toMatch(/^ClustersStillServing: .*us-central-1.*1 NetworkContext/);
    await stack.pass(60);
    expect(await servingIn('us-central-1')).toEqual(['us-central-1']);
    await alpha.unbind('guard');
    await stack.until('the identity gone', async () => (await servingIn('us-central-1')).length === 0);
    expect(await alpha.cellContext('guard-net-us-central-1')).toBeUndefined();
  });

  it('E32 location-federation-unlabelled-member: a location that no cell serves is published, and is in no cell', async () => {
    await createLocation(stack, 'e2e-nowhere', topology('SJC'));
    await createLocation(stack, 'e2e-publish', topology('SJC'));
    await stack.until('the one with a cell', async () => (await servingIn('e2e-publish')).length === 1);
    const published = await stack.hub.get(ServingLocation, { namespace: '', name: 'e2e-nowhere' });
    expect(published?.spec?.topology).toEqual(topology('SJC'));
    await stack.pass(30);
    expect(await servingIn('e2e-publish')).toEqual(['e2e-publish']);
    for (const other of ['us-central-1', 'dfw']) expect(await servingIn(other)).toEqual([]);
  });

  it('E30 location-federation-no-city-code: is in no cell, and an Event says why', async () => {
    await createLocation(stack, 'dfw', { 'topology.datum.net/region': 'us-south-1' });
    await createLocation(stack, 'e2e-publish', topology('SJC'));
    const event = await stack.until('the Event', async () =>
      (await stack.hub.list(Event, { namespace: 'default' })).items.find((each) => each.reason === 'MissingCityCode'),
    );
    expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'Location', name: 'dfw' } });
    await stack.pass(20);
    expect(await servingIn('e2e-publish')).toEqual(['e2e-publish']);
    expect(await servingIn('dfw')).toEqual([]);
  });

  it('E33 network-context-propagation: spec travels verbatim, status does not, and a deletion arrives', async () => {
    const { namespace } = await Tenant.open(stack);
    const labels = { [upstreamLabels.clusterName]: 'cluster-project-alpha', [upstreamLabels.namespace]: 'default' };
    const spec = {
      network: { name: 'propagation-net' },
      location: { name: 'dfw' },
      ipFamilies: ['IPv4' as const],
      mtu: 1500,
    };
    const key = { namespace, name: 'propagation-net-dfw' };
    const metadata = { ...key, labels: { ...labels, [networkingLabels.location]: 'dfw' } };
    await stack.hub.create(NetworkContext, { apiVersion, kind: NetworkContext.kind, metadata, spec });
    const cell = stack.cell('dfw');
    const arrived = await stack.until('the copy in its cell', () => cell.get(NetworkContext, key), 120);
    expect(arrived.spec).toEqual(spec);
    expect((await cell.get(Namespace, { namespace: '', name: namespace }))?.metadata.labels).toMatchObject(labels);

    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'HubOnlyStatusMarker',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const marked = { type: 'merge', body: { status: { conditions: [condition] } } } as const;
    await stack.hub.patch(NetworkContext, key, marked, { subresource: 'status' });
    await stack.hub.patch(NetworkContext, key, { type: 'merge', body: { spec: { mtu: 1400 } } });
    const edited = await stack.until('an edit after it', async () => {
      const found = await cell.get(NetworkContext, key);
      return found?.spec?.mtu === 1400 && found;
    });
    expect(JSON.stringify(edited.status ?? {})).not.toContain('HubOnlyStatusMarker');
    expect((await stack.cell('e2e-publish').list(NetworkContext)).items).toEqual([]);

    await stack.hub.delete(NetworkContext, key);
    await stack.until('the copy gone', async () => (await cell.get(NetworkContext, key)) === undefined, 60);
  });
});
