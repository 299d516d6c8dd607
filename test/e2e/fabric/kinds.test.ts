import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  EgressShard,
  EgressShardParameters,
  InternetEgressClass,
  Network,
  NetworkContext,
  VPC,
  VPCAttachment,
} from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { apiVersionOf, type KubeObject, type ResourceType, type Stored } from '../../../src/meta/index.ts';
import { Stack } from '../../harness/stack.ts';

/** The kinds of the fabric as their servers take them: what is filled in, what is refused, and in which words. */

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open({ projects: ['single'] });
  // Nobody is at work: the objects stay as they are written.
  await stack.stop();
});
afterAll(() => stack.close());

function clientOf(type: ResourceType): Client {
  const kind = type.kind;
  if (kind === Network.kind) return stack.project('single');
  return kind === InternetEgressClass.kind ? stack.hub : stack.cell();
}

let count = 0;

async function create(type: ResourceType, spec: unknown, status?: unknown): Promise<Stored<KubeObject>> {
  const metadata = { name: `object-${count++}`, ...(type.namespaced ? { namespace: 'default' } : {}) };
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...(spec === undefined ? {} : { spec }) };
  const made = await clientOf(type).create(type, object as KubeObject);
  return status === undefined ? made : say(type, made, status);
}

const key = ({ metadata }: KubeObject) => ({ namespace: metadata.namespace ?? '', name: metadata.name });

function edit(type: ResourceType, object: KubeObject, spec: unknown): Promise<Stored<KubeObject>> {
  return clientOf(type).patch(type, key(object), { type: 'merge', body: { spec } });
}

function say(type: ResourceType, object: KubeObject, status: unknown): Promise<Stored<KubeObject>> {
  return clientOf(type).patch(type, key(object), { type: 'merge', body: { status } }, { subresource: 'status' });
}

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);

const attachment = { vpc: { name: 'v' }, interface: {} };
const range = 'fd20:1::/64';
const sid = '2001:db8:ff01:a001::';
const v6 = '2001:db8:f00d:1::100';
const egressClass = { sharing: 'Shared', reach: ['IPv6'] };
const network = { ipam: { mode: 'Auto' } };
const context = { network: { name: 'n' }, location: { name: 'l' } };
const wish = (internet: object) => ({ egress: { internet } });
const seen = (...sourceAddresses: object[]) => ({ egress: { internet: { sourceAddresses } } });
const source = { family: 'IPv6', address: v6, stability: 'None' };

describe('what is filled in', () => {
  it.each<[string, ResourceType, object | undefined, string, unknown]>([
    ['the device of an attachment', VPCAttachment, attachment, 'spec.interface.name', 'eth0'],
    ['its mode', VPCAttachment, attachment, 'spec.interface.mode', 'Netns'],
    [
      'who carries a class out',
      InternetEgressClass,
      egressClass,
      'spec.controllerName',
      'networking.datumapis.com/cell-egress',
    ],
    ['the mode, once internet is there', Network, { ...network, ...wish({}) }, 'spec.egress.internet.mode', 'Disabled'],
    ['no more of it than was written', Network, { ...network, egress: {} }, 'spec.egress', {}],
    ['nothing where nothing was written', Network, network, 'spec.egress', undefined],
    [
      'no mode of a context: not stated is not Disabled',
      NetworkContext,
      { ...context, ...wish({}) },
      'spec.egress.internet',
      {},
    ],
    ['no namespace of shards', EgressShardParameters, undefined, 'spec', undefined],
  ])('%s', async (_, type, spec, path, expected) => {
    expect(at(await create(type, spec), path)).toEqual(expected);
  });
});

