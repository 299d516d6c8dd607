import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IPClaim, NetworkContext, NetworkInterface, NetworkInterfaceClaim, Subnet } from '../../../src/api/index.ts';
import { isApiError } from '../../../src/meta/index.ts';
import { interfacePublication } from '../../../src/network/index.ts';
import { isTrue, said } from '../support/conditions.ts';
import { alpha, type ClaimOptions, World } from './world.ts';

/** The promise table, as far as one cell keeps it. */

let world: World;
beforeEach(async () => {
  world = await World.open();
  world.start();
  await world.context('net', ['IPv4', 'IPv6']);
});
afterEach(() => world.close());

const dual: ClaimOptions = { ipFamilies: ['IPv6', 'IPv4'] };

function bound(name: string) {
  return world.stack.until(`${name} bound`, async () => {
    const claim = await world.getClaim(name);
    return isTrue(claim, 'Allocated') && (await world.getInterface(claim!.status!.networkInterfaceRef!.name)) && claim;
  });
}

const gone = (name: string) =>
  world.stack.until(`claim ${name} gone`, async () => (await world.getClaim(name)) === undefined);

async function uids(prefix: string): Promise<string[]> {
  const { items } = await world.project().list(IPClaim, { namespace: 'default' });
  return items
    .filter((each) => each.metadata.name.startsWith(prefix))
    .map((each) => each.metadata.uid)
    .sort();
}

const slotInUse = 'compute.datumapis.com/slot-in-use';

async function inUseNoMore(name: string): Promise<void> {
  const claim = await world.getClaim(name);
  const finalizers = claim?.metadata.finalizers?.filter((each) => each !== slotInUse);
  await world.cell.patch(
    NetworkInterfaceClaim,
    { namespace: alpha, name },
    { type: 'merge', body: { metadata: { finalizers } } },
  );
}

async function dataPlaneSays(name: string): Promise<void> {
  const when = '2026-01-01T00:00:00Z';
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: type,
    message: 'by the data plane',
    lastTransitionTime: when,
    observedGeneration: 1,
  });
  const body = {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'NetworkInterface',
    metadata: { name, namespace: alpha },
    status: {
      vpc: '3x',
      attachmentRef: { apiGroup: 'network.datumapis.com', kind: 'VPCAttachment', name },
      conditions: [condition('Prepared'), condition('Programmed')],
    },
  };
  await world.cell.patch(
    NetworkInterface,
    { namespace: alpha, name },
    { type: 'apply', body, fieldManager: 'data-plane', force: true },
    { subresource: 'status' },
  );
}

