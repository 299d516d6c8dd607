import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { IpPrefix } from '../../src/address/index.ts';
import {
  Instance,
  IPAllocation,
  IPClaim,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  Subnet,
  Workload,
  WorkloadDeployment,
} from '../../src/api/index.ts';
import { agreesWithIpam, checkAgainstIpam, instancesOf, published, ready } from '../../src/cli/index.ts';
import { Event, findCondition, Namespace, type Stored } from '../../src/meta/index.ts';
import { Kubectl, kubectlTest, rowsOf } from './support/kubectl.ts';
import { examples, locations, usePlatform } from './support/platform.ts';

// What a person sees after `kubectl apply -f examples/workload.yaml`, on every plane.

const running = usePlatform();

const placements = { 'us-central-1': 'america', 'eu-west-1': 'europe' } as const;
type Location = (typeof locations)[number];

interface Seen {
  location: Location;
  ordinal: number;
  instance: Stored<Instance>;
  name: string;
  interfaceName: string;
}

let namespace: string;
let network: Stored<Network>;
let seen: Seen[];

beforeAll(async () => {
  await running().session.apply('project-alpha', join(examples, 'workload.yaml'));
  await ready(running().session, running().project(), 'web', 4);
  // A gateway is there once the family's subnet has reached the cell, which no instance waits for.
  const instances = await running().session.until('every gateway there', async () => {
    const found = await instancesOf(running().project(), 'web');
    const addresses = found.flatMap((each) => each.status?.networkInterfaces?.[0]?.addresses ?? []);
    const without = addresses.filter((each) => each.gateway === undefined);
    return addresses.length === 8 && without.length === 0 ? found : `${without.length} addresses have none`;
  });
  await agreesWithIpam(running().session, running().project());
  await running().session.until('the workload says that all is ready', async () => {
    const workload = await running().project().get(Workload, { namespace: 'default', name: 'web' });
    return findCondition(workload?.status?.conditions, 'ReplicasReady')?.status === 'True' ? true : 'it does not';
  });
  namespace = await running().hubNamespace();
  network = (await running().project().get(Network, { namespace: 'default', name: 'default' }))!;
  seen = locations.flatMap((location) =>
    [0, 1].map((ordinal) => {
      const name = `web-${placements[location]}-${location}-${ordinal}`;
      const instance = instances.find((each) => each.metadata.name === name)!;
      return { location, ordinal, instance, name, interfaceName: `${name}-eth0` };
    }),
  );
});

/** Subnets of a location as the project publishes them, by family. */
async function subnetsOf(location: Location): Promise<Record<'IPv6' | 'IPv4', IpPrefix>> {
  const of = async (family: 'ipv6' | 'ipv4') => {
    const name = `default-${location}-${family}`;
    const subnet = await running().project().get(Subnet, { namespace: 'default', name });
    return IpPrefix.parse(`${subnet?.status?.startAddress}/${subnet?.status?.prefixLength}`);
  };
  return { IPv6: await of('ipv6'), IPv4: await of('ipv4') };
}

/** The n-th address after the first of a prefix. */
function after(prefix: IpPrefix, n: bigint): string {
  return IpPrefix.of(prefix.family, prefix.first.value + n, prefix.family === 6 ? 128 : 32).first.toString();
}

test('the first instances have the first addresses: a /96 of the location’s /64, a /32 of its /20, a public one', async () => {
  const external: string[] = [];
  for (const location of locations) {
    const subnets = await subnetsOf(location);
    expect(subnets.IPv6.toString()).toMatch(/^fd20:1000:(0:1:)?:\/64$/);
    expect(subnets.IPv4.toString()).toMatch(/^10\.128\.(0|16)\.0\/20$/);
    const here = seen.filter((each) => each.location === location);
    const shown = here.map(({ instance }) => instance.status?.networkInterfaces?.[0]);
    // The first /96 holds the gateway; of the /20 the first two are reserved.
    const sixes = [1n, 2n].map((n) => `${after(subnets.IPv6, n << 32n)}/96`);
    const fours = [2n, 3n].map((n) => `${after(subnets.IPv4, n)}/32`);
    const of = (family: string) => shown.map((each) => each?.addresses?.find((a) => a.family === family));
    expect(
      of('IPv6')
        .map((each) => each?.address)
        .sort(),
    ).toEqual(sixes.sort());
    expect(
      of('IPv4')
        .map((each) => each?.address)
        .sort(),
    ).toEqual(fours.sort());
    for (const each of of('IPv6')) {
      expect(each).toMatchObject({ primary: true, gateway: after(subnets.IPv6, 1n) });
    }
    for (const each of of('IPv4')) {
      expect(each).toMatchObject({ primary: false, gateway: after(subnets.IPv4, 1n) });
    }
    external.push(...shown.map((each) => each?.externalAddresses?.[0]?.address ?? 'none'));
  }
  expect(external.sort()).toEqual(['198.51.100.0', '198.51.100.1', '198.51.100.2', '198.51.100.3']);
});

