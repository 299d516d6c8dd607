import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IPClaim, IPClass, NetworkContext, NetworkInterface, NetworkInterfaceClaim } from '../../../src/api/index.ts';
import { isApiError } from '../../../src/meta/index.ts';
import { isTrue, said } from '../support/conditions.ts';
import { alpha, beta, type ClaimOptions, location, World } from './world.ts';

/** Reference E1 to E11, with its names and values. */

let world: World;
beforeEach(async () => {
  world = await World.open();
  world.start();
});
afterEach(() => world.close());

function allocated(name: string, namespace = alpha) {
  return world.stack.until(`claim ${name} allocated`, async () => {
    const claim = await world.getClaim(name, namespace);
    return isTrue(claim, 'Bound') && isTrue(claim, 'Allocated') ? claim : undefined;
  });
}

function refused(name: string, reason: string, namespace = alpha) {
  return world.stack.until(`claim ${name} refused for ${reason}`, async () => {
    const claim = await world.getClaim(name, namespace);
    return said(claim, 'Ready')?.reason === reason ? claim : undefined;
  });
}

const gone = (name: string) =>
  world.stack.until(`claim ${name} gone`, async () => (await world.getClaim(name)) === undefined);
const interfaceGone = (name: string) =>
  world.stack.until(`interface ${name} gone`, async () => (await world.getInterface(name)) === undefined);

const three: ClaimOptions = { ipFamilies: ['IPv6', 'IPv4'], classes: ['datum-public-v4'] };

