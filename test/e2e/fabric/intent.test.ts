import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  InternetEgressClass,
  Network,
  NetworkContext,
  NetworkFabricIdentity,
  Subnet,
  VPC,
  VPCAttachment,
} from '../../../src/api/index.ts';
import { parseIdentifier, vpcIdentifier } from '../../../src/fabric/index.ts';
import { apiVersionOf, Event, type Stored } from '../../../src/meta/index.ts';
import { Stack, type StackOptions } from '../../harness/stack.ts';
import { createLocation, location, Tenant } from '../planes/world.ts';
import { said } from '../support/conditions.ts';
import { editClass, egressClass, markDefault, parametersRef, wish } from './world.ts';

/** From what a network wants of the internet to what the cells are told of it. No step of it waits for a timer. */

let stack: Stack;
let tenant: Tenant;
afterEach(() => stack.close());

const context = `net-${location}`;

async function open(options: StackOptions = {}): Promise<void> {
  stack = await Stack.open({ projects: ['single'], dataPlane: 'fabric', quietPeriodSeconds: 5, ...options });
  await createLocation(stack, location);
  tenant = await Tenant.open(stack, 'single');
  await tenant.locationBinding(location);
}

async function present(): Promise<void> {
  await tenant.network('net');
  await tenant.bind('use', 'net');
  await stack.until('the context in the cell', async () => (await tenant.cellContext(context)) !== undefined);
}

const told = async () => (await tenant.cellContext(context))?.spec?.egress?.internet;

/** Within a second the cell is told exactly this. */
async function isTold(expected: object | undefined): Promise<void> {
  const isIt = async () => JSON.stringify(sorted(await told())) === JSON.stringify(sorted(expected));
  await stack.until('the cell is told', isIt, 1).catch(async () => expect(await told()).toEqual(expected));
  expect((await tenant.context(context))?.spec?.egress?.internet, 'in the project').toEqual(expected);
}

function sorted(value: unknown): unknown {
  return value === undefined ? 'nothing' : Object.entries(value as object).sort();
}

/** Within a second the network and its context say why they are refused, or say nothing of it. */
async function isRefused(why: string | undefined): Promise<void> {
  const look = async () => {
    const objects = [await tenant.getNetwork('net'), await tenant.context(context)];
    return objects.map((object) => said(object, 'InternetEgressReady'));
  };
  await stack.until(
    `refused: ${why}`,
    async () => {
      const found = await look();
      return found.every((each) => (why === undefined ? each === undefined : each?.message.includes(why)));
    },
    1,
  );
  for (const condition of await look()) {
    if (why !== undefined) expect(condition).toMatchObject({ status: 'False', reason: 'Unavailable' });
  }
}

const ofClass = (name: string, sharing = 'Shared') => ({
  mode: 'Enabled',
  reach: ['IPv6'],
  className: name,
  sharing,
  parametersRef: parametersRef(name),
});
const disabled = { mode: 'Disabled' };

