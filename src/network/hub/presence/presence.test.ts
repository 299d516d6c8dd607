import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  clusterLabel,
  LocationBinding,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  upstreamLabels,
} from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import type { Client } from '../../../kube/index.ts';
import { apiVersionOf, findCondition, Namespace, type Stored } from '../../../meta/index.ts';
import { openHub, openProject } from '../testing.ts';

const apiVersion = apiVersionOf(Network);
const hubNamespace = 'ns-presence';
let environment: Environment;
let project: Client;

beforeEach(async () => {
  environment = await openHub({ quietPeriodSeconds: 20, projects: ['single'] });
  project = environment.project('single');
  await ensureNamespace(project, 'default');
  await ensureNamespace(environment.hub, hubNamespace, {
    [upstreamLabels.clusterName]: 'cluster-single',
    [upstreamLabels.namespace]: 'default',
  });
});

afterEach(() => environment.close());

async function ensureNamespace(client: Client, name: string, labels: Record<string, string> = {}): Promise<void> {
  if ((await client.get(Namespace, { namespace: '', name })) !== undefined) return;
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

function network(name: string, mtu = 1460, ipFamilies: ('IPv4' | 'IPv6')[] = ['IPv6']): Promise<Stored<Network>> {
  const metadata = { name, namespace: 'default' };
  return project.create(Network, {
    apiVersion,
    kind: 'Network',
    metadata,
    spec: { ipam: { mode: 'Auto' }, mtu, ipFamilies },
  });
}

function locationBinding(name: string): Promise<unknown> {
  const spec = { locationRef: { name } };
  return project.create(LocationBinding, { apiVersion, kind: 'LocationBinding', metadata: { name }, spec });
}

function bind(name: string, networkName: string, location: string, kind = 'LoadBalancer', namespace?: string) {
  return environment.hub.create(NetworkBinding, {
    apiVersion,
    kind: 'NetworkBinding',
    metadata: { name, namespace: hubNamespace },
    spec: {
      network: { name: networkName, ...(namespace === undefined ? {} : { namespace }) },
      location: { name: location },
      consumer: { kind, name },
    },
  });
}

const unbind = (name: string) => environment.hub.delete(NetworkBinding, { namespace: hubNamespace, name });
const context = (name: string) => project.get(NetworkContext, { namespace: 'default', name });
const gone = async (name: string) => (await context(name)) === undefined;

/** The binding, once its Ready condition has that reason. */
function answered(name: string, reason: string): Promise<Stored<NetworkBinding>> {
  return environment.until(`${name} says ${reason}`, async () => {
    const binding = await environment.hub.get(NetworkBinding, { namespace: hubNamespace, name });
    return findCondition(binding?.status?.conditions, 'Ready')?.reason === reason && binding;
  });
}

async function setReady(
  name: string,
  status: 'True' | 'False' = 'True',
  reason = 'Ready',
  message = '',
): Promise<void> {
  const condition = { type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
  const body = { status: { conditions: [condition] } };
  const key = { namespace: 'default', name };
  await project.patch(NetworkContext, key, { type: 'merge', body }, { subresource: 'status' });
}

function interfaceCopy(name: string, networkName: string, location: string): Promise<unknown> {
  return environment.hub.create(NetworkInterface, {
    apiVersion,
    kind: 'NetworkInterface',
    metadata: {
      name,
      namespace: hubNamespace,
      labels: { [networkingLabels.interfaceProjection]: 'true', [networkingLabels.location]: location },
    },
    spec: { network: { name: networkName }, interfaceName: 'eth0', attachmentMode: 'Netns', reclaimPolicy: 'Retain' },
  });
}

describe('presence', () => {
  it('E17: a binding makes a context of the network, and is ready once the context is', async () => {
    const { metadata } = await network('presence-ready-net', 8000, ['IPv4', 'IPv6']);
    await locationBinding('presence-ready-loc');
    await bind('lb', 'presence-ready-net', 'presence-ready-loc');
    const waiting = await answered('lb', 'NetworkContextNotReady');
    const name = 'presence-ready-net-presence-ready-loc';
    expect(waiting.status?.networkContextRef).toEqual({ namespace: 'default', name });
    expect(waiting.metadata.labels).toMatchObject({ [networkingLabels.networkUID]: metadata.uid });
    expect(findCondition(waiting.status?.conditions, 'Ready')).toMatchObject({
      status: 'False',
      observedGeneration: 1,
    });
    expect(await context(name)).toMatchObject({
      metadata: {
        labels: {
          [networkingLabels.network]: 'presence-ready-net',
          [networkingLabels.location]: 'presence-ready-loc',
          [networkingLabels.networkUID]: metadata.uid,
          [upstreamLabels.clusterName]: clusterLabel('single'),
          [upstreamLabels.namespace]: 'default',
        },
        ownerReferences: [{ kind: 'Network', name: 'presence-ready-net', uid: metadata.uid, controller: true }],
      },
      spec: { ipFamilies: ['IPv4', 'IPv6'], mtu: 8000, networkGeneration: 1 },
    });
    await setReady(name);
    const ready = await answered('lb', 'NetworkContextReady');
    expect(findCondition(ready.status?.conditions, 'Ready')?.status).toBe('True');
    await setReady(name, 'False', 'AddressPoolExhausted', 'No free address');
    const regressed = await answered('lb', 'NetworkContextNotReady');
    expect(findCondition(regressed.status?.conditions, 'Ready')?.message).toContain(
      'AddressPoolExhausted: No free address',
    );
    expect(regressed.status?.networkContextRef?.name).toBe(name);
  });

  it('E18: a location the project may not use is refused until it may, and when it no longer may', async () => {
    await network('net');
    await bind('early', 'net', 'loc');
    const refused = await answered('early', 'LocationNotAvailable');
    expect(findCondition(refused.status?.conditions, 'Ready')?.message).toContain(
      'Location loc is not available to project single',
    );
    expect(await context('net-loc')).toBeUndefined();
    await locationBinding('loc');
    await answered('early', 'NetworkContextNotReady');
    await setReady('net-loc');
    await answered('early', 'NetworkContextReady');
    await project.delete(LocationBinding, { namespace: '', name: 'loc' });
    const withdrawn = await answered('early', 'LocationNotAvailable');
    expect(withdrawn.status?.networkContextRef).toBeUndefined();
    expect(await context('net-loc')).toBeDefined();
  });

  it('E19: an edit of the network reaches its context', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await answered('one', 'NetworkContextNotReady');
    const key = { namespace: 'default', name: 'net' };
    await project.patch(Network, key, { type: 'merge', body: { spec: { mtu: 8856, ipFamilies: ['IPv6', 'IPv4'] } } });
    await environment.until('the context follows', async () => (await context('net-loc'))?.spec?.mtu === 8856);
    expect((await context('net-loc'))?.spec).toMatchObject({ ipFamilies: ['IPv6', 'IPv4'], networkGeneration: 2 });
  });

  it('E20: consumers share one context, which stays until the last of them has been gone for the quiet period', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc', 'LoadBalancer');
    await bind('two', 'net', 'loc', 'Workload');
    const [one, two] = await Promise.all(['one', 'two'].map((name) => answered(name, 'NetworkContextNotReady')));
    expect(one?.status).toEqual(two?.status);
    expect((await project.list(NetworkContext)).items).toHaveLength(1);
    await unbind('one');
    await environment.pass(30);
    expect((await context('net-loc'))?.metadata.annotations?.[networkingAnnotations.unclaimedSince]).toBeUndefined();
    await unbind('two');
    await environment.pass(19);
    expect(await context('net-loc')).toBeDefined();
    await environment.until('the context goes', () => gone('net-loc'), 3);
  });

  it('E21: a binding within the quiet period finds the presence as it was', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('old', 'net', 'loc');
    await answered('old', 'NetworkContextNotReady');
    await setReady('net-loc');
    const before = await context('net-loc');
    await unbind('old');
    const stamped = async () =>
      (await context('net-loc'))?.metadata.annotations?.[networkingAnnotations.unclaimedSince];
    await environment.until('the quiet period is stamped', stamped, 8);
    // Also over a restart: the stamp is on the object.
    await environment.restart();
    await environment.pass(10);
    await bind('new', 'net', 'loc');
    await answered('new', 'NetworkContextReady');
    await environment.until('the stamp goes', async () => (await stamped()) === undefined);
    await environment.pass(40);
    const { uid, creationTimestamp, deletionTimestamp } = (await context('net-loc'))!.metadata;
    expect({ uid, creationTimestamp, deletionTimestamp }).toEqual({
      uid: before?.metadata.uid,
      creationTimestamp: before?.metadata.creationTimestamp,
      deletionTimestamp: undefined,
    });
  });

  it('E22: a context that is going is never adopted; a new one follows it', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('old', 'net', 'loc');
    await answered('old', 'NetworkContextNotReady');
    const key = { namespace: 'default', name: 'net-loc' };
    await project.patch(NetworkContext, key, {
      type: 'merge',
      body: { metadata: { finalizers: ['test.example/hold'] } },
    });
    await unbind('old');
    await project.delete(NetworkContext, key);
    const dying = await context('net-loc');
    await bind('new', 'net', 'loc');
    const refused = await answered('new', 'NetworkContextTerminating');
    expect(refused.status?.networkContextRef).toBeUndefined();
    await environment.pass(40);
    expect(await context('net-loc')).toMatchObject({
      metadata: { uid: dying?.metadata.uid, generation: dying?.metadata.generation },
    });
    await project.patch(NetworkContext, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await answered('new', 'NetworkContextNotReady');
    await setReady('net-loc');
    await answered('new', 'NetworkContextReady');
    expect((await context('net-loc'))?.metadata.uid).not.toBe(dying?.metadata.uid);
  });

  it('retained interfaces hold it without any binding, and the last of them to go lets it go quiet', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await answered('one', 'NetworkContextNotReady');
    await interfaceCopy('kept', 'net', 'loc');
    await interfaceCopy('elsewhere', 'net', 'other');
    await unbind('one');
    await environment.pass(60);
    expect((await context('net-loc'))?.metadata.annotations?.[networkingAnnotations.unclaimedSince]).toBeUndefined();
    await environment.hub.delete(NetworkInterface, { namespace: hubNamespace, name: 'kept' });
    await environment.pass(19);
    expect(await context('net-loc')).toBeDefined();
    await environment.until('the context goes', () => gone('net-loc'), 3);
  });

  it('an interface that appears within the quiet period ends it', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await answered('one', 'NetworkContextNotReady');
    await unbind('one');
    const stamped = async () =>
      (await context('net-loc'))?.metadata.annotations?.[networkingAnnotations.unclaimedSince];
    await environment.until('the quiet period is stamped', stamped, 8);
    await interfaceCopy('late', 'net', 'loc');
    await environment.until('the stamp goes', async () => (await stamped()) === undefined, 2);
  });

  it('a network that is going, missing, or of another namespace is refused', async () => {
    await locationBinding('loc');
    await bind('missing', 'net', 'loc');
    await bind('foreign', 'net', 'loc', 'Workload', 'elsewhere');
    await answered('missing', 'NetworkNotFound');
    const foreign = await answered('foreign', 'NetworkReferenceInvalid');
    expect(findCondition(foreign.status?.conditions, 'Ready')?.message).toContain('leave network.namespace out');
    await network('net');
    await answered('missing', 'NetworkContextNotReady');
    await answered('foreign', 'NetworkReferenceInvalid');
    const key = { namespace: 'default', name: 'net' };
    await project.patch(Network, key, { type: 'merge', body: { metadata: { finalizers: ['test.example/hold'] } } });
    await project.delete(Network, key);
    const refused = await answered('missing', 'NetworkNotFound');
    expect(findCondition(refused.status?.conditions, 'Ready')?.message).toContain('it is being deleted');
    await project.delete(NetworkContext, { namespace: 'default', name: 'net-loc' });
    await environment.pass(60);
    expect(await context('net-loc')).toBeUndefined();
  });

  it('a network made again under the same name gets a context of its own', async () => {
    const first = await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await answered('one', 'NetworkContextNotReady');
    await project.delete(Network, { namespace: 'default', name: 'net' });
    const second = await network('net');
    const owner = await environment.until('the context is of the new network', async () => {
      const uid = (await context('net-loc'))?.metadata.labels?.[networkingLabels.networkUID];
      return uid !== first.metadata.uid && uid;
    });
    expect(owner).toBe(second.metadata.uid);
    const binding = await answered('one', 'NetworkContextNotReady');
    expect(binding.metadata.labels?.[networkingLabels.networkUID]).toBe(second.metadata.uid);
  });

  it('two presences of one readable name are two', async () => {
    await network('a-b');
    await network('a');
    await locationBinding('c');
    await locationBinding('b-c');
    await bind('one', 'a-b', 'c');
    const one = await answered('one', 'NetworkContextNotReady');
    await bind('two', 'a', 'b-c');
    const two = await answered('two', 'NetworkContextNotReady');
    expect(one.status?.networkContextRef?.name).toBe('a-b-c');
    expect(two.status?.networkContextRef?.name).toMatch(/^a-b-c-[0-9a-f]{12}$/);
    const contexts = (await project.list(NetworkContext)).items.map(
      ({ spec }) => `${spec?.network.name} in ${spec?.location.name}`,
    );
    expect(contexts.sort()).toEqual(['a in b-c', 'a-b in c']);
  });

  it('a namespace that names no project, or one that is not served, is said so', async () => {
    await network('net');
    await locationBinding('loc');
    const label = (labels: Record<string, string | null>) =>
      environment.hub.patch(
        Namespace,
        { namespace: '', name: hubNamespace },
        { type: 'merge', body: { metadata: { labels } } },
      );
    await label({ [upstreamLabels.clusterName]: null });
    await bind('one', 'net', 'loc');
    const unresolved = await answered('one', 'ProjectUnresolved');
    expect(findCondition(unresolved.status?.conditions, 'Ready')?.message).toContain(
      `label ${upstreamLabels.clusterName} is missing`,
    );
    await label({ [upstreamLabels.clusterName]: 'cluster-_single' });
    await answered('one', 'NetworkContextNotReady');
    expect((await context('net-loc'))?.metadata.labels?.[upstreamLabels.clusterName]).toBe('cluster-_single');
    await label({ [upstreamLabels.clusterName]: 'cluster-later' });
    const unserved = await answered('one', 'ProjectUnresolved');
    expect(findCondition(unserved.status?.conditions, 'Ready')?.message).toContain(
      'is of project later, which is not served',
    );
    await openProject(environment, 'later');
    await answered('one', 'LocationNotAvailable');
    await environment.until('what was asked for under the old label goes quiet', () => gone('net-loc'), 25);
  });

  it('bindings that are ready stay so while projects come up after a restart', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await answered('one', 'NetworkContextNotReady');
    await setReady('net-loc');
    await answered('one', 'NetworkContextReady');
    await environment.disengage('project/single');
    await environment.restart();
    await environment.pass(25);
    await answered('one', 'NetworkContextReady');
    await answered('one', 'ProjectUnresolved');
  });

  it('goes with everything that asked for it, though nobody saw that go', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await answered('one', 'NetworkContextNotReady');
    // Its hub namespace too: the project namespace is then behind nothing on the hub.
    await environment.restart(() => environment.hub.delete(Namespace, { namespace: '', name: hubNamespace }));
    await environment.pass(15);
    expect(await context('net-loc')).toBeDefined();
    await environment.until('the context goes', () => gone('net-loc'), 10);
  });

  it('writes nothing once it is settled, nor after a restart', async () => {
    await network('net');
    await locationBinding('loc');
    await bind('one', 'net', 'loc');
    await bind('refused', 'net', 'nowhere');
    await answered('one', 'NetworkContextNotReady');
    await answered('refused', 'LocationNotAvailable');
    await setReady('net-loc');
    await answered('one', 'NetworkContextReady');
    await environment.pass(5);
    environment.wire.writes.splice(0);
    await environment.pass(300);
    await environment.restart();
    await environment.pass(60);
    expect(environment.wire.writes).toEqual([]);
    // It is at work all the same.
    await project.patch(
      Network,
      { namespace: 'default', name: 'net' },
      { type: 'merge', body: { spec: { mtu: 8856 } } },
    );
    await environment.until('an edit arrives', async () => (await context('net-loc'))?.spec?.mtu === 8856);
  });
});
