import { afterEach, beforeAll, expect, test } from 'vitest';
import {
  claimName,
  clusterLabel,
  computeAnnotations,
  deploymentName,
  type Instance,
  IPClaim,
  IPClass,
  IPPool,
  identityLabels,
  instanceName,
  Network,
  NetworkContext,
  NetworkInterface,
  ServingLocation,
  Subnet,
  upstreamLabels,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import type { QuotaAnswer } from '../../../src/compute/index.ts';
import { apiVersionOf, findCondition, isConditionTrue, Namespace } from '../../../src/meta/index.ts';
import { networkObject, scarceClass, workloadObject } from '../support/objects.ts';
import { here, World } from './world.ts';

// One of forty instances is refused, for each reason there is: the others do not notice, and the fortieth says why.

const there = 'eu-west-1';
let world: World;
afterEach(() => world.stack.close());

interface Case {
  /** What stands in the way, before the workload is made. */
  obstacle(world: World): Promise<void>;
  /** Parts of the message: what a person has to know. */
  names: string[];
  /** Where the refused instance is: one of forty here, or the only one there. */
  where: 'here' | 'there';
  classes?: string[];
  /** Takes the obstacle away again: then all forty run. */
  mend?(world: World): Promise<void>;
}

const slot = 7;
const slotInstance = instanceName(deploymentName('forty', 'here', here), slot);
const slotInterface = claimName(slotInstance, 'eth0');

/** An interface that already has the name of the slot's. */
function found(more: Partial<NetworkInterface['spec']>): Case['obstacle'] {
  return async ({ stack, namespace }) => {
    const spec = {
      network: { name: 'default' },
      interfaceName: 'eth0',
      attachmentMode: 'Netns',
      reclaimPolicy: 'Delete',
      addresses: [
        { family: 'IPv6', address: 'fd20:1000:0:0:77::/96', primary: true },
        { family: 'IPv4', address: '10.128.0.77/32' },
      ],
      ...more,
    } as NetworkInterface['spec'];
    await stack.cell(here).create(NetworkInterface, {
      apiVersion: apiVersionOf(NetworkInterface),
      kind: NetworkInterface.kind,
      metadata: { name: slotInterface, namespace },
      spec,
    });
  };
}

/** The presence of the network in the other cell as somebody else wrote it: nobody carries one over it. */
function context(spec: Partial<NonNullable<NetworkContext['spec']>>): Case['obstacle'] {
  return async ({ stack, namespace }) => {
    const original = await stack.cell(here).get(Namespace, { namespace: '', name: namespace });
    const { labels = {} } = original?.metadata ?? {};
    await stack
      .cell(there)
      .create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    await stack.cell(there).create(NetworkContext, {
      apiVersion: apiVersionOf(NetworkContext),
      kind: NetworkContext.kind,
      metadata: { name: `default-${there}`, namespace },
      spec: { network: { name: 'default' }, location: { name: there }, ...spec },
    });
  };
}

/** A namespace of the other cell that the agent does not put right, with labels that say nothing true of a project. */
function namespaceOf(labels: Record<string, string>): Case['obstacle'] {
  return async ({ stack, namespace }) => {
    const own = `/api/v1/namespaces/${namespace}`;
    stack.wire.beforeWrite = async ({ plane, path }) => {
      if (plane === `cell/${there}` && path === own) throw new Error('connect ECONNREFUSED');
    };
    const metadata = { name: namespace, labels };
    await stack.cell(there).create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  };
}

const subnetName = `default-${there}-ipv6`;

/** Whatever a controller sends to these objects of the other cell is lost on the way. */
function lost(controller: string): Case['obstacle'] {
  return async ({ stack }) => {
    stack.wire.beforeWrite = async ({ by, plane }) => {
      if (by === controller && plane === `cell/${there}`) throw new Error('connect ECONNREFUSED');
    };
  };
}

const cases: Record<string, Case> = {
  AddressPoolExhausted: {
    async obstacle({ project }) {
      const { ipClass, pool } = scarceClass('scarce', '192.0.2.0/26');
      // 39 of the 64 are free.
      const reservations = { leading: 25, trailing: 0, unitPrefixLength: 32 };
      await project.create(IPClass, ipClass);
      await project.create(IPPool, {
        ...pool,
        spec: { ...pool.spec!, reservations },
      });
    },
    names: ['class scarce', 'pool scarce'],
    where: 'here',
    classes: ['scarce'],
  },
  NetworkMismatch: {
    obstacle: found({ network: { name: 'other' } }),
    names: [slotInterface, 'network other'],
    where: 'here',
  },
  InterfaceNameMismatch: {
    obstacle: found({ interfaceName: 'net1' }),
    names: [slotInterface, 'net1', 'eth0'],
    where: 'here',
  },
  InterfaceHeldByAnotherClaim: {
    async obstacle(world) {
      const [held] = await world.interfaces();
      await found({ claimRef: held!.spec.claimRef! })(world);
    },
    names: [slotInterface, `anchor-here-${here}-0-eth0`],
    where: 'here',
  },
  ReclaimPolicyMismatch: {
    obstacle: found({ reclaimPolicy: 'Retain' }),
    names: [slotInterface, 'Retain'],
    where: 'here',
  },
  AddressFamilyMissing: {
    obstacle: found({ addresses: [{ family: 'IPv6', address: 'fd20:1000:0:0:77::/96', primary: true }] }),
    names: [slotInterface, 'IPv4'],
    where: 'here',
  },
  AddressClassMissing: {
    obstacle: found({}),
    names: [slotInterface, 'public-unicast-ipv4'],
    where: 'here',
    classes: ['public-unicast-ipv4'],
  },
  RetainedAddressConflict: {
    async obstacle({ stack, project, namespace }) {
      const [other] = (await stack.cell(here).list(NetworkInterface, { namespace })).items;
      const system = await stack.cell(here).get(Namespace, { namespace: '', name: 'kube-system' });
      await project.create(IPClaim, {
        apiVersion: apiVersionOf(IPClaim),
        kind: IPClaim.kind,
        metadata: {
          name: `${slotInterface}-c-public-unicast-ipv4`,
          namespace: 'default',
          labels: {
            [identityLabels.cellUID]: system?.metadata.uid ?? '',
            [identityLabels.interfaceNamespace]: namespace,
            [identityLabels.interfaceName]: slotInterface,
            [identityLabels.holderUID]: other?.spec.claimRef?.uid ?? '',
          },
        },
        spec: { className: 'public-unicast-ipv4' },
      });
    },
    names: [`${slotInterface}-c-public-unicast-ipv4`],
    where: 'here',
    classes: ['public-unicast-ipv4'],
  },
  NetworkNotAvailableInLocation: {
    obstacle: lost('federation-down-networkcontexts'),
    names: ['Network default', there],
    where: 'there',
  },
  ProjectUnresolved: { obstacle: namespaceOf({}), names: ['ns-'], where: 'there' },
  ProjectNamespaceNotFound: {
    obstacle: namespaceOf({
      [upstreamLabels.clusterName]: clusterLabel('alpha'),
      [upstreamLabels.namespace]: 'elsewhere',
    }),
    names: ['Namespace elsewhere', 'project alpha'],
    where: 'there',
    async mend({ project }) {
      await project.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } });
    },
  },
  NoLocationIdentity: {
    async obstacle({ stack }) {
      await lost('federation-down-servinglocations')(world);
      await stack.cell(there).delete(ServingLocation, { namespace: '', name: there });
    },
    names: ['ServingLocation'],
    where: 'there',
    async mend({ stack }) {
      stack.wire.beforeWrite = undefined;
    },
  },
  SubnetGatewayUnusable: {
    async obstacle(world) {
      await context({ ipFamilies: ['IPv6', 'IPv4'] })(world);
      await world.stack.cell(there).create(Subnet, {
        apiVersion: apiVersionOf(Subnet),
        kind: Subnet.kind,
        metadata: { name: subnetName, namespace: world.namespace },
        spec: {
          subnetClass: 'private',
          networkContext: { name: `default-${there}` },
          location: { name: there },
          ipFamily: 'IPv6',
          startAddress: 'fd20',
          prefixLength: 64,
        },
      });
    },
    names: [subnetName, 'fd20/64'],
    where: 'there',
    async mend({ stack, namespace }) {
      const body = { spec: { startAddress: 'fd20:1000:0:1::' } };
      await stack.cell(there).patch(Subnet, { namespace, name: subnetName }, { type: 'merge', body });
    },
  },
  AllocationFailed: {
    async obstacle({ stack }) {
      stack.wire.beforeWrite = async ({ plane, path }, body) => {
        const its = plane.startsWith('project/') && path.endsWith('/ipclaims') && String(body).includes(slotInterface);
        if (its) throw new Error('connect ECONNREFUSED');
      };
    },
    names: [slotInterface, 'connect ECONNREFUSED'],
    where: 'here',
    async mend({ stack }) {
      stack.wire.beforeWrite = undefined;
    },
  },
  AddressFamilyNotCarried: { obstacle: context({ ipFamilies: ['IPv6'] }), names: ['IPv4', there], where: 'there' },
  AddressFamiliesUnknown: { obstacle: context({}), names: [`default-${there}`], where: 'there' },
};

