import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IPClaim, NetworkInterface, NetworkInterfaceClaim } from '../../../src/api/index.ts';
import { verbAndResource } from '../../../src/apiserver/testing/index.ts';
import { apiVersionOf, Namespace } from '../../../src/meta/index.ts';
import { isTrue, said } from '../support/conditions.ts';
import { alpha, World } from './world.ts';

/** An auditor compares IPAM with interfaces, both ways, in every project the cell has ever allocated in. */

let world: World;
let metrics: Registry;
beforeEach(async () => {
  world = await World.open();
  metrics = new Registry();
});
afterEach(() => world.close());

const often = () => ({ auditSeconds: 0.5, orphanSeconds: 1, metrics });
const key = (name: string) => ({ namespace: alpha, name });
const labels = (interfaceName: string, cellUid: string) => ({
  'networking.datumapis.com/cell-uid': cellUid,
  'networking.datumapis.com/interface-namespace': alpha,
  'networking.datumapis.com/interface-name': interfaceName,
  'networking.datumapis.com/holder-uid': 'somebody-gone',
});

const bound = (name: string) =>
  world.stack.until(`${name} bound`, async () => isTrue(await world.getClaim(name), 'Allocated'));

async function system() {
  return (await world.cell.get(Namespace, { namespace: '', name: 'kube-system' }))!;
}

async function addresses(state: string): Promise<number> {
  const values = (await metrics.getSingleMetric('berth_network_addresses')!.get()).values;
  return values.find((each) => each.labels.state === state)?.value ?? 0;
}

/** An allocation as a cell makes it, for an interface that is not there. */
async function leak(name: string, cellUid: string): Promise<void> {
  await world.project().create(IPClaim, {
    apiVersion: apiVersionOf(IPClaim),
    kind: IPClaim.kind,
    metadata: { name, namespace: 'default', labels: labels(name, cellUid) },
    spec: { className: 'datum-public-v4', reclaimPolicy: 'Delete' },
  });
}

