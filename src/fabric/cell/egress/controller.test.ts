import { afterEach, beforeEach, expect, it } from 'vitest';
import { EgressShard, EgressShardParameters, type NetworkInterface, VPCAttachment } from '../../../api/index.ts';
import { type Environment, verbAndResource } from '../../../apiserver/testing/index.ts';
import type { Client } from '../../../kube/index.ts';
import { type Condition, findCondition } from '../../../meta/index.ts';
import { fabricCellControllers } from '../index.ts';
import {
  boundInterface,
  context,
  eventNotes,
  get,
  openCell,
  parameters,
  project,
  shard,
  shardKey,
  vpc,
} from '../testing.ts';
import { egressTo } from './testing.ts';

let environment: Environment;
let client: Client;
const names = ['web-0-eth0', 'web-1-eth0', 'web-2-eth0'];
let before: string[];

beforeEach(async () => {
  environment = await openCell(fabricCellControllers);
  client = environment.cell();
  environment.start();
  await context(client, 'net');
  await vpc(client, 'net', 28200);
  await parameters(client, 'public');
  await shard(client, 'egress-a', { sid: '2001:db8:ff01:a001:e000::', address: '2001:db8:f00d:1::100' });
  await shard(client, 'egress-b', { sid: '2001:db8:ff01:a002:e000::', address: '2001:db8:f00d:1::200' });
  for (const name of names) await boundInterface(client, name);
  await environment.quiet();
  before = await configs();
});
afterEach(() => environment.close());

async function configs(): Promise<string[]> {
  const found = await Promise.all(names.map((name) => get.definition(client, name)));
  return found.map((definition) => definition?.spec?.config ?? '');
}

interface Seen {
  shardSIDs: unknown;
  egress: unknown;
  ready: string;
}

async function seen(name: string): Promise<Seen> {
  const config = JSON.parse((await get.definition(client, name))?.spec?.config ?? '{}');
  const { status } = (await get.attachment(client, name))!;
  const ready: Partial<Condition> = findCondition(status?.conditions, 'InternetEgressReady') ?? {};
  return {
    shardSIDs: config.plugins[1].egress?.shardSIDs,
    egress: status?.egress?.internet?.sourceAddresses,
    ready: `${ready.status}/${ready.reason}`,
  };
}

/** All attachments of the VPC come to show the same. */
async function all(what: string, shown: Seen): Promise<void> {
  await environment.quiet();
  for (const name of names) expect(await seen(name), `${what}: ${name}`).toEqual(shown);
}

const sidA = '2001:db8:ff01:a001:e000::';
const sidB = '2001:db8:ff01:a002:e000::';
const address = (last: string, stability = 'None') => [
  { family: 'IPv6', address: `2001:db8:f00d:1::${last}`, stability },
];
const off: Seen = { shardSIDs: undefined, egress: undefined, ready: 'undefined/undefined' };
const change = (name: string, body: object, subresource?: 'status') =>
  client.patch(
    EgressShard,
    shardKey(name),
    { type: 'merge', body },
    ...(subresource === undefined ? [] : [{ subresource }]),
  );

