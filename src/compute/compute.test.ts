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
import { findCondition, isConditionTrue, Namespace } from '../meta/index.ts';
import { type Harness, location, refs, startHarness, workload } from './testing.ts';

let harness: Harness;
afterEach(() => harness.close());

const mine = { namespace: 'default', name: 'web' };
const deployment = `web-here-${location}`;

async function instances(): Promise<Instance[]> {
  return (await harness.project.list(Instance, { namespace: 'default' })).items;
}

/** Waits until the project sees `count` ready instances and nothing else, and answers them by name. */
function ready(count: number, also: (instance: Instance) => boolean = () => true): Promise<Map<string, Instance>> {
  return harness.until(async () => {
    const items = await instances();
    const all = items.every((each) => isConditionTrue(each.status?.conditions, 'Ready') && also(each));
    return items.length === count && all && new Map(items.map((each) => [each.metadata.name, each]));
  }, `${count} instances are ready in the project`);
}

function addressOf(instance: Instance | undefined): string | undefined {
  return instance?.status?.networkInterfaces?.[0]?.assignments?.networkIP;
}

async function scale(minReplicas: number): Promise<void> {
  const body = [{ op: 'replace' as const, path: '/spec/placements/0/scaleSettings/minReplicas', value: minReplicas }];
  await harness.project.patch(Workload, mine, { type: 'json', body });
}

async function hubNamespace(): Promise<string> {
  const namespace = await harness.project.get(Namespace, { namespace: '', name: 'default' });
  return `ns-${namespace?.metadata.uid}`;
}

async function cellClaims() {
  return (await harness.cell.list(NetworkInterfaceClaim, { namespace: await hubNamespace() })).items;
}

const gone = () =>
  harness.until(async () => (await harness.project.get(Workload, mine)) === undefined, 'the workload is gone');

const image = (text: string) => ({
  type: 'json' as const,
  body: [{ op: 'replace' as const, path: '/spec/template/spec/runtime/sandbox/containers/0/image', value: text }],
});

