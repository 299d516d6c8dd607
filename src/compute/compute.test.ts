import { afterEach, describe, expect, it } from 'vitest';
import {
  computeFinalizers,
  Instance,
  LocationBinding,
  NetworkBinding,
  NetworkInterface,
  NetworkInterfaceClaim,
  Workload,
  WorkloadDeployment,
} from '../api/index.ts';
import { verbAndResource } from '../apiserver/testing/index.ts';
import { findCondition, isConditionTrue, Namespace } from '../meta/index.ts';
import { location, openCompute, type Rig, refs, workload } from './testing.ts';

let rig: Rig;
afterEach(() => rig.environment.close());

const mine = { namespace: 'default', name: 'web' };
const deployment = `web-here-${location}`;

async function instances(): Promise<Instance[]> {
  return (await rig.project.list(Instance, { namespace: 'default' })).items;
}

/** Waits until the project sees `count` ready instances and nothing else, and answers them by name. */
function ready(count: number, also: (instance: Instance) => boolean = () => true): Promise<Map<string, Instance>> {
  return rig.environment.until(`${count} instances are ready in the project`, async () => {
    const items = await instances();
    const all = items.every((each) => isConditionTrue(each.status?.conditions, 'Ready') && also(each));
    return items.length === count && all && new Map(items.map((each) => [each.metadata.name, each]));
  });
}

function addressOf(instance: Instance | undefined): string | undefined {
  return instance?.status?.networkInterfaces?.[0]?.assignments?.networkIP;
}

async function scale(minReplicas: number): Promise<void> {
  const body = [{ op: 'replace' as const, path: '/spec/placements/0/scaleSettings/minReplicas', value: minReplicas }];
  await rig.project.patch(Workload, mine, { type: 'json', body });
}

async function hubNamespace(): Promise<string> {
  const namespace = await rig.project.get(Namespace, { namespace: '', name: 'default' });
  return `ns-${namespace?.metadata.uid}`;
}

async function cellClaims() {
  return (await rig.cell.list(NetworkInterfaceClaim, { namespace: await hubNamespace() })).items;
}

const gone = () =>
  rig.environment.until('the workload is gone', async () => (await rig.project.get(Workload, mine)) === undefined);

const image = (text: string) => ({
  type: 'json' as const,
  body: [{ op: 'replace' as const, path: '/spec/template/spec/runtime/sandbox/containers/0/image', value: text }],
});

