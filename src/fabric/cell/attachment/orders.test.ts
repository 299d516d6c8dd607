import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  EgressShard,
  EgressShardParameters,
  fabricLabels,
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  VPC,
  VPCAttachment,
} from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import type { Client } from '../../../kube/index.ts';
import { isConditionTrue, isTerminating, type KubeObject, type ResourceType } from '../../../meta/index.ts';
import { egressTo } from '../egress/testing.ts';
import { fabricCellControllers } from '../index.ts';
import {
  boundInterface,
  context,
  contextNameOf,
  get,
  namespace,
  openCell,
  parameters,
  project,
  shard,
  shardKey,
  vpc,
} from '../testing.ts';

/** Whatever goes and comes back in whatever order, and wherever the process ends: the end is the same. */

let environment: Environment;
let client: Client;
beforeEach(async () => {
  environment = await openCell(fabricCellControllers);
  client = environment.cell();
});
afterEach(() => environment.close());

const name = 'web-0-eth0';
const way = { sid: '2001:db8:ff01:a001:e000::', address: '2001:db8:f00d:1::100' };

/** Everything an attachment is when all is well: what a test compares before and after. */
async function whole(which = name) {
  const networkInterface = await get.interface(client, which);
  const attachment = await get.attachment(client, which);
  const definition = await get.definition(client, which);
  if (!isConditionTrue(networkInterface?.status?.conditions, 'Prepared')) return undefined;
  if (attachment === undefined || definition === undefined) return undefined;
  const owners = (object: KubeObject) => object.metadata.ownerReferences?.map(({ uid }) => uid);
  if (owners(attachment)?.[0] !== networkInterface?.metadata.uid) return undefined;
  if (owners(definition)?.[0] !== attachment.metadata.uid) return undefined;
  return {
    identifier: definition.metadata.labels?.[fabricLabels.vpcAttachment],
    repeated: attachment.status?.vpcAttachment,
    config: definition.spec?.config,
    egress: attachment.status?.egress,
    ref: networkInterface?.status?.attachmentRef,
  };
}

function comesTo(what: string, which = name) {
  return environment.until(what, async () => {
    const found = await whole(which);
    return found !== undefined && found.repeated === found.identifier && found;
  });
}

async function remove(type: ResourceType, of = name): Promise<void> {
  await client.delete(type, { namespace, name: of });
}

const makes: Record<string, () => Promise<unknown>> = {
  context: () => context(client, 'net', { internet: egressTo('public') }),
  vpc: () => vpc(client, 'net', 28200),
  interface: () => boundInterface(client, name),
  parameters: () => parameters(client, 'public'),
  shard: () => shard(client, 'egress-a', way),
};