test('an instance shows its interface, its addresses in the order asked for, and who says what of it', async () => {
  for (const { instance, interfaceName, location } of seen) {
    expect(instance.status?.networkInterfaces).toHaveLength(1);
    const [shown] = instance.status!.networkInterfaces!;
    expect(shown?.name).toBe('eth0');
    expect(shown?.networkInterfaceRef?.name).toBe(interfaceName);
    expect(shown?.addresses?.map((each) => each.family)).toEqual(['IPv6', 'IPv4']);
    expect(shown?.externalAddresses).toEqual([
      { family: 'IPv4', class: 'public-unicast-ipv4', address: shown?.assignments?.externalIP },
    ]);
    expect(`${shown?.assignments?.networkIP}/96`).toBe(shown?.addresses?.[0]?.address);
    const said = (type: string) => {
      const condition = findCondition(instance.status?.conditions, type);
      return [condition?.status, condition?.reason, condition?.observedGeneration];
    };
    // What is said of the cell's instance as it is now is said of the copy as it is now.
    const { generation } = instance.metadata;
    expect(said('Ready')).toEqual(['True', 'Available', generation]);
    expect(said('QuotaGranted')).toEqual(['True', 'QuotaDisabled', generation]);
    expect(said('Programmed')).toEqual(['True', 'Programmed', generation]);
    expect(said('Available')).toEqual(['True', 'Available', generation]);
    expect(findCondition(instance.status?.conditions, 'Available')?.message).toContain('simulated-provider');
    const on = shown?.conditions?.map(({ type, status }) => `${type}=${status}`);
    expect(on).toEqual(['Allocated=True', 'Prepared=True', 'Programmed=Unknown']);
    expect(instance.spec?.location?.name).toBe(location);
    expect(instance.spec?.controller?.schedulingGates).toEqual([]);
    expect(instance.status?.controller?.observedTemplateHash).toBe(instance.spec?.controller?.templateHash);
  }
});

