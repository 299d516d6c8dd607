import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IPPool, Network, NetworkBinding, NetworkContext, Subnet, SubnetClaim } from '../../../src/api/index.ts';
import { apiVersionOf } from '../../../src/meta/index.ts';
import { rootPool } from '../../harness/datum.ts';
import { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { Tenant } from './world.ts';

/** What people wrote in their projects before the platform planned presence and subnets by itself (reference C.19). */

let stack: Stack;
let single: Tenant;
beforeEach(async () => {
  stack = await Stack.open({ projects: ['single'] });
  single = await Tenant.open(stack, 'single');
});
afterEach(() => stack.close());

const apiVersion = apiVersionOf(Network);
const inDefault = (name: string) => ({ namespace: 'default', name });

function bind(name: string, network: string, location: string): Promise<unknown> {
  return single.project.create(NetworkBinding, {
    apiVersion,
    kind: NetworkBinding.kind,
    metadata: inDefault(name),
    spec: { network: { name: network }, location: { name: location } },
  });
}

const binding = (name: string) => () => single.project.get(NetworkBinding, inDefault(name));

describe('a NetworkBinding in a project', () => {
  it('E13 network-context-lifecycle: gives the network a context, which goes before its network', async () => {
    const { metadata } = await single.network('test-cascade-network');
    await bind('test-cascade-binding', 'test-cascade-network', 'test-location');
    const ready = await single.says('the binding', binding('test-cascade-binding'), 'NetworkContextReady');
    const name = 'test-cascade-network-test-location';
    expect(ready.status?.networkContextRef).toEqual({ namespace: 'default', name });
    const context = await single.context(name);
    expect(said(context, 'Ready')?.status).toBe('True');
    expect(context?.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid, controller: true }]);
    expect(context?.spec).toMatchObject({ ipFamilies: ['IPv6'], mtu: 1460 });

    await single.project.delete(Network, inDefault('test-cascade-network'));
    let contextWas = true;
    await stack.until('the network gone', async () => {
      const network = await single.getNetwork('test-cascade-network');
      contextWas = (await single.context(name)) !== undefined;
      expect(network === undefined && contextWas, 'the context outlives its network').toBe(false);
      return network === undefined;
    });
    const left = await single.says('the binding', binding('test-cascade-binding'), 'NetworkNotFound');
    expect(left.status?.networkContextRef).toBeUndefined();
    expect(await single.held()).toEqual([]);
  });

  it('E14 networkbinding/ready-when-context-is-ready: not while the range of its context is exhausted, and by itself after', async () => {
    await single.project.delete(IPPool, { namespace: '', name: 'v6' });
    await single.project.create(IPPool, rootPool('narrow', 'fd20:3000::/48', 'datum-network-v6'));
    await single.network('first-network');
    await single.says('the first network', () => single.getNetwork('first-network'), 'Ready');
    await single.network('ready-network');
    await bind('ready-binding', 'ready-network', 'some-location');
    const waiting = await single.says('the binding', binding('ready-binding'), 'NetworkContextNotReady');
    expect(waiting.status?.networkContextRef?.name).toBe('ready-network-some-location');
    const told = await stack.until('why', async () => {
      const found = await binding('ready-binding')();
      return said(found, 'Ready')?.message.includes('AddressPoolExhausted') && found;
    });
    expect(said(told, 'Ready')?.status).toBe('False');

    const wider = { type: 'merge', body: { spec: { cidr: 'fd20:3000::/47' } } } as const;
    await single.project.patch(IPPool, { namespace: '', name: 'narrow' }, wider);
    await single.says('the binding', binding('ready-binding'), 'NetworkContextReady');
  });

  it('is told of its network’s absence and arrival, and lets the presence go quiet when it goes', async () => {
    await bind('early', 'later-network', 'some-location');
    await single.says('the binding', binding('early'), 'NetworkNotFound');
    await single.network('later-network');
    await single.says('the binding', binding('early'), 'NetworkContextReady');
    await stack.pass(60);
    const name = 'later-network-some-location';
    expect(await single.context(name), 'a binding holds its presence').toBeDefined();
    await single.project.delete(NetworkBinding, inDefault('early'));
    await stack.pass(15);
    expect(await single.context(name), 'within the quiet period').toBeDefined();
    await stack.until('the presence gone', async () => (await single.context(name)) === undefined, 30);
  });
});

describe('a SubnetClaim', () => {
  const claim = (name: string, startAddress: string | undefined, location: string) =>
    single.project.create(SubnetClaim, {
      apiVersion,
      kind: SubnetClaim.kind,
      metadata: inDefault(name),
      spec: {
        subnetClass: 'private',
        networkContext: { name: `claims-network-${location}` },
        location: { name: location },
        ipFamily: 'IPv4',
        ...(startAddress === undefined ? {} : { startAddress, prefixLength: 24 }),
      },
    });
  const found = (name: string) => () => single.project.get(SubnetClaim, inDefault(name));

  it('has the Subnet of its name, in the range it names, or in that of its city', async () => {
    await single.network('claims-network', ['IPv4']);
    await bind('claims', 'claims-network', 'lhr-1');
    await single.says('the binding', binding('claims'), 'NetworkContextReady');
    await claim('named', '10.9.0.0', 'lhr-1');
    const named = await single.says('the claim', found('named'), 'SubnetReady');
    expect(named.status).toMatchObject({ subnetRef: { name: 'named' }, startAddress: '10.9.0.0', prefixLength: 24 });
    const context = await single.context('claims-network-lhr-1');
    const subnet = await single.project.get(Subnet, inDefault('named'));
    expect(subnet?.metadata.ownerReferences).toMatchObject([
      { kind: NetworkContext.kind, uid: context?.metadata.uid, controller: true },
    ]);

    await claim('of-city', undefined, 'lhr-1');
    await single.says('a claim in no known city', found('of-city'), 'SubnetNotReady');
    await single.locationBinding('lhr-1', 'LHR');
    const ofCity = await single.says('the claim', found('of-city'), 'SubnetReady');
    expect(ofCity.status).toMatchObject({ startAddress: '10.132.0.0', prefixLength: 20 });
  });

  it('waits for its context', async () => {
    await single.network('claims-network', ['IPv4']);
    await claim('early', '10.9.0.0', 'dfw-1');
    await single.says('the claim', found('early'), 'SubnetNotReady');
    expect(await single.project.get(Subnet, inDefault('early'))).toBeUndefined();
    await bind('claims', 'claims-network', 'dfw-1');
    await single.says('the claim', found('early'), 'SubnetReady');
  });
});