describe('a network with a presence', () => {
  beforeEach(async () => {
    await open();
    await present();
  });

  it('that says nothing of the internet is told to be without', async () => {
    await isTold(disabled);
    await isRefused(undefined);
  });

  it('is switched on and off, and everything said before is gone', async () => {
    await stack.hub.create(InternetEgressClass, egressClass('standard', { marked: true }));
    await wish(tenant.project, 'net', { mode: 'Enabled' });
    await isTold(ofClass('standard'));
    await wish(tenant.project, 'net', { mode: 'Disabled' });
    await isTold(disabled);
    await wish(tenant.project, 'net', { mode: 'Enabled', reach: ['IPv6'] });
    await isTold(ofClass('standard'));
    await wish(tenant.project, 'net', undefined);
    await isTold(disabled);
  });

  it('follows every edit of its class', async () => {
    await stack.hub.create(InternetEgressClass, egressClass('gold'));
    await wish(tenant.project, 'net', { mode: 'Enabled', class: 'gold' });
    await isTold(ofClass('gold'));
    await editClass(stack.hub, 'gold', { sharing: 'Dedicated' });
    await isTold(ofClass('gold', 'Dedicated'));
    await editClass(stack.hub, 'gold', { parametersRef: parametersRef('others') });
    await isTold({ ...ofClass('gold', 'Dedicated'), parametersRef: parametersRef('others') });
    await editClass(stack.hub, 'gold', { parametersRef: null as never });
    const { parametersRef: _, ...without } = ofClass('gold', 'Dedicated');
    await isTold(without);
  });

  it('waits for a class that is not there, and takes it when it comes', async () => {
    await isTold(disabled);
    await wish(tenant.project, 'net', { mode: 'Enabled', class: 'gold' });
    await isRefused('there is no InternetEgressClass gold');
    await isTold(disabled);
    await stack.hub.create(InternetEgressClass, egressClass('gold'));
    await isTold(ofClass('gold'));
    await isRefused(undefined);
  });

  it('keeps what it has when its class is deleted, says so, and follows the next one of the name', async () => {
    await stack.hub.create(InternetEgressClass, egressClass('gold'));
    await wish(tenant.project, 'net', { mode: 'Enabled', class: 'gold' });
    await isTold(ofClass('gold'));
    await stack.hub.delete(InternetEgressClass, { namespace: '', name: 'gold' });
    await isRefused('there is no InternetEgressClass gold');
    await isTold(ofClass('gold'));
    await stack.hub.create(InternetEgressClass, egressClass('gold', { sharing: 'Dedicated' }));
    await isTold(ofClass('gold', 'Dedicated'));
    await isRefused(undefined);
  });

  it('goes by the one default class, wherever the mark is, and by none of two', async () => {
    await wish(tenant.project, 'net', { mode: 'Enabled' });
    await isRefused('no InternetEgressClass is the default');
    await stack.hub.create(InternetEgressClass, egressClass('one', { marked: true }));
    await isTold(ofClass('one'));
    await isRefused(undefined);
    await stack.hub.create(InternetEgressClass, egressClass('two', { marked: true }));
    await isRefused('2 InternetEgressClasses are the default (one, two)');
    await isTold(ofClass('one'));
    await markDefault(stack.hub, 'one', false);
    await isTold(ofClass('two'));
    await isRefused(undefined);
    // A network that names its class does not care which is the default.
    await wish(tenant.project, 'net', { mode: 'Enabled', class: 'one' });
    await isTold(ofClass('one'));
    await markDefault(stack.hub, 'one', true);
    await stack.settle();
    await isRefused(undefined);
  });

  it('is refused IPv4, and told why', async () => {
    await expect(wish(tenant.project, 'net', { mode: 'Enabled', reach: ['IPv4'] })).rejects.toThrow(
      'only IPv6 is offered for internet egress: for IPv4 there is no pair of a resolver (DNS64) and a translator (NAT64) yet',
    );
    await expect(wish(tenant.project, 'net', { mode: 'Enabled', reach: ['IPv6', 'IPv6'] })).rejects.toThrow(
      'a family must not be repeated',
    );
  });

  it('writes nothing once settled, nor after a restart', async () => {
    await stack.hub.create(InternetEgressClass, egressClass('gold'));
    await wish(tenant.project, 'net', { mode: 'Enabled', class: 'gold' });
    await isTold(ofClass('gold'));
    await stack.pass(2);
    stack.wire.writes.splice(0);
    // What changes nothing for anybody is written to nobody.
    await markDefault(stack.hub, 'gold', true);
    await stack.pass(2);
    await stack.restart();
    await stack.pass(5);
    expect(stack.wire.writes).toEqual([]);
    // The new process is at work all the same.
    await editClass(stack.hub, 'gold', { sharing: 'Dedicated' });
    await isTold(ofClass('gold', 'Dedicated'));
  });

  it('does not get another network\u2019s number or another class\u2019s parameters by writing them into its context', async () => {
    await stack.hub.create(InternetEgressClass, egressClass('gold', { sharing: 'Dedicated' }));
    await stack.hub.create(InternetEgressClass, egressClass('standard', { marked: true }));
    await wish(tenant.project, 'net', { mode: 'Enabled' });
    await isTold(ofClass('standard'));
    const own = (await tenant.cellContext(context))?.spec?.fabricIdentity;
    const seen: unknown[] = [];
    stack.wire.afterWrite = async ({ plane, path }) => {
      if (!plane.startsWith('cell/') || !path.endsWith(`/networkcontexts/${context}`)) return;
      const spec = (await tenant.cellContext(context))?.spec;
      seen.push([spec?.fabricIdentity, spec?.egress?.internet?.parametersRef?.name, spec?.egress?.internet?.sharing]);
    };
    for (let round = 0; round < 20; round++) {
      const internet = { parametersRef: parametersRef('gold'), sharing: 'Dedicated' };
      const body = { spec: { fabricIdentity: 4711 + round, mtu: 1300 + round, egress: { internet } } };
      await tenant.project.patch(NetworkContext, { namespace: 'default', name: context }, { type: 'merge', body });
      await stack.settle();
    }
    stack.wire.afterWrite = undefined;
    await isTold(ofClass('standard'));
    expect(seen.length).toBeGreaterThanOrEqual(20);
    for (const each of seen) expect(each).toEqual([own, 'standard', 'Shared']);
    const vpc = await stack.cell().get(VPC, { namespace: tenant.namespace, name: context });
    expect(vpc?.status?.vpc).toBe(String(own));
  });
});

