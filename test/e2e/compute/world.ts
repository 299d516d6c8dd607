import { IpPrefix } from '../../../src/address/index.ts';
import {
  hubNamespaceName,
  type Instance,
  IPAllocation,
  Location,
  LocationBinding,
  Network,
  NetworkInterface,
  NetworkInterfaceClaim,
  topologyKeys,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { checkAgainstIpam, identities, instancesOf, published } from '../../../src/cli/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { findCondition, isConditionTrue, Namespace, type Stored } from '../../../src/meta/index.ts';
import { Stack, type StackOptions } from '../../harness/stack.ts';
import {
  locationBindingObject,
  locationObject,
  networkObject,
  type WorkloadShape,
  workloadObject,
} from '../support/objects.ts';

export const here = 'us-central-1';

export interface Held {
  /** Addresses by instance and interface, as the project shows them. */
  shown: Record<string, string[]>;
  /** UIDs of the IPClaims behind them, by block. */
  claims: Record<string, string>;
  /** UIDs of the cell's interfaces, by name. */
  interfaces: Record<string, string>;
  /** UIDs of the project's copies of instances, by name. */
  instances: Record<string, string>;
}

/** One project whose people run workloads: every plane and controller real, in virtual time, with IPAM as it is seeded. */
export class World {
  readonly stack: Stack;
  /** The namespace on the hub and in cells that stands for the project's `default`. */
  readonly namespace: string;

  private constructor(stack: Stack, namespace: string) {
    this.stack = stack;
    this.namespace = namespace;
  }

  static async open({ cells = [here], ...options }: StackOptions = {}): Promise<World> {
    const stack = await Stack.open({ projects: ['alpha'], seeds: 'platform', cells, ...options });
    for (const name of cells) {
      const cityCode = name.toUpperCase();
      await stack.hub.create(Location, locationObject(name, { [topologyKeys.cityCode]: cityCode }));
      await stack.project('alpha').create(LocationBinding, locationBindingObject(name, cityCode));
    }
    const project = stack.project('alpha');
    await project.create(Network, networkObject('default'));
    const upstream = await project.get(Namespace, { namespace: '', name: 'default' });
    return new World(stack, hubNamespaceName(upstream?.metadata.uid ?? ''));
  }

  get project(): Client {
    return this.stack.project('alpha');
  }

  /** Makes a workload and waits until all of it runs. */
  async run(shape: WorkloadShape): Promise<Held> {
    await this.project.create(Workload, workloadObject(shape));
    return this.ready(shape.name, shape.replicas);
  }

  async scale(name: string, replicas: number): Promise<void> {
    await this.project.patch(
      Workload,
      { namespace: 'default', name },
      {
        type: 'json',
        body: [{ op: 'replace', path: '/spec/placements/0/scaleSettings/minReplicas', value: replicas }],
      },
    );
  }

  workload(name: string): Promise<Stored<Workload> | undefined> {
    return this.project.get(Workload, { namespace: 'default', name });
  }

  async deployments(): Promise<Stored<WorkloadDeployment>[]> {
    return (await this.project.list(WorkloadDeployment, { namespace: 'default' })).items;
  }

  instances(name: string): Promise<Stored<Instance>[]> {
    return instancesOf(this.project, name);
  }

  /** What `Ready` of an instance says, as `True Available`. */
  static readyOf(instance: Instance): string {
    const ready = findCondition(instance.status?.conditions, 'Ready');
    return `${ready?.status} ${ready?.reason}`;
  }

  /** Waits until a workload has so many instances, all ready, none other, and says so; then IPAM agrees. */
  async ready(name: string, count: number, seconds = 120): Promise<Held> {
    const instances = await this.stack.until(
      `${count} instances of ${name} ready`,
      async () => {
        const items = await this.instances(name);
        const all = items.every(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
        const { status } = (await this.workload(name)) ?? {};
        return items.length === count && all && status?.readyReplicas === count && status.replicas === count && items;
      },
      seconds,
    );
    await this.agrees();
    return this.held(instances);
  }

  async held(instances: readonly Stored<Instance>[]): Promise<Held> {
    const interfaces = await this.interfaces();
    const mine = new Set(instances.map(({ status }) => status?.networkInterfaces?.[0]?.networkInterfaceRef?.name));
    const uidsOf = (objects: readonly Stored<Instance | NetworkInterface>[]) =>
      Object.fromEntries(objects.map(({ metadata }) => [metadata.name, metadata.uid]));
    return {
      shown: Object.fromEntries(
        instances.map(({ metadata, status }) => [
          metadata.name,
          (status?.networkInterfaces ?? []).flatMap(({ addresses = [], externalAddresses = [] }) =>
            [...addresses, ...externalAddresses].map(({ address }) => address),
          ),
        ]),
      ),
      claims: Object.fromEntries(await identities(this.project, instances)),
      interfaces: uidsOf(interfaces.filter(({ metadata }) => mine.has(metadata.name))),
      instances: uidsOf(instances),
    };
  }

  /** Interfaces in the cell, retained ones included. */
  async interfaces(at = here): Promise<Stored<NetworkInterface>[]> {
    return (await this.stack.cell(at).list(NetworkInterface, { namespace: this.namespace })).items;
  }

  async claims(at = here): Promise<Stored<NetworkInterfaceClaim>[]> {
    return (await this.stack.cell(at).list(NetworkInterfaceClaim, { namespace: this.namespace })).items;
  }

  /** Blocks that IPAM has handed out. */
  async allocated(): Promise<string[]> {
    const { items } = await this.project.list(IPAllocation, { namespace: 'default' });
    return items.flatMap(({ spec, status }) => (spec?.purpose === 'Claim' ? [status?.allocatedCIDR ?? ''] : []));
  }

  /** Waits until IPAM holds exactly what the project's interfaces publish, word for word. */
  async agrees(): Promise<void> {
    let last: unknown;
    const check = async () => {
      try {
        await checkAgainstIpam(this.project, await published(this.project));
        return true;
      } catch (error) {
        last = error;
        return false;
      }
    };
    await this.stack.until('IPAM holds what is published', check, 60).catch((error) => {
      throw new Error(`${error.message}: ${last}`);
    });
  }
}

/** Two blocks of which one contains the other; undefined where all are apart. */
export function overlapping(blocks: readonly string[]): [string, string] | undefined {
  const prefixes = blocks.map((text) => IpPrefix.parse(text)).sort((a, b) => a.compare(b));
  for (let index = 1; index < prefixes.length; index++) {
    const [a, b] = [prefixes[index - 1]!, prefixes[index]!];
    if (a.overlaps(b)) return [a.toString(), b.toString()];
  }
  return undefined;
}