describe('the promise', () => {
  for (const policy of ['Delete', 'Retain'] as const) {
    it(`claim deleted and made again at once, under ${policy}: ${policy === 'Retain' ? 'same' : 'new'} addresses`, async () => {
      for (let round = 0; round < 5; round++) {
        const name = `nic-${round}`;
        await world.claim(name, 'net', { ...dual, reclaimPolicy: policy });
        const first = await bound(name);
        const before = await uids(name);
        await world.deleteClaim(name);
        await world.stack.until('made again', async () =>
          world.claim(name, 'net', { ...dual, reclaimPolicy: policy }).catch((error) => {
            if (isApiError(error, 'AlreadyExists')) return false;
            throw error;
          }),
        );
        const second = await world.stack.until('bound again', async () => {
          const claim = await world.getClaim(name);
          return claim?.metadata.uid !== first.metadata.uid && isTrue(claim, 'Allocated') && claim;
        });
        const after = await uids(name);
        if (policy === 'Retain') {
          expect(second.status?.addresses).toEqual(first.status?.addresses);
          expect(after).toEqual(before);
        } else {
          expect(after).toHaveLength(2);
          expect(after.filter((uid) => before.includes(uid))).toEqual([]);
        }
      }
    });

    it(`a claim in use that is deleted keeps everything until the use is over, under ${policy}`, async () => {
      await world.claim('nic', 'net', { ...dual, reclaimPolicy: policy, finalizers: [slotInUse] });
      const claim = await bound('nic');
      const before = await uids('nic');
      await world.deleteClaim('nic');
      // Even the interface is rebuilt for it.
      const old = (await world.getInterface('nic'))?.metadata.uid;
      await world.deleteInterface('nic');
      const again = await world.stack.until('rebuilt', async () => {
        const found = await world.getInterface('nic');
        return found !== undefined && found.metadata.uid !== old && found.status?.phase === 'Bound' && found;
      });
      expect(again.spec.claimRef?.uid).toBe(claim.metadata.uid);
      expect(await uids('nic')).toEqual(before);
      await inUseNoMore('nic');
      await gone('nic');
      expect(await uids('nic')).toEqual(policy === 'Retain' ? before : []);
    });
  }

  it('interface deleted, then its Retain claim: it comes back unheld with its addresses, and serves the next', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `nic-${round}`;
      await world.claim(name, 'net', { ...dual, reclaimPolicy: 'Retain' });
      const first = await bound(name);
      const before = await uids(name);
      await world.deleteInterface(name);
      await world.deleteClaim(name);
      await gone(name);
      const kept = await world.stack.until('unheld', async () => {
        const found = await world.getInterface(name);
        return found?.status?.phase === 'Available' && found.spec.claimRef === undefined && found;
      });
      expect(kept.spec.addresses?.map(({ address }) => address)).toEqual(
        first.status?.addresses?.map(({ address }) => address),
      );
      expect(await uids(name)).toEqual(before);
      await world.claim(name, 'net', { ...dual, reclaimPolicy: 'Retain' });
      expect((await bound(name)).status?.addresses).toEqual(first.status?.addresses);
    }
  });

  it('a retained interface is given back by the request its tenant leaves, and not while it is held', async () => {
    await world.claim('nic', 'net', { ...dual, reclaimPolicy: 'Retain' });
    await bound('nic');
    const { uid } = (await world.getInterface('nic'))!.metadata;
    const ask = (value: string) =>
      world.cell.patch(
        NetworkInterface,
        { namespace: alpha, name: 'nic' },
        { type: 'merge', body: { metadata: { annotations: { 'networking.datumapis.com/return-requested': value } } } },
      );
    await ask('another-uid');
    await world.deleteClaim('nic');
    await gone('nic');
    await world.stack.until('kept', async () => (await world.getInterface('nic'))?.status?.phase === 'Available');
    expect(await uids('nic')).toHaveLength(2);
    await ask(uid);
    await world.stack.until('given back', async () => (await world.getInterface('nic')) === undefined);
    expect(await uids('nic')).toEqual([]);
  });

  it('a named interface is bound by name, and rebuilt of the allocations made under another claim (F3)', async () => {
    await world.claim('first', 'net', { ...dual, reclaimPolicy: 'Retain' });
    const { status } = await bound('first');
    await world.claim('second', 'net', { ...dual, reclaimPolicy: 'Retain', networkInterfaceName: 'first' });
    await world.stack.until(
      'refused',
      async () => said(await world.getClaim('second'), 'Ready')?.reason === 'InterfaceHeldByAnotherClaim',
    );
    const before = await uids('first');
    await world.deleteClaim('first');
    const second = await bound('second');
    expect(second.status?.networkInterfaceRef).toEqual({ name: 'first' });
    expect(second.status?.addresses).toEqual(status?.addresses);
    const old = (await world.getInterface('first'))?.metadata.uid;
    await world.deleteInterface('first');
    const rebuilt = await world.stack.until('rebuilt', async () => {
      const found = await world.getInterface('first');
      return found?.metadata.uid !== old && found;
    });
    expect(rebuilt.spec.addresses).toEqual(status?.addresses);
    expect(await uids('first')).toEqual(before);
    expect(await uids('second')).toEqual([]);
  });

  it('what the data plane said is told to the claim, and not to the next holder (F39, F40)', async () => {
    await world.claim('nic', 'net', { ...dual, reclaimPolicy: 'Retain' });
    await bound('nic');
    await dataPlaneSays('nic');
    const ready = await world.stack.until('Ready', async () => {
      const claim = await world.getClaim('nic');
      return isTrue(claim, 'Ready') && claim;
    });
    expect(said(ready, 'Prepared')).toMatchObject({ status: 'True', reason: 'Prepared', message: 'by the data plane' });
    await world.deleteClaim('nic');
    await gone('nic');
    await world.claim('nic', 'net', { ...dual, reclaimPolicy: 'Retain' });
    const next = await bound('nic');
    expect(said(next, 'Prepared')?.status).toBe('Unknown');
    const { status } = (await world.getInterface('nic'))!;
    expect(status?.vpc).toBeUndefined();
    expect(status?.attachmentRef).toBeUndefined();
    expect(said({ status }, 'Programmed')?.status).toBe('Unknown');
  });

  it('an interface of a network that was deleted is not adopted by its successor of the same name (F21)', async () => {
    await world.claim('nic', 'net', { ...dual, reclaimPolicy: 'Retain' });
    await bound('nic');
    await world.deleteClaim('nic');
    await gone('nic');
    const key = { namespace: alpha, name: 'net-us-central-1' };
    const labels = { 'networking.datumapis.com/network-uid': 'another' };
    await world.cell.patch(NetworkContext, key, { type: 'merge', body: { metadata: { labels } } });
    await world.claim('nic', 'net', { ...dual, reclaimPolicy: 'Retain' });
    await world.stack.until(
      'refused',
      async () => said(await world.getClaim('nic'), 'Ready')?.reason === 'NetworkMismatch',
    );
  });

  it('gateways come with subnets and go with them; the device follows MTU', async () => {
    await world.claim('nic', 'net', dual);
    await bound('nic');
    await world.subnet('net', 'IPv6', 'fd20:1000::', 64);
    await world.subnet('net', 'IPv4', '10.128.0.0', 20);
    const gateways = async () => (await world.getClaim('nic'))?.status?.addresses?.map((each) => each.gateway);
    await world.stack.until('gateways', async () => (await gateways())?.every((each) => each !== undefined));
    expect(await gateways()).toEqual(['fd20:1000::1', '10.128.0.1']);
    await world.cell.delete(Subnet, { namespace: alpha, name: 'net-us-central-1-ipv4' });
    await world.stack.until('one gateway', async () => (await gateways())?.[1] === undefined);
    expect(await gateways()).toEqual(['fd20:1000::1', undefined]);
    const key = { namespace: alpha, name: 'net-us-central-1' };
    await world.cell.patch(NetworkContext, key, { type: 'merge', body: { spec: { mtu: 8856 } } });
    await world.stack.until('mtu', async () => (await world.getInterface('nic'))?.spec.mtu === 8856);
  });

  it('a presence in use stays, says for whom, and goes with the last interface', async () => {
    await world.claim('nic', 'net', dual);
    await bound('nic');
    const key = { namespace: alpha, name: 'net-us-central-1' };
    const inUse = 'networking.datumapis.com/networkcontext-in-use';
    await world.stack.until('held', async () =>
      (await world.cell.get(NetworkContext, key))?.metadata.finalizers?.includes(inUse),
    );
    await world.cell.delete(NetworkContext, key);
    const lingering = await world.stack.until('says for whom', async () => {
      const found = await world.cell.get(NetworkContext, key);
      return said(found, 'Ready')?.reason === 'Terminating' && found;
    });
    expect(said(lingering, 'Ready')?.message).toContain('interfaces nic');
    await world.claim('late', 'net', dual);
    await world.stack.until(
      'late refused',
      async () => said(await world.getClaim('late'), 'Bound')?.reason === 'NetworkNotAvailableInLocation',
    );
    expect(said(await world.getClaim('nic'), 'Ready')?.reason).toBe('NotPrepared');
    await world.deleteClaim('nic');
    await gone('nic');
    await world.stack.until('context gone', async () => (await world.cell.get(NetworkContext, key)) === undefined);
  });

  it('is published without what means something only in the cell, and without a holder that is gone', async () => {
    await world.claim('nic', 'net', {
      ...dual,
      reclaimPolicy: 'Retain',
      labels: { 'compute.datumapis.com/workload-name': 'web', other: 'x' },
    });
    await bound('nic');
    const held = interfacePublication.publish((await world.getInterface('nic'))!, () => undefined);
    expect(held?.metadata.labels).toMatchObject({
      'networking.datumapis.com/network-interface-projection': 'true',
      'networking.datumapis.com/location': 'us-central-1',
      'networking.datumapis.com/held-by': 'nic',
      'networking.datumapis.com/source-namespace': alpha,
      'meta.datumapis.com/upstream-cluster-name': 'cluster-project-alpha',
      'meta.datumapis.com/upstream-namespace': 'default',
      'compute.datumapis.com/workload-name': 'web',
    });
    expect(held?.metadata.labels).not.toHaveProperty('other');
    expect(held?.spec).toMatchObject({ network: { name: 'net' }, interfaceName: 'eth0', mtu: 1460 });
    expect(held?.spec).not.toHaveProperty('claimRef');
    expect(held?.status).toMatchObject({ phase: 'Bound' });
    expect(held?.status).not.toHaveProperty('networkContextRef');
    await world.deleteClaim('nic');
    await gone('nic');
    const unheld = interfacePublication.publish((await world.getInterface('nic'))!, () => undefined);
    expect(unheld?.metadata.labels).not.toHaveProperty('networking.datumapis.com/held-by');
    const fresh = { ...(await world.getInterface('nic'))!, status: {} };
    expect(interfacePublication.publish(fresh, () => undefined)).toBeUndefined();
  });
});