describe('in the cell', () => {
  test('the claim asks for what was written, is protected while in use, and says what it got', async () => {
    for (const { instance, interfaceName, location, ordinal } of seen) {
      const cell = running().cell(location);
      const claim = await cell.get(NetworkInterfaceClaim, { namespace, name: interfaceName });
      expect(claim?.spec).toMatchObject({
        network: { name: 'default' },
        interfaceName: 'eth0',
        attachmentMode: 'Netns',
        ipFamilies: ['IPv6', 'IPv4'],
        addresses: [{ class: 'public-unicast-ipv4' }],
        reclaimPolicy: 'Retain',
      });
      expect(claim?.metadata.finalizers?.sort()).toEqual([
        'compute.datumapis.com/slot-in-use',
        'networking.datumapis.com/networkinterfaceclaim-release',
      ]);
      expect(claim?.metadata.labels).toMatchObject({
        'compute.datumapis.com/workload-name': 'web',
        'compute.datumapis.com/placement-name': placements[location],
        'compute.datumapis.com/location': location,
        'compute.datumapis.com/instance-index': String(ordinal),
      });
      const owner = await cell.get(WorkloadDeployment, { namespace, name: `web-${placements[location]}-${location}` });
      expect(claim?.metadata.ownerReferences).toMatchObject([
        { kind: 'WorkloadDeployment', controller: true, uid: owner?.metadata.uid },
      ]);
      const [shown] = instance.status!.networkInterfaces!;
      expect(claim?.status?.networkInterfaceRef).toEqual({ name: interfaceName });
      expect(claim?.status?.addresses).toEqual(shown?.addresses);
      expect(claim?.status?.externalAddresses).toEqual(shown?.externalAddresses);
      const conditions = claim?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
      expect(conditions).toEqual([
        'Bound=True Bound',
        'Allocated=True Allocated',
        'Prepared=True AttachmentReady',
        'Programmed=Unknown AwaitingDataPlane',
        'Ready=Unknown NotProgrammed',
      ]);
    }
  });

  test('the interface has everything a provider needs, and outlives whoever holds it', async () => {
    for (const { instance, interfaceName, location } of seen) {
      const cell = running().cell(location);
      const found = await cell.get(NetworkInterface, { namespace, name: interfaceName });
      const claim = await cell.get(NetworkInterfaceClaim, { namespace, name: interfaceName });
      const [shown] = instance.status!.networkInterfaces!;
      expect(found?.spec).toEqual({
        network: { name: 'default' },
        interfaceName: 'eth0',
        attachmentMode: 'Netns',
        mtu: 1460,
        addresses: shown?.addresses,
        externalAddresses: shown?.externalAddresses,
        reclaimPolicy: 'Retain',
        claimRef: { name: interfaceName, uid: claim?.metadata.uid },
      });
      expect(found?.metadata.ownerReferences ?? []).toEqual([]);
      expect(found?.metadata.finalizers).toEqual(['networking.datumapis.com/networkinterface-release']);
      expect(found?.metadata.labels).toMatchObject({
        'compute.datumapis.com/workload-name': 'web',
        'networking.datumapis.com/network': 'default',
        'networking.datumapis.com/network-uid': network.metadata.uid,
        'networking.datumapis.com/location': location,
      });
      expect(found?.metadata.annotations).toMatchObject({
        'networking.datumapis.com/allocation-claim': interfaceName,
        'networking.datumapis.com/recorded-project': 'alpha',
        'networking.datumapis.com/recorded-project-namespace': 'default',
        'networking.datumapis.com/recorded-location': location,
      });
      expect(found?.status?.phase).toBe('Bound');
      expect(found?.status?.networkContextRef).toEqual({ name: `default-${location}` });
      // Nobody may say that a node did its part: there is none.
      const conditions = found?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
      expect(conditions?.sort()).toEqual([
        'Allocated=True Allocated',
        'Prepared=True AttachmentReady',
        'Programmed=Unknown AwaitingDataPlane',
      ]);
    }
  });

  test('the location, the network and its subnets have reached it, and are held there', async () => {
    for (const location of locations) {
      const cell = running().cell(location);
      const serving = (await cell.list(ServingLocation)).items;
      expect(serving.map((each) => each.metadata.name)).toEqual([location]);
      const context = await cell.get(NetworkContext, { namespace, name: `default-${location}` });
      expect(context?.spec).toMatchObject({
        network: { name: 'default' },
        location: { name: location },
        ipFamilies: ['IPv6', 'IPv4'],
        mtu: 1460,
        networkGeneration: 1,
      });
      expect(context?.metadata.finalizers).toContain('networking.datumapis.com/networkcontext-in-use');
      const subnets = (await cell.list(Subnet, { namespace })).items.map((each) => each.metadata.name).sort();
      expect(subnets).toEqual([`default-${location}-ipv4`, `default-${location}-ipv6`]);
      const labels = (await cell.get(Namespace, { namespace: '', name: namespace }))?.metadata.labels;
      expect(labels).toMatchObject({
        'meta.datumapis.com/upstream-cluster-name': 'cluster-alpha',
        'meta.datumapis.com/upstream-namespace': 'default',
      });
    }
  });

  test('an Event on the instance says that it only pretends to run', async () => {
    for (const { location, name } of seen) {
      const { items } = await running().cell(location).list(Event, { namespace });
      const [started] = items.filter((each) => each.regarding?.name === name && each.reason === 'SimulatedStart');
      expect(started).toMatchObject({
        type: 'Normal',
        regarding: { kind: 'Instance', name, namespace },
        note: 'Simulated: nothing was started; the instance is marked running',
      });
      expect(started?.reportingController).toContain('simulated-provider');
    }
  });
});