function forty({ classes = [], where }: Pick<Case, 'classes' | 'where'>): Workload {
  const object = workloadObject({ name: 'forty', replicas: where === 'here' ? 40 : 39, classes });
  if (where === 'there') {
    object.spec.placements.push({
      name: 'there',
      locations: [{ name: there }],
      scaleSettings: { minReplicas: 1 },
    } as (typeof object.spec.placements)[number]);
  }
  return object;
}

/** How long, in virtual time, until 39 instances of the workload run. */
async function timeOf39(workload: Workload): Promise<number> {
  const { clock } = world.stack;
  const since = clock.monotonic();
  await world.project.create(Workload, workload);
  await world.stack.until('39 run', async () => {
    const ready = (await world.instances('forty')).filter((each) => isConditionTrue(each.status?.conditions, 'Ready'));
    return ready.length >= 39;
  });
  return clock.monotonic() - since;
}

/** A world in which one workload runs already: the network is there. */
async function open(): Promise<void> {
  world = await World.open({ cells: [here, there] });
  await world.run({ name: 'anchor', replicas: 1 });
}

/** What it takes where nothing is refused. */
let undisturbed: number;
beforeAll(async () => {
  await open();
  undisturbed = await timeOf39(forty({ where: 'here' }));
  await world.stack.close();
});