describe('a workload', () => {
  it('becomes instances with addresses of their own, in few writes, and then nothing is written', async () => {
    harness = await startHarness();
    await harness.settled();
    const before = harness.writes.length;
    await harness.project.create(Workload, workload('web', 10));
    const seen = await ready(10);
    expect([...seen.keys()].sort()[0]).toBe(`${deployment}-0`);
    expect(new Set([...seen.values()].map(addressOf)).size).toBe(10);
    expect([...seen.values()][0]?.spec?.controller?.schedulingGates ?? []).toEqual([]);
    await harness.until(async () => {
      const { status } = (await harness.project.get(Workload, mine)) ?? {};
      return status?.readyReplicas === 10 && isConditionTrue(status.conditions, 'Available');
    }, 'the workload says so');
    await harness.settled();
    const made = harness.writes.slice(before);
    const ofInstances = made.filter((line) => /instances/.test(line) && !/test-/.test(line));
    // Per instance: create, addresses, gates and readiness in the cell; a copy and its status on the hub and in the project.
    expect(ofInstances.length, made.join('\n')).toBeLessThanOrEqual(8 * 10);
    const then = harness.writes.length;
    await harness.settled();
    expect(harness.writes.slice(then)).toEqual([]);
  });

  it('has one copy on the hub, and a binding there once the cell has said its location', async () => {
    harness = await startHarness();
    await harness.project.create(Workload, workload('web', 1));
    await ready(1);
    const namespace = await hubNamespace();
    const copies = (await harness.hub.list(WorkloadDeployment)).items;
    expect(copies.map(({ metadata }) => [metadata.namespace, metadata.name])).toEqual([[namespace, deployment]]);
    const [binding, ...others] = (await harness.hub.list(NetworkBinding)).items;
    expect(others).toEqual([]);
    expect(binding?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ uid: copies[0]?.metadata.uid, controller: true }),
    ]);
    expect(binding?.spec).toMatchObject({ network: { name: 'default' }, location: { name: location } });
    expect((await harness.cell.get(Namespace, { namespace: '', name: namespace }))?.metadata.labels).toMatchObject({
      'meta.datumapis.com/upstream-cluster-name': 'cluster-alpha',
      'meta.datumapis.com/upstream-namespace': 'default',
    });
  });

  it('says the refusal of one instance in its own words, and the others run', async () => {
    harness = await startHarness();
    const refusal = { reason: 'AddressPoolExhausted', message: 'pool p has no address left' };
    harness.refused.set(`${deployment}-1-eth0`, refusal);
    await harness.project.create(Workload, workload('web', 3));
    const said = await harness.until(async () => {
      const { status } = (await harness.project.get(Workload, mine)) ?? {};
      const condition = findCondition(status?.conditions, 'ReplicasReady');
      return status?.readyReplicas === 2 && condition?.reason === refusal.reason && condition;
    }, 'the workload says why one waits');
    expect(said.message).toBe('1 of 3 instances wait: AddressPoolExhausted: pool p has no address left');
    await harness.until(async () => {
      const waiting = (await instances()).find(({ metadata }) => metadata.name === `${deployment}-1`);
      const condition = findCondition(waiting?.status?.conditions, 'Ready');
      return (
        condition?.status === 'False' && condition.reason === refusal.reason && condition.message === refusal.message
      );
    }, 'the instance says why it waits');
    harness.refused.clear();
    await ready(3);
  });

  it.each(['Delete', 'Retain'] as const)('keeps, frees or finds again its addresses: %s', async (reclaimPolicy) => {
    harness = await startHarness();
    const interfaces = [{ network: { name: 'default' }, name: 'eth0', reclaimPolicy }] as never;
    const written = workload('web', 3, { networkInterfaces: interfaces });
    await harness.project.create(Workload, written);
    const first = await ready(3);

    // An instance replaced keeps its claim, interface and address under either policy.
    const key = { namespace: await hubNamespace(), name: `${deployment}-1` };
    const old = await harness.cell.get(Instance, key);
    await harness.cell.delete(Instance, key);
    await harness.until(async () => {
      const now = await harness.cell.get(Instance, key);
      return (
        now !== undefined && now.metadata.uid !== old?.metadata.uid && isConditionTrue(now.status?.conditions, 'Ready')
      );
    }, 'the instance is replaced');
    expect(addressOf((await ready(3)).get(key.name))).toBe(addressOf(first.get(key.name)));

    await scale(0);
    await harness.until(async () => (await cellClaims()).length === 0, 'no claim is left');
    await harness.until(async () => (await instances()).length === 0, 'no instance is left');
    await scale(3);
    const second = await ready(3);
    for (const [name, instance] of second) {
      expect(addressOf(instance) === addressOf(first.get(name))).toBe(reclaimPolicy === 'Retain');
    }

    // Deleted and applied again in the same second.
    await harness.project.delete(Workload, mine);
    await gone();
    await harness.project.create(Workload, written);
    const third = await ready(3);
    for (const [name, instance] of third) {
      expect(addressOf(instance) === addressOf(second.get(name))).toBe(reclaimPolicy === 'Retain');
    }
    expect((await cellClaims()).length).toBe(3);
    expect((await harness.cell.list(NetworkInterface)).items.length).toBe(3);
  });

  it('that is deleted drains: nothing of it is left anywhere', async () => {
    harness = await startHarness();
    await harness.project.create(Workload, workload('web', 3));
    await ready(3);
    await harness.project.delete(Workload, mine);
    await gone();
    await harness.settled();
    for (const plane of [harness.project, harness.hub, harness.cell]) {
      expect((await plane.list(WorkloadDeployment)).items).toEqual([]);
      expect((await plane.list(Instance)).items).toEqual([]);
    }
    expect((await harness.cell.list(NetworkInterfaceClaim)).items).toEqual([]);
    expect((await harness.hub.list(NetworkBinding)).items).toEqual([]);
  });

  it('is rolled one slot at a time, in order, with its addresses', async () => {
    harness = await startHarness();
    await harness.project.create(Workload, workload('web', 3));
    const first = await ready(3);
    await harness.settled();
    const namespace = await hubNamespace();
    const { resourceVersion } = await harness.cell.list(Instance, { namespace });
    await harness.project.patch(Workload, mine, image('nginx:2'));
    const images = (each: Instance) => each.spec?.runtime.sandbox?.containers[0]?.image === 'nginx:2';
    const second = await ready(3, images);
    for (const [name, instance] of second) expect(addressOf(instance)).toBe(addressOf(first.get(name)));
    const deleted: string[] = [];
    const down = new Set<string>();
    let mostDown = 0;
    for await (const event of harness.cell.watch(Instance, { namespace, resourceVersion, timeoutSeconds: 1 })) {
      if (event.type === 'BOOKMARK') continue;
      const { metadata, status } = event.object;
      if (event.type === 'DELETED') deleted.push(metadata.name);
      if (isConditionTrue(status?.conditions, 'Ready') && event.type === 'MODIFIED') down.delete(metadata.name);
      else down.add(metadata.name);
      mostDown = Math.max(mostDown, down.size);
    }
    expect(deleted).toEqual([0, 1, 2].map((ordinal) => `${deployment}-${ordinal}`));
    expect(mostDown).toBe(1);
  });

  it('may write claim templates, and change its network', async () => {
    harness = await startHarness();
    const templates = (network: string) => [
      {
        metadata: { name: 'net0', labels: { team: 'blue' }, annotations: { note: 'hello' } },
        spec: { network: { name: network } },
      },
    ];
    await harness.project.create(
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
    await harness.project.patch(Workload, mine, { type: 'json', body });
    await harness.until(async () => {
      const claims = await cellClaims();
      return claims.length === 2 && claims.every(({ spec }) => spec.network.name === 'other');
    }, 'the claims are of the other network');
    await ready(2);
    await harness.until(async () => {
      const [binding] = (await harness.hub.list(NetworkBinding)).items;
      return binding?.spec.network.name === 'other';
    }, 'the binding is of the other network');
  });

  it('whose claim is deleted by hand keeps it while the instance is there; then the slot gets another', async () => {
    harness = await startHarness();
    await harness.project.create(Workload, workload('web', 1));
    await ready(1);
    const [claim] = await cellClaims();
    const key = { namespace: claim?.metadata.namespace ?? '', name: claim?.metadata.name ?? '' };
    await harness.cell.delete(NetworkInterfaceClaim, key);
    await harness.settled();
    expect((await cellClaims())[0]?.metadata).toMatchObject({ uid: claim?.metadata.uid });
    expect(isConditionTrue((await instances())[0]?.status?.conditions, 'Ready')).toBe(true);
    await harness.cell.delete(Instance, { namespace: key.namespace, name: `${deployment}-0` });
    await harness.until(async () => {
      const [now] = await cellClaims();
      return now !== undefined && now.metadata.uid !== claim?.metadata.uid;
    }, 'the slot has another claim');
    await ready(1);
  });

  it('leaves a location whose binding is gone, and no other', async () => {
    harness = await startHarness();
    await harness.project.create(Workload, workload('web', 1));
    await ready(1);
    await harness.project.delete(LocationBinding, { namespace: '', name: location });
    await harness.until(async () => (await harness.project.list(WorkloadDeployment)).items.length === 0, 'it is left');
    const said = await harness.until(async () => {
      const held = await harness.project.get(Workload, mine);
      const condition = findCondition(held?.status?.conditions, 'ReplicasReady');
      return condition?.reason === 'NoMatchingLocations' && condition;
    }, 'the workload says it has no place');
    expect(said).toMatchObject({ status: 'False', observedGeneration: 1 });
  });
});

