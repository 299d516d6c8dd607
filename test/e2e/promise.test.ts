import { beforeAll, describe, expect, test } from 'vitest';
import { Instance, IPClaim, Network, NetworkInterface, NetworkInterfaceClaim, Workload } from '../../src/api/index.ts';
import { agreesWithIpam, published } from '../../src/cli/index.ts';
import { apiVersionOf, Event, isConditionTrue, isTerminating, type Stored } from '../../src/meta/index.ts';
import { Kubectl, kubectlTest } from './support/kubectl.ts';
import { networkObject, type Policy, type WorkloadShape, workloadObject } from './support/objects.ts';
import { usePlatform } from './support/platform.ts';
import { inDefault, kept, sameNetwork, Tenant } from './support/tenant.ts';

// The promise table of the design, row by row: what becomes of interfaces and addresses.

const running = usePlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = new Tenant(running());
  await tenant.project.create(Network, networkObject('default'));
});

const policies: Policy[] = ['Delete', 'Retain'];

/** A workload of its own for each row, so that no row disturbs another. */
function shapeOf(row: string, policy: Policy, replicas = 2): WorkloadShape {
  return { name: `${row}-${policy.toLowerCase()}`, replicas, policy, classes: ['public-unicast-ipv4'] };
}

function instanceName({ name }: WorkloadShape, ordinal: number): string {
  return `${name}-here-us-central-1-${ordinal}`;
}

function interfaceName(shape: WorkloadShape, ordinal: number): string {
  return `${instanceName(shape, ordinal)}-eth0`;
}

/** What IPAM holds by claims whose names begin so. */
async function allocationsOf(prefix: string): Promise<Stored<IPClaim>[]> {
  const { items } = await tenant.project.list(IPClaim, { namespace: 'default' });
  return items.filter((claim) => claim.metadata.name.startsWith(`${prefix}-`));
}

