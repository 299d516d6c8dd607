import { afterEach, describe, expect, it } from 'vitest';
import { Network, NetworkContext, NetworkFabricIdentity, networkingLabels, VPC } from '../../../src/api/index.ts';
import { parseIdentifier, vpcIdentifier } from '../../../src/fabric/index.ts';
import { seededRandom } from '../../../src/kube/index.ts';
import { apiVersionOf, type Stored } from '../../../src/meta/index.ts';
import { Stack } from '../../harness/stack.ts';
import { createLocation, Tenant } from '../planes/world.ts';

let stack: Stack;
afterEach(() => stack.close());

const identities = async () => (await stack.hub.list(NetworkFabricIdentity)).items;

/** The number of the network of this UID, once it has one. */
const numberOf = (uid: string) =>
  stack.until(`number of ${uid}`, async () => {
    const { items } = await stack.hub.list(NetworkFabricIdentity, {
      labelSelector: `${networkingLabels.networkUID}=${uid}`,
    });
    return items[0]?.spec.identity;
  });

function expectNoNumberTwice(held: readonly Stored<NetworkFabricIdentity>[]): void {
  const uids = held.map(({ spec }) => spec.networkUID);
  expect(new Set(uids).size, 'networks with two numbers').toBe(uids.length);
  for (const { metadata, spec } of held) expect(metadata.name).toBe(`id-${spec.identity}`);
}

describe('the number of a network', () => {
  it('is one, in the hub and in each of three cells', async () => {
    const cells = ['us-central-1', 'eu-west-1', 'ap-east-1'];
    stack = await Stack.open({ cells, projects: ['single'], dataPlane: 'fabric' });
    for (const cell of cells) await createLocation(stack, cell);
    const tenant = await Tenant.open(stack, 'single');
    const { metadata } = await tenant.network('net');
    for (const cell of cells) {
      await tenant.locationBinding(cell);
      await tenant.bind(`use-${cell}`, 'net', cell);
    }
    const number = await numberOf(metadata.uid);
    for (const cell of cells) {
      const vpc = await stack.until(`VPC in ${cell}`, async () => {
        const found = await stack.cell(cell).get(VPC, { namespace: tenant.namespace, name: `net-${cell}` });
        return found?.status?.vpc !== undefined && found;
      });
      expect(parseIdentifier(vpcIdentifier, vpc.status?.vpc ?? '')).toBe(number);
      const context = await tenant.cellContext(`net-${cell}`, cell);
      expect(context?.spec?.fabricIdentity).toBe(number);
      expect(vpc.metadata.ownerReferences).toMatchObject([
        { kind: 'NetworkContext', name: `net-${cell}`, uid: context?.metadata.uid, controller: true },
      ]);
      const subnet = await tenant.subnet(`net-${cell}-ipv6`);
      expect(vpc.spec.networks).toEqual([`${subnet?.spec?.startAddress}/${subnet?.spec?.prefixLength}`]);
    }
    // A cell that comes later gets to know the same.
    await stack.addCell('sa-east-1');
    await createLocation(stack, 'sa-east-1');
    await tenant.locationBinding('sa-east-1');
    await tenant.bind('late', 'net', 'sa-east-1');
    const late = await stack.until('the late cell', async () => {
      const found = await stack.cell('sa-east-1').get(VPC, { namespace: tenant.namespace, name: 'net-sa-east-1' });
      return found?.status?.vpc;
    });
    expect(parseIdentifier(vpcIdentifier, late)).toBe(number);
    // And a restart writes nothing.
    await stack.settle();
    stack.wire.writes.splice(0);
    await stack.restart();
    await stack.pass(5);
    expect(stack.wire.writes).toEqual([]);
    // The new process is at work all the same.
    expect(await numberOf((await tenant.network('another')).metadata.uid)).not.toBe(number);
  });

  it('is never that of two, however many networks come and go at once', async () => {
    const seed = Number(process.env.SEED ?? 7);
    stack = await Stack.open({ cells: [], projects: ['one', 'two'], dataPlane: 'fabric', seed });
    const random = seededRandom(seed);
    const seen = new Map<number, string>();
    const remember = async (): Promise<void> => {
      const held = await identities();
      expectNoNumberTwice(held);
      for (const { spec } of held) {
        expect(seen.get(spec.identity) ?? spec.networkUID, `number ${spec.identity} (seed ${seed})`).toBe(
          spec.networkUID,
        );
        seen.set(spec.identity, spec.networkUID);
      }
    };
    const names = Array.from({ length: 100 }, (_, index) => `net-${index}`);
    const object = (name: string) =>
      ({
        apiVersion: apiVersionOf(Network),
        kind: 'Network',
        metadata: { name, namespace: 'default' },
        spec: { ipam: { mode: 'Policy' } },
      }) as Network;
    for (let round = 0; round < 4; round++) {
      for (const id of ['one', 'two']) {
        const project = stack.project(id);
        await Promise.all(
          names.map(async (name) => {
            if (random.next() < 0.7) await project.delete(Network, { namespace: 'default', name });
            await project.create(Network, object(name)).catch(() => undefined);
          }),
        );
      }
      if (round === 1) await stack.restart();
      for (let look = 0; look < 5; look++) {
        await stack.settle();
        await remember();
      }
    }
    await stack.until('a number for each network', async () => {
      const networks = (await Promise.all(['one', 'two'].map((id) => stack.project(id).list(Network)))).flatMap(
        ({ items }) => items,
      );
      await remember();
      const wanted = networks.map(({ metadata }) => metadata.uid).sort();
      const got = (await identities()).map(({ spec }) => spec.networkUID).sort();
      return (
        networks.length > 0 && networks.every(({ metadata }) => !metadata.deletionTimestamp) && `${wanted}` === `${got}`
      );
    });
    expect(seen.size).toBeGreaterThan(200);
  });

  it('is given back with the project, also one that went while nobody looked', async () => {
    stack = await Stack.open({ cells: [], projects: ['one', 'two', 'three'], dataPlane: 'fabric' });
    for (const id of ['one', 'two', 'three']) {
      await numberOf((await (await Tenant.open(stack, id)).network('net')).metadata.uid);
    }
    await stack.dropProject('one');
    await stack.until('the number of one gone', async () => (await identities()).length === 2);
    await stack.stop();
    await stack.dropProject('two');
    stack.start();
    await stack.until('the number of two gone', async () => (await identities()).length === 1);
    // Out of reach is not gone.
    await stack.disengage('project/three');
    await stack.pass(60);
    expect((await identities()).map(({ spec }) => spec.networkRef?.project)).toEqual(['three']);
  });

  it('taken away by hand comes back to the network whose cells know it', async () => {
    stack = await Stack.open({ projects: ['single'], dataPlane: 'fabric' });
    await createLocation(stack, 'us-central-1');
    const tenant = await Tenant.open(stack, 'single');
    const { metadata } = await tenant.network('net');
    await tenant.locationBinding('us-central-1');
    await tenant.bind('use', 'net');
    const number = await numberOf(metadata.uid);
    await stack.until('the number on the hub', async () => {
      const { items } = await stack.hub.list(NetworkContext);
      return items.some(({ spec }) => spec?.fabricIdentity === number);
    });
    await tenant.network('another');
    await stack.hub.delete(NetworkFabricIdentity, { namespace: '', name: `id-${number}` });
    expect(await numberOf(metadata.uid)).toBe(number);
  });

  it('is not had by whoever says to be that network', async () => {
    stack = await Stack.open({ projects: ['one', 'two'], dataPlane: 'fabric' });
    await createLocation(stack, 'us-central-1');
    const numbers: Record<string, number> = {};
    const uids: Record<string, string> = {};
    for (const id of ['one', 'two']) {
      const tenant = await Tenant.open(stack, id);
      const { metadata } = await tenant.network('net');
      await tenant.locationBinding('us-central-1');
      await tenant.bind('use', 'net');
      uids[id] = metadata.uid;
      numbers[id] = await numberOf(metadata.uid);
      await stack.until('the number in the cell', async () => {
        const context = await tenant.cellContext('net-us-central-1');
        return context?.spec?.fabricIdentity === numbers[id];
      });
    }
    // Project two writes a context that says to be of the network of one, where presence lets it be for a while, and both
    // numbers are taken away.
    const labels = { [networkingLabels.networkUID]: uids.one ?? '' };
    const spec = { network: { name: 'net' }, location: { name: 'eu-west-1' } };
    const metadata = { name: 'forged', namespace: 'default', labels };
    await stack
      .project('two')
      .create(NetworkContext, { apiVersion: apiVersionOf(NetworkContext), kind: 'NetworkContext', metadata, spec });
    await stack.until('its copy on the hub', async () => {
      const { items } = await stack.hub.list(NetworkContext);
      return items.some((each) => each.metadata.name === 'forged' && each.spec?.fabricIdentity === numbers.two);
    });
    for (const id of ['two', 'one']) {
      await stack.hub.delete(NetworkFabricIdentity, { namespace: '', name: `id-${numbers[id]}` });
    }
    expect(await numberOf(uids.one ?? '')).toBe(numbers.one);
    expect(await numberOf(uids.two ?? '')).toBe(numbers.two);
  });
});