describe('in IPAM', () => {
  test('claims with target Block and allocations with purpose Claim hold exactly the published addresses', async () => {
    const project = running().project();
    await checkAgainstIpam(project, await published(project));
    const blocks = (await project.list(IPClaim)).items.filter((each) => (each.spec?.target ?? 'Block') === 'Block');
    const allocations = (await project.list(IPAllocation)).items.filter((each) => each.spec?.purpose === 'Claim');
    expect(blocks).toHaveLength(12);
    expect(allocations.map((each) => each.status?.allocatedCIDR).sort()).toEqual(
      blocks.map((each) => each.status?.allocatedCIDR).sort(),
    );
    for (const claim of blocks) {
      expect(claim.status?.phase).toBe('Bound');
      const allocation = allocations.find((each) => each.metadata.name === claim.status?.boundAllocationRef?.name);
      expect(allocation?.status?.allocatedCIDR).toBe(claim.status?.allocatedCIDR);
      expect(allocation?.spec?.claimRef?.name).toBe(claim.metadata.name);
    }
  });

  test('each claim carries whom it is for, and its scope names the network by UID', async () => {
    for (const { interfaceName, location } of seen) {
      const cell = running().cell(location);
      const cellUid = (await cell.get(Namespace, { namespace: '', name: 'kube-system' }))?.metadata.uid;
      const holder = (await cell.get(NetworkInterfaceClaim, { namespace, name: interfaceName }))?.metadata.uid;
      for (const [suffix, asked] of [
        ['f-ipv6', { ipFamily: 'IPv6' }],
        ['f-ipv4', { ipFamily: 'IPv4' }],
        ['c-public-unicast-ipv4', { className: 'public-unicast-ipv4' }],
      ] as const) {
        const name = `${interfaceName}-${suffix}`;
        const claim = await running().project().get(IPClaim, { namespace: 'default', name });
        expect(claim?.metadata.labels).toMatchObject({
          'networking.datumapis.com/cell-uid': cellUid,
          'networking.datumapis.com/interface-namespace': namespace,
          'networking.datumapis.com/interface-name': interfaceName,
          'networking.datumapis.com/holder-uid': holder,
        });
        expect(claim?.spec).toMatchObject({
          ...asked,
          reclaimPolicy: 'Delete',
          scope: {
            network: { kind: 'Network', name: 'default', uid: network.metadata.uid },
            location: { kind: 'Location', name: location },
          },
        });
      }
    }
  });

  test('ranges are held for the network and for each location', async () => {
    const { items } = await running().project().list(IPClaim, { namespace: 'default' });
    const ranges = items.filter((each) => each.spec?.target === 'ScopeRange');
    expect(network.status?.ipam?.ipv6Prefix).toBe('fd20:1000::/48');
    const wanted = [[`network-${network.metadata.uid}`, 'fd20:1000::/48']];
    for (const location of locations) {
      const context = await running()
        .project()
        .get(NetworkContext, { namespace: 'default', name: `default-${location}` });
      const subnets = await subnetsOf(location);
      wanted.push([`networkcontext-${context?.metadata.uid}`, subnets.IPv6.toString()]);
      wanted.push([`networkcontext-${context?.metadata.uid}-ipv4`, subnets.IPv4.toString()]);
    }
    expect(ranges.map((each) => [each.metadata.name, each.status?.allocatedCIDR]).sort()).toEqual(wanted.sort());
  });
});

test('hub and project have copies that say the same, without what is the cell’s own', async () => {
  for (const { interfaceName, location, name, instance } of seen) {
    const source = await running().cell(location).get(NetworkInterface, { namespace, name: interfaceName });
    const hub = await running().hub.get(NetworkInterface, { namespace, name: interfaceName });
    const project = await running().project().get(NetworkInterface, { namespace: 'default', name: interfaceName });
    const { claimRef: _, ...spec } = source!.spec;
    for (const copy of [hub, project]) {
      expect(copy?.spec).toEqual(spec);
      expect(copy?.status?.phase).toBe('Bound');
      expect(copy?.status?.networkContextRef).toBeUndefined();
      expect(copy?.metadata.labels).toMatchObject({
        'networking.datumapis.com/network-interface-projection': 'true',
        'networking.datumapis.com/location': location,
        'networking.datumapis.com/held-by': interfaceName,
        'networking.datumapis.com/source-namespace': namespace,
        'meta.datumapis.com/upstream-cluster-name': 'cluster-alpha',
        'meta.datumapis.com/upstream-namespace': 'default',
        'compute.datumapis.com/workload-name': 'web',
      });
    }
    expect(project?.metadata.finalizers).toEqual(['networking.datumapis.com/interface-return']);
    expect(project?.metadata.ownerReferences).toMatchObject([{ kind: 'Network', uid: network.metadata.uid }]);
    expect(project?.metadata.ownerReferences?.[0]?.controller ?? false).toBe(false);

    const original = await running().cell(location).get(Instance, { namespace, name });
    const copied = await running().hub.get(Instance, { namespace, name });
    expect(copied?.status?.networkInterfaces).toEqual(instance.status?.networkInterfaces);
    expect(original?.status?.networkInterfaces).toEqual(instance.status?.networkInterfaces);
    const deployment = await running()
      .project()
      .get(WorkloadDeployment, { namespace: 'default', name: `web-${placements[location]}-${location}` });
    expect(instance.metadata.ownerReferences).toMatchObject([
      { kind: 'WorkloadDeployment', uid: deployment?.metadata.uid },
    ]);
  }
});