it('follows everything it depends on, and comes back to the very bytes it began with', async () => {
  await all('never stated', off);
  await project(client, 'net', egressTo('public'));
  await all('Enabled', { shardSIDs: [sidA, sidB], egress: address('100'), ready: 'True/Ready' });

  await project(client, 'net', egressTo('public', 'Dedicated'));
  await all('another sharing', { shardSIDs: [sidA, sidB], egress: address('100', 'Network'), ready: 'True/Ready' });

  await change('egress-a', { status: { shardSID: null } }, 'status');
  await all('a SID lost', { shardSIDs: [sidB], egress: address('200', 'Network'), ready: 'True/Ready' });

  await change('egress-a', { status: { shardSID: sidA, shardAddressIPv6: null } }, 'status');
  await all('an address lost', { shardSIDs: [sidA, sidB], egress: undefined, ready: 'False/AddressUnavailable' });

  await change('egress-a', { metadata: { labels: { 'network.datumapis.com/egress-ipv6': null } } });
  await all('a label lost', { shardSIDs: [sidB], egress: address('200', 'Network'), ready: 'True/Ready' });

  const selector = { matchLabels: { 'network.datumapis.com/egress-pool': 'none-has-it' } };
  await client.patch(
    EgressShardParameters,
    { namespace: '', name: 'public' },
    { type: 'merge', body: { spec: { shardSelector: selector } } },
  );
  await all('other parameters', { shardSIDs: undefined, egress: undefined, ready: 'False/Unavailable' });
  expect(await configs()).toEqual(before);

  await client.delete(EgressShardParameters, { namespace: '', name: 'public' });
  await all('no parameters', { shardSIDs: undefined, egress: undefined, ready: 'False/Unavailable' });
  await parameters(client, 'public');
  await all('parameters again', { shardSIDs: [sidB], egress: address('200', 'Network'), ready: 'True/Ready' });

  await project(client, 'net', { mode: 'Disabled' });
  await all('Disabled', off);
  expect(await configs()).toEqual(before);
});

it('a way out is written where it changes something, and nowhere else', async () => {
  await context(client, 'other');
  await vpc(client, 'other', 7);
  await boundInterface(client, 'other-0-eth0', { network: 'other' });
  await environment.quiet();
  environment.wire.writes.length = 0;
  await project(client, 'net', egressTo('public'));
  await environment.quiet();
  // The first projection names no egress yet: both look at it, neither has something to write.
  expect(environment.wire.writes.map(verbAndResource).sort()).toEqual([
    ...names.map(() => 'PATCH network-attachment-definitions'),
    ...names.map(() => 'PUT vpcattachments/status'),
  ]);
  environment.wire.writes.length = 0;
  // Behind the preferred one: bytes change, what is said of it does not.
  await shard(client, 'egress-c', { sid: '2001:db8:ff01:a003:e000::' });
  await environment.quiet();
  expect(environment.wire.writes.map(verbAndResource)).toEqual(names.map(() => 'PATCH network-attachment-definitions'));
  environment.wire.writes.length = 0;
  await change('egress-c', { status: { conditions: [condition('Ready')] } }, 'status');
  await environment.quiet();
  expect(environment.wire.writes.map(verbAndResource)).toEqual([]);
});

function condition(type: string): Condition {
  return { type, status: 'True', reason: type, message: type, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

it('operators are told what is behind it, once for each change; consumers never hear a shard\u2019s or parameters\u2019 name', async () => {
  await project(client, 'net', egressTo('public'));
  await environment.quiet();
  expect(await eventNotes(client, 'EgressShardsChosen')).toEqual([
    'Internet egress goes by shards egress-a, egress-b, and is seen as 2001:db8:f00d:1::100 (see reasons.md#egressshardschosen)',
  ]);
  await change('egress-a', { status: { shardAddressIPv6: null } }, 'status');
  await environment.quiet();
  expect(await eventNotes(client, 'EgressAddressUnknown')).toEqual([
    'The source address of internet egress is not known: shard egress-a has no IPv6 address (see reasons.md#egressaddressunknown)',
  ]);
  await project(client, 'net', egressTo('private'));
  await environment.quiet();
  expect(await eventNotes(client, 'EgressParametersUnavailable')).toEqual([
    'The egress parameters are not available: EgressShardParameters private does not exist (see reasons.md#egressparametersunavailable)',
  ]);
  await parameters(client, 'private', {}, 'kube-system');
  await environment.quiet();
  expect(await eventNotes(client, 'NoEgressShard')).toEqual([
    'EgressShardParameters private give no usable shard in namespace kube-system: its selector matches no shard (see reasons.md#noegressshard)',
  ]);
  const consumers = [
    ...(await client.list(VPCAttachment)).items,
    ...(await Promise.all(names.map((name) => get.interface(client, name)))),
  ];
  for (const object of consumers) {
    const said = JSON.stringify((object as NetworkInterface).status?.conditions);
    expect(said).not.toMatch(/egress-a|egress-b|private|public|galactic-system/);
  }
});
