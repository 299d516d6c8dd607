import { afterEach, describe, expect, it } from 'vitest';
import {
  IPClaim,
  Location,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
} from '../../src/api/index.ts';
import { isApiError, Namespace, type ResourceType } from '../../src/meta/index.ts';
import { createLocation, location, Tenant } from '../e2e/planes/world.ts';
import { Stack } from '../harness/stack.ts';

/**
 * What people and machines do to a network in use, in every order, on every plane; then people delete what is left. Nothing is
 * stuck, and IPAM holds nothing.
 */

let stack: Stack;
afterEach(() => stack.close());

const reclaimPolicies = ['Delete', 'Retain'] as const;
type Policy = (typeof reclaimPolicies)[number];

async function open(): Promise<void> {
  stack = await Stack.open({ projects: [], seeds: 'platform' });
  await serve();
}

async function serve(): Promise<void> {
  await createLocation(stack, location).catch((error) => {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  });
}

const cell = () => stack.cell(location);

/** A project of its own for each order; what is everybody's is put right again. */
class Case {
  readonly id: string;
  gone = false;
  tenant!: Tenant;

  constructor(id: string) {
    this.id = id;
  }

  async open(reclaimPolicy: Policy): Promise<void> {
    await stack.addProject(this.id);
    this.tenant = await Tenant.open(stack, this.id);
    await this.tenant.locationBinding(location, 'DSM');
    await this.tenant.network('net', ['IPv6', 'IPv4']);
    await this.tenant.bind('bound', 'net');
    await stack.until('the cell to have the network', () => this.tenant.cellContext('net-us-central-1'));
    await this.tenant.claim('nic', 'net', { ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy });
    await this.tenant.allocated('nic');
  }

  readonly events: Record<string, () => Promise<unknown>> = {
    'delete claim': () => this.tenant.deleteClaim('nic'),
    'delete interface': () => cell().delete(NetworkInterface, this.#inCell('nic')),
    'delete context': async () =>
      this.gone || (await this.tenant.project.delete(NetworkContext, this.#inProject(`net-${location}`))),
    'delete network': async () => this.gone || (await this.tenant.project.delete(Network, this.#inProject('net'))),
    'delete namespace': () => cell().delete(Namespace, { namespace: '', name: this.tenant.namespace }),
    'strip labels': async () => {
      const key = { namespace: '', name: this.tenant.namespace };
      const namespace = await cell().get(Namespace, key);
      const labels = Object.fromEntries(Object.keys(namespace?.metadata.labels ?? {}).map((each) => [each, null]));
      if (namespace !== undefined)
        await cell().patch(Namespace, key, { type: 'merge', body: { metadata: { labels } } });
    },
    'remove location': () => stack.hub.delete(Location, { namespace: '', name: location }),
    'IPAM down': async () => {
      stack.ipamDown = true;
    },
    'project gone': async () => {
      this.gone = true;
      await stack.dropProject(this.id);
    },
  };

  #inCell(name: string) {
    return { namespace: this.tenant.namespace, name };
  }

  #inProject(name: string) {
    return { namespace: 'default', name };
  }

  /** People come back and delete what is left, as often as something is. */
  async finish(): Promise<void> {
    stack.ipamDown = false;
    await serve();
    const { namespace } = this.tenant;
    await stack.hub.delete(NetworkBinding, { namespace, name: 'bound' });
    await stack.until('nothing left', async () => {
      const left: string[] = [];
      for (const type of [NetworkInterfaceClaim, NetworkInterface] as ResourceType[]) {
        for (const { kind, metadata } of (await cell().list(type, { namespace })).items) {
          left.push(`${kind} ${metadata.name}`);
          await cell().delete(type, { namespace, name: metadata.name });
        }
      }
      left.push(...(await cell().list(NetworkContext, { namespace })).items.map(({ metadata }) => metadata.name));
      left.push(...(await stack.hub.list(NetworkInterface, { namespace })).items.map(({ metadata }) => metadata.name));
      if (this.gone) {
        // As the end of a project does: what stood for it on the hub goes with it.
        await stack.hub.delete(Namespace, { namespace: '', name: namespace });
      } else {
        const { project } = this.tenant;
        await project.delete(Network, this.#inProject('net'));
        for (const type of [Network, NetworkContext, NetworkInterface, IPClaim] as ResourceType[])
          left.push(...(await project.list(type)).items.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
      }
      this.left = left.join(', ');
      return left.length === 0;
    });
    if (!this.gone) await stack.dropProject(this.id);
  }

  /** What was left when it was last looked. */
  left = '';
}

const names = Object.keys(new Case('').events);

async function play(order: readonly string[], policy: Policy, id: string): Promise<void> {
  const each = new Case(id);
  await each.open(policy);
  for (const event of order) await each.events[event]!();
  await each.finish().catch((error) => {
    throw new Error(`${order.join(', then ')} under ${policy}: ${(error as Error).message}; left ${each.left}`);
  });
}

describe('a network in use, with every plane', () => {
  const pairs = names.flatMap((first) => names.filter((name) => name !== first).map((second) => [first, second]));
  it.each(reclaimPolicies)('every pair of events, under %s', async (policy) => {
    await open();
    for (const [number, order] of pairs.entries()) await play(order, policy, `pair-${number}`);
    expect(pairs).toHaveLength(72);
  });

  const triples = pairs.flatMap((pair) =>
    names.filter((name) => !pair.includes(name)).map((third) => [...pair, third]),
  );
  it.each(reclaimPolicies)('every triple of events, under %s', async (policy) => {
    await open();
    for (const [number, order] of triples.entries()) await play(order, policy, `triple-${number}`);
    expect(triples).toHaveLength(504);
  });
});