describe.each(policies)('%s', (policy) => {
  test('instance replaced: same interface, same addresses', async () => {
    const shape = shapeOf('replaced', policy);
    const before = await tenant.run(shape);
    const claim = await tenant.claimOf(interfaceName(shape, 0));
    await tenant.cell.delete(Instance, await tenant.inCell(instanceName(shape, 0)));
    await tenant.replaced(instanceName(shape, 0), before);
    const after = await tenant.ready(shape.name, 2);
    expect(sameNetwork(after)).toEqual(sameNetwork(before));
    expect(after.instances[instanceName(shape, 0)]).not.toBe(before.instances[instanceName(shape, 0)]);
    expect(after.instances[instanceName(shape, 1)]).toBe(before.instances[instanceName(shape, 1)]);
    expect((await tenant.claimOf(interfaceName(shape, 0)))?.metadata.uid).toBe(claim?.metadata.uid);
  });

  test('template rolled: every instance is another, with the same interface and the same addresses', async () => {
    const shape = shapeOf('rolled', policy);
    const before = await tenant.run(shape);
    await tenant.project.patch(Workload, inDefault(shape.name), {
      type: 'json',
      body: [
        {
          op: 'replace',
          path: '/spec/template/spec/runtime/sandbox/containers/0/image',
          value: 'docker.io/library/nginx:1.30',
        },
      ],
    });
    for (const ordinal of [0, 1]) await tenant.replaced(instanceName(shape, ordinal), before);
    const after = await tenant.ready(shape.name, 2);
    expect(sameNetwork(after)).toEqual(sameNetwork(before));
    await running().session.until('all up to date', async () => {
      const workload = await tenant.project.get(Workload, inDefault(shape.name));
      const { updatedReplicas, readyReplicas } = workload?.status ?? {};
      return updatedReplicas === 2 && readyReplicas === 2 ? true : `${updatedReplicas} of 2 are`;
    });
    const instance = await tenant.project.get(Instance, inDefault(instanceName(shape, 1)));
    expect(instance?.spec?.runtime.sandbox?.containers[0]?.image).toBe('docker.io/library/nginx:1.30');
  });

  const again = policy === 'Retain' ? 'same interface, same addresses' : 'new interface, new addresses';

  test(`scaled down, then up: ${again}`, async () => {
    const shape = shapeOf('scaled', policy);
    const before = await tenant.run(shape);
    await tenant.scale(shape.name, 1);
    const smaller = await tenant.ready(shape.name, 1);
    expect(smaller.instances).toEqual({ [instanceName(shape, 0)]: before.instances[instanceName(shape, 0)] });

    await running().session.until('the claim of the second slot gone', async () =>
      (await tenant.claimOf(interfaceName(shape, 1))) === undefined ? true : 'it is still there',
    );
    const left = await tenant.interfaceOf(interfaceName(shape, 1));
    if (policy === 'Retain') {
      expect(left?.metadata.uid).toBe(before.interfaces[interfaceName(shape, 1)]);
      expect(left?.spec.claimRef).toBeUndefined();
      await running().session.until('the interface is shown as available', async () => {
        const shown = await tenant.project.get(NetworkInterface, inDefault(interfaceName(shape, 1)));
        return shown?.status?.phase === 'Available' ? true : `it is ${shown?.status?.phase}`;
      });
    } else {
      expect(left).toBeUndefined();
      expect(await allocationsOf(interfaceName(shape, 1))).toEqual([]);
    }

    await tenant.scale(shape.name, 2);
    const after = await tenant.ready(shape.name, 2);
    if (policy === 'Retain') expect(sameNetwork(after)).toEqual(sameNetwork(before));
    else {
      const first = interfaceName(shape, 0);
      expect(after.interfaces[first]).toBe(before.interfaces[first]);
      expect(after.interfaces[interfaceName(shape, 1)]).not.toBe(before.interfaces[interfaceName(shape, 1)]);
      // What is left of before is the first slot's: its interface and three addresses.
      expect(kept(before, after)).toHaveLength(4);
    }
  });

  test(`workload deleted, and created again in the same moment: ${again}`, async () => {
    const shape = shapeOf('again', policy);
    const before = await tenant.run(shape);
    await tenant.project.delete(Workload, inDefault(shape.name));
    await tenant.createOnceFree(shape);
    const after = await tenant.ready(shape.name, 2);
    if (policy === 'Retain') expect(sameNetwork(after)).toEqual(sameNetwork(before));
    else expect(kept(before, after)).toEqual([]);
    expect(Object.keys(after.interfaces)).toEqual(Object.keys(before.interfaces));
  });

  kubectlTest(`kubectl delete --wait=false, and apply until it is accepted: ${again}`, async () => {
    const shape = shapeOf('retyped', policy);
    const before = await tenant.run(shape);
    const kubectl = new Kubectl(running());
    const former = await kubectl.run('get', 'workload', shape.name, '-o', 'jsonpath={.metadata.uid}');
    await kubectl.run('delete', 'workload', shape.name, '--wait=false');
    await running().session.until('another workload of the name', async () => {
      // Applied to one that is being deleted it says "unchanged", and is not heard.
      const { stderr } = await kubectl.try(['apply', '-f', '-'], JSON.stringify(workloadObject(shape)));
      const now = await kubectl.try(['get', 'workload', shape.name, '-o', 'jsonpath={.metadata.uid}']);
      return now.code === 0 && now.stdout !== former ? true : `it is the former one ${stderr}`;
    });
    const after = await tenant.ready(shape.name, 2);
    if (policy === 'Retain') expect(sameNetwork(after)).toEqual(sameNetwork(before));
    else expect(kept(before, after)).toEqual([]);
  });

  test(`claim deleted by hand under a running instance: it waits for the instance, then ${again}`, async () => {
    const shape = shapeOf('unclaimed', policy, 1);
    const before = await tenant.run(shape);
    const key = await tenant.inCell(interfaceName(shape, 0));
    const former = await tenant.claimOf(key.name);
    await tenant.cell.delete(NetworkInterfaceClaim, key);
    expect(isTerminating((await tenant.claimOf(key.name))!)).toBe(true);

    // A sibling's whole life passes, and nothing has been taken away.
    const sibling = { ...shape, name: `${shape.name}-sibling` };
    await tenant.run(sibling);
    await tenant.remove(sibling.name);
    const meanwhile = await tenant.ready(shape.name, 1);
    expect(meanwhile).toEqual(before);
    expect((await tenant.claimOf(key.name))?.metadata.uid).toBe(former?.metadata.uid);

    await tenant.cell.delete(Instance, await tenant.inCell(instanceName(shape, 0)));
    await tenant.replaced(instanceName(shape, 0), before);
    const after = await tenant.ready(shape.name, 1);
    expect((await tenant.claimOf(key.name))?.metadata.uid).not.toBe(former?.metadata.uid);
    if (policy === 'Retain') expect(sameNetwork(after)).toEqual(sameNetwork(before));
    else expect(kept(before, after)).toEqual([]);
  });

  test('interface deleted under a live claim: rebuilt, with the same addresses; the instance is not disturbed', async () => {
    const shape = shapeOf('rebuilt', policy, 1);
    const before = await tenant.run(shape);
    const key = await tenant.inCell(interfaceName(shape, 0));
    await tenant.cell.delete(NetworkInterface, key);
    await running().session.until('the interface rebuilt', async () => {
      const found = await tenant.interfaceOf(key.name);
      if (found === undefined || found.metadata.uid === before.interfaces[key.name]) return 'it is not there again';
      return found.status?.phase === 'Bound' ? true : `it is ${found.status?.phase}`;
    });
    const after = await tenant.ready(shape.name, 1);
    expect(after.addresses).toEqual(before.addresses);
    expect(after.allocations).toEqual(before.allocations);
    expect(after.instances).toEqual(before.instances);
  });
});