test.each(Object.entries(cases))('%s', async (reason, each) => {
  await open();
  await each.obstacle(world);
  const took = await timeOf39(forty(each));

  const refused = await world.stack.until(`one says ${reason}`, async () => {
    const items: Instance[] = await world.instances('forty');
    const waiting = items.filter(({ status }) => !isConditionTrue(status?.conditions, 'Ready'));
    const ready = findCondition(waiting[0]?.status?.conditions, 'Ready');
    return items.length === 40 && waiting.length === 1 && ready?.reason === reason && ready;
  });
  expect(refused.status).toBe('False');
  for (const name of each.names) expect(refused.message).toContain(name);
  const condition = await world.stack.until('the workload counts it', async () => {
    const found = findCondition((await world.workload('forty'))?.status?.conditions, 'ReplicasReady');
    return found?.reason === reason && found;
  });
  expect(condition).toMatchObject({
    status: 'False',
    message: `1 of 40 instances wait: ${reason}: ${refused.message}`,
  });
  const deployments = (await world.deployments()).filter(({ spec }) => spec?.workloadRef.name === 'forty');
  const of = deployments.find(({ spec }) => spec?.placementName === each.where);
  const count = each.where === 'here' ? 40 : 1;
  expect(findCondition(of?.status?.conditions, 'ReplicasReady')?.message).toBe(
    `1 of ${count} instances wait: ${reason}: ${refused.message}`,
  );
  await world.stack.until('the workload is available', async () => {
    const found = findCondition((await world.workload('forty'))?.status?.conditions, 'Available');
    return found?.status === 'True' && found.reason === 'AvailablePlacementFound';
  });
  // It is looked at in steps of 50 ms.
  expect(took).toBeLessThanOrEqual(undisturbed + 100);
  if (each.mend === undefined) return;
  await each.mend(world);
  await world.ready('forty', 40);
});

