import { join } from 'node:path';
import {
  Instance,
  Network,
  NetworkAttachmentDefinition,
  NetworkInterface,
  NetworkInterfaceClaim,
  Workload,
  WorkloadDeployment,
} from '../../api/index.ts';
import type { Client } from '../../kube/index.ts';
import { findCondition, isConditionTrue, jsonEqual } from '../../meta/index.ts';
import { CheckFailed, keyOf, type Session } from './session.ts';
import { addressesOf, agreesWithIpam, identities, instancesOf, ready } from './view.ts';

export interface DemoContext {
  session: Session;
  /** Folder of the example manifests. */
  examples: string;
  project: Client;
  cell: Client;
  say(text: string): void;
}

/** One promise, shown and checked. Answers what a person may want to read of it. */
export interface Step {
  title: string;
  run(demo: DemoContext): Promise<string>;
}

function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new CheckFailed(otherwise);
}

function namesAndAddresses(instances: readonly Instance[]): Record<string, unknown> {
  return Object.fromEntries(instances.map((instance) => [instance.metadata.name, addressesOf(instance)]));
}

const web: Step = {
  title: 'a workload names kinds of addresses; every replica gets its own',
  async run(demo) {
    await demo.session.apply('project-alpha', join(demo.examples, 'workload.yaml'));
    const started = demo.session.now();
    const instances = await ready(demo.session, demo.project, 'web', 4);
    const took = demo.session.now() - started;
    for (const instance of instances) {
      const { ipv6, ipv4, external } = addressesOf(instance);
      const { name } = instance.metadata;
      expect(
        ipv6?.startsWith('fd20:1') === true && ipv6.endsWith('/96'),
        `${name} has IPv6 ${ipv6}, not a /96 of fd20:1000::/36`,
      );
      expect(/^10\.1(2[89]|3\d|4[0-3])\./.test(ipv4 ?? ''), `${name} has IPv4 ${ipv4}, not one of 10.128.0.0/12`);
      expect(
        external?.startsWith('198.51.100.') === true,
        `${name} has external ${external}, not one of 198.51.100.0/24`,
      );
      const shown = instance.status?.networkInterfaces?.[0]?.assignments;
      expect(
        shown?.networkIP === ipv6?.replace(/\/96$/, ''),
        `${name} prints ${shown?.networkIP}, not the address of ${ipv6}`,
      );
      expect(shown?.externalIP === external, `${name} prints external ${shown?.externalIP}, not ${external}`);
    }
    await identities(demo.project, instances);
    await agreesWithIpam(demo.session, demo.project);
    return `4 instances in ${Math.round(took)} ms`;
  },
};

const provider: Step = {
  title: 'the cell has all a node needs: network, device, MTU, addresses, gateways, and what to attach by',
  async run({ cell, session }) {
    const found = await session.until('two interfaces of web in the cell', async () => {
      const { items } = await cell.list(NetworkInterface);
      const ours = items.filter((each) => each.spec.claimRef?.name.startsWith('web-') === true);
      return ours.length === 2 ? ours : `there are ${ours.length}`;
    });
    for (const { metadata, spec, status } of found) {
      const gateways = (spec.addresses ?? []).map((address) => address.gateway ?? 'none');
      expect(
        spec.network.name === 'default' && spec.interfaceName === 'eth0',
        `${metadata.name} is not eth0 on default`,
      );
      expect(spec.mtu === 1460, `${metadata.name} has MTU ${spec.mtu}, not the network's 1460`);
      expect(gateways.length === 2 && !gateways.includes('none'), `${metadata.name} has gateways ${gateways.join()}`);
      expect(spec.addresses?.[0]?.primary === true, `${metadata.name}'s first family is not the primary one`);
      expect(status?.phase === 'Bound', `${metadata.name} is ${status?.phase}, not Bound`);
      const said = (type: string) => findCondition(status?.conditions, type)?.status;
      expect(said('Prepared') === 'True', `${metadata.name}: Prepared is ${said('Prepared')}`);
      // No node runs here: that traffic flows is for a node to say.
      expect(said('Programmed') === 'Unknown', `${metadata.name}: Programmed is ${said('Programmed')} without a node`);
      const key = { namespace: metadata.namespace ?? '', name: status?.attachmentRef?.name ?? '' };
      const config = (await cell.get(NetworkAttachmentDefinition, key))?.spec?.config ?? '';
      for (const { address } of spec.addresses ?? []) {
        expect(config.includes(address), `what a node would attach ${metadata.name} by lacks ${address}`);
      }
    }
    const claims = await cell.list(NetworkInterfaceClaim);
    const unbound = claims.items.find((claim) => !isConditionTrue(claim.status?.conditions, 'Bound'));
    expect(unbound === undefined, `claim ${unbound?.metadata.name} is not bound`);
    return `${found.length} interfaces in us-central-1`;
  },
};

