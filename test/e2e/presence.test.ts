import { beforeAll, describe, expect, test } from 'vitest';
import {
  Instance,
  IPClaim,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  Subnet,
  Workload,
} from '../../src/api/index.ts';
import { agreesWithIpam, instancesOf } from '../../src/cli/index.ts';
import { systemClock } from '../../src/kube/index.ts';
import { findCondition, isConditionTrue, type Stored } from '../../src/meta/index.ts';
import { networkObject, workloadObject } from './support/objects.ts';
import { usePlatform } from './support/platform.ts';
import { inDefault, sameNetwork, Tenant } from './support/tenant.ts';

// A network is present in a location as long as anything there needs it, and a quiet period longer.

const quietSeconds = 1;
const running = usePlatform({ quietPeriodSeconds: quietSeconds, restSeconds: 0 });
let tenant: Tenant;
beforeAll(async () => {
  tenant = new Tenant(running());
  await tenant.project.create(Network, networkObject('default'));
});

const contextName = 'default-us-central-1';

async function contextInProject(): Promise<Stored<NetworkContext> | undefined> {
  return tenant.project.get(NetworkContext, inDefault(contextName));
}

async function ranges(): Promise<string[]> {
  const { items } = await tenant.project.list(IPClaim, { namespace: 'default' });
  return items
    .filter((each) => each.spec?.target === 'ScopeRange')
    .map((each) => each.status?.allocatedCIDR ?? '')
    .sort();
}

/** More than twice what a presence that nothing holds is kept for. */
const longerThanQuiet = () => systemClock.sleep(quietSeconds * 1000 + 1500);