describe('a claim made by hand', () => {
  /** A claim in the cell that no instance uses, bound. */
  async function handMade(name: string, policy: Policy) {
    const key = await tenant.inCell(name);
    await tenant.cell.create(NetworkInterfaceClaim, {
      apiVersion: apiVersionOf(NetworkInterfaceClaim),
      kind: NetworkInterfaceClaim.kind,
      metadata: key,
      spec: {
        network: { name: 'default' },
        ipFamilies: ['IPv6', 'IPv4'],
        reclaimPolicy: policy,
      } as NetworkInterfaceClaim['spec'],
    });
    const claim = await running().session.until(`claim ${name} bound`, async () => {
      const found = await tenant.claimOf(name);
      return isConditionTrue(found?.status?.conditions, 'Allocated') ? found! : 'it is not';
    });
    return { key, claim, held: await allocationsOf(name) };
  }

  const texts = (claims: readonly Stored<IPClaim>[]) =>
    claims.map(({ metadata, status }) => `${metadata.uid} ${status?.allocatedCIDR}`).sort();

  // The claim has no instance to wait for; the network has to be present where it is.
  beforeAll(() => tenant.run({ name: 'anchor', replicas: 1 }));

  test.each(['at once', 'while the interface is still going'])(
    'Delete: interface deleted, then its claim %s: all released',
    async (when) => {
      const { key, held } = await handMade(`hand-delete-${when === 'at once' ? 'quick' : 'slow'}`, 'Delete');
      expect(held).toHaveLength(2);
      await deleteBoth(key, when !== 'at once');
      await running().session.until('everything released', async () => {
        const left = [await tenant.claimOf(key.name), await tenant.interfaceOf(key.name)].filter(Boolean).length;
        const allocations = await allocationsOf(key.name);
        return left + allocations.length === 0 ? true : `${left} objects and ${allocations.length} claims are left`;
      });
      await agreesWithIpam(running().session, tenant.project);
    },
  );

  test.each(['at once', 'while the interface is still going'])(
    'Retain: interface deleted, then its claim %s: it is there again, unheld, with its addresses',
    async (when) => {
      const { key, claim, held } = await handMade(`hand-retain-${when === 'at once' ? 'quick' : 'slow'}`, 'Retain');
      const former = await tenant.interfaceOf(key.name);
      await deleteBoth(key, when !== 'at once');
      const found = await running().session.until('the claim gone and the interface unheld', async () => {
        if ((await tenant.claimOf(key.name)) !== undefined) return 'the claim is still there';
        const each = await tenant.interfaceOf(key.name);
        if (each === undefined) return 'there is no interface';
        return each.status?.phase === 'Available' && !isTerminating(each) ? each : `it is ${each.status?.phase}`;
      });
      expect(found.metadata.uid).not.toBe(former?.metadata.uid);
      expect(found.spec.claimRef).toBeUndefined();
      expect(found.spec.addresses?.map((each) => each.address)).toEqual(
        claim.status?.addresses?.map((each) => each.address),
      );
      expect(texts(await allocationsOf(key.name))).toEqual(texts(held));
      await agreesWithIpam(running().session, tenant.project);
    },
  );

  /** `held` keeps the interface from going before its claim has been deleted too: the harder order. */
  async function deleteBoth(key: { namespace: string; name: string }, held: boolean): Promise<void> {
    const finalizer = 'e2e.test/hold';
    if (held) {
      const path = '/metadata/finalizers/-';
      await tenant.cell.patch(NetworkInterface, key, { type: 'json', body: [{ op: 'add', path, value: finalizer }] });
    }
    await tenant.cell.delete(NetworkInterface, key);
    await tenant.cell.delete(NetworkInterfaceClaim, key);
    if (!held) return;
    await running().session.until('the finalizer of the test taken away', async () => {
      const found = await tenant.interfaceOf(key.name);
      if (!found?.metadata.finalizers?.includes(finalizer)) return true;
      const finalizers = found.metadata.finalizers.filter((each) => each !== finalizer);
      const { resourceVersion } = found.metadata;
      return tenant.cell
        .patch(NetworkInterface, key, { type: 'merge', body: { metadata: { resourceVersion, finalizers } } })
        .then(() => true)
        .catch((error: Error) => error.message);
    });
  }
});

