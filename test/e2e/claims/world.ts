import pino from 'pino';
import {
  crdManifest,
  IPAllocation,
  IPClaim,
  IPPool,
  kindsOf,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  Subnet,
} from '../../../src/api/index.ts';
import {
  ApiServer,
  adminIdentity,
  controllerRoles,
  Lifecycle,
  lifecyclePlane,
  openStorage,
  RbacAuthorizer,
  type Storage,
  serviceAccountIdentity,
} from '../../../src/apiserver/index.ts';
import { createIpam, type Ipam, proceduresUrl } from '../../../src/ipam/index.ts';
import {
  type Client,
  createClient,
  createManager,
  createRecorder,
  type Manager,
  systemClock,
  systemRandom,
  type Transport,
  type TransportRequest,
} from '../../../src/kube/index.ts';
import {
  apiVersionOf,
  ClusterRole,
  ClusterRoleBinding,
  Event,
  Namespace,
  type Stored,
} from '../../../src/meta/index.ts';
import { type NetworkDeps, networkCellControllers } from '../../../src/network/index.ts';
import { rootPool, seedDatum } from '../../harness/datum.ts';

/** A cell with network services, and the IPAM of two projects: all real, on memory storage, without sockets. */

const log = pino({ level: process.env.WORLD_LOG ?? 'silent' });
const clock = systemClock;
const random = systemRandom;

export const location = 'us-central-1';
const projects = ['project-alpha', 'project-beta'] as const;
export const alpha = 'ipam-e2e-alpha';
export const beta = 'ipam-e2e-beta';

const clusterName = 'meta.datumapis.com/upstream-cluster-name';
const upstreamNamespace = 'meta.datumapis.com/upstream-namespace';

/** Reference E: namespaces of the cell. */
const namespaces: Record<string, Record<string, string>> = {
  [alpha]: { [clusterName]: 'cluster-project-alpha', [upstreamNamespace]: 'default' },
  [beta]: { [clusterName]: 'cluster-project-beta', [upstreamNamespace]: 'default' },
  'ipam-e2e-legacy': { [clusterName]: 'cluster-_project-alpha', [upstreamNamespace]: 'default' },
  'ipam-e2e-unlabeled': {},
};

/** What passes between controllers and servers, and where it is cut. */
export interface Wire {
  /** Writes of the controllers: `POST cell/us-central-1 networkinterfaces`. Events are not counted. */
  writes: string[];
  /** Requests to projects. */
  ipam: string[];
  ipamDown: boolean;
  /** The controllers' process ends at this write (counted from 1): before it, or after it and before its answer. */
  crash?: { at: number; applied: boolean };
  crashed: boolean;
  onCrash?: () => void;
}

export class World {
  readonly server: ApiServer;
  readonly wire: Wire = { writes: [], ipam: [], ipamDown: false, crashed: false };
  readonly #storage: Storage;
  readonly #authorizer: RbacAuthorizer;
  readonly #ipam: Ipam;
  readonly #lifecycle: Lifecycle;
  #manager: Manager | undefined;

  private constructor(
    storage: Storage,
    server: ApiServer,
    authorizer: RbacAuthorizer,
    ipam: Ipam,
    lifecycle: Lifecycle,
  ) {
    this.#storage = storage;
    this.server = server;
    this.#authorizer = authorizer;
    this.#ipam = ipam;
    this.#lifecycle = lifecycle;
  }

  static async open(): Promise<World> {
    const storage = await openStorage({
      file: ':memory:',
      clock,
      log: () => {},
      procedures: [proceduresUrl],
      uncached: (resource) => resource.startsWith('ipam.miloapis.com/'),
      onFatal: (error) => {
        throw error;
      },
    });
    const authorizer = new RbacAuthorizer(storage);
    const ipam = createIpam({ storage, clock, log, defaultRestSeconds: 0 });
    const authenticator = { authenticate: () => undefined };
    const server = new ApiServer({ storage, clock, random, log, authorizer, authenticator });
    const lifecycle = new Lifecycle({ storage, clock, random });
    const world = new World(storage, server, authorizer, ipam, lifecycle);
    ipam.start();
    await world.#openPlanes();
    await world.#seed();
    return world;
  }

