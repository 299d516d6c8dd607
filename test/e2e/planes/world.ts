import {
  clusterLabel,
  hubNamespaceName,
  IPClaim,
  IPPool,
  Location,
  LocationBinding,
  Network,
  NetworkBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  networkingLabels,
  Subnet,
  topologyKeys,
  upstreamLabels,
} from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { apiVersionOf, Namespace, type Stored } from '../../../src/meta/index.ts';
import type { Stack } from '../../harness/stack.ts';
import { said } from '../support/conditions.ts';
import { locationBindingObject, locationObject } from '../support/objects.ts';

/** What people do in the scenarios of reference E that need more than a cell: a project, its hub namespace, a location. */

const apiVersion = apiVersionOf(Network);
export const location = 'us-central-1';
type Family = 'IPv4' | 'IPv6';

/** One project, as its people and the consumers of its networks see it. */
export class Tenant {
  readonly stack: Stack;
  readonly id: string;
  /** The namespace that stands for the project's `default` on the hub and in cells. */
  readonly namespace: string;

  private constructor(stack: Stack, id: string, namespace: string) {
    this.stack = stack;
    this.id = id;
    this.namespace = namespace;
  }

  /** Makes its namespace on the hub, as compute does. */
  static async open(stack: Stack, id = 'project-alpha'): Promise<Tenant> {
    const upstream = await stack.project(id).get(Namespace, { namespace: '', name: 'default' });
    const name = hubNamespaceName(upstream?.metadata.uid ?? '');
    const labels = { [upstreamLabels.clusterName]: clusterLabel(id), [upstreamLabels.namespace]: 'default' };
    await stack.hub.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    return new Tenant(stack, id, name);
  }

  get project(): Client {
    return this.stack.project(this.id);
  }

  network(name: string, ipFamilies: Family[] | undefined = undefined, mtu?: number): Promise<Stored<Network>> {
    const spec = {
      ipam: { mode: 'Auto' },
      ...(ipFamilies === undefined ? {} : { ipFamilies }),
      ...(mtu === undefined ? {} : { mtu }),
    };
    const object = { apiVersion, kind: Network.kind, metadata: { name, namespace: 'default' }, spec };
    return this.project.create(Network, object as Network);
  }

  getNetwork(name: string): Promise<Stored<Network> | undefined> {
    return this.project.get(Network, { namespace: 'default', name });
  }

  locationBinding(name: string, cityCode?: string): Promise<unknown> {
    return this.project.create(LocationBinding, locationBindingObject(name, cityCode));
  }

  /** A consumer on the hub declares that it needs a network in a location. */
  bind(name: string, network: string, at = location): Promise<Stored<NetworkBinding>> {
    return this.stack.hub.create(NetworkBinding, {
      apiVersion,
      kind: NetworkBinding.kind,
      metadata: {
        name,
        namespace: this.namespace,
        labels: { [networkingLabels.network]: network, [networkingLabels.location]: at },
      },
      spec: { network: { name: network }, location: { name: at }, consumer: { kind: 'LoadBalancer', name } },
    });
  }

  unbind(name: string): Promise<boolean> {
    return this.stack.hub.delete(NetworkBinding, { namespace: this.namespace, name });
  }

  context(name: string): Promise<Stored<NetworkContext> | undefined> {
    return this.project.get(NetworkContext, { namespace: 'default', name });
  }

  cellContext(name: string, at = location): Promise<Stored<NetworkContext> | undefined> {
    return this.stack.cell(at).get(NetworkContext, { namespace: this.namespace, name });
  }

  subnet(name: string): Promise<Stored<Subnet> | undefined> {
    return this.project.get(Subnet, { namespace: 'default', name });
  }

  /** A claim in a cell, as compute makes one. */
  claim(name: string, network: string, spec: object = {}, at = location): Promise<Stored<NetworkInterfaceClaim>> {
    const object = {
      apiVersion,
      kind: NetworkInterfaceClaim.kind,
      metadata: { name, namespace: this.namespace },
      spec: { network: { name: network }, ...spec },
    };
    return this.stack.cell(at).create(NetworkInterfaceClaim, object as NetworkInterfaceClaim);
  }

  getClaim(name: string, at = location): Promise<Stored<NetworkInterfaceClaim> | undefined> {
    return this.stack.cell(at).get(NetworkInterfaceClaim, { namespace: this.namespace, name });
  }

  deleteClaim(name: string, at = location): Promise<boolean> {
    return this.stack.cell(at).delete(NetworkInterfaceClaim, { namespace: this.namespace, name });
  }

  getInterface(name: string, at = location): Promise<Stored<NetworkInterface> | undefined> {
    return this.stack.cell(at).get(NetworkInterface, { namespace: this.namespace, name });
  }

  /** The copy a project sees. */
  copy(name: string): Promise<Stored<NetworkInterface> | undefined> {
    return this.project.get(NetworkInterface, { namespace: 'default', name });
  }

  async pools(className: string): Promise<Stored<IPPool>[]> {
    const { items } = await this.project.list(IPPool);
    return items.filter((pool) => pool.spec?.classRef?.name === className);
  }

  async held(): Promise<Stored<IPClaim>[]> {
    return (await this.project.list(IPClaim, { namespace: 'default' })).items;
  }

  /** Waits until a claim in a cell has its addresses. */
  allocated(name: string, at = location): Promise<Stored<NetworkInterfaceClaim>> {
    return this.stack.until(`claim ${name} allocated`, async () => {
      const claim = await this.getClaim(name, at);
      return said(claim, 'Allocated')?.status === 'True' && claim;
    });
  }

  /** Waits until the Ready condition of what `look` finds has that reason, and answers what it found. */
  says<T extends { status?: unknown }>(
    what: string,
    look: () => Promise<T | undefined>,
    reason: string,
    type = 'Ready',
  ): Promise<T> {
    return this.stack.until(`${what} says ${reason}`, async () => {
      const found = await look();
      return said(found, type)?.reason === reason && found;
    });
  }

  binding(name: string): Promise<Stored<NetworkBinding> | undefined> {
    return this.stack.hub.get(NetworkBinding, { namespace: this.namespace, name });
  }
}

export function topology(cityCode: string): Record<string, string> {
  return { [topologyKeys.cityCode]: cityCode, [topologyKeys.region]: 'us-west-1' };
}

export function createLocation(stack: Stack, name: string, places = topology('DSM')): Promise<unknown> {
  return stack.hub.create(Location, locationObject(name, places));
}