describe('what is taken', () => {
  it.each<[string, ResourceType, object | undefined, object?]>([
    ['ranges of both families', VPC, { networks: [range, '10.0.0.0/8'] }],
    ['an attachment without addresses', VPCAttachment, { ...attachment, interface: { mode: 'Hypervisor' } }],
    ['an attachment of a node', VPCAttachment, attachment, { podSubnet: '10.0.0.0/24', containerID: 'x'.repeat(46) }],
    ['an address the internet sees', VPCAttachment, attachment, seen(source)],
    ['a shard without a spec', EgressShard, undefined],
    ['a shard whose address is to come', EgressShard, { shardAddressIPv6: '' }, { shardSID: sid }],
    ['IPv4 of a shard, with its prefix', EgressShard, { shardAddressIPv4: '192.0.2.1', nat64Prefix: '64:ff9b::/96' }],
    ['all shards of a namespace', EgressShardParameters, { shardNamespace: 'galactic-system', shardSelector: {} }],
    [
      'parameters of the core group',
      InternetEgressClass,
      { ...egressClass, parametersRef: { group: '', kind: 'K', name: 'n' } },
    ],
    ['the largest number', NetworkContext, { ...context, fabricIdentity: 4294967295 }],
  ])('%s', async (_, type, spec, status) => {
    expect((await create(type, spec, status)).status ?? {}).toMatchObject(status ?? {});
  });
});

describe('what is refused', () => {
  it.each<[string, ResourceType, object | undefined, RegExp, object?]>([
    ['a VPC without ranges', VPC, { networks: [] }, /spec\.networks/],
    ['65 ranges', VPC, { networks: Array.from({ length: 65 }, (_, index) => `10.${index}.0.0/16`) }, /spec\.networks/],
    ['a range that is none', VPC, { networks: ['fd20:1::'] }, /networks must be ranges in CIDR form/],
    [
      'a VPC\u2019s status without its identifier',
      VPC,
      { networks: [range] },
      /status\.vpc: Required/,
      { conditions: [] },
    ],
    ['an identifier of 17 characters', VPC, { networks: [range] }, /status\.vpc/, { vpc: '1'.repeat(17) }],
    ['an attachment to nothing', VPCAttachment, { interface: {} }, /spec\.vpc: Required/],
    ['an attachment to an empty name', VPCAttachment, { ...attachment, vpc: { name: '' } }, /spec\.vpc\.name/],
    [
      'a third mode',
      VPCAttachment,
      { ...attachment, interface: { mode: 'Bridge' } },
      /supported values: "Netns", "Hypervisor"/,
    ],
    [
      'an address without its length',
      VPCAttachment,
      { ...attachment, interface: { addresses: [v6] } },
      /addresses must be in CIDR form/,
    ],
    [
      '17 addresses',
      VPCAttachment,
      { ...attachment, interface: { addresses: Array(17).fill(range) } },
      /spec\.interface\.addresses/,
    ],
    ['a subnet that is none', VPCAttachment, attachment, /podSubnet must be in CIDR form/, { podSubnet: v6 }],
    [
      'an IPv4 source',
      VPCAttachment,
      attachment,
      /supported values: "IPv6"/,
      seen({ ...source, family: 'IPv4', address: '192.0.2.1' }),
    ],
    [
      'an IPv4 address as IPv6',
      VPCAttachment,
      attachment,
      /must be an IPv6 address/,
      seen({ ...source, address: '192.0.2.1' }),
    ],
    [
      'a source with a length',
      VPCAttachment,
      attachment,
      /must be an IPv6 address/,
      seen({ ...source, address: `${v6}/128` }),
    ],
    [
      'two sources of a family',
      VPCAttachment,
      attachment,
      /Duplicate value/,
      seen(source, { ...source, stability: 'Network' }),
    ],
    [
      'a source of which nobody knows whether it stays',
      VPCAttachment,
      attachment,
      /stability: Required/,
      seen({ family: 'IPv6', address: v6 }),
    ],
    ['an IPv4 address of a shard as IPv6', EgressShard, { shardAddressIPv6: '192.0.2.1' }, /must be an IPv6 address/],
    ['IPv4 without its prefix', EgressShard, { shardAddressIPv4: '192.0.2.1' }, /go together/],
    ['a prefix without IPv4', EgressShard, { nat64Prefix: '64:ff9b::/96' }, /go together/],
    ['a target without a kind', EgressShard, { targetRef: { name: 'n' } }, /spec\.targetRef\.kind: Required/],
    ['a SID that is no address', EgressShard, undefined, /must be an IPv6 address/, { shardSID: `${sid}/64` }],
    ['parameters without a namespace', EgressShardParameters, { shardSelector: {} }, /spec\.shardNamespace: Required/],
    ['an empty namespace', EgressShardParameters, { shardNamespace: '', shardSelector: {} }, /spec\.shardNamespace/],
    [
      'parameters without a selector',
      EgressShardParameters,
      { shardNamespace: 'galactic-system' },
      /spec\.shardSelector: Required/,
    ],
    ['a class that does not say how it shares', InternetEgressClass, { reach: ['IPv6'] }, /spec\.sharing: Required/],
    [
      'a class that reaches IPv4',
      InternetEgressClass,
      { ...egressClass, reach: ['IPv4', 'IPv6'] },
      /only IPv6 is offered for internet egress: for IPv4 there is no pair/,
    ],
    ['a class that reaches nothing', InternetEgressClass, { ...egressClass, reach: [] }, /spec\.reach/],
    [
      'parameters without a name',
      InternetEgressClass,
      { ...egressClass, parametersRef: { group: 'g', kind: 'K' } },
      /parametersRef\.name: Required/,
    ],
    [
      'a network that is to reach IPv4',
      Network,
      { ...network, ...wish({ mode: 'Enabled', reach: ['IPv4'] }) },
      /only IPv6 is offered/,
    ],
    ['a family twice', Network, { ...network, ...wish({ reach: ['IPv6', 'IPv6'] }) }, /a family must not be repeated/],
    ['a class without a name', Network, { ...network, ...wish({ class: '' }) }, /spec\.egress\.internet\.class/],
    [
      'a third mode of egress',
      Network,
      { ...network, ...wish({ mode: 'Inherit' }) },
      /supported values: "Enabled", "Disabled"/,
    ],
    ['number 0', NetworkContext, { ...context, fabricIdentity: 0 }, /spec\.fabricIdentity/],
    ['a number of 33 bits', NetworkContext, { ...context, fabricIdentity: 4294967296 }, /spec\.fabricIdentity/],
  ])('%s', async (_, type, spec, words, status) => {
    await expect(create(type, spec, status)).rejects.toThrow(words);
  });
});