/** Every order of `items`. */
function orders<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, at) => orders(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

it('what an attachment is made of may come in any order', async () => {
  const ends = new Set<string>();
  // A VPC made before its context is nobody\u2019s, and is taken for the context\u2019s.
  for (const order of orders(Object.keys(makes))) {
    environment.start();
    for (const each of order) {
      await makes[each]!();
      await environment.clock.settle();
    }
    const { config, egress } = await comesTo(order.join(', '));
    ends.add(JSON.stringify([config?.replace(/"vpcattachment":"[^"]*"/g, ''), egress]));
    await remove(NetworkInterface);
    for (const type of [NetworkContext, VPC]) await remove(type, contextNameOf('net'));
    await client.delete(EgressShard, shardKey('egress-a'));
    await client.delete(EgressShardParameters, { namespace: '', name: 'public' });
    await environment.until('all gone', async () => (await get.definition(client, name)) === undefined);
    await environment.stop();
  }
  expect([...ends]).toHaveLength(1);
  expect([...ends][0]).toContain('2001:db8:ff01:a001:e000::');
  expect([...ends][0]).toContain('2001:db8:f00d:1::100');
}, 300_000);

describe('an attachment that is there', () => {
  let before: Awaited<ReturnType<typeof comesTo>>;
  beforeEach(async () => {
    environment.start();
    for (const make of Object.values(makes)) await make();
    before = await comesTo('prepared');
  });

  const parts = { attachment: VPCAttachment, definition: NetworkAttachmentDefinition } as const;
  for (const order of [['attachment'], ['definition'], ['attachment', 'definition'], ['definition', 'attachment']]) {
    it(`${order.join(', then ')} deleted by hand: it comes back under the same identifier`, async () => {
      for (const part of order) await remove(parts[part as keyof typeof parts]);
      await environment.quiet();
      expect(await comesTo('back')).toEqual(before);
    });
  }

  it('the same while nobody looks', async () => {
    await environment.stop();
    await remove(NetworkAttachmentDefinition);
    environment.start();
    expect(await comesTo('back')).toEqual(before);
  });

  it('an interface deleted and made again gets another identifier, and what was the old one\u2019s goes', async () => {
    const old = await get.attachment(client, name);
    await remove(NetworkInterface);
    await boundInterface(client, name);
    const after = await comesTo('back');
    expect((await get.attachment(client, name))?.metadata.uid).not.toBe(old?.metadata.uid);
    expect(after.config?.replaceAll(`"${after.identifier}"`, '')).toBe(
      before.config?.replaceAll(`"${before.identifier}"`, ''),
    );
  });

  it('an interface deleted takes everything with it, and its identifier is not the next one\u2019s', async () => {
    await remove(NetworkInterface);
    await environment.until('gone', async () => (await get.definition(client, name)) === undefined);
    expect(await get.attachment(client, name)).toBeUndefined();
    await boundInterface(client, 'web-1-eth0');
    expect((await comesTo('the next', 'web-1-eth0')).identifier).toBe('2');
    // Nor after a restart, when nobody remembers.
    await remove(NetworkInterface, 'web-1-eth0');
    await environment.until('gone', async () => (await get.definition(client, 'web-1-eth0')) === undefined);
    await environment.stop();
    environment.start();
    await boundInterface(client, 'web-2-eth0');
    expect(['1', '2']).not.toContain((await comesTo('after a restart', 'web-2-eth0')).identifier);
  });

  it('labels, bytes and owner edited by hand are mended; other people\u2019s labels stay', async () => {
    await client.patch(
      NetworkAttachmentDefinition,
      { namespace, name },
      {
        type: 'merge',
        body: {
          metadata: {
            labels: { [fabricLabels.vpcAttachment]: 'ZZ', team: 'a' },
            annotations: null,
            ownerReferences: null,
          },
          spec: { config: '{}' },
        },
      },
    );
    await environment.quiet();
    expect(await comesTo('mended')).toEqual(before);
    expect((await get.definition(client, name))?.metadata.labels?.team).toBe('a');
  });

  const vpcKey = { namespace, name: contextNameOf('net') };
  /** Deleted while something is attached to it, which its finalizer is against. */
  async function tearOutVpc(): Promise<void> {
    await client.delete(VPC, vpcKey);
    await client.patch(VPC, vpcKey, { type: 'merge', body: { metadata: { finalizers: null } } });
  }

  it('a network that is another one under the same name gets another VPC, and the interface waits', async () => {
    await remove(NetworkContext, contextNameOf('net'));
    await environment.until('its VPC is to go', async () => isTerminating((await client.get(VPC, vpcKey))!));
    await tearOutVpc();
    await context(client, 'net', { uid: 'another-network', internet: egressTo('public') });
    await vpc(client, 'net', 7);
    await environment.quiet();
    const networkInterface = await get.interface(client, name);
    const prepared = networkInterface?.status?.conditions?.find(({ type }) => type === 'Prepared');
    expect(prepared?.reason).toBe('AwaitingNetworkContext');
    // Nothing of the other network gets into what the running instance is attached by.
    const after = await get.definition(client, name);
    expect(after?.metadata.labels?.[fabricLabels.vpc]).toBe('7kQ');
    expect(after?.spec?.config).not.toContain('egress');
  });

  it('a VPC that is to go keeps what it has as it is, and takes nothing new', async () => {
    await remove(VPC, vpcKey.name);
    await boundInterface(client, 'web-1-eth0');
    await environment.quiet();
    expect(await whole()).toEqual(before);
    const prepared = (await get.interface(client, 'web-1-eth0'))?.status?.conditions?.find(
      ({ type }) => type === 'Prepared',
    );
    expect(prepared?.reason).toBe('AwaitingVPC');
  });

  it('a VPC with another identifier: another pair, no identifier carried over', async () => {
    await tearOutVpc();
    await vpc(client, 'net', 42);
    await environment.until('moved', async () => {
      const found = await whole();
      return found?.config?.includes('"vpc":"G"') && found.repeated === found.identifier;
    });
    expect((await get.attachment(client, name))?.status?.vpc).toBe('G');
    expect((await get.definition(client, name))?.metadata.labels?.[fabricLabels.vpc]).toBe('G');
  });
});

it('somebody else\u2019s object of the name is left alone and told of, and the rest follows once it is gone', async () => {
  environment.start();
  for (const make of Object.values(makes)) if (make !== makes.interface) await make();
  const foreign = await client.create(NetworkAttachmentDefinition, {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace },
    spec: { config: '{"by":"hand"}' },
  });
  await boundInterface(client, name);
  const told = await environment.until('told', async () => {
    const found = (await get.interface(client, name))?.status?.conditions?.find(({ type }) => type === 'Prepared');
    return found?.reason === 'AttachmentNameTaken' && found;
  });
  expect(told.message).toContain(`NetworkAttachmentDefinition ${name} belongs to something else`);
  expect((await get.definition(client, name))?.metadata.uid).toBe(foreign.metadata.uid);
  await environment.quiet();
  await remove(NetworkAttachmentDefinition);
  await comesTo('once it is gone');
});

describe('a process that ends at any write', () => {
  const lives: Record<
    string,
    { prepare?: () => Promise<unknown>; begin(): Promise<unknown>; end(): Promise<unknown> }
  > = {
    'an attachment is made': { begin: () => makes.interface!(), end: () => comesTo('made') },
    'egress is switched on': {
      async prepare() {
        await project(client, 'net', { mode: 'Disabled' });
        await makes.interface!();
        await comesTo('made');
      },
      begin: () => project(client, 'net', egressTo('public')),
      end: () => environment.until('on', async () => (await whole())?.egress !== undefined),
    },
    'egress is switched off': {
      async prepare() {
        await makes.interface!();
        await environment.until('on', async () => (await whole())?.egress !== undefined);
      },
      begin: () => project(client, 'net', { mode: 'Disabled' }),
      end: () =>
        environment.until('off', async () => {
          const found = await whole();
          return found !== undefined && found.egress === undefined && found.config?.includes('egress') === false;
        }),
    },
    'the interface is made again': {
      async prepare() {
        await makes.interface!();
        await comesTo('made');
      },
      async begin() {
        await remove(NetworkInterface);
        await makes.interface!();
      },
      end: () => comesTo('made again'),
    },
  };
  for (const [what, life] of Object.entries(lives)) {
    for (const applied of [false, true]) {
      it(`${what}: the write ${applied ? 'made, its answer lost' : 'not made'}`, async () => {
        for (const make of Object.values(makes)) if (make !== makes.interface) await make();
        let at = 1;
        for (; at < 20; at++) {
          environment.start();
          await project(client, 'net', egressTo('public'));
          await life.prepare?.();
          await environment.quiet();
          await environment.stop();
          environment.wire.writes.length = 0;
          environment.wire.crash = { at, applied };
          environment.start();
          await life.begin();
          for (let turn = 0; turn < 40 && !environment.wire.crashed; turn++) await environment.clock.advance(25);
          const { crashed } = environment.wire;
          await environment.stop();
          environment.wire.crash = undefined;
          environment.start();
          await life.end();
          await environment.quiet();
          const identifiers = (await client.list(NetworkAttachmentDefinition)).items;
          expect(identifiers).toHaveLength(1);
          await remove(NetworkInterface);
          await environment.until('gone', async () => (await get.definition(client, name)) === undefined);
          await environment.stop();
          if (!crashed) break;
        }
        // Every write was met: the last round ended without one at that place.
        expect(at).toBeGreaterThan(2);
        expect(at).toBeLessThan(20);
      }, 300_000);
    }
  }
});