/** Replaces one instance and waits for its successor. */
async function replace(demo: DemoContext, workload: string, count: number): Promise<void> {
  const [victim] = await ready(demo.session, demo.project, workload, count);
  expect(victim !== undefined, `${workload} has no instance`);
  const { items } = await demo.cell.list(Instance);
  const running = items.find((each) => each.metadata.name === victim.metadata.name);
  expect(running !== undefined, `${victim.metadata.name} does not run in us-central-1`);
  await demo.cell.delete(Instance, keyOf(running));
  await demo.session.until(`${victim.metadata.name} replaced`, async () => {
    const successor = await demo.cell.get(Instance, keyOf(running));
    return successor !== undefined && successor.metadata.uid !== running.metadata.uid
      ? true
      : 'it is not there again yet';
  });
}

async function scale(demo: DemoContext, workload: string, replicas: number): Promise<void> {
  const key = { namespace: 'default', name: workload };
  const object = await demo.project.get(Workload, key);
  expect(object !== undefined, `workload ${workload} is not there`);
  const placements = object.spec.placements.map((placement) => ({
    ...placement,
    scaleSettings: { ...placement.scaleSettings, minReplicas: replicas },
  }));
  await demo.project.patch(Workload, key, { type: 'merge', body: { spec: { placements } } });
}

async function gone(demo: DemoContext, workload: string): Promise<void> {
  await demo.project.delete(Workload, { namespace: 'default', name: workload });
  await demo.session.until(`workload ${workload} gone`, async () => {
    const there = await demo.project.get(Workload, { namespace: 'default', name: workload });
    const parts = await demo.project.list(WorkloadDeployment, {
      namespace: 'default',
      labelSelector: `compute.datumapis.com/workload-name=${workload}`,
    });
    return there === undefined && parts.items.length === 0 ? true : 'it is still draining';
  });
}

/** One policy through every event of the promise: what happens, and whether the same allocations are found again. */
interface Policy {
  workload: string;
  file: string;
  perPlacement: number;
  count: number;
  retained: boolean;
}

function promise(policy: Policy, event: string, keeps: boolean, happen: (demo: DemoContext) => Promise<void>): Step {
  const outcome = keeps ? 'same addresses' : 'new allocations';
  return {
    title: `${policy.retained ? 'Retain' : 'Delete'}: ${event}: ${outcome}`,
    async run(demo) {
      const before = await ready(demo.session, demo.project, policy.workload, policy.count);
      const held = await identities(demo.project, before);
      await happen(demo);
      const after = await ready(demo.session, demo.project, policy.workload, policy.count);
      if (keeps) {
        const same = jsonEqual(namesAndAddresses(before), namesAndAddresses(after));
        expect(
          same,
          `addresses changed: ${JSON.stringify(namesAndAddresses(before))} became ${JSON.stringify(namesAndAddresses(after))}`,
        );
        expect(
          jsonEqual(Object.fromEntries(held), Object.fromEntries(await identities(demo.project, after))),
          'IPAM holds them under other claims',
        );
      } else {
        const uids = new Set(held.values());
        const kept = [...(await identities(demo.project, after)).values()].filter((uid) => uids.has(uid));
        expect(kept.length === 0 || event.includes('scaled'), `${kept.length} allocations were kept`);
        expect(kept.length < uids.size, 'every allocation was kept');
      }
      await agreesWithIpam(demo.session, demo.project);
      return outcome;
    },
  };
}

function promises(policy: Policy): Step[] {
  const { workload, perPlacement, retained, file } = policy;
  return [
    promise(policy, 'instance replaced', true, (demo) => replace(demo, workload, policy.count)),
    promise(policy, 'scaled down, then up', retained, async (demo) => {
      await scale(demo, workload, 1);
      await ready(demo.session, demo.project, workload, policy.count / perPlacement);
      await scale(demo, workload, perPlacement);
    }),
    promise(policy, 'workload deleted, then created again', retained, async (demo) => {
      await gone(demo, workload);
      await demo.session.apply('project-alpha', join(demo.examples, file));
    }),
  ];
}