describe('claims in a cell', () => {
  it('E1 dual-stack: both families, IPv6 primary, held in IPAM as published, given back with the claim', async () => {
    await world.context('nic-dualstack-net', ['IPv4', 'IPv6']);
    await world.claim('nic-dualstack', 'nic-dualstack-net', { ipFamilies: ['IPv6', 'IPv4'] });
    const claim = await allocated('nic-dualstack');
    expect(claim.status?.networkInterfaceRef).toEqual({ name: 'nic-dualstack' });
    expect(claim.status?.addresses?.map(({ family, primary }) => [family, primary])).toEqual([
      ['IPv6', true],
      ['IPv4', false],
    ]);
    const [v6, v4] = claim.status!.addresses!.map((address) => address.address);
    expect(v6).toMatch(/^fd20:1[0-9a-f]{3}:.*\/96$/);
    expect(v4).toMatch(/^10\.128\.\d+\.\d+\/32$/);
    expect(said(claim, 'Programmed')?.status).toBe('Unknown');
    expect(said(claim, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NotPrepared' });

    const networkInterface = await world.getInterface('nic-dualstack');
    expect(networkInterface?.spec.claimRef).toEqual({ name: 'nic-dualstack', uid: claim.metadata.uid });
    expect(networkInterface?.spec.mtu).toBe(1460);
    expect(networkInterface?.status?.phase).toBe('Bound');
    expect(networkInterface?.metadata.ownerReferences).toBeUndefined();
    expect(await world.held('nic-dualstack')).toEqual({ 'nic-dualstack-f-ipv6': v6, 'nic-dualstack-f-ipv4': v4 });

    await world.deleteClaim('nic-dualstack');
    await gone('nic-dualstack');
    expect(await world.held('nic-dualstack')).toEqual({});
    expect(await world.getInterface('nic-dualstack')).toBeUndefined();
  });

  it('E2 external address: bare, of the class asked for, in front of an address of the network', async () => {
    await world.context('nic-external-net', ['IPv4']);
    await world.claim('nic-external', 'nic-external-net', { ipFamilies: ['IPv4'], classes: ['datum-public-v4'] });
    const { status } = await allocated('nic-external');
    expect(status?.externalAddresses).toEqual([
      { family: 'IPv4', class: 'datum-public-v4', address: expect.stringMatching(/^198\.51\.100\.\d+$/) },
    ]);
    expect(status?.addresses).toHaveLength(1);
    expect(status?.addresses?.[0]?.address).toMatch(/^10\.128\.\d+\.\d+\/32$/);
    expect(status?.addresses?.[0]?.class ?? '').toBe('');
    expect((await world.held('nic-external'))['nic-external-c-datum-public-v4']).toBe(
      `${status?.externalAddresses?.[0]?.address}/32`,
    );
  });

  it('E3 an interface deleted under its claim is rebuilt with the same addresses', async () => {
    await world.context('nic-boundifdel-net', ['IPv4', 'IPv6']);
    await world.claim('nic-boundifdel', 'nic-boundifdel-net', three);
    const before = await allocated('nic-boundifdel');
    const old = await world.getInterface('nic-boundifdel');
    const held = await world.held('nic-boundifdel');
    expect(Object.keys(held)).toHaveLength(3);

    await world.deleteInterface('nic-boundifdel');
    const rebuilt = await world.stack.until('a new interface', async () => {
      const found = await world.getInterface('nic-boundifdel');
      return (
        found !== undefined && found.metadata.uid !== old?.metadata.uid && found.status?.phase === 'Bound' && found
      );
    });
    expect(rebuilt.spec.claimRef).toEqual({ name: 'nic-boundifdel', uid: before.metadata.uid });
    expect(rebuilt.spec.addresses).toEqual(old?.spec.addresses);
    expect(rebuilt.spec.externalAddresses).toEqual(old?.spec.externalAddresses);
    expect(await world.held('nic-boundifdel')).toEqual(held);
    expect((await allocated('nic-boundifdel')).metadata.uid).toBe(before.metadata.uid);

    await world.deleteClaim('nic-boundifdel');
    await gone('nic-boundifdel');
    expect(await world.held('nic-boundifdel')).toEqual({});
  });

  it('E4 a family the network does not carry is refused, named, and nothing is allocated', async () => {
    await world.context('nic-family-net', ['IPv4']);
    const { spec } = await world.claim('nic-family-mismatch', 'nic-family-net');
    expect(spec.ipFamilies).toEqual(['IPv6']);
    const claim = await refused('nic-family-mismatch', 'AddressFamilyNotCarried');
    for (const type of ['Bound', 'Allocated', 'Ready']) {
      expect(said(claim, type)).toMatchObject({ status: 'False', reason: 'AddressFamilyNotCarried' });
      expect(said(claim, type)?.message).toContain('IPv6');
    }
    expect(said(claim, 'Prepared')).toMatchObject({ status: 'Unknown', reason: 'Pending' });
    await world.claim('nic-canary', 'nic-family-net', { ipFamilies: ['IPv4'] });
    await allocated('nic-canary');
    expect(Object.keys(await world.held('nic-'))).toEqual(['nic-canary-f-ipv4']);
    expect(await world.getInterface('nic-family-mismatch')).toBeUndefined();
  });

  it('E5 a retained interface deleted gives everything back', async () => {
    await world.context('nic-ifrelease-net', ['IPv4', 'IPv6']);
    await world.claim('nic-ifrelease', 'nic-ifrelease-net', { ...three, reclaimPolicy: 'Retain' });
    await allocated('nic-ifrelease');
    const { metadata } = (await world.getInterface('nic-ifrelease'))!;
    expect(metadata.annotations?.['networking.datumapis.com/allocation-claim']).toBe('nic-ifrelease');
    expect(metadata.finalizers).toEqual(['networking.datumapis.com/networkinterface-release']);
    expect(Object.keys(await world.held('nic-ifrelease'))).toHaveLength(3);

    await world.deleteClaim('nic-ifrelease');
    await gone('nic-ifrelease');
    const kept = await world.stack.until('interface Available', async () => {
      const found = await world.getInterface('nic-ifrelease');
      return found?.status?.phase === 'Available' && found;
    });
    expect(kept.spec.claimRef).toBeUndefined();
    expect(Object.keys(await world.held('nic-ifrelease'))).toHaveLength(3);

    await world.deleteInterface('nic-ifrelease');
    await interfaceGone('nic-ifrelease');
    expect(await world.held('nic-ifrelease')).toEqual({});
    expect(await world.allocations()).toEqual([]);
  });

  it('E6 an interface deleted and then its claim leave nothing, whichever is dealt with first', async () => {
    await world.context('nic-reverse-net', ['IPv4', 'IPv6']);
    for (let round = 0; round < 10; round++) {
      await world.claim('nic-reverse', 'nic-reverse-net', three);
      await allocated('nic-reverse');
      await world.deleteInterface('nic-reverse');
      await world.deleteClaim('nic-reverse');
      await gone('nic-reverse');
      await interfaceGone('nic-reverse');
      expect(await world.held('nic-reverse')).toEqual({});
      expect(await world.allocations()).toEqual([]);
    }
  });

  it('E7 an address IPAM does not hold is reported, and kept', async () => {
    await world.context('nic-missingalloc-net', ['IPv4']);
    await world.claim('nic-missingalloc', 'nic-missingalloc-net', { ipFamilies: ['IPv4'] });
    const address = (await allocated('nic-missingalloc')).status!.addresses![0]!.address;
    const key = { namespace: 'default', name: 'nic-missingalloc-f-ipv4' };
    const original = await world.project().get(IPClaim, key);
    await world.project().delete(IPClaim, key);
    await nudge('nic-missingalloc');
    const claim = await world.stack.until('Allocated False', async () => {
      const found = await world.getClaim('nic-missingalloc');
      return said(found, 'Allocated')?.status === 'False' && found;
    });
    expect(said(claim, 'Allocated')).toMatchObject({ reason: 'AddressAllocationMissing' });
    expect(said(claim, 'Allocated')?.message).toContain(address);
    expect(said(claim, 'Bound')?.status).toBe('True');
    expect(said(claim, 'Ready')).toMatchObject({ status: 'False', reason: 'NotAllocated' });
    expect(claim.status?.addresses?.[0]?.address).toBe(address);
    const [note] = await world.stack.until('a warning', async () => {
      const found = await world.warnings('nic-missingalloc', 'AddressAllocationMissing');
      return found.length > 0 && found;
    });
    for (const part of [address, 'nic-missingalloc-f-ipv4', 'project-alpha']) expect(note).toContain(part);

    // Somebody else takes the address, and another one comes under the old name.
    const { spec, apiVersion, kind } = original!;
    const { ownerRef: _, ...wanted } = spec!;
    const blocker = { apiVersion, kind, metadata: { name: 'blocker', namespace: 'default' } };
    await world.project().create(IPClaim, { ...blocker, spec: { ...wanted, address: address.replace('/32', '') } });
    const again = await world.project().create(IPClaim, { ...blocker, metadata: key, spec: wanted });
    const moved = again.status!.allocatedCIDR!;
    expect(moved).not.toBe(address);
    await nudge('nic-missingalloc');
    const told = await world.stack.until('the moved allocation named', async () => {
      const found = await world.getClaim('nic-missingalloc');
      return said(found, 'Allocated')?.message.includes(moved) && found;
    });
    expect(said(told, 'Allocated')?.message).toContain(
      `${address} is published, but allocation nic-missingalloc-f-ipv4`,
    );
    expect((await world.getInterface('nic-missingalloc'))?.spec.addresses?.[0]?.address).toBe(address);
  });

  it('E8 projects with the same names have addresses of their own, and see nothing of each other', async () => {
    const places = [alpha, beta, 'ipam-e2e-legacy'];
    const addresses: string[] = [];
    for (const namespace of places) {
      await world.context('nic-isolation-net', ['IPv4'], { namespace });
      await world.claim(`nic-isolation-${namespace}`, 'nic-isolation-net', { namespace, ipFamilies: ['IPv4'] });
      const claim = await allocated(`nic-isolation-${namespace}`, namespace);
      addresses.push(claim.status!.addresses![0]!.address);
    }
    const [inAlpha, inBeta, inLegacy] = addresses;
    expect(inAlpha).toMatch(/^10\.128\./);
    expect(inBeta).toMatch(/^10\.129\./);
    expect(inLegacy).toMatch(/^10\.128\./);
    expect(inLegacy).not.toBe(inAlpha);
    expect(Object.values(await world.held('nic-isolation', 'project-beta'))).toEqual([inBeta]);
    expect(Object.values(await world.held('nic-isolation')).sort()).toEqual([inAlpha, inLegacy].sort());
  });

  it('E8 claims of one name in two namespaces of a project do not share an allocation', async () => {
    for (const namespace of [alpha, 'ipam-e2e-legacy']) {
      await world.context('nic-same-net', ['IPv4'], { namespace });
      await world.claim('nic-same', 'nic-same-net', { namespace, ipFamilies: ['IPv4'] });
    }
    const first = (await allocated('nic-same')).status?.addresses?.[0]?.address;
    const second = (await allocated('nic-same', 'ipam-e2e-legacy')).status?.addresses?.[0]?.address;
    expect(first).not.toBe(second);
    expect(Object.values(await world.held('nic-same')).sort()).toEqual([first, second].sort());
    await world.deleteClaim('nic-same');
    await gone('nic-same');
    expect(Object.values(await world.held('nic-same'))).toEqual([second]);
  });

  it('F9 an allocation of an earlier network of the name, left behind, is given back and not used again', async () => {
    const claimsOf = async () => (await world.project().list(IPClaim, { labelSelector: leftBehind })).items;
    const leftBehind = 'networking.datumapis.com/interface-name=nic-left';
    await world.context('nic-left-net', ['IPv4'], { uid: 'old-uid' });
    await world.claim('nic-left', 'nic-left-net', { ipFamilies: ['IPv4'], reclaimPolicy: 'Retain' });
    await allocated('nic-left');
    await world.deleteClaim('nic-left');
    await gone('nic-left');
    // Somebody takes the finalizer off by hand: what IPAM holds is nobody's now.
    const key = { namespace: alpha, name: 'nic-left' };
    await world.cell.patch(NetworkInterface, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.deleteInterface('nic-left');
    await interfaceGone('nic-left');
    const [old, ...others] = await claimsOf();
    expect(others).toEqual([]);
    expect(old?.spec?.scope?.network?.uid).toBe('old-uid');

    const contextKey = { namespace: alpha, name: `nic-left-net-${location}` };
    await world.cell.delete(NetworkContext, contextKey);
    await world.stack.until(
      'context gone',
      async () => (await world.cell.get(NetworkContext, contextKey)) === undefined,
    );
    await world.context('nic-left-net', ['IPv4'], { uid: 'new-uid' });
    await world.claim('nic-left', 'nic-left-net', { ipFamilies: ['IPv4'], reclaimPolicy: 'Retain' });
    const claim = await allocated('nic-left');
    const [held, ...more] = await claimsOf();
    expect(more).toEqual([]);
    expect(held?.metadata.uid).not.toBe(old?.metadata.uid);
    expect(held?.spec?.scope?.network?.uid).toBe('new-uid');
    expect(held?.status?.allocatedCIDR).toBe(claim.status?.addresses?.[0]?.address);
  });

  it('E9 Delete gives back all of three', async () => {
    await world.context('nic-delete-net', ['IPv4', 'IPv6']);
    await world.claim('nic-delete', 'nic-delete-net', { ...three, reclaimPolicy: 'Delete' });
    await allocated('nic-delete');
    expect(Object.keys(await world.held('nic-delete'))).toHaveLength(3);
    await world.deleteClaim('nic-delete');
    await gone('nic-delete');
    expect(await world.held('nic-delete')).toEqual({});
    expect(await world.getInterface('nic-delete')).toBeUndefined();
  });

  it('E10 Retain keeps the interface for the next claim of its name, and only for one that asks for the same', async () => {
    await world.context('nic-retain-net', ['IPv4', 'IPv6']);
    await world.claim('nic-retain', 'nic-retain-net', { ...three, reclaimPolicy: 'Retain' });
    const first = await allocated('nic-retain');
    const held = await world.held('nic-retain');
    await world.deleteClaim('nic-retain');
    await gone('nic-retain');
    expect(await world.held('nic-retain')).toEqual(held);

    await world.claim('nic-retain', 'nic-retain-net', { ...three, reclaimPolicy: 'Delete' });
    const mismatch = await refused('nic-retain', 'ReclaimPolicyMismatch');
    expect(said(mismatch, 'Bound')).toMatchObject({ status: 'False', reason: 'ReclaimPolicyMismatch' });
    expect(said(mismatch, 'Bound')?.message).toContain('reclaimPolicy');
    const unheld = await world.getInterface('nic-retain');
    expect(unheld?.spec.reclaimPolicy).toBe('Retain');
    expect(unheld?.spec.claimRef).toBeUndefined();
    await world.deleteClaim('nic-retain');
    await gone('nic-retain');
    expect(await world.held('nic-retain')).toEqual(held);

    await world.claim('nic-retain', 'nic-retain-net', { ...three, reclaimPolicy: 'Retain' });
    const next = await allocated('nic-retain');
    expect(next.status?.addresses).toEqual(first.status?.addresses);
    expect(next.status?.externalAddresses).toEqual(first.status?.externalAddresses);
    expect((await world.getInterface('nic-retain'))?.spec.claimRef).toEqual({
      name: 'nic-retain',
      uid: next.metadata.uid,
    });
    expect(await world.held('nic-retain')).toEqual(held);

    const edit = world.cell.patch(
      NetworkInterfaceClaim,
      { namespace: alpha, name: 'nic-retain' },
      { type: 'merge', body: { spec: { reclaimPolicy: 'Delete' } } },
    );
    await expect(edit.catch((error) => isApiError(error, 'Invalid'))).resolves.toBe(true);
  });

  it('E11 a namespace that names no project is refused, naming the label', async () => {
    const namespace = 'ipam-e2e-unlabeled';
    await world.context('nic-unlabeled-net', ['IPv4'], { namespace });
    await world.claim('nic-unlabeled', 'nic-unlabeled-net', { namespace, ipFamilies: ['IPv4'] });
    const claim = await refused('nic-unlabeled', 'ProjectUnresolved', namespace);
    for (const type of ['Bound', 'Allocated', 'Ready']) expect(said(claim, type)?.status).toBe('False');
    expect(said(claim, 'Bound')?.message).toContain('meta.datumapis.com/upstream-cluster-name');
    await world.context('nic-canary-net', ['IPv4']);
    await world.claim('nic-canary', 'nic-canary-net', { ipFamilies: ['IPv4'] });
    await allocated('nic-canary');
    expect(await world.held('nic-unlabeled')).toEqual({});
    expect(await world.held('nic-unlabeled', 'project-beta')).toEqual({});
    expect(await world.getInterface('nic-unlabeled', namespace)).toBeUndefined();
    expect(await world.project().get(IPClass, { namespace: '', name: 'datum-endpoint-v4' })).toBeDefined();
  });
});

async function nudge(name: string): Promise<void> {
  const annotations = { 'example.com/nudge': String(Math.random()) };
  const key = { namespace: alpha, name };
  await world.cell.patch(NetworkInterfaceClaim, key, { type: 'merge', body: { metadata: { annotations } } });
}
