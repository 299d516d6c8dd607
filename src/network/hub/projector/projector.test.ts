import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Network,
  NetworkInterface,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
  upstreamLabels,
} from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import { sourceCell, sourceUid } from '../../../federation/index.ts';
import type { Client } from '../../../kube/index.ts';
import { apiVersionOf, Event, Namespace, type Stored } from '../../../meta/index.ts';
import { openHub } from '../testing.ts';

const apiVersion = apiVersionOf(Network);
const hubNamespace = 'ns-visible';
const cellUid = '0b1e0d5c-1111-4222-8333-444455556666';
let environment: Environment;
let project: Client;

beforeEach(async () => {
  environment = await openHub({ quietPeriodSeconds: 20, projects: ['alpha'] });
  project = environment.project('alpha');
  for (const name of ['default', 'tenant']) {
    if ((await project.get(Namespace, { namespace: '', name })) !== undefined) continue;
    await project.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  const labels = { [upstreamLabels.clusterName]: 'cluster-alpha', [upstreamLabels.namespace]: 'tenant' };
  await environment.hub.create(Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: hubNamespace, labels },
  });
});

afterEach(() => environment.close());

function network(name: string): Promise<Stored<Network>> {
  const metadata = { name, namespace: 'tenant' };
  const spec = { ipam: { mode: 'Auto' as const }, ipFamilies: ['IPv6' as const], mtu: 1460 };
  return project.create(Network, { apiVersion, kind: 'Network', metadata, spec });
}

/** What a cell publishes, held by `holder` or by nobody. */
async function published(holder: string | undefined, networkName = 'net', uid = cellUid): Promise<void> {
  await environment.hub.create(NetworkInterface, {
    apiVersion,
    kind: 'NetworkInterface',
    metadata: {
      name: 'nic-visible',
      namespace: hubNamespace,
      labels: {
        [networkingLabels.interfaceProjection]: 'true',
        [networkingLabels.location]: 'us-central-1',
        [networkingLabels.sourceNamespace]: hubNamespace,
        ...(holder === undefined ? {} : { [networkingLabels.heldBy]: holder }),
      },
      annotations: { [sourceUid]: uid, [sourceCell]: 'us-central-1' },
    },
    spec: {
      network: { name: networkName },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      mtu: 1460,
      addresses: [{ family: 'IPv6', address: 'fd20:1000:0:0:1::/96', primary: true }],
      reclaimPolicy: 'Retain',
    },
  });
  await setHolder(holder);
}

async function setHolder(holder: string | undefined): Promise<void> {
  const labels = { [networkingLabels.heldBy]: holder ?? null };
  await environment.hub.patch(NetworkInterface, hubKey, { type: 'merge', body: { metadata: { labels } } });
  const phase = holder === undefined ? 'Available' : 'Bound';
  await environment.hub.patch(
    NetworkInterface,
    hubKey,
    { type: 'merge', body: { status: { phase } } },
    { subresource: 'status' },
  );
}

const hubKey = { namespace: hubNamespace, name: 'nic-visible' };
const key = { namespace: 'tenant', name: 'nic-visible' };
const source = () => environment.hub.get(NetworkInterface, hubKey);
const copy = () => project.get(NetworkInterface, key);
const shown = (phase: 'Bound' | 'Available') =>
  environment.until(`it is shown ${phase}`, async () => {
    const current = await copy();
    return current?.status?.phase === phase && current;
  });
const asked = async () => (await source())?.metadata.annotations?.[networkingAnnotations.returnRequested];
const goes = () => environment.until('the copy goes', async () => (await copy()) === undefined);