describe('what is retained is returnable', () => {
  /** A workload that ran and was scaled to nothing: its interface is kept. */
  async function retained(row: string) {
    const shape = shapeOf(row, 'Retain', 1);
    const before = await tenant.run(shape);
    await tenant.scale(shape.name, 0);
    const name = interfaceName(shape, 0);
    await running().session.until('the interface kept', async () => {
      const found = await tenant.project.get(NetworkInterface, inDefault(name));
      return found?.status?.phase === 'Available' ? true : `it is ${found?.status?.phase}`;
    });
    return { shape, before, name };
  }

  test.each(['cell', 'project'])(
    'a retained, unheld interface deleted in the %s: given back, name free',
    async (where) => {
      const { shape, before, name } = await retained(`returned-in-${where}`);
      const addresses = Object.keys(before.allocations);
      expect(addresses).toHaveLength(3);
      if (where === 'cell') await tenant.cell.delete(NetworkInterface, await tenant.inCell(name));
      else await tenant.project.delete(NetworkInterface, inDefault(name));
      await running().session.until('interface and addresses gone everywhere', async () => {
        const cell = await tenant.interfaceOf(name);
        const hub = await running().hub.get(NetworkInterface, await tenant.inCell(name));
        const project = await tenant.project.get(NetworkInterface, inDefault(name));
        const left = [cell, hub, project].filter(Boolean).length;
        const allocations = (await allocationsOf(name)).length;
        return left + allocations === 0 ? true : `${left} copies and ${allocations} claims are left`;
      });
      await agreesWithIpam(running().session, tenant.project);

      await tenant.scale(shape.name, 1);
      const after = await tenant.ready(shape.name, 1);
      expect(kept(before, after)).toEqual([]);
      expect(Object.keys(after.interfaces)).toEqual([name]);
    },
  );

  test('a held interface deleted in the project: it comes back, and an Event says that it is held', async () => {
    const shape = shapeOf('held', 'Retain', 1);
    const before = await tenant.run(shape);
    const name = interfaceName(shape, 0);
    const copy = await tenant.project.get(NetworkInterface, inDefault(name));
    await tenant.project.delete(NetworkInterface, inDefault(name));
    await running().session.until('the copy back', async () => {
      const found = await tenant.project.get(NetworkInterface, inDefault(name));
      if (found === undefined || isTerminating(found)) return 'it is not there';
      return found.metadata.uid === copy?.metadata.uid ? 'it is the former one' : true;
    });
    const event = await running().session.until('an Event InterfaceHeld', async () => {
      const { items } = await tenant.project.list(Event, { namespace: 'default' });
      return items.find((each) => each.reason === 'InterfaceHeld' && each.regarding?.name === name) ?? 'there is none';
    });
    expect(event.note).toContain(`Interface ${name} is held by claim ${name}`);
    expect(await tenant.ready(shape.name, 1)).toEqual(before);
  });
});

test('after all of it, IPAM holds exactly what is published', async () => {
  await agreesWithIpam(running().session, tenant.project);
  const addresses = await published(tenant.project);
  expect(new Set(addresses).size).toBe(addresses.length);
});
