import { afterEach, beforeEach, expect, it } from 'vitest';
import { EgressShard, VPCAttachment } from '../../../api/index.ts';
import { findCondition, isApiError, withCondition } from '../../../meta/index.ts';
import { egressTo } from '../egress/testing.ts';
import { fabricCellControllers } from '../index.ts';
import {
  boundInterface,
  context,
  type FabricCell,
  get,
  namespace,
  openCell,
  parameters,
  shard,
  shardKey,
  vpc,
} from '../testing.ts';

let cell: FabricCell;
beforeEach(async () => {
  cell = await openCell(fabricCellControllers);
  cell.start();
});
afterEach(() => cell.close());

const name = 'web-0-eth0';
const races = 1_000;

/** The other writer, as it works: reads whole, changes its own, writes whole; again where it was not the first. */
async function nodeSays(round: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const attachment = (await cell.client.get(VPCAttachment, { namespace, name }))!;
    // Sooner or later: what it read is what is there, or is not any more.
    for (let turn = 0; turn < round % 7; turn++) await cell.clock.settle();
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
      conditions: withCondition(attachment.status?.conditions, { type: 'Programmed', ...programmed }, cell.clock.now()),
    };
    try {
      await cell.client.update(VPCAttachment, { ...attachment, status }, { subresource: 'status' });
      return attempt;
    } catch (error) {
      if (!isApiError(error, 'Conflict')) throw error;
      // What beat it is shown once it is durable.
      await cell.clock.advance(1);
    }
  }
}

it(`two writers of an attachment's status race ${races} times: no field of either is lost`, async () => {
  await context(cell.client, 'net', { internet: egressTo('public') });
  await vpc(cell.client, 'net', 28200);
  await parameters(cell.client, 'public');
  await shard(cell.client, 'egress-a', { sid: '2001:db8:ff01:a001:e000::', address: '2001:db8:f00d::ffff' });
  await boundInterface(cell.client, name);
  await cell.until('prepared', async () => (await get.attachment(cell.client, name))?.status?.egress !== undefined);
  cell.wire.writes.length = 0;
  let beaten = 0;
  let turns = 0;
  cell.wire.delay = async () => {
    for (let turn = turns++ % 4; turn > 0; turn--) await cell.clock.settle();
  };
  const lost: string[] = [];
  for (let round = 1; round <= races; round++) {
    const address = `2001:db8:f00d::${round.toString(16)}`;
    const changing = cell.client.patch(
      EgressShard,
      shardKey('egress-a'),
      { type: 'merge', body: { status: { shardAddressIPv6: address } } },
      { subresource: 'status' },
    );
    // Both at once, each with what it read before the other wrote.
    const [, first, second] = await Promise.all([changing, nodeSays(round), nodeSays(round)]);
    beaten += first + second;
    if (round % 10 !== 0) continue;
    await cell.until(`both of round ${round}`, async () => {
      const { status } = (await get.attachment(cell.client, name))!;
      return status?.egress?.internet?.sourceAddresses?.[0]?.address === address && status.node === `node-${round}`;
    });
    const { status } = (await get.attachment(cell.client, name))!;
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
  const tells = cell.wire.writes.filter((write) => write === 'PUT vpcattachments/status').length;
  expect(beaten).toBeGreaterThan(races / 10);
  expect(cell.wire.conflicts).toBeGreaterThan(races / 100);
  expect(tells).toBeGreaterThan(races / 10);
  expect((await get.attachment(cell.client, name))?.status?.conditions?.map(({ type }) => type).sort()).toEqual([
    'InternetEgressReady',
    'Programmed',
    'Ready',
  ]);
}, 300_000);
