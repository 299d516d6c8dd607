import { expect } from 'vitest';
import {
  EgressShard,
  EgressShardParameters,
  fabricLabels,
  InternetEgressClass,
  NetworkAttachmentDefinition,
  NetworkInterface,
  NetworkInterfaceClaim,
  VPCAttachment,
} from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { apiVersionOf, findCondition, isApiError, Namespace, type Stored } from '../../../src/meta/index.ts';
import { editClass, egressClass, parametersRef, wish } from './world.ts';

/** Who takes part, and how one waits there. */
export interface Scene {
  hub: Client;
  cell: Client;
  project: Client;
  /** The namespace of the cell that stands for the project's `default`. */
  namespace: string;
  /** Waits, as long as is allowed, until `look` has no objection. */
  within(what: string, look: () => Promise<string | undefined>): Promise<void>;
}

const shardNamespace = 'galactic-system';
const shard = (name: string) => ({ namespace: shardNamespace, name });
const sidOf = {
  a: '2001:db8:ff01:a001::',
  b: '2001:db8:ff01:a002::',
  c: '2001:db8:ff01:a003::',
  d: '2001:db8:ff01:a004::',
};
const addressOf = {
  a: '2001:db8:f00d:1::100',
  b: '2001:db8:f00d:2::100',
  c: '2001:db8:f00d:3::100',
  d: '2001:db8:f00d:4::100',
};
type Shard = keyof typeof sidOf;

async function makeShard({ cell }: Scene, name: Shard, pool: string): Promise<void> {
  const labels = { [fabricLabels.egressIPv6]: 'true', [fabricLabels.egressPool]: pool };
  const object = {
    apiVersion: apiVersionOf(EgressShard),
    kind: EgressShard.kind,
    metadata: { ...shard(name), labels },
    spec: { targetRef: { kind: 'Node', name: `node-${name}` }, shardAddressIPv6: addressOf[name] },
  };
  await cell.create(EgressShard, object);
  await report({ cell } as Scene, name, { shardSID: sidOf[name], shardAddressIPv6: addressOf[name] });
}

/** What a node says of its shard. */
async function report({ cell }: Scene, name: Shard, status: object): Promise<void> {
  await cell.patch(EgressShard, shard(name), { type: 'merge', body: { status } }, { subresource: 'status' });
}

async function label({ cell }: Scene, name: Shard, value: string | null): Promise<void> {
  const body = { metadata: { labels: { [fabricLabels.egressIPv6]: value } } };
  await cell.patch(EgressShard, shard(name), { type: 'merge', body });
}

async function makeParameters({ cell }: Scene, name: string, pool: string): Promise<void> {
  await cell.create(EgressShardParameters, {
    apiVersion: apiVersionOf(EgressShardParameters),
    kind: EgressShardParameters.kind,
    metadata: { name },
    spec: { shardNamespace, shardSelector: { matchLabels: { [fabricLabels.egressPool]: pool } } },
  });
}

async function select({ cell }: Scene, name: string, pool: string): Promise<void> {
  const body = { spec: { shardSelector: { matchLabels: { [fabricLabels.egressPool]: pool } } } };
  await cell.patch(EgressShardParameters, { namespace: '', name }, { type: 'merge', body });
}

/** The texts that nodes read, by attachment. */
export async function conflists({ cell, namespace }: Scene): Promise<Record<string, string>> {
  const { items } = await cell.list(NetworkAttachmentDefinition, { namespace });
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec?.config ?? '']));
}

/** What is to be seen of a network's way out, on each of its interfaces. */
interface Way {
  shards: readonly Shard[];
  /** What traffic is seen to come from; undefined where nobody can say. */
  source?: { of: Shard; stability: 'None' | 'Network' };
  /** `True Ready`; undefined where nothing is said. */
  ready?: string;
}

/** Every attachment has its part of the conflist in the one place it belongs, and all else is as it was. */
function expectedText(plain: string, shards: readonly Shard[]): string {
  if (shards.length === 0) return plain;
  const egress = JSON.stringify({ shardSIDs: shards.map((name) => sidOf[name]) });
  return plain.replace(/\}\]\}$/, `,"egress":${egress}}]}`);
}