test('the hub’s binding names its consumer and the context it got', async () => {
  for (const location of locations) {
    const name = `web-${placements[location]}-${location}`;
    const binding = await running().hub.get(NetworkBinding, { namespace, name });
    const deployment = await running().hub.get(WorkloadDeployment, { namespace, name });
    expect(binding?.spec).toMatchObject({
      network: { name: 'default' },
      location: { name: location },
      consumer: { apiGroup: 'compute.datumapis.com', kind: 'Workload', name: 'web' },
    });
    expect(binding?.metadata.ownerReferences).toMatchObject([{ controller: true, uid: deployment?.metadata.uid }]);
    expect(binding?.status?.networkContextRef?.name).toBe(`default-${location}`);
    expect(findCondition(binding?.status?.conditions, 'Ready')).toMatchObject({
      status: 'True',
      reason: 'NetworkContextReady',
    });
  }
});

test('the workload counts its instances and has nothing to complain of', async () => {
  const workload = await running().project().get(Workload, { namespace: 'default', name: 'web' });
  expect(workload?.status).toMatchObject({
    deployments: 2,
    replicas: 4,
    desiredReplicas: 4,
    currentReplicas: 4,
    updatedReplicas: 4,
    readyReplicas: 4,
    observedGeneration: workload?.metadata.generation,
  });
  const conditions = workload?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  expect(conditions?.sort()).toEqual(['Available=True AvailablePlacementFound', 'ReplicasReady=True ReplicasReady']);
});