describe('a workload', () => {
  it('becomes instances with addresses of their own, in few writes, and then nothing is written', async () => {
    rig = await openCompute();
    await rig.environment.quiet();
    const before = rig.environment.wire.writes.length;
    await rig.project.create(Workload, workload('web', 10));
    const seen = await ready(10);
    expect([...seen.keys()].sort()[0]).toBe(`${deployment}-0`);
    expect(new Set([...seen.values()].map(addressOf)).size).toBe(10);
    expect([...seen.values()][0]?.spec?.controller?.schedulingGates ?? []).toEqual([]);
    await rig.environment.until('the workload says so', async () => {
      const { status } = (await rig.project.get(Workload, mine)) ?? {};
      return status?.readyReplicas === 10 && isConditionTrue(status.conditions, 'Available');
    });
    await rig.environment.quiet();
    const made = rig.environment.wire.writes.slice(before).map((write) => `${write.by} ${verbAndResource(write)}`);
    const ofInstances = made.filter((line) => /instances/.test(line) && !/^test-/.test(line));
    // Per instance: create, addresses, gates and readiness in the cell; a copy and its status on the hub and in the project.
    expect(ofInstances.length, made.join('\n')).toBeLessThanOrEqual(8 * 10);
    const then = rig.environment.wire.writes.length;
    await rig.environment.quiet();
    expect(rig.environment.wire.writes.slice(then)).toEqual([]);
  });

  it('has one copy on the hub, and a binding there once the cell has said its location', async () => {
    rig = await openCompute();
    await rig.project.create(Workload, workload('web', 1));
    await ready(1);
    const namespace = await hubNamespace();
    const copies = (await rig.hub.list(WorkloadDeployment)).items;
    expect(copies.map(({ metadata }) => [metadata.namespace, metadata.name])).toEqual([[namespace, deployment]]);
    const [binding, ...others] = (await rig.hub.list(NetworkBinding)).items;
    expect(others).toEqual([]);
    expect(binding?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ uid: copies[0]?.metadata.uid, controller: true }),
    ]);
    expect(binding?.spec).toMatchObject({ network: { name: 'default' }, location: { name: location } });
    expect((await rig.cell.get(Namespace, { namespace: '', name: namespace }))?.metadata.labels).toMatchObject({
      'meta.datumapis.com/upstream-cluster-name': 'cluster-alpha',
      'meta.datumapis.com/upstream-namespace': 'default',
    });
  });

  it('says the refusal of one instance in its own words, and the others run', async () => {
    rig = await openCompute();
    const refusal = { reason: 'AddressPoolExhausted', message: 'pool p has no address left' };
    rig.refused.set(`${deployment}-1-eth0`, refusal);
    await rig.project.create(Workload, workload('web', 3));
    const said = await rig.environment.until('the workload says why one waits', async () => {
      const { status } = (await rig.project.get(Workload, mine)) ?? {};
      const condition = findCondition(status?.conditions, 'ReplicasReady');
      return status?.readyReplicas === 2 && condition?.reason === refusal.reason && condition;
    });
    expect(said.message).toBe('1 of 3 instances wait: AddressPoolExhausted: pool p has no address left');
    await rig.environment.until('the instance says why it waits', async () => {
      const waiting = (await instances()).find(({ metadata }) => metadata.name === `${deployment}-1`);
      const condition = findCondition(waiting?.status?.conditions, 'Ready');
      return (
        condition?.status === 'False' && condition.reason === refusal.reason && condition.message === refusal.message
      );
    });
    rig.refused.clear();
    await ready(3);
  });

  it.each(['Delete', 'Retain'] as const)('keeps, frees or finds again its addresses: %s', async (reclaimPolicy) => {
    rig = await openCompute();
    const interfaces = [{ network: { name: 'default' }, name: 'eth0', reclaimPolicy }] as never;
    const written = workload('web', 3, { networkInterfaces: interfaces });
    await rig.project.create(Workload, written);
    const first = await ready(3);

    // An instance replaced keeps its claim, interface and address under either policy.
    const key = { namespace: await hubNamespace(), name: `${deployment}-1` };
    const old = await rig.cell.get(Instance, key);
    await rig.cell.delete(Instance, key);
    await rig.environment.until('the instance is replaced', async () => {
      const now = await rig.cell.get(Instance, key);
      return (
        now !== undefined && now.metadata.uid !== old?.metadata.uid && isConditionTrue(now.status?.conditions, 'Ready')
      );
    });
    expect(addressOf((await ready(3)).get(key.name))).toBe(addressOf(first.get(key.name)));

    await scale(0);
    await rig.environment.until('no claim is left', async () => (await cellClaims()).length === 0);
    await rig.environment.until('no instance is left', async () => (await instances()).length === 0);
    await scale(3);
    const second = await ready(3);
    for (const [name, instance] of second) {
      expect(addressOf(instance) === addressOf(first.get(name))).toBe(reclaimPolicy === 'Retain');
    }

    // Deleted and applied again in the same second.
    await rig.project.delete(Workload, mine);
    await gone();
    await rig.project.create(Workload, written);
    const third = await ready(3);
    for (const [name, instance] of third) {
      expect(addressOf(instance) === addressOf(second.get(name))).toBe(reclaimPolicy === 'Retain');
    }
    expect((await cellClaims()).length).toBe(3);
    expect((await rig.cell.list(NetworkInterface)).items.length).toBe(3);
  });

  it('that is deleted drains: nothing of it is left anywhere', async () => {
    rig = await openCompute();
    await rig.project.create(Workload, workload('web', 3));
    await ready(3);
    await rig.project.delete(Workload, mine);
    await gone();
    await rig.environment.quiet();
    for (const plane of [rig.project, rig.hub, rig.cell]) {
      expect((await plane.list(WorkloadDeployment)).items).toEqual([]);
      expect((await plane.list(Instance)).items).toEqual([]);
    }
    expect((await rig.cell.list(NetworkInterfaceClaim)).items).toEqual([]);
    expect((await rig.hub.list(NetworkBinding)).items).toEqual([]);
  });

  it('is rolled one slot at a time, in order, with its addresses', async () => {
    rig = await openCompute();
    await rig.project.create(Workload, workload('web', 3));
    const first = await ready(3);
    await rig.environment.quiet();
    const namespace = await hubNamespace();
    const { resourceVersion } = await rig.cell.list(Instance, { namespace });
    await rig.project.patch(Workload, mine, image('nginx:2'));
    const images = (each: Instance) => each.spec?.runtime.sandbox?.containers[0]?.image === 'nginx:2';
    const second = await ready(3, images);
    for (const [name, instance] of second) expect(addressOf(instance)).toBe(addressOf(first.get(name)));
    const deleted: string[] = [];
    const down = new Set<string>();
    let mostDown = 0;
    const follow = async () => {
      for await (const event of rig.cell.watch(Instance, { namespace, resourceVersion, timeoutSeconds: 1 })) {
        if (event.type === 'BOOKMARK') continue;
        const { metadata, status } = event.object;
        if (event.type === 'DELETED') deleted.push(metadata.name);
        if (isConditionTrue(status?.conditions, 'Ready') && event.type === 'MODIFIED') down.delete(metadata.name);
        else down.add(metadata.name);
        mostDown = Math.max(mostDown, down.size);
      }
    };
    await rig.environment.clock.advanceUntil(follow());
    expect(deleted).toEqual([0, 1, 2].map((ordinal) => `${deployment}-${ordinal}`));
    expect(mostDown).toBe(1);
  });

  it('may write claim templates, and change its network', async () => {
    rig = await openCompute();
    const templates = (network: string) => [
      {
        metadata: { name: 'net0', labels: { team: 'blue' }, annotations: { note: 'hello' } },
        spec: { network: { name: network } },
      },
    ];
    await rig.project.create(
      Workload,
      workload('web', 2, { networkInterfaceClaimTemplates: templates('default') as never }),
    );
    await ready(2);
    const [claim] = (await cellClaims()).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    expect(claim?.metadata).toMatchObject({
      name: `${deployment}-0-net0`,
      labels: { team: 'blue', 'compute.datumapis.com/instance-index': '0' },
      annotations: { note: 'hello' },
      finalizers: expect.arrayContaining([computeFinalizers.slotInUse]),
    });
    const path = '/spec/template/spec/networkInterfaceClaimTemplates/0/spec/network/name';
    const body = [{ op: 'replace' as const, path, value: 'other' }];
    await rig.project.patch(Workload, mine, { type: 'json', body });
    await rig.environment.until('the claims are of the other network', async () => {
      const claims = await cellClaims();
      return claims.length === 2 && claims.every(({ spec }) => spec.network.name === 'other');
    });
    await ready(2);
    await rig.environment.until('the binding is of the other network', async () => {
      const [binding] = (await rig.hub.list(NetworkBinding)).items;
      return binding?.spec.network.name === 'other';
    });
  });

  it('whose claim is deleted by hand keeps it while the instance is there; then the slot gets another', async () => {
    rig = await openCompute();
    await rig.project.create(Workload, workload('web', 1));
    await ready(1);
    const [claim] = await cellClaims();
    const key = { namespace: claim?.metadata.namespace ?? '', name: claim?.metadata.name ?? '' };
    await rig.cell.delete(NetworkInterfaceClaim, key);
    await rig.environment.quiet();
    expect((await cellClaims())[0]?.metadata).toMatchObject({ uid: claim?.metadata.uid });
    expect(isConditionTrue((await instances())[0]?.status?.conditions, 'Ready')).toBe(true);
    await rig.cell.delete(Instance, { namespace: key.namespace, name: `${deployment}-0` });
    await rig.environment.until('the slot has another claim', async () => {
      const [now] = await cellClaims();
      return now !== undefined && now.metadata.uid !== claim?.metadata.uid;
    });
    await ready(1);
  });

  it('leaves a location whose binding is gone, and no other', async () => {
    rig = await openCompute();
    await rig.project.create(Workload, workload('web', 1));
    await ready(1);
    await rig.project.delete(LocationBinding, { namespace: '', name: location });
    await rig.environment.until(
      'it is left',
      async () => (await rig.project.list(WorkloadDeployment)).items.length === 0,
    );
    const said = await rig.environment.until('the workload says it has no place', async () => {
      const held = await rig.project.get(Workload, mine);
      const condition = findCondition(held?.status?.conditions, 'ReplicasReady');
      return condition?.reason === 'NoMatchingLocations' && condition;
    });
    expect(said).toMatchObject({ status: 'False', observedGeneration: 1 });
  });
});