async function isWay(scene: Scene, what: string, plain: Record<string, string>, way: Way): Promise<void> {
  const { cell, project, namespace } = scene;
  const sourceAddresses =
    way.source === undefined
      ? undefined
      : [{ family: 'IPv6', address: addressOf[way.source.of], stability: way.source.stability }];
  const differences = async (): Promise<string[]> => {
    const found: string[] = [];
    const texts = await conflists(scene);
    for (const [name, text] of Object.entries(plain)) {
      if (texts[name] !== expectedText(text, way.shards)) found.push(`conflist of ${name}: ${texts[name]}`);
    }
    const shown = [
      ...(await cell.list(VPCAttachment, { namespace })).items,
      ...(await cell.list(NetworkInterface, { namespace })).items,
      ...(await cell.list(NetworkInterfaceClaim, { namespace })).items,
      ...(await project.list(NetworkInterface, { namespace: 'default' })).items,
    ];
    if (shown.length !== Object.keys(plain).length * 4) found.push(`${shown.length} objects`);
    for (const { kind, metadata, status } of shown) {
      const said = JSON.stringify(status?.egress?.internet?.sourceAddresses);
      if (said !== JSON.stringify(sourceAddresses)) found.push(`${kind} ${metadata.name} says ${said}`);
      if (kind === NetworkInterfaceClaim.kind) continue;
      const condition = findCondition(status?.conditions, 'InternetEgressReady');
      const ready = condition === undefined ? undefined : `${condition.status} ${condition.reason}`;
      if (ready !== way.ready) found.push(`${kind} ${metadata.name} is ${ready}`);
    }
    return found;
  };
  await scene.within(what, async () => (await differences())[0]);
}

/** Names of the world of operators that no consumer is to read. */
const operatorsNames = /galactic-system|node-[abcd]|EgressShardParameters|shard/i;

function namesOfOperators(copies: readonly Stored<NetworkInterface>[]): string[] {
  return copies
    .filter(({ status }) => operatorsNames.test(JSON.stringify(status)))
    .map(({ metadata }) => metadata.name);
}

/**
 * A network of running instances is given a way out; its shards, its class and their parameters change under it, and at the
 * end the way is taken away again. `network` is that of all interfaces of the project.
 */
export async function followEverything(scene: Scene, network: string): Promise<void> {
  const plain = await conflists(scene);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: shardNamespace } };
  await scene.cell.create(Namespace, namespace).catch((error) => {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  });
  for (const name of ['a', 'b', 'c'] as const) await makeShard(scene, name, 'near');
  await makeShard(scene, 'd', 'far');
  await makeParameters(scene, 'standard', 'near');
  await makeParameters(scene, 'others', 'far');
  await scene.hub.create(InternetEgressClass, egressClass('standard', { marked: true }));
  const is = (what: string, way: Way) => isWay(scene, what, plain, way);
  const all: Way = { shards: ['a', 'b', 'c'], source: { of: 'a', stability: 'None' }, ready: 'True Ready' };
  const withoutA: Way = { shards: ['b', 'c'], source: { of: 'b', stability: 'None' }, ready: 'True Ready' };

  await wish(scene.project, network, { mode: 'Enabled' });
  await is('switched on', all);
  const copies = (await scene.project.list(NetworkInterface, { namespace: 'default' })).items;
  expect(namesOfOperators(copies)).toEqual([]);

  await report(scene, 'a', { shardSID: null });
  await is('a shard without a SID', withoutA);
  await report(scene, 'a', { shardSID: sidOf.a });
  await is('the SID is back', all);
  await label(scene, 'a', null);
  await is('a shard without its label', withoutA);
  await label(scene, 'a', 'true');
  await is('the label is back', all);
  await report(scene, 'a', { shardAddressIPv6: null });
  await is('a shard without its address', { shards: ['a', 'b', 'c'], ready: 'False AddressUnavailable' });
  await report(scene, 'a', { shardAddressIPv6: addressOf.a });
  await is('the address is back', all);
  await scene.cell.delete(EgressShard, shard('b'));
  await is('a shard is gone', { ...all, shards: ['a', 'c'] });
  await makeShard(scene, 'b', 'near');
  await is('the shard is back', all);

  await editClass(scene.hub, 'standard', { sharing: 'Dedicated' });
  await is('the class is dedicated', { ...all, source: { of: 'a', stability: 'Network' } });
  await editClass(scene.hub, 'standard', { sharing: 'Shared' });
  await is('the class is shared', all);
  const far: Way = { shards: ['d'], source: { of: 'd', stability: 'None' }, ready: 'True Ready' };
  await select(scene, 'standard', 'far');
  await is('the parameters select others', far);
  await select(scene, 'standard', 'nowhere');
  await is('the parameters select none', { shards: [], ready: 'False Unavailable' });
  await select(scene, 'standard', 'near');
  await is('the parameters are as they were', all);
  await editClass(scene.hub, 'standard', { parametersRef: parametersRef('others') });
  await is('the class has other parameters', far);
  await editClass(scene.hub, 'standard', { parametersRef: parametersRef('absent') });
  await is('the class has parameters that are not there', { shards: [], ready: 'False Unavailable' });
  await makeParameters(scene, 'absent', 'near');
  await is('the parameters are there', all);

  await wish(scene.project, network, { mode: 'Disabled' });
  await is('switched off', { shards: [] });
  expect(await conflists(scene)).toEqual(plain);
}