it('comes to the same with caches that are late, whatever happens meanwhile', async () => {
  for (const seed of [1, 2, 3]) {
    await open({ lag: 6, seed });
    await stack.hub.create(InternetEgressClass, egressClass('one', { marked: true }));
    await tenant.network('net');
    await wish(tenant.project, 'net', { mode: 'Enabled' });
    await tenant.bind('use', 'net');
    await stack.hub.create(InternetEgressClass, egressClass('two', { sharing: 'Dedicated' }));
    await wish(tenant.project, 'net', { mode: 'Enabled', class: 'two' });
    await editClass(stack.hub, 'two', { parametersRef: parametersRef('others') });
    const { items } = await stack.until('the number', async () => {
      const list = await stack.hub.list(NetworkFabricIdentity);
      return list.items.length > 0 && list;
    });
    const number = items[0]?.spec.identity;
    await stack.until(`all of it in the cell (seed ${seed})`, async () => {
      const spec = (await tenant.cellContext(context))?.spec;
      const { className, sharing, parametersRef: ref } = spec?.egress?.internet ?? {};
      return (
        spec?.fabricIdentity === number && className === 'two' && sharing === 'Dedicated' && ref?.name === 'others'
      );
    });
    await stack.close();
  }
  await open();
});

describe('the VPC of a presence', () => {
  beforeEach(() => open());

  const identified = () =>
    stack.until('its identifier', async () => {
      const found = await vpcOf();
      return found?.status?.vpc !== undefined && found;
    });
  const vpcOf = (): Promise<Stored<VPC> | undefined> =>
    stack.cell().get(VPC, { namespace: tenant.namespace, name: context });

  it('goes with the presence, after what is attached to it', async () => {
    await present();
    await identified();
    const metadata = { name: 'web-0-eth0', namespace: tenant.namespace };
    const spec = { vpc: { name: context }, interface: { name: 'eth0', mode: 'Netns' } } as const;
    const apiVersion = apiVersionOf(VPCAttachment);
    await stack.cell().create(VPCAttachment, { apiVersion, kind: VPCAttachment.kind, metadata, spec });
    await tenant.unbind('use');
    await stack.until('the context gone', async () => (await tenant.cellContext(context)) === undefined);
    await stack.pass(30);
    expect((await vpcOf())?.metadata.deletionTimestamp).toBeDefined();
    await stack.cell().delete(VPCAttachment, metadata);
    await stack.until('the VPC gone', async () => (await vpcOf()) === undefined, 1);
  });

  it('is another one, with another number, for a network made again under its name', async () => {
    await present();
    const before = await identified();
    await tenant.unbind('use');
    await tenant.project.delete(Network, { namespace: 'default', name: 'net' });
    await stack.until('the network gone', async () => (await tenant.getNetwork('net')) === undefined);
    await present();
    const after = await stack.until('another identifier', async () => {
      const found = await vpcOf();
      return found?.metadata.uid !== before.metadata.uid && found?.status?.vpc !== undefined && found;
    });
    expect(after.status?.vpc).not.toBe(before.status?.vpc);
  });

  it('is there again when somebody deletes it, with the same number', async () => {
    await present();
    const before = await identified();
    await stack.cell().delete(VPC, { namespace: tenant.namespace, name: context });
    const after = await stack.until('there again', async () => {
      const found = await vpcOf();
      return found?.metadata.uid !== before.metadata.uid && found?.status?.vpc !== undefined && found;
    });
    expect(after.status?.vpc).toBe(before.status?.vpc);
    expect(after.spec).toEqual(before.spec);
  });

  it('of a number another one has is not given it, and operators are told', async () => {
    await present();
    const vpc = await identified();
    const copy = await tenant.cellContext(context);
    const { mtu: _, ...spec } = copy!.spec!;
    const metadata = { name: 'second', namespace: tenant.namespace };
    await stack.cell().create(NetworkContext, { ...copy!, metadata, spec });
    const subnet = await stack.until('the subnet', () => tenant.subnet(`${context}-ipv6`));
    const networkContext = { name: 'second' };
    const second = { ...subnet, metadata: { ...metadata, labels: {} }, spec: { ...subnet.spec!, networkContext } };
    await stack.cell().create(Subnet, second);
    const other = await stack.until('the second', () => stack.cell().get(VPC, metadata));
    await stack.pass(5);
    expect((await stack.cell().get(VPC, metadata))?.status).toBeUndefined();
    const events = (await stack.cell().list(Event, { namespace: tenant.namespace })).items;
    expect(events.filter(({ regarding }) => regarding?.name === 'second').map(({ reason }) => reason)).toContain(
      'VPCIdentifierHeld',
    );
    expect(other.spec.networks).toEqual(vpc.spec.networks);
    await tenant.unbind('use');
    await stack.until('the number of the first, once that is gone', async () => {
      const found = await stack.cell().get(VPC, metadata);
      return found?.status?.vpc === vpc.status?.vpc;
    });
  });
});