describe('planes', () => {
  it('take a namespace along: the hub’s and the cell’s go with the project’s, and nothing else does', async () => {
    harness = await startHarness();
    const team = { namespace: '', name: 'team' };
    await harness.project.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await harness.project.create(Workload, workload('web', 1));
    const theirs = workload('web', 1);
    theirs.metadata.namespace = 'team';
    await harness.project.create(Workload, theirs);
    const uid = (await harness.project.get(Namespace, team))?.metadata.uid;
    const copies = () =>
      Promise.all(
        [harness.hub, harness.cell].map((plane) => plane.get(Namespace, { namespace: '', name: `ns-${uid}` })),
      );
    await harness.until(async () => (await copies()).every((each) => each !== undefined), 'the namespace is carried');
    await harness.project.delete(Namespace, team);
    await harness.until(async () => (await copies()).every((each) => each === undefined), 'the copies are gone');
    const left = await harness.hub.get(Namespace, { namespace: '', name: await hubNamespace() });
    expect(left?.status?.phase).toBe('Active');
    await ready(1);
  });

  it.each([
    [[refs.project, refs.cell, refs.hub]],
    [[refs.cell, refs.hub, refs.project]],
    [[refs.hub, refs.project, refs.cell]],
  ])('may come in any order: %#', async (order) => {
    harness = await startHarness({ engaged: [] });
    await harness.project.create(Workload, workload('web', 2));
    for (const plane of order) {
      harness.engage(plane);
      await harness.settled();
    }
    await ready(2);
  });

  it('that lose a hub namespace get it again, and the workload comes back', async () => {
    harness = await startHarness();
    await harness.project.create(Workload, workload('web', 1));
    await ready(1);
    const name = await hubNamespace();
    const before = await harness.hub.get(Namespace, { namespace: '', name });
    await harness.hub.delete(Namespace, { namespace: '', name });
    await harness.until(async () => {
      const now = await harness.hub.get(Namespace, { namespace: '', name });
      return now !== undefined && now.metadata.uid !== before?.metadata.uid;
    }, 'the namespace is another');
    await ready(1);
  });
});

describe('NetworkingIntegration off', () => {
  it('reads, watches and writes nothing of networking but locations', async () => {
    harness = await startHarness({ networking: false });
    await harness.project.create(Workload, workload('web', 2));
    await ready(2);
    await harness.project.delete(Workload, mine);
    await gone();
    const touched = harness.requests.filter((line) => /networking\.datumapis\.com/.test(line));
    expect(touched.filter((line) => !/servinglocations|locationbindings/.test(line))).toEqual([]);
  });
});