describe('what is kept', () => {
  it('the ranges of a VPC', async () => {
    const vpc = await create(VPC, { networks: [range] });
    await expect(edit(VPC, vpc, { networks: [range, '10.0.0.0/8'] })).rejects.toThrow('spec is immutable');
  });

  it.each([
    ['shardAddressIPv6', v6, '2001:db8:f00d:2::100', {}],
    ['shardAddressIPv4', '192.0.2.1', '192.0.2.2', { nat64Prefix: '64:ff9b::/96' }],
    ['nat64Prefix', '64:ff9b::/96', '64:ff9b:1::/96', { shardAddressIPv4: '192.0.2.1' }],
  ])('a shard\u2019s %s, once it is there', async (field, value, other, beside) => {
    const shard = await create(EgressShard, {
      [field]: '',
      ...Object.fromEntries(Object.keys(beside).map((name) => [name, ''])),
    });
    await edit(EgressShard, shard, { [field]: value, ...beside });
    const words = `${field} can be set once and not changed after`;
    await expect(edit(EgressShard, shard, { [field]: other })).rejects.toThrow(words);
    await expect(edit(EgressShard, shard, { [field]: '' })).rejects.toThrow(words);
    await expect(edit(EgressShard, shard, { [field]: null })).rejects.toThrow(`${field} can not be removed once set`);
  });

  it('and what is not: where a shard runs, and what a class and its parameters say', async () => {
    const shard = await create(EgressShard, { targetRef: { kind: 'Node', name: 'a' } });
    expect((await edit(EgressShard, shard, { targetRef: { name: 'b' } })).spec).toEqual({
      targetRef: { kind: 'Node', name: 'b' },
    });
    const parameters = await create(EgressShardParameters, { shardNamespace: 'a', shardSelector: {} });
    expect((await edit(EgressShardParameters, parameters, { shardNamespace: 'b' })).spec).toMatchObject({
      shardNamespace: 'b',
    });
    const made = await create(InternetEgressClass, egressClass);
    expect((await edit(InternetEgressClass, made, { sharing: 'Dedicated' })).spec).toMatchObject({
      sharing: 'Dedicated',
    });
  });
});
