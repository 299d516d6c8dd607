import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NetworkContext, networkingLabels, Subnet, upstreamLabels } from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import { sourceUidOf } from '../../../federation/index.ts';
import type { Client } from '../../../kube/index.ts';
import { apiVersionOf, Namespace, type Stored } from '../../../meta/index.ts';
import { openHub } from '../testing.ts';

const apiVersion = apiVersionOf(Subnet);
const hubNamespace = 'ns-replicated';
let environment: Environment;
let project: Client;

beforeEach(async () => {
  environment = await openHub({ quietPeriodSeconds: 20, projects: ['alpha'] });
  project = environment.project('alpha');
  if ((await project.get(Namespace, { namespace: '', name: 'default' })) === undefined) {
    await project.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  }
});

afterEach(() => environment.close());

async function hubNamespaceMade(): Promise<void> {
  const labels = { [upstreamLabels.clusterName]: 'cluster-alpha', [upstreamLabels.namespace]: 'default' };
  await environment.hub.create(Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: hubNamespace, labels },
  });
}

function subnet(client: Client, namespace: string): Promise<Stored<Subnet>> {
  return client.create(Subnet, {
    apiVersion,
    kind: 'Subnet',
    metadata: { name: 'net-loc-ipv6', namespace, labels: { 'example.com/team': 'a' } },
    spec: {
      subnetClass: 'private',
      networkContext: { name: 'net-loc' },
      location: { name: 'loc' },
      ipFamily: 'IPv6',
      startAddress: 'fd20:1000::',
      prefixLength: 64,
    },
  });
}

const source = { namespace: 'default', name: 'net-loc-ipv6' };
const copyKey = { namespace: hubNamespace, name: 'net-loc-ipv6' };
const copy = () => environment.hub.get(Subnet, copyKey);
const copied = () => environment.until('it is copied', copy);

describe('replicator', () => {
  it('carries spec, labels and annotations to the hub, with the location, and never status', async () => {
    const { metadata } = await subnet(project, 'default');
    await hubNamespaceMade();
    const first = await copied();
    expect(sourceUidOf(first)).toBe(metadata.uid);
    expect(first.metadata.labels).toEqual({ 'example.com/team': 'a', [networkingLabels.location]: 'loc' });
    expect(first.spec?.startAddress).toBe('fd20:1000::');
    const status = { startAddress: 'fd20:1000::', prefixLength: 64 };
    await project.patch(Subnet, source, { type: 'merge', body: { status } }, { subresource: 'status' });
    await project.patch(Subnet, source, { type: 'merge', body: { metadata: { annotations: { note: 'x' } } } });
    await environment.until('the edit arrives', async () => (await copy())?.metadata.annotations?.note === 'x');
    expect((await copy())?.status?.startAddress).toBeUndefined();
    await environment.hub.patch(Subnet, copyKey, { type: 'merge', body: { spec: { prefixLength: 80 } } });
    await environment.until('an edit of the copy does not last', async () => (await copy())?.spec?.prefixLength === 64);
  });

  it('removes the copy as soon as the source is going, also when nobody saw it go', async () => {
    await hubNamespaceMade();
    await subnet(project, 'default');
    await copied();
    const hold = { metadata: { finalizers: ['test.example/hold'] } };
    await project.patch(Subnet, source, { type: 'merge', body: hold });
    await project.delete(Subnet, source);
    await environment.until('it goes', async () => (await copy()) === undefined);
    await project.patch(Subnet, source, { type: 'merge', body: { metadata: { finalizers: null } } });

    await subnet(project, 'default');
    await copied();
    await environment.restart(() => project.delete(Subnet, source));
    await environment.until('it goes', async () => (await copy()) === undefined);
  });

  it('follows a source made again under its name, and never touches what is not its copy', async () => {
    await hubNamespaceMade();
    const own = await subnet(environment.hub, hubNamespace);
    await subnet(project, 'default');
    await environment.pass(5);
    expect(await copy()).toMatchObject({
      metadata: { uid: own.metadata.uid, resourceVersion: own.metadata.resourceVersion },
    });
    await environment.hub.delete(Subnet, copyKey);
    const first = await copied();
    await project.delete(Subnet, source);
    const again = await subnet(project, 'default');
    await environment.until('it is of the new one', async () => {
      const current = await copy();
      return current !== undefined && sourceUidOf(current) === again.metadata.uid;
    });
    expect(first.metadata.uid).not.toBe((await copy())?.metadata.uid);
  });

  it('carries contexts, and writes nothing once settled', async () => {
    await hubNamespaceMade();
    await project.create(NetworkContext, {
      apiVersion,
      kind: 'NetworkContext',
      metadata: { name: 'net-loc', namespace: 'default' },
      spec: { network: { name: 'net' }, location: { name: 'loc' }, ipFamilies: ['IPv4'], mtu: 1500 },
    });
    const key = { namespace: hubNamespace, name: 'net-loc' };
    await environment.pass(5);
    expect(await environment.hub.get(NetworkContext, key), 'its subnets are not known yet').toBeUndefined();
    const condition = { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
    const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const ipam = { ipv6SubnetRef: { name: 'net-loc-ipv6' }, ipv4SubnetRef: { name: 'net-loc-ipv4' } };
    const said = { type: 'merge', body: { status: { conditions, ipam } } } as const;
    await project.patch(NetworkContext, { namespace: 'default', name: 'net-loc' }, said, { subresource: 'status' });
    const context = await environment.until('it is copied', () => environment.hub.get(NetworkContext, key));
    expect(context.metadata.annotations?.['networking.datumapis.com/subnets']).toBe('net-loc-ipv6,net-loc-ipv4');
    expect(context.spec).toEqual({
      network: { name: 'net' },
      location: { name: 'loc' },
      ipFamilies: ['IPv4'],
      mtu: 1500,
    });
    expect(context.metadata.labels).toEqual({ [networkingLabels.location]: 'loc' });
    await environment.pass(5);
    environment.wire.writes.splice(0);
    await environment.restart();
    await environment.pass(300);
    expect(environment.wire.writes).toEqual([]);
    // It is at work all the same.
    const edit = { type: 'merge', body: { spec: { mtu: 1400 } } } as const;
    await project.patch(NetworkContext, { namespace: 'default', name: 'net-loc' }, edit);
    await environment.until('an edit arrives', async () => {
      return (await environment.hub.get(NetworkContext, key))?.spec?.mtu === 1400;
    });
  });
});