describe('interface projector', () => {
  it('E23: shows a project its interface, and no longer once it is gone', async () => {
    const { metadata } = await network('net');
    await published('nic-visible');
    const current = await shown('Bound');
    expect(current.metadata).toMatchObject({
      labels: { [networkingLabels.interfaceProjection]: 'true', [networkingLabels.heldBy]: 'nic-visible' },
      annotations: { [sourceUid]: cellUid },
      finalizers: [networkingFinalizers.interfaceReturn],
    });
    const { name, uid } = metadata;
    expect(current.metadata.ownerReferences).toEqual([{ apiVersion, kind: 'Network', name, uid }]);
    expect(current.spec).toMatchObject({ network: { name: 'net' }, mtu: 1460, interfaceName: 'eth0' });
    expect(current.spec.claimRef).toBeUndefined();
    await environment.hub.delete(NetworkInterface, hubKey);
    await goes();
  });

  it('shows what changes, drops stale labels, and undoes what a person edits', async () => {
    await network('net');
    await published('nic-visible');
    await shown('Bound');
    await setHolder(undefined);
    const released = await shown('Available');
    await environment.until(
      'held-by goes',
      async () => (await copy())?.metadata.labels?.[networkingLabels.heldBy] === undefined,
    );
    await project.patch(NetworkInterface, key, { type: 'merge', body: { spec: { mtu: 9 + 1400 } } });
    await environment.until('the edit is undone', async () => (await copy())?.spec.mtu === 1460);
    expect((await copy())?.metadata.uid).toBe(released.metadata.uid);
    expect((await source())?.spec.mtu).toBe(1460);
  });

  it('waits for the network, and removes the copy of one whose network is gone', async () => {
    await published('nic-visible');
    await environment.pass(5);
    expect(await copy()).toBeUndefined();
    await network('net');
    await shown('Bound');
    await project.delete(Network, { namespace: 'tenant', name: 'net' });
    await goes();
    expect(await asked()).toBeUndefined();
  });

  it('finds copies whose hub copy went while nobody looked', async () => {
    await network('net');
    await published('nic-visible');
    await shown('Bound');
    await environment.restart(() => environment.hub.delete(NetworkInterface, hubKey));
    await goes();
  });

  it('E24: a name used anew on another network, or for another interface, is shown anew', async () => {
    await network('net');
    await network('net-b');
    await published('nic-visible');
    const first = await shown('Bound');
    await environment.hub.delete(NetworkInterface, hubKey);
    await published('nic-visible', 'net-b', 'another-uid');
    await environment.until('it is on the other network', async () => {
      const current = await copy();
      return current?.spec.network.name === 'net-b' && current.metadata.uid !== first.metadata.uid;
    });
    await environment.hub.delete(NetworkInterface, hubKey);
    await goes();
  });

  it('a retained interface nobody holds is given back by deleting its copy', async () => {
    await network('net');
    await published(undefined);
    await shown('Available');
    await project.delete(NetworkInterface, key);
    expect(await environment.until('the cell is asked', asked)).toBe(cellUid);
    await environment.pass(10);
    expect((await copy())?.metadata.deletionTimestamp).toBeDefined();
    await environment.hub.delete(NetworkInterface, hubKey);
    await goes();
  });

  it('a retained interface is not given back by what takes its network away', async () => {
    const first = await network('net');
    await published(undefined);
    await shown('Available');
    await project.delete(Network, { namespace: 'tenant', name: 'net' });
    await network('net');
    await environment.until('it is shown under the new network', async () => {
      const current = await copy();
      const owner = current?.metadata.ownerReferences?.[0]?.uid;
      return owner !== undefined && owner !== first.metadata.uid && current;
    });
    expect(await asked()).toBeUndefined();
  });

  it('a network that waits for a retained interface lets its tenant give it back', async () => {
    await network('net');
    await published(undefined);
    await shown('Available');
    const networkKey = { namespace: 'tenant', name: 'net' };
    const hold = { metadata: { finalizers: ['test.example/hold'] } };
    await project.patch(Network, networkKey, { type: 'merge', body: hold });
    await project.delete(Network, networkKey);
    await environment.pass(5);
    await shown('Available');
    await project.delete(NetworkInterface, key);
    expect(await environment.until('the cell is asked', asked)).toBe(cellUid);
  });

  it('a held interface comes back, with an event that says who holds it', async () => {
    await network('net');
    await published('web-0-eth0');
    const first = await shown('Bound');
    await project.delete(NetworkInterface, key);
    await environment.until('it goes', async () => (await copy()) === undefined);
    await environment.pass(1);
    expect(await copy(), 'whoever waits for its end sees it gone').toBeUndefined();
    await environment.until('it comes back', async () => {
      const current = await copy();
      return current !== undefined && current.metadata.uid !== first.metadata.uid;
    });
    const event = await environment.until('it is said', async () =>
      (await project.list(Event)).items.find(({ reason }) => reason === 'InterfaceHeld'),
    );
    expect(event).toMatchObject({
      type: 'Warning',
      metadata: { namespace: 'tenant' },
      regarding: { name: 'nic-visible' },
    });
    expect(event.note).toContain('Interface nic-visible is held by claim web-0-eth0');
    expect(await asked()).toBeUndefined();
  });

  it('one that is let go of in the same moment, which the hub hears of a little later, is given back', async () => {
    await network('net');
    await published('web-0-eth0');
    const { metadata } = await shown('Bound');
    await project.delete(NetworkInterface, key);
    await environment.pass(1);
    await setHolder(undefined);
    const cellUid = metadata.annotations?.[sourceUid];
    expect(await environment.until('the cell is asked', asked)).toBe(cellUid);
    expect((await copy())?.metadata.uid).toBe(metadata.uid);
  });

  it('a return that a new claim was faster than is called off', async () => {
    await network('net');
    await published(undefined);
    await shown('Available');
    await project.delete(NetworkInterface, key);
    await environment.until('the cell is asked', asked);
    await setHolder('web-0-eth0');
    await environment.until('it is called off', async () => (await asked()) === undefined);
    const back = await shown('Bound');
    expect(back.metadata.deletionTimestamp).toBeUndefined();
    await setHolder(undefined);
    await environment.pass(30);
    expect(await asked()).toBeUndefined();
  });

  it('nothing keeps a namespace from going', async () => {
    await network('net');
    await published('web-0-eth0');
    await shown('Bound');
    await project.delete(Namespace, { namespace: '', name: 'tenant' });
    await environment.until('the namespace goes', async () => {
      return (await project.get(Namespace, { namespace: '', name: 'tenant' })) === undefined;
    });
    expect(await source()).toBeDefined();
  });

  it('an interface of a project itself is no copy, is left alone, and that is told', async () => {
    await network('net');
    const own = await project.create(NetworkInterface, {
      apiVersion,
      kind: 'NetworkInterface',
      metadata: key,
      spec: { network: { name: 'net' }, interfaceName: 'eth0', attachmentMode: 'Netns', reclaimPolicy: 'Delete' },
    });
    await published('nic-visible');
    await environment.pass(10);
    expect((await copy())?.metadata.resourceVersion).toBe(own.metadata.resourceVersion);
    expect((await project.list(Event, { namespace: 'tenant' })).items).toMatchObject([
      {
        type: 'Warning',
        reason: 'CopyNameTaken',
        regarding: { kind: 'NetworkInterface', name: 'nic-visible', uid: own.metadata.uid },
        note: 'NetworkInterface nic-visible in namespace tenant of plane project/alpha was not made by the platform, and the copy of that name waits until it is gone: delete it (see reasons.md#copynametaken)',
      },
    ]);
    await project.delete(NetworkInterface, key);
    expect((await shown('Bound')).metadata.uid).not.toBe(own.metadata.uid);
  });

  it('writes nothing once it is settled, nor after a restart', async () => {
    await network('net');
    await published('nic-visible');
    await shown('Bound');
    await environment.pass(5);
    environment.wire.writes.splice(0);
    await environment.pass(300);
    await environment.restart();
    await environment.pass(60);
    expect(environment.wire.writes).toEqual([]);
    // It is at work all the same.
    await setHolder(undefined);
    await shown('Available');
  });
});