  async #openPlanes(): Promise<void> {
    const planes = [
      { id: `cell/${location}`, path: `/planes/cells/${location}`, role: 'cell' as const },
      ...projects.map((id) => ({ id: `project/${id}`, path: projectPath(id), project: id, role: 'project' as const })),
    ];
    for (const { role, ...plane } of planes) {
      const kinds = kindsOf(role);
      await this.server.openPlane({
        ...plane,
        crds: kinds.filter((kind) => kind.servedBy === 'crd').map(crdManifest),
        aggregated: kinds
          .filter((kind) => kind.servedBy === 'aggregated')
          .map((kind) => ({ kind, backing: this.#ipam.backings.find((each) => each.kind === kind.kind)!.backing })),
      });
      await this.#authorizer.openPlane(plane.id);
      const client = this.#client(plane.path);
      // Of a cell with a data plane, which takes the most rights.
      const controllers = networkCellControllers({ ...this.#deps(), dataPlane: 'fabric' });
      const { clusterRoles, clusterRoleBindings } = controllerRoles(controllers, role);
      for (const each of clusterRoles) await client.create(ClusterRole, each);
      for (const each of clusterRoleBindings) await client.create(ClusterRoleBinding, each);
      // The informers' own role has the same name in every plane; it is written like the others.
      await this.#lifecycle.openPlane(lifecyclePlane(this.server, { id: plane.id, path: plane.path }, clock));
    }
  }

  async #seed(): Promise<void> {
    for (const [name, labels] of Object.entries(namespaces)) {
      await this.cell.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    }
    await this.serve(location);
    for (const id of projects) {
      await seedDatum(this.project(id), id);
    }
  }

  async pool(project: string, name: string, cidr: string, className: string): Promise<void> {
    await this.project(project).create(IPPool, rootPool(name, cidr, className));
  }

  #client(basePath: string): Client {
    return createClient({ transport: this.server.transport(adminIdentity), basePath, clock });
  }

  get cell(): Client {
    return this.#client(`/planes/cells/${location}`);
  }

  project(id = 'project-alpha'): Client {
    return this.#client(projectPath(id));
  }

  #deps(): NetworkDeps {
    return {
      clock,
      random,
      log,
      hub: 'hub',
      recorder: (plane, controller) =>
        createRecorder({
          client: plane.client,
          clock,
          random,
          reportingController: `berth.datumapis.com/${controller}`,
          reportingInstance: controller,
        }),
      projectClient: (controller, project) =>
        createClient({
          transport: this.#wired(this.server.transport(serviceAccountIdentity(controller)), `project/${project}`),
          basePath: projectPath(project),
          clock,
          defaultFieldManager: controller,
        }),
      ipamClasses: {},
      quietPeriodMilliseconds: 0,
      dataPlane: 'none',
    };
  }

  /** Starts the controllers, as a fresh process would. */
  start(more: Partial<NetworkDeps> = {}): void {
    this.wire.crashed = false;
    const manager = createManager({
      clock,
      random,
      log,
      connect: (plane, identity) => ({
        transport: this.#wired(this.server.transport(serviceAccountIdentity(identity)), plane.id),
        basePath: `/planes/cells/${location}`,
      }),
    });
    for (const controller of networkCellControllers({ ...this.#deps(), ...more })) manager.add(controller);
    manager.engage({ id: `cell/${location}`, role: 'cell', name: location });
    manager.start();
    this.#manager = manager;
  }

  async stop(): Promise<void> {
    const manager = this.#manager;
    this.#manager = undefined;
    await manager?.stop(this.wire.crashed ? 0 : 2_000);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#ipam.stop();
    await this.#lifecycle.stop();
    await this.server.close();
    this.#authorizer.close();
    await this.#storage.close();
  }

  /** A project is gone for good: its plane and everything in it. */
  async dropProject(id: string): Promise<void> {
    await this.server.closePlane(`project/${id}`);
    await this.#ipam.dropProject(`project/${id}`);
    await this.server.dropPlane(`project/${id}`);
  }

  #wired(transport: Transport, plane: string): Transport {
    const { wire } = this;
    return {
      async request(request: TransportRequest) {
        const writing = request.method !== 'GET';
        const kind =
          /\/(ip[a-z]+|network[a-z]+|events)(\/|\?|$)/.exec(request.path.split('control-plane').at(-1)!)?.[1] ?? '';
        if (wire.crashed) throw new Error('the process has ended');
        if (plane.startsWith('project/')) {
          if (wire.ipamDown) throw new Error('connect ECONNREFUSED');
          wire.ipam.push(`${request.method} ${kind}`);
        }
        if (!writing || kind === 'events') return transport.request(request);
        wire.writes.push(`${request.method} ${plane} ${kind}${request.path.includes('/status') ? '/status' : ''}`);
        const { crash } = wire;
        if (crash === undefined || wire.writes.length !== crash.at) return transport.request(request);
        if (crash.applied) await transport.request(request).catch(() => {});
        wire.crashed = true;
        wire.onCrash?.();
        throw new Error('the process has ended');
      },
      close: () => transport.close(),
    };
  }

  // What people and other services do.

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

function projectPath(id: string): string {
  return `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${id}/control-plane`;
}

export interface Said {
  status: string;
  reason: string;
  message: string;
}

/** A condition of an object, without its times. */
export function said(object: { status?: unknown } | undefined, type: string): Said | undefined {
  const { conditions = [] } = (object?.status ?? {}) as { conditions?: (Said & { type: string })[] };
  const found = conditions.find((condition) => condition.type === type);
  return found === undefined ? undefined : { status: found.status, reason: found.reason, message: found.message };
}

export function isTrue(object: { status?: unknown } | undefined, type: string): boolean {
  return said(object, type)?.status === 'True';
}

/** Waits until `look` answers something other than undefined or false. Throws what was last seen after `seconds`. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  seconds = 10,
): Promise<T> {
  const deadline = clock.monotonic() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (clock.monotonic() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await clock.sleep(5);
  }
}