describe('kubectl', () => {
  kubectlTest('get instances fills the columns for all four', async () => {
    const table = await new Kubectl(running()).run('get', 'instances');
    expect(table.split('\n')[0]?.trim().split(/ {2,}/)).toEqual([
      'NAME',
      'AGE',
      'READY',
      'REASON',
      'NETWORK IP',
      'EXTERNAL IP',
    ]);
    const rows = rowsOf(table);
    expect(rows.map((row) => [row.NAME, row.READY, row.REASON, row['NETWORK IP'], row['EXTERNAL IP']]).sort()).toEqual(
      seen
        .map(({ name, instance }) => {
          const { networkIP, externalIP } = instance.status?.networkInterfaces?.[0]?.assignments ?? {};
          return [name, 'True', 'Available', networkIP, externalIP];
        })
        .sort(),
    );
    for (const row of rows) expect(row.AGE).toMatch(/^\d+[sm]/);
  });

  kubectlTest('get -o wide, -o name, -l and --field-selector work as ever', async () => {
    const kubectl = new Kubectl(running());
    const [wide] = rowsOf(await kubectl.run('get', 'instances', '-o', 'wide'));
    expect(wide).toMatchObject({ QUOTA: 'QuotaDisabled' });
    expect(wide?.MESSAGE).toContain('The instance is available');
    const here = ['get', 'instances', '-l', 'compute.datumapis.com/location=eu-west-1', '-o', 'name'];
    expect((await kubectl.run(...here)).trim().split('\n')).toEqual([
      'instance.compute.datumapis.com/web-europe-eu-west-1-0',
      'instance.compute.datumapis.com/web-europe-eu-west-1-1',
    ]);
    const one = ['get', 'instances', '--field-selector', 'metadata.name=web-europe-eu-west-1-1', '-o', 'name'];
    expect((await kubectl.run(...one)).trim()).toBe('instance.compute.datumapis.com/web-europe-eu-west-1-1');
  });

  kubectlTest('describe shows conditions and events, in the project and in the cell', async () => {
    const [first] = seen;
    const inProject = await new Kubectl(running()).run('describe', 'instance', first!.name);
    for (const type of ['Programmed', 'Available', 'Ready', 'QuotaGranted', 'Allocated']) {
      expect(inProject).toMatch(new RegExp(`Type: +${type}\\n`));
    }
    expect(inProject).toContain('Simulated: simulated-provider runs nothing for this instance');
    expect(inProject).toMatch(/Events:\n.*\n.*\n(.*\n)* *Normal +Available .*The instance is available/);
    const inCell = await new Kubectl(running(), 'cell-us-central-1').run(
      'describe',
      'instance',
      first!.name,
      '-n',
      namespace,
    );
    expect(inCell).toMatch(
      /Events:\n.*Type +Reason +Age +From +Message\n.*\n.*Normal +SimulatedStart .*Simulated: nothing was started/,
    );
  });

  kubectlTest('explain knows the fields of a claim', async () => {
    const kubectl = new Kubectl(running(), 'cell-us-central-1');
    const said = await kubectl.run('explain', 'networkinterfaceclaim.spec');
    expect(said).toContain('KIND:       NetworkInterfaceClaim');
    for (const field of [
      'addresses',
      'interfaceName',
      'ipFamilies',
      'network',
      'networkInterfaceName',
      'reclaimPolicy',
    ]) {
      expect(said).toMatch(new RegExp(`^  ${field}\\t<`, 'm'));
    }
    expect(said).toMatch(/^ {2}network\t<Object> -required-/m);
    expect(await kubectl.run('explain', 'networkinterfaceclaim.spec.reclaimPolicy')).toMatch(
      /enum:? *(Delete, Retain|\n +Delete\n +Retain)/i,
    );
  });

  kubectlTest('applying the same file again changes nothing', async () => {
    const kubectl = new Kubectl(running());
    const file = join(examples, 'claim-templates.yaml');
    const stored = () => kubectl.run('get', 'workload', 'api', '-o', 'jsonpath={.metadata.generation} {.spec}');
    await kubectl.run('apply', '-f', file);
    const before = await stored();
    // kubectl says "configured" all the same: for custom kinds it sends lists without the defaults in them.
    await kubectl.run('apply', '-f', file);
    expect(await stored()).toBe(before);
    const diff = await kubectl.try(['diff', '-f', file]);
    expect([diff.code, diff.stdout]).toEqual([0, '']);
    expect(await kubectl.run('wait', 'workload/api', '--for=condition=ReplicasReady', '--timeout=30s')).toContain(
      'condition met',
    );
    await kubectl.run('delete', 'workload', 'api', '--timeout=30s');
    await agreesWithIpam(running().session, running().project());
  });
});

test('the same said with a claim template: its labels and its device are the claim’s', async () => {
  const { session } = running();
  await session.apply('project-alpha', join(examples, 'claim-templates.yaml'));
  await ready(session, running().project(), 'api', 2);
  const { items } = await running().cell().list(NetworkInterfaceClaim, { labelSelector: 'team=payments' });
  expect(items.map((each) => each.metadata.name).sort()).toEqual([
    'api-anywhere-us-central-1-0-primary',
    'api-anywhere-us-central-1-1-primary',
  ]);
  for (const { metadata, spec } of items) {
    expect(spec).toMatchObject({ interfaceName: 'eth0', ipFamilies: ['IPv6', 'IPv4'], reclaimPolicy: 'Delete' });
    const found = await running().cell().get(NetworkInterface, { namespace, name: metadata.name });
    expect(found?.spec).toMatchObject({ interfaceName: 'eth0', reclaimPolicy: 'Delete' });
    // Labels of compute travel on to the interface; a tenant's own stay on the claim.
    expect(found?.metadata.labels).toMatchObject({ 'compute.datumapis.com/workload-name': 'api' });
    expect(found?.metadata.labels?.team).toBeUndefined();
  }
  const shown = await instancesOf(running().project(), 'api');
  expect(shown.map((each) => each.status?.networkInterfaces?.[0]?.name)).toEqual(['primary', 'primary']);
});