describe('a process that ends at any write', () => {
  it('leaves one number for each network, and each network one', async () => {
    for (const applied of [false, true]) {
      for (let at = 1; at <= 8; at++) {
        stack = await Stack.open({ cells: [], projects: ['single'], dataPlane: 'fabric' });
        const tenant = await Tenant.open(stack, 'single');
        let writes = 0;
        const ended = Promise.withResolvers<void>();
        stack.wire[applied ? 'afterWrite' : 'beforeWrite'] = async ({ by }) => {
          if (by !== 'fabric-hub-identity' || ++writes < at) return;
          ended.resolve();
          await new Promise(() => {});
        };
        const uids: (string | undefined)[] = [];
        for (const name of ['a', 'b', 'c']) uids.push(await tenant.network(name).then(({ metadata }) => metadata.uid));
        const doomed = await tenant.network('d');
        await tenant.project.delete(Network, { namespace: 'default', name: 'd' });
        await Promise.race([ended.promise, stack.pass(5)]);
        expect(writes, 'writes there are').toBeGreaterThanOrEqual(Math.min(at, 5));
        stack.wire.beforeWrite = undefined;
        stack.wire.afterWrite = undefined;
        await stack.restart();
        await stack.until('one each', async () => {
          const held = await identities();
          expectNoNumberTwice(held);
          return held.length === 3 && uids.every((each) => held.some(({ spec }) => spec.networkUID === each));
        });
        expect((await identities()).map(({ spec }) => spec.networkUID)).not.toContain(doomed.metadata.uid);
        await stack.close();
      }
    }
    stack = await Stack.open({ cells: [], projects: [] });
  });
});