test('a network that does not exist is said in the words of whoever looked for it, by all who wait; then they run', async () => {
  await open();
  await world.project.create(Workload, workloadObject({ name: 'early', replicas: 2, network: 'later' }));
  const message = 'Network later does not exist in namespace default';
  await world.stack.until('both instances say so', async () => {
    const said = (await world.instances('early')).map(({ status }) => findCondition(status?.conditions, 'Ready'));
    return (
      said.length === 2 && said.every((each) => each?.reason === 'NetworkNotFound' && each.message.startsWith(message))
    );
  });
  const counted = `2 of 2 instances wait: NetworkNotFound: ${message}`;
  for (const type of ['ReplicasReady', 'Available']) {
    await world.stack.until(`${type} says so`, async () => {
      const [deployment] = (await world.deployments()).filter(({ spec }) => spec?.workloadRef.name === 'early');
      const said = [deployment, await world.workload('early')].map((each) =>
        findCondition(each?.status?.conditions, type),
      );
      const start = type === 'Available' ? message : counted;
      return said.every((each) => each?.reason === 'NetworkNotFound' && each.message.startsWith(start));
    });
  }
  await world.project.create(Network, networkObject('later'));
  await world.ready('early', 2);
  const [deployment] = (await world.stack.hub.list(WorkloadDeployment, { namespace: world.namespace })).items.filter(
    ({ metadata }) => metadata.name.startsWith('early'),
  );
  expect(deployment?.metadata.annotations).not.toHaveProperty([computeAnnotations.networkRefusal]);
});

test('quota that is used up is said by the one that has none, asked for again, and holds back nobody else', async () => {
  let limit = 39;
  const granted = new Set<string>();
  const evaluate = ({ metadata }: Instance & { metadata: { uid: string } }): QuotaAnswer => {
    if (metadata.name.startsWith('anchor') || granted.has(metadata.uid) || granted.size < limit) {
      if (!metadata.name.startsWith('anchor')) granted.add(metadata.uid);
      return { granted: true, reason: 'QuotaAvailable', message: 'There is room' };
    }
    return { granted: false, reason: 'QuotaExceeded', message: `All ${limit} instances are in use` };
  };
  world = await World.open({ cells: [here, there], quota: { evaluate } });
  await world.run({ name: 'anchor', replicas: 1 });
  expect(await timeOf39(forty({ where: 'here' }))).toBeLessThanOrEqual(undisturbed + 100);
  await world.stack.until('the workload counts it', async () => {
    const found = findCondition((await world.workload('forty'))?.status?.conditions, 'ReplicasReady');
    return found?.message === '1 of 40 instances wait: QuotaExceeded: All 39 instances are in use';
  });
  const [waiting] = (await world.instances('forty')).filter((each) => World.readyOf(each) === 'False QuotaExceeded');
  expect(findCondition(waiting?.status?.conditions, 'QuotaGranted')).toMatchObject({
    status: 'False',
    reason: 'QuotaExceeded',
  });
  limit = 40;
  await world.ready('forty', 40);
});