const template: Step = {
  title: 'a workload written with a claim template',
  async run(demo) {
    await demo.session.apply('project-alpha', join(demo.examples, 'claim-templates.yaml'));
    await ready(demo.session, demo.project, 'api', 2);
    const { items } = await demo.cell.list(NetworkInterfaceClaim, { labelSelector: 'team=payments' });
    const names = items.map((claim) => claim.metadata.name).sort();
    expect(
      jsonEqual(names, ['api-anywhere-us-central-1-0-primary', 'api-anywhere-us-central-1-1-primary']),
      `claims with the template's label are ${names.join(', ') || 'none'}`,
    );
    return names.join(', ');
  },
};

const returned: Step = {
  title: 'Retain: a retained interface is seen in the project and given back by deleting it there',
  async run(demo) {
    await gone(demo, 'web');
    const retained = await demo.session.until('the interfaces of web seen as kept', async () => {
      const { items } = await demo.project.list(NetworkInterface, { namespace: 'default' });
      const kept = items.filter((each) => each.metadata.name.startsWith('web-') && each.status?.phase === 'Available');
      return kept.length === 4 ? kept : `${kept.length} of 4`;
    });
    for (const each of retained) await demo.project.delete(NetworkInterface, keyOf(each));
    await demo.session.until('retained interfaces given back', async () => {
      const left = (await demo.project.list(NetworkInterface, { namespace: 'default' })).items;
      const names = left.filter((each) => each.metadata.name.startsWith('web-')).map((each) => each.metadata.name);
      return names.length === 0 ? true : `${names.join(', ')} are still there`;
    });
    await agreesWithIpam(demo.session, demo.project);
    return '4 interfaces and 12 addresses given back';
  },
};

const exhausted: Step = {
  title: 'a pool with room for four: four instances run, two say why they wait',
  async run(demo) {
    await demo.session.apply('project-alpha', join(demo.examples, 'exhausted-pool.yaml'));
    return demo.session
      .until('four of crowd ready, two refused', async () => {
        const instances = await instancesOf(demo.project, 'crowd');
        const running = instances.filter((each) => isConditionTrue(each.status?.conditions, 'Ready'));
        const refused = instances.flatMap((each) => {
          const condition = findCondition(each.status?.conditions, 'Ready');
          return condition?.reason === 'AddressPoolExhausted' ? [condition.message] : [];
        });
        if (running.length !== 4 || refused.length !== 2) return `${running.length} run, ${refused.length} are refused`;
        const told = refused.every((message) => message.includes('scarce-ipv4'));
        expect(told, `the refusal names no class: ${refused[0]}`);
        const workload = await demo.project.get(Workload, { namespace: 'default', name: 'crowd' });
        const replicas = findCondition(workload?.status?.conditions, 'ReplicasReady');
        if (replicas?.reason !== 'AddressPoolExhausted') return `the workload says ${replicas?.reason}`;
        return { said: replicas.message };
      })
      .then(({ said }) => said);
  },
};

const family: Step = {
  title: 'a family the network does not carry: said on the instance; the workload beside it runs',
  async run(demo) {
    await demo.session.apply('project-alpha', join(demo.examples, 'family-not-carried.yaml'));
    const { said } = await demo.session.until('asks-for-four refused, asks-for-six ready', async () => {
      const [refused] = await instancesOf(demo.project, 'asks-for-four');
      const [running] = await instancesOf(demo.project, 'asks-for-six');
      const condition = findCondition(refused?.status?.conditions, 'Ready');
      if (condition?.reason !== 'AddressFamilyNotCarried') return `asks-for-four says ${condition?.reason}`;
      if (!isConditionTrue(running?.status?.conditions, 'Ready')) return 'asks-for-six is not ready';
      return { said: condition.message };
    });
    expect(said.includes('IPv4') && said.includes('six-only'), `the refusal names no family and network: ${said}`);
    return said;
  },
};

const networks: Step = {
  title: 'everything deleted: IPAM is empty',
  async run(demo) {
    for (const workload of ['api', 'crowd', 'asks-for-four', 'asks-for-six']) await gone(demo, workload);
    for (const name of ['default', 'six-only']) {
      await demo.project.delete(Network, { namespace: 'default', name });
    }
    await demo.session.until('networks gone', async () => {
      const left = (await demo.project.list(Network)).items.map((each) => each.metadata.name);
      return left.length === 0 ? true : `${left.join(', ')} are still there`;
    });
    await agreesWithIpam(demo.session, demo.project);
    return 'no claim, no allocation';
  },
};

const retain: Policy = { workload: 'web', file: 'workload.yaml', perPlacement: 2, count: 4, retained: true };
const remove: Policy = { workload: 'api', file: 'claim-templates.yaml', perPlacement: 2, count: 2, retained: false };

export const steps: readonly Step[] = [
  web,
  provider,
  ...promises(retain),
  template,
  ...promises(remove),
  returned,
  exhausted,
  family,
  networks,
];