describe('planes', () => {
  it('take a namespace along: the hub’s and the cell’s go with the project’s, and nothing else does', async () => {
    rig = await openCompute();
    const team = { namespace: '', name: 'team' };
    await rig.project.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await rig.project.create(Workload, workload('web', 1));
    const theirs = workload('web', 1);
    theirs.metadata.namespace = 'team';
    await rig.project.create(Workload, theirs);
    const uid = (await rig.project.get(Namespace, team))?.metadata.uid;
    const copies = () =>
      Promise.all([rig.hub, rig.cell].map((plane) => plane.get(Namespace, { namespace: '', name: `ns-${uid}` })));
    await rig.environment.until('the namespace is carried', async () =>
      (await copies()).every((each) => each !== undefined),
    );
    await rig.project.delete(Namespace, team);
    await rig.environment.until('the copies are gone', async () =>
      (await copies()).every((each) => each === undefined),
    );
    const left = await rig.hub.get(Namespace, { namespace: '', name: await hubNamespace() });
    expect(left?.status?.phase).toBe('Active');
    await ready(1);
  });

  it.each([
    [[refs.project, refs.cell, refs.hub]],
    [[refs.cell, refs.hub, refs.project]],
    [[refs.hub, refs.project, refs.cell]],
  ])('may come in any order: %#', async (order) => {
    rig = await openCompute({ engaged: false });
    await rig.project.create(Workload, workload('web', 2));
    for (const plane of order) {
      rig.environment.engage(plane);
      await rig.environment.quiet();
    }
    await ready(2);
  });

  it('that lose a hub namespace get it again, and the workload comes back', async () => {
    rig = await openCompute();
    await rig.project.create(Workload, workload('web', 1));
    await ready(1);
    const name = await hubNamespace();
    const before = await rig.hub.get(Namespace, { namespace: '', name });
    await rig.hub.delete(Namespace, { namespace: '', name });
    await rig.environment.until('the namespace is another', async () => {
      const now = await rig.hub.get(Namespace, { namespace: '', name });
      return now !== undefined && now.metadata.uid !== before?.metadata.uid;
    });
    await ready(1);
  });
});

describe('NetworkingIntegration off', () => {
  it('reads, watches and writes nothing of networking but locations', async () => {
    rig = await openCompute({ networking: false });
    await rig.project.create(Workload, workload('web', 2));
    await ready(2);
    await rig.project.delete(Workload, mine);
    await gone();
    const touched = rig.requests.filter(({ path }) => path.includes('/networking.datumapis.com/'));
    expect(touched.filter(({ path }) => !/servinglocations|locationbindings/.test(path))).toEqual([]);
  });
});
