import { afterEach, beforeEach, expect, it } from 'vitest';
import { EgressShard, VPCAttachment } from '../../../api/index.ts';
import { type Environment, verbAndResource } from '../../../apiserver/testing/index.ts';
import type { Client } from '../../../kube/index.ts';
import { findCondition, isApiError, withCondition } from '../../../meta/index.ts';
import { egressTo } from '../egress/testing.ts';
import { fabricCellControllers } from '../index.ts';
import { boundInterface, context, get, namespace, openCell, parameters, shard, shardKey, vpc } from '../testing.ts';

let environment: Environment;
let client: Client;
beforeEach(async () => {
  environment = await openCell(fabricCellControllers);
  client = environment.cell();
  environment.start();
});
afterEach(() => environment.close());

const name = 'web-0-eth0';
const races = 1_000;

/** The other writer, as it works: reads whole, changes its own, writes whole; again where it was not the first. */
async function nodeSays(round: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const attachment = (await client.get(VPCAttachment, { namespace, name }))!;
    // Sooner or later: what it read is what is there, or is not any more.
    for (let turn = 0; turn < round % 7; turn++) await environment.clock.settle();
    const programmed = {
      status: 'True',
      reason: 'Advertised',
      message: `round ${round}`,
      observedGeneration: 1,
    } as const;
    const status = {
      ...attachment.status,
      node: `node-${round}`,
      hostInterface: `host-${round}`,
      vrfInterface: `vrf-${round}`,
      podSubnet: 'fd5a:9:2:0:c::/96',
      conditions: withCondition(
        attachment.status?.conditions,
        { type: 'Programmed', ...programmed },
        environment.clock.now(),
      ),
    };
    try {
      await client.update(VPCAttachment, { ...attachment, status }, { subresource: 'status' });
      return attempt;
    } catch (error) {
      if (!isApiError(error, 'Conflict')) throw error;
      // What beat it is shown once it is durable.
      await environment.clock.advance(1);
    }
  }
}

it(`two writers of an attachment's status race ${races} times: no field of either is lost`, async () => {
  await context(client, 'net', { internet: egressTo('public') });
  await vpc(client, 'net', 28200);
  await parameters(client, 'public');
  await shard(client, 'egress-a', { sid: '2001:db8:ff01:a001:e000::', address: '2001:db8:f00d::ffff' });
  await boundInterface(client, name);
  await environment.until('prepared', async () => (await get.attachment(client, name))?.status?.egress !== undefined);
  environment.wire.writes.length = 0;
  let beaten = 0;
  let turns = 0;
  environment.wire.beforeWrite = async () => {
    for (let turn = turns++ % 4; turn > 0; turn--) await environment.clock.settle();
  };
  const lost: string[] = [];
  for (let round = 1; round <= races; round++) {
    const address = `2001:db8:f00d::${round.toString(16)}`;
    const changing = client.patch(
      EgressShard,
      shardKey('egress-a'),
      { type: 'merge', body: { status: { shardAddressIPv6: address } } },
      { subresource: 'status' },
    );
    // Both at once, each with what it read before the other wrote.
    const [, first, second] = await Promise.all([changing, nodeSays(round), nodeSays(round)]);
    beaten += first + second;
    if (round % 10 !== 0) continue;
    await environment.until(`both of round ${round}`, async () => {
      const { status } = (await get.attachment(client, name))!;
      return status?.egress?.internet?.sourceAddresses?.[0]?.address === address && status.node === `node-${round}`;
    });
    const { status } = (await get.attachment(client, name))!;
    const whole =
      status?.vpc === '7kQ' &&
      status.vpcAttachment === '1' &&
      status.networkAttachmentDefinition === name &&
      status.vrfInterface === `vrf-${round}` &&
      status.hostInterface === `host-${round}` &&
      findCondition(status.conditions, 'Ready')?.reason === 'AttachmentDefinitionReady' &&
      findCondition(status.conditions, 'InternetEgressReady')?.status === 'True' &&
      findCondition(status.conditions, 'Programmed')?.message === `round ${round}`;
    if (!whole) lost.push(JSON.stringify(status));
  }
  expect(lost).toEqual([]);
  // They did meet, and each came second now and then.
  const tells = environment.wire.writes.filter(
    (write) => verbAndResource(write) === 'PUT vpcattachments/status',
  ).length;
  expect(beaten).toBeGreaterThan(races / 10);
  expect(environment.wire.writes.filter(({ status }) => status === 409).length).toBeGreaterThan(races / 100);
  expect(tells).toBeGreaterThan(races / 10);
  expect((await get.attachment(client, name))?.status?.conditions?.map(({ type }) => type).sort()).toEqual([
    'InternetEgressReady',
    'Programmed',
    'Ready',
  ]);
}, 300_000);
