import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  IPClaim,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
} from '../../../src/api/index.ts';
import { isApiError, type KubeObject, Namespace, type ResourceType } from '../../../src/meta/index.ts';
import { isTrue } from '../support/conditions.ts';
import { alpha, location, World } from './world.ts';

/** Events in every order, then everything is deleted: nothing is stuck, and IPAM holds nothing. */

let world: World;
beforeEach(async () => {
  world = await World.open();
  world.start();
});
afterEach(() => world.close());

const labels = {
  'meta.datumapis.com/upstream-cluster-name': 'cluster-project-alpha',
  'meta.datumapis.com/upstream-namespace': 'default',
};

/** A namespace of its own for each order; what is not in it is put right again. */
class Case {
  readonly namespace: string;
  readonly claim = 'nic';

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  async open(reclaimPolicy: 'Delete' | 'Retain'): Promise<void> {
    const { namespace } = this;
    await world.cell.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    await world.context('net', ['IPv4', 'IPv6'], { namespace });
    await world.claim(this.claim, 'net', { namespace, ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy });
    await world.stack.until(`${namespace} allocated`, async () =>
      isTrue(await world.getClaim(this.claim, namespace), 'Allocated'),
    );
  }

  readonly events: Record<string, () => Promise<unknown>> = {
    'delete claim': () => world.deleteClaim(this.claim, this.namespace),
    'delete interface': () => world.deleteInterface(this.claim, this.namespace),
    'delete context': () => world.cell.delete(NetworkContext, { namespace: this.namespace, name: `net-${location}` }),
    'delete namespace': () => world.cell.delete(Namespace, { namespace: '', name: this.namespace }),
    'strip labels': () =>
      world.cell.patch(
        Namespace,
        { namespace: '', name: this.namespace },
        {
          type: 'merge',
          body: { metadata: { labels: Object.fromEntries(Object.keys(labels).map((key) => [key, null])) } },
        },
      ),
    'remove location': () => world.cell.delete(ServingLocation, { namespace: '', name: location }),
    'IPAM down': async () => {
      world.stack.ipamDown = true;
    },
  };

  /** People come back and delete what is left, in the order a tenant would. */
  async finish(): Promise<void> {
    world.stack.ipamDown = false;
    const { namespace } = this;
    for (const [type, name] of [
      [NetworkInterfaceClaim, this.claim],
      [NetworkInterface, this.claim],
      [NetworkContext, `net-${location}`],
    ] as const) {
      await world.cell.delete(type, { namespace, name });
    }
    await world.stack.until(
      `${namespace} empty`,
      async () => {
        const kinds: ResourceType<KubeObject>[] = [NetworkInterfaceClaim, NetworkInterface, NetworkContext];
        for (const type of kinds) {
          const { items } = await world.cell.list(type, { namespace });
          // An interface that came back for a retained claim is deleted like any other.
          for (const each of items) await world.cell.delete(type, { namespace, name: each.metadata.name });
          if (items.length > 0) return false;
        }
        return true;
      },
      15,
    );
    const { items } = await world.project().list(IPClaim, { namespace: 'default' });
    const left = items.filter(
      (each) => each.metadata.labels?.['networking.datumapis.com/interface-namespace'] === namespace,
    );
    expect(left.map((each) => each.metadata.name)).toEqual([]);
    await world.cell.delete(Namespace, { namespace: '', name: namespace });
    await world.serve(location).catch((error) => {
      if (!isApiError(error, 'AlreadyExists')) throw error;
    });
  }
}

const names = Object.keys(new Case('').events);

describe('events in every order', () => {
  for (const policy of ['Delete', 'Retain'] as const) {
    it(`every pair, under ${policy}`, async () => {
      let number = 0;
      for (const first of names) {
        for (const second of names) {
          if (first === second) continue;
          const each = new Case(`pair-${number++}`);
          await each.open(policy);
          await each.events[first]!();
          await each.events[second]!();
          await each.finish().catch((error) => {
            throw new Error(`${first}, then ${second}: ${(error as Error).message}`);
          });
        }
      }
      expect(number).toBe(names.length * (names.length - 1));
      expect(await world.allocations()).toEqual([]);
    });
  }

  it('every triple that has a claim, its interface and one event more', async () => {
    let number = 0;
    for (const policy of ['Delete', 'Retain'] as const) {
      for (const third of names.slice(2)) {
        for (const order of permutations(['delete claim', 'delete interface', third])) {
          const each = new Case(`triple-${number++}`);
          await each.open(policy);
          for (const event of order) await each.events[event]!();
          await each.finish().catch((error) => {
            throw new Error(`${order.join(', then ')} under ${policy}: ${(error as Error).message}`);
          });
        }
      }
    }
    expect(await world.allocations()).toEqual([]);
  });

  for (const policy of ['Delete', 'Retain'] as const) {
    it(`a project that is gone ends a release under ${policy}`, async () => {
      await world.context('net', ['IPv4']);
      await world.claim('nic', 'net', { ipFamilies: ['IPv4'], reclaimPolicy: policy });
      await world.stack.until('allocated', async () => isTrue(await world.getClaim('nic'), 'Allocated'));
      await world.stack.dropProject('project-alpha');
      await world.deleteClaim('nic');
      await world.stack.until('claim gone', async () => (await world.getClaim('nic')) === undefined);
      await world.deleteInterface('nic');
      await world.stack.until('interface gone', async () => (await world.getInterface('nic')) === undefined);
      await world.cell.delete(NetworkContext, { namespace: alpha, name: `net-${location}` });
      await world.stack.until('context gone', async () => (await world.cell.list(NetworkContext)).items.length === 0);
    });
  }
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, at) => at !== index)).map((rest) => [item, ...rest]),
  );
}