describe('the auditor', () => {
  it('releases what nobody can name, after two observations; of this cell, and nothing else', async () => {
    const { uid } = (await system()).metadata;
    await world.context('net', ['IPv4', 'IPv6']);
    world.start(often());
    const dual = { ipFamilies: ['IPv6', 'IPv4'] as ('IPv4' | 'IPv6')[] };
    await world.claim('held', 'net', dual);
    await world.claim('kept', 'net', { ...dual, reclaimPolicy: 'Retain' });
    await bound('held');
    await bound('kept');
    await world.deleteClaim('kept');
    await leak('lost', uid);
    await leak('foreign', 'another-cell');
    await world.stack.until('the orphan is counted', async () => (await addresses('stranded')) === 1);
    expect(Object.keys(await world.held('lost'))).toHaveLength(1);
    await world.stack.until('the orphan is released', async () => Object.keys(await world.held('lost')).length === 0);
    const note = await world.stack.until(
      'an Event',
      async () => (await world.events(alpha, 'OrphanReleased', 'Warning'))[0],
    );
    expect(note).toContain('lost');
    await world.stack.until('nothing is stranded', async () => (await addresses('stranded')) === 0);
    expect(Object.keys(await world.held(''))).toEqual(
      expect.arrayContaining(['foreign', 'held-f-ipv4', 'held-f-ipv6', 'kept-f-ipv4', 'kept-f-ipv6']),
    );
    expect([await addresses('held'), await addresses('retained'), await addresses('missing')]).toEqual([2, 2, 0]);
    expect(await metrics.getSingleMetricAsString('berth_network_orphans_released_total')).toContain(
      'berth_network_orphans_released_total{cell="us-central-1"} 1',
    );
  });

  it('finds an allocation in a project that no object of the cell names any more', async () => {
    await world.context('net', ['IPv4']);
    world.start({ ...often(), auditSeconds: 0 });
    await world.claim('nic', 'net', { ipFamilies: ['IPv4'] });
    await bound('nic');
    expect((await system()).metadata.annotations).toHaveProperty('allocated.networking.datumapis.com/project-alpha');
    await world.stack.stop();
    // The cell loses both, finalizers and all: somebody forced it.
    for (const type of [NetworkInterfaceClaim, NetworkInterface] as const) {
      const body = { metadata: { finalizers: null } };
      await world.cell.delete(type as typeof NetworkInterface, key('nic'));
      await world.cell.patch(type as typeof NetworkInterface, key('nic'), { type: 'merge', body });
    }
    expect(Object.keys(await world.held('nic'))).toEqual(['nic-f-ipv4']);
    metrics = new Registry();
    world.start({ ...often(), auditSeconds: 0 });
    await world.stack.until('released', async () => Object.keys(await world.held('nic')).length === 0);
  });

  it('forgets a project that is gone', async () => {
    const body = { metadata: { annotations: { 'allocated.networking.datumapis.com/project-beta': '' } } };
    await world.cell.patch(Namespace, { namespace: '', name: 'kube-system' }, { type: 'merge', body });
    await world.stack.dropProject('project-beta');
    world.start(often());
    await world.stack.until('forgotten', async () => {
      const { annotations = {} } = (await system()).metadata;
      return !('allocated.networking.datumapis.com/project-beta' in annotations);
    });
  });

  for (const state of ['held', 'unheld'] as const) {
    it(`tells of an address of an interface ${state} that is published and not held: one Event, no other address`, async () => {
      await world.context('net', ['IPv4', 'IPv6']);
      world.start(often());
      await world.claim('nic', 'net', { ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy: 'Retain' });
      await bound('nic');
      if (state === 'unheld') {
        await world.deleteClaim('nic');
        await world.stack.until('unheld', async () => (await world.getInterface('nic'))?.status?.phase === 'Available');
      }
      const before = (await world.getInterface('nic'))!.spec.addresses;
      await world.project().delete(IPClaim, { namespace: 'default', name: 'nic-f-ipv4' });
      const told = await world.stack.until('told', async () => {
        const seen = await world.getInterface('nic');
        return said(seen, 'Allocated')?.reason === 'AddressAllocationMissing' && seen;
      });
      expect(said(told, 'Allocated')?.message).toContain('nic-f-ipv4');
      await world.stack.until('counted', async () => (await addresses('missing')) === 1);
      await world.stack.until(
        'an Event',
        async () => (await world.warnings('nic', 'AddressAllocationMissing')).length > 0,
      );
      await world.stack.pass(1.5);
      expect(await world.warnings('nic', 'AddressAllocationMissing')).toHaveLength(1);
      expect((await world.getInterface('nic'))!.spec.addresses).toEqual(before);
      expect(Object.keys(await world.held('nic'))).toEqual(['nic-f-ipv6']);
    });
  }

  it('writes nothing in a healthy system, and counts claims', async () => {
    await world.context('net', ['IPv4']);
    world.start(often());
    await world.claim('nic', 'net', { ipFamilies: ['IPv4'] });
    await bound('nic');
    await world.claim('refused', 'nowhere', { ipFamilies: ['IPv4'] });
    await world.stack.until('refused', async () => said(await world.getClaim('refused'), 'Ready')?.status === 'False');
    await world.stack.pass(0.3);
    world.stack.wire.writes.length = 0;
    world.stack.asked.length = 0;
    await world.stack.pass(1.5);
    expect(world.stack.asked.map(verbAndResource)).toContain('GET ipclaims');
    expect(world.stack.wire.writes).toEqual([]);
    expect(await metrics.getSingleMetricAsString('berth_network_claims_refused')).toContain(
      'berth_network_claims_refused{cell="us-central-1",reason="NetworkNotAvailableInLocation"} 1',
    );
    const took = await metrics.getSingleMetricAsString('berth_network_claim_allocated_seconds');
    expect(took).toContain('berth_network_claim_allocated_seconds_count{cell="us-central-1"} 1');
    expect(took).toContain('berth_network_claim_allocated_seconds_bucket{le="1",cell="us-central-1"} 1');
  });
});
