import {
  IPAllocation,
  IPClaim,
  IPPool,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  Subnet,
  upstreamLabels,
} from '../../../src/api/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { apiVersionOf, Event, Namespace, type Stored } from '../../../src/meta/index.ts';
import { type NetworkDeps, networkCellControllers } from '../../../src/network/index.ts';
import { rootPool } from '../../harness/datum.ts';
import { Stack } from '../../harness/stack.ts';

export const location = 'us-central-1';
export const alpha = 'ipam-e2e-alpha';
export const beta = 'ipam-e2e-beta';

/** Reference E: namespaces of the cell. */
const namespaces: Record<string, Record<string, string>> = {
  [alpha]: { [upstreamLabels.clusterName]: 'cluster-project-alpha', [upstreamLabels.namespace]: 'default' },
  [beta]: { [upstreamLabels.clusterName]: 'cluster-project-beta', [upstreamLabels.namespace]: 'default' },
  'ipam-e2e-legacy': { [upstreamLabels.clusterName]: 'cluster-_project-alpha', [upstreamLabels.namespace]: 'default' },
  'ipam-e2e-unlabeled': {},
};

/** A cell with network services alone, the IPAM of two projects, and what people and other services do there. */
export class World {
  readonly stack: Stack;
  readonly #configure: (deps: Partial<NetworkDeps>) => void;

  private constructor(stack: Stack, configure: (deps: Partial<NetworkDeps>) => void) {
    this.stack = stack;
    this.#configure = configure;
  }

  /** Nothing is at work until it is started. */
  static async open(): Promise<World> {
    // Rights are those of a cell with a data plane, which takes the most.
    let deps: Partial<NetworkDeps> = { dataPlane: 'fabric' };
    const stack = await Stack.open({
      cells: [location],
      projects: ['project-alpha', 'project-beta'],
      quietPeriodSeconds: 0,
      started: false,
      controllers: (made) => networkCellControllers({ ...made.networkDeps(), ...deps }),
    });
    const world = new World(stack, (more) => {
      deps = more;
    });
    for (const [name, labels] of Object.entries(namespaces)) {
      await world.cell.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    }
    await world.serve(location);
    return world;
  }

  /** Starts the controllers, as a fresh process would. */
  start(more: Partial<NetworkDeps> = {}): void {
    this.#configure(more);
    this.stack.start();
  }

  close(): Promise<void> {
    return this.stack.close();
  }

  get cell(): Client {
    return this.stack.cell();
  }

  project(id?: string): Client {
    return this.stack.project(id);
  }

  async pool(project: string, name: string, cidr: string, className: string): Promise<void> {
    await this.project(project).create(IPPool, rootPool(name, cidr, className));
  }

  async serve(name: string): Promise<void> {
    await this.cell.create(ServingLocation, {
      apiVersion: apiVersionOf(ServingLocation),
      kind: ServingLocation.kind,
      metadata: { name },
      spec: { topology: { 'topology.datum.net/city-code': 'DSM' } },
    });
  }

  /** Applies a network's presence by hand, as propagation would deliver it. */
  async context(network: string, families: ('IPv4' | 'IPv6')[], more: ContextOptions = {}): Promise<void> {
    const { namespace = alpha, mtu = 1460, uid = `${network}-uid`, at = location } = more;
    await this.cell.create(NetworkContext, {
      apiVersion: apiVersionOf(NetworkContext),
      kind: NetworkContext.kind,
      metadata: {
        name: `${network}-${at}`,
        namespace,
        labels: { 'networking.datumapis.com/network-uid': uid, 'networking.datumapis.com/location': at },
      },
      spec: { network: { name: network }, location: { name: at }, ipFamilies: families, mtu },
    });
  }

  async subnet(network: string, ipFamily: 'IPv4' | 'IPv6', startAddress: string, prefixLength: number): Promise<void> {
    await this.cell.create(Subnet, {
      apiVersion: apiVersionOf(Subnet),
      kind: Subnet.kind,
      metadata: { name: `${network}-${location}-${ipFamily.toLowerCase()}`, namespace: alpha },
      spec: {
        subnetClass: 'private',
        networkContext: { name: `${network}-${location}` },
        location: { name: location },
        ipFamily,
        startAddress,
        prefixLength,
      },
    });
  }

  async claim(name: string, network: string, spec: ClaimOptions = {}): Promise<Stored<NetworkInterfaceClaim>> {
    const { namespace = alpha, labels, finalizers, classes: wanted, ...rest } = spec;
    return this.cell.create(NetworkInterfaceClaim, {
      apiVersion: apiVersionOf(NetworkInterfaceClaim),
      kind: NetworkInterfaceClaim.kind,
      metadata: {
        name,
        namespace,
        ...(labels === undefined ? {} : { labels }),
        ...(finalizers === undefined ? {} : { finalizers }),
      },
      spec: {
        network: { name: network },
        ...(wanted === undefined ? {} : { addresses: wanted.map((each) => ({ class: each })) }),
        ...rest,
      } as NetworkInterfaceClaim['spec'],
    });
  }

  getClaim(name: string, namespace = alpha): Promise<Stored<NetworkInterfaceClaim> | undefined> {
    return this.cell.get(NetworkInterfaceClaim, { namespace, name });
  }

  getInterface(name: string, namespace = alpha): Promise<Stored<NetworkInterface> | undefined> {
    return this.cell.get(NetworkInterface, { namespace, name });
  }

  deleteClaim(name: string, namespace = alpha): Promise<boolean> {
    return this.cell.delete(NetworkInterfaceClaim, { namespace, name });
  }

  deleteInterface(name: string, namespace = alpha): Promise<boolean> {
    return this.cell.delete(NetworkInterface, { namespace, name });
  }

  /** IPClaims of a project, by name, with what they hold. */
  async held(prefix: string, project = 'project-alpha'): Promise<Record<string, string>> {
    const { items } = await this.project(project).list(IPClaim, { namespace: 'default' });
    return Object.fromEntries(
      items
        .filter((claim) => claim.metadata.name.startsWith(prefix))
        .map((claim) => [claim.metadata.name, claim.status?.allocatedCIDR ?? '']),
    );
  }

  async allocations(project = 'project-alpha'): Promise<string[]> {
    const { items } = await this.project(project).list(IPAllocation, { namespace: 'default' });
    return items.filter((each) => each.spec?.purpose === 'Claim').map((each) => each.metadata.name);
  }

  warnings(name: string, reason: string): Promise<string[]> {
    return this.events(name, reason, 'Warning');
  }

  async events(name: string, reason: string, type: 'Normal' | 'Warning'): Promise<string[]> {
    const { items } = await this.cell.list(Event);
    return items
      .filter((event) => event.regarding?.name === name && event.reason === reason && event.type === type)
      .map((event) => event.note ?? '');
  }
}

interface ContextOptions {
  namespace?: string;
  mtu?: number;
  uid?: string;
  at?: string;
}

export interface ClaimOptions {
  namespace?: string;
  labels?: Record<string, string>;
  finalizers?: string[];
  classes?: string[];
  ipFamilies?: ('IPv4' | 'IPv6')[];
  reclaimPolicy?: 'Delete' | 'Retain';
  networkInterfaceName?: string;
  interfaceName?: string;
}
