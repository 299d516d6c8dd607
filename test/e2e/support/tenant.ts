import {
  Instance,
  Network,
  NetworkInterface,
  NetworkInterfaceClaim,
  Workload,
  WorkloadDeployment,
} from '../../../src/api/index.ts';
import { type Addresses, addressesOf, agreesWithIpam, identities, ready } from '../../../src/cli/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { isApiError, type Stored } from '../../../src/meta/index.ts';
import { type WorkloadShape, workloadObject } from './objects.ts';
import type { Running } from './platform.ts';

/** Everything that the promise speaks of, of the instances of one workload. */
export interface Holdings {
  /** Addresses by instance, as the project shows them. */
  addresses: Record<string, Addresses>;
  /** UIDs of the interfaces in the cell, by name. */
  interfaces: Record<string, string>;
  /** UIDs of the IPClaims in IPAM, by the block each holds. */
  allocations: Record<string, string>;
  /** UIDs of the instances, by name. */
  instances: Record<string, string>;
}

/** Who uses one project, with the cell of one location in sight. */
export class Tenant {
  readonly running: Running;
  readonly project: Client;
  readonly cell: Client;

  constructor(running: Running) {
    this.running = running;
    this.project = running.project();
    this.cell = running.cell();
  }

  /** Makes a workload, and its network where one is given, and waits until all of it is ready. */
  async run(shape: WorkloadShape, network?: Network): Promise<Holdings> {
    if (network !== undefined) await this.project.create(Network, network);
    await this.project.create(Workload, workloadObject(shape));
    return this.ready(shape.name, shape.replicas);
  }

  /** Waits until the workload has so many instances, all ready, and IPAM agrees with what is published. */
  async ready(name: string, replicas: number): Promise<Holdings> {
    const instances = await ready(this.running.session, this.project, name, replicas);
    await agreesWithIpam(this.running.session, this.project);
    return this.holdings(instances);
  }

  async holdings(instances: readonly Stored<Instance>[]): Promise<Holdings> {
    const names = instances.flatMap(({ status }) =>
      (status?.networkInterfaces ?? []).map((each) => each.networkInterfaceRef?.name ?? ''),
    );
    const { items } = await this.cell.list(NetworkInterface);
    return {
      addresses: Object.fromEntries(instances.map((each) => [each.metadata.name, addressesOf(each)])),
      interfaces: uidsOf(items.filter((each) => names.includes(each.metadata.name))),
      allocations: Object.fromEntries(await identities(this.project, instances)),
      instances: uidsOf(instances),
    };
  }

  async scale(name: string, replicas: number): Promise<void> {
    await this.project.patch(Workload, inDefault(name), {
      type: 'json',
      body: [{ op: 'replace', path: '/spec/placements/0/scaleSettings/minReplicas', value: replicas }],
    });
  }

  /** Deletes a workload and waits until nothing of it is left but what is retained. */
  async remove(name: string): Promise<void> {
    await this.project.delete(Workload, inDefault(name));
    await this.gone(name);
  }

  async gone(name: string): Promise<void> {
    await this.running.session.until(`workload ${name} gone`, async () => {
      const workload = await this.project.get(Workload, inDefault(name));
      const { items } = await this.project.list(WorkloadDeployment, { namespace: 'default' });
      const parts = items.filter((each) => each.spec?.workloadRef.name === name);
      return workload === undefined && parts.length === 0 ? true : 'it is still draining';
    });
  }

  /** Creates a workload as soon as its name is free again. */
  async createOnceFree(shape: WorkloadShape): Promise<void> {
    await this.running.session.until(`workload ${shape.name} accepted`, async () => {
      try {
        await this.project.create(Workload, workloadObject(shape));
        return true;
      } catch (error) {
        if (isApiError(error, 'AlreadyExists')) return 'the former one is still there';
        throw error;
      }
    });
  }

  /** Waits until an instance of the name is ready again that is another one. */
  replaced(name: string, before: Holdings): Promise<true> {
    return this.running.session.until(`instance ${name} replaced`, async () => {
      const instance = await this.project.get(Instance, inDefault(name));
      if (instance === undefined) return 'it is not there';
      return instance.metadata.uid === before.instances[name] ? 'it is the former one' : true;
    });
  }

  async inCell(name: string): Promise<{ namespace: string; name: string }> {
    return { namespace: await this.running.hubNamespace(), name };
  }

  async interfaceOf(name: string): Promise<Stored<NetworkInterface> | undefined> {
    return this.cell.get(NetworkInterface, await this.inCell(name));
  }

  async claimOf(name: string): Promise<Stored<NetworkInterfaceClaim> | undefined> {
    return this.cell.get(NetworkInterfaceClaim, await this.inCell(name));
  }
}

export function inDefault(name: string): { namespace: string; name: string } {
  return { namespace: 'default', name };
}

function uidsOf(objects: readonly Stored<Instance | NetworkInterface>[]): Record<string, string> {
  return Object.fromEntries(objects.map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** Same interfaces, same addresses, held by the same claims in IPAM. */
export function sameNetwork(holdings: Holdings): Omit<Holdings, 'instances'> {
  const { addresses, interfaces, allocations } = holdings;
  return { addresses, interfaces, allocations };
}

/** UIDs that both have: of interfaces and of allocations. Empty where everything is new. */
export function kept(before: Holdings, after: Holdings): string[] {
  const uids = ({ interfaces, allocations }: Holdings) => [...Object.values(interfaces), ...Object.values(allocations)];
  const former = new Set(uids(before));
  return uids(after).filter((uid) => former.has(uid));
}
