import { afterEach, beforeEach, expect, it } from 'vitest';
import { NetworkInterface, VPCAttachment } from '../../../src/api/index.ts';
import { applyStatus, mergeStatus } from '../../../src/kube/index.ts';
import { apiVersionOf, formatTime } from '../../../src/meta/index.ts';
import { isTrue, said } from '../support/conditions.ts';
import { alpha, World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
  world.start({ dataPlane: 'fabric' });
});
afterEach(() => world.close());

const sourceAddresses = [{ family: 'IPv6', address: '2001:db8:f00d:1::100', stability: 'None' }] as const;

it('an interface and its claim say what the attachment says of egress, and take it back with it', async () => {
  await world.context('net', ['IPv6']);
  await world.claim('nic', 'net', { reclaimPolicy: 'Retain' });
  await world.stack.until('bound', async () => isTrue(await world.getClaim('nic'), 'Bound'));
  const ready = {
    type: 'InternetEgressReady',
    status: 'True',
    reason: 'Ready',
    message: 'Internet egress is ready',
    lastTransitionTime: formatTime(0),
  } as const;
  const attachment = await world.cell.create(VPCAttachment, {
    apiVersion: apiVersionOf(VPCAttachment),
    kind: VPCAttachment.kind,
    metadata: { name: 'nic', namespace: alpha },
    spec: { vpc: { name: 'net' }, interface: { name: 'eth0', mode: 'Netns' } },
  });
  const status = { conditions: [ready], egress: { internet: { sourceAddresses: [...sourceAddresses] } } };
  const speaking = await mergeStatus(world.cell, VPCAttachment, attachment, status);
  const attachmentRef = { apiGroup: VPCAttachment.group, kind: VPCAttachment.kind, name: 'nic' };
  await applyStatus(world.cell, NetworkInterface, (await world.getInterface('nic'))!, { attachmentRef }, 'data-plane');

  await world.stack.until('said', async () => (await world.getClaim('nic'))?.status?.egress !== undefined);
  const networkInterface = (await world.getInterface('nic'))!;
  expect(networkInterface.status?.egress).toEqual({ internet: { sourceAddresses } });
  expect(said(networkInterface, 'InternetEgressReady')).toMatchObject({ status: 'True', reason: 'Ready' });
  expect((await world.getClaim('nic'))?.status?.egress).toEqual({ internet: { sourceAddresses } });

  const { egress: _, ...silent } = speaking.status!;
  const unavailable = { ...ready, status: 'False', reason: 'Unavailable', message: 'not available' } as const;
  await mergeStatus(world.cell, VPCAttachment, speaking, { ...silent, conditions: [unavailable] });
  await world.stack.until('taken back', async () => (await world.getClaim('nic'))?.status?.egress === undefined);
  expect((await world.getInterface('nic'))?.status?.egress).toBeUndefined();
  expect(said(await world.getInterface('nic'), 'InternetEgressReady')).toMatchObject({ reason: 'Unavailable' });
  expect(isTrue(await world.getInterface('nic'), 'Allocated')).toBe(true);

  // Nobody\u2019s, it has no way out, whatever an attachment left behind says.
  await world.deleteClaim('nic');
  await world.stack.until('unheld', async () => (await world.getInterface('nic'))?.status?.phase === 'Available');
  expect(said(await world.getInterface('nic'), 'InternetEgressReady')).toBeUndefined();
});