describe('presence in a location', () => {
  test('is held by a retained interface when everything else has gone', async () => {
    const holdings = await tenant.run({ name: 'keeps', replicas: 1, policy: 'Retain' });
    const before = await contextInProject();
    await tenant.remove('keeps');
    const namespace = await running().hubNamespace();
    expect((await running().hub.list(NetworkBinding, { namespace })).items).toEqual([]);
    await longerThanQuiet();
    const held = await contextInProject();
    expect(held?.metadata.uid).toBe(before?.metadata.uid);
    expect(held?.metadata.deletionTimestamp).toBeUndefined();
    expect(held?.metadata.annotations?.['networking.datumapis.com/unclaimed-since']).toBeUndefined();
    expect(await ranges()).toEqual(['10.128.0.0/20', 'fd20:1000::/48', 'fd20:1000::/64']);
    // The period has passed twice; whoever comes back has what was kept.
    const again = await tenant.run({ name: 'keeps', replicas: 1, policy: 'Retain' });
    expect([again.addresses, again.interfaces, again.allocations]).toEqual([
      holdings.addresses,
      holdings.interfaces,
      holdings.allocations,
    ]);
    await tenant.remove('keeps');
  });

  test('ends a quiet period after the last interface is given back: everywhere, and with its ranges', async () => {
    const name = 'keeps-here-us-central-1-0-eth0';
    await tenant.project.delete(NetworkInterface, inDefault(name));
    await running().session.until('the presence gone from every plane', async () => {
      const key = await tenant.inCell(contextName);
      const found = [
        await contextInProject(),
        await running().hub.get(NetworkContext, key),
        await tenant.cell.get(NetworkContext, key),
      ];
      const left = found.filter(Boolean).length;
      return left === 0 ? true : `${left} contexts are left`;
    });
    await running().session.until('subnets and ranges gone', async () => {
      const { namespace } = await tenant.inCell('');
      const subnets = [
        ...(await tenant.project.list(Subnet, { namespace: 'default' })).items,
        ...(await running().hub.list(Subnet, { namespace })).items,
        ...(await tenant.cell.list(Subnet, { namespace })).items,
      ];
      const held = await ranges();
      return subnets.length === 0 && held.join() === 'fd20:1000::/48'
        ? true
        : `${subnets.length} subnets, ranges ${held.join(', ')}`;
    });
    await agreesWithIpam(running().session, tenant.project);
    const network = await tenant.project.get(Network, inDefault('default'));
    expect(isConditionTrue(network?.status?.conditions, 'Ready')).toBe(true);
  });

  test('is there again for the next workload, as another one', async () => {
    await tenant.run({ name: 'returns', replicas: 1 });
    const context = await contextInProject();
    expect(findCondition(context?.status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(await ranges()).toEqual(['10.128.0.0/20', 'fd20:1000::/48', 'fd20:1000::/64']);
  });

  test('a workload that goes and comes within the quiet period finds it as it was', async () => {
    await tenant.run({ name: 'quick', replicas: 1 });
    const before = await contextInProject();
    for (const name of ['returns', 'quick']) await tenant.remove(name);
    await tenant.run({ name: 'quick', replicas: 1 });
    const after = await contextInProject();
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    await running().session.until('the stamp gone', async () => {
      const stamp = (await contextInProject())?.metadata.annotations?.['networking.datumapis.com/unclaimed-since'];
      return stamp === undefined ? true : `it says ${stamp}`;
    });
  });

  test('gone quiet under running instances takes nothing away, and replacements go on', async () => {
    const before = await tenant.run({ name: 'steady', replicas: 2 });
    const context = await contextInProject();
    const { namespace } = await tenant.inCell('');
    // The binding is not ready: the network it names is not what the project has.
    const binding = await running().hub.get(NetworkBinding, { namespace, name: 'steady-here-us-central-1' });
    await running().hub.delete(NetworkBinding, { namespace, name: binding!.metadata.name });
    await running().session.until('the federator made it again', async () => {
      const found = await running().hub.get(NetworkBinding, { namespace, name: binding!.metadata.name });
      return found !== undefined && found.metadata.uid !== binding!.metadata.uid ? true : 'it is not there';
    });
    await tenant.cell.delete(Instance, await tenant.inCell('steady-here-us-central-1-0'));
    await tenant.replaced('steady-here-us-central-1-0', before);
    const after = await tenant.ready('steady', 2);
    expect(sameNetwork(after)).toEqual(sameNetwork(before));
    expect((await contextInProject())?.metadata.uid).toBe(context?.metadata.uid);
  });

  test('a network deleted waits for its workloads, refuses new ones, and then gives everything back', async () => {
    await tenant.project.delete(Network, inDefault('default'));
    const before = await instancesOf(tenant.project, 'steady');
    await tenant.project.create(Workload, workloadObject({ name: 'late', replicas: 1, location: 'eu-west-1' }));
    await running().session.until('the late one is refused', async () => {
      const workload = await tenant.project.get(Workload, inDefault('late'));
      const said = findCondition(workload?.status?.conditions, 'Available');
      if (said?.reason !== 'NetworkNotFound') return `it says ${said?.reason}: ${said?.message}`;
      expect(said.message).toContain('Network default does not exist in namespace default: it is being deleted');
      return true;
    });
    await running().session.until('the network says what it waits for', async () => {
      const network = await tenant.project.get(Network, inDefault('default'));
      const said = findCondition(network?.status?.conditions, 'Ready');
      if (said?.reason !== 'Terminating') return `it says ${said?.reason}: ${said?.message}`;
      expect(said.message).toContain(`Network default is being deleted and waits for NetworkContext ${contextName}`);
      return true;
    });
    await longerThanQuiet();
    const late = await instancesOf(tenant.project, 'late');
    expect(late.filter((each) => isConditionTrue(each.status?.conditions, 'Ready'))).toEqual([]);
    const now = await instancesOf(tenant.project, 'steady');
    expect(now.map((each) => each.metadata.uid)).toEqual(before.map((each) => each.metadata.uid));
    expect(now.every((each) => isConditionTrue(each.status?.conditions, 'Ready'))).toBe(true);

    for (const name of ['late', 'steady', 'quick']) await tenant.remove(name);
    await running().session.until('the network gone', async () =>
      (await tenant.project.get(Network, inDefault('default'))) === undefined ? true : 'it is still there',
    );
    expect((await tenant.project.list(IPClaim)).items).toEqual([]);
    expect((await tenant.project.list(NetworkContext)).items).toEqual([]);
  });
});