/** Whose writes carry what a network wants, and its number, to a VPC in a cell. */
const carriers = /^(fabric-|network-hub-|federation-)/;

/** The life of a presence with a way out that is refused at first, then given, then taken along with the presence. */
async function live(): Promise<void> {
  await tenant.network('net');
  await wish(tenant.project, 'net', { mode: 'Enabled', class: 'gold' });
  await tenant.bind('use', 'net');
  await stack.pass(3);
  await stack.hub.create(InternetEgressClass, egressClass('gold'));
  await stack.pass(3);
}

it('a process that ends at any write, before it or before its answer, leaves what the next one finishes', async () => {
  let most = 1;
  for (let at = 1; at <= most; at++) {
    for (const moment of ['beforeWrite', 'afterWrite'] as const) {
      await open();
      let writes = 0;
      let ended = false;
      stack.wire[moment] = async ({ by }) => {
        if (!carriers.test(by) || ended || ++writes !== at) return;
        ended = true;
        await new Promise(() => {});
      };
      await live();
      stack.wire[moment] = undefined;
      await stack.restart();
      const number = await stack.until(`the number (write ${at}, ${moment})`, async () => {
        const { items } = await stack.hub.list(NetworkFabricIdentity);
        return items.length === 1 && items[0]?.spec.identity;
      });
      await stack.until(`the VPC (write ${at}, ${moment})`, async () => {
        const vpc = await stack.cell().get(VPC, { namespace: tenant.namespace, name: context });
        return parseIdentifier(vpcIdentifier, vpc?.status?.vpc ?? '') === number;
      });
      await stack.until(`what the cell is told (write ${at}, ${moment})`, async () => {
        return JSON.stringify(sorted(await told())) === JSON.stringify(sorted(ofClass('gold')));
      });
      await isRefused(undefined);
      await tenant.unbind('use');
      await tenant.project.delete(Network, { namespace: 'default', name: 'net' });
      await stack.until(`everything gone (write ${at}, ${moment})`, async () => {
        const { items } = await stack.hub.list(NetworkFabricIdentity);
        return items.length + (await stack.cell().list(VPC)).items.length === 0;
      });
      // The undisturbed run says how many writes there are.
      if (!ended) most = at - 1;
      else if (at === most) most++;
      await stack.close();
    }
  }
  expect(most).toBeGreaterThan(8);
  await open();
});
