import { pino } from 'pino';
import { Registry } from 'prom-client';
import { crdsOf, type DataPlane, IPClass, IPPool, kindsOf } from '../../src/api/index.ts';
import {
  ApiServer,
  adminIdentity,
  controllerRoles,
  defaultRoles,
  Lifecycle,
  lifecyclePlane,
  openStorage,
  RbacAuthorizer,
  type Storage,
  serviceAccountIdentity,
} from '../../src/apiserver/index.ts';
import type { Quota } from '../../src/compute/index.ts';
import { createIpam, type Ipam, proceduresUrl, seedClasses, seedPools, seedRanges } from '../../src/ipam/index.ts';
import {
  type Client,
  type Controller,
  createClient,
  createManager,
  createRecorder,
  type EventRecorder,
  informerIdentity,
  type Manager,
  type Plane,
  type PlaneRef,
  type Random,
  seededRandom,
  type Transport,
  type TransportRequest,
  VirtualClock,
} from '../../src/kube/index.ts';
import { ClusterRole, ClusterRoleBinding } from '../../src/meta/index.ts';
import { controllersOf, defaultConfig } from '../../src/platform/index.ts';
import { isDatumProject, seedDatum } from './datum.ts';
import { lagging } from './lag.ts';

export interface StackOptions {
  /** Default: `us-central-1`. */
  cells?: readonly string[];
  /** Default: the three of reference E. */
  projects?: readonly string[];
  /** What a project's IPAM starts with: the classes of reference B.4 (default), or what the platform seeds. */
  seeds?: 'reference' | 'platform';
  /** How long a freed address rests; default 0. */
  restSeconds?: number;
  /** Whether an instance may run; always where absent. */
  quota?: Quota;
  /** What is at work instead of every controller of the platform. */
  controllers?: (clock: VirtualClock, recorder: (plane: Plane, controller: string) => EventRecorder) => Controller[];
  /** Feature gate NetworkingIntegration; default true. */
  networking?: boolean;
  /** Feature gate ReferencedData; default false. */
  referencedData?: boolean;
  quietPeriodSeconds?: number;
  /** Of everything left to chance. */
  seed?: number;
  /** Every controller in a process of its own, with caches of its own that are up to so many versions late. */
  lag?: number;
  /** Default: none. */
  dataPlane?: DataPlane;
}

/** A write of a controller. */
export interface Write {
  by: string;
  plane: string;
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in the plane, without its query: `/apis/networking.datumapis.com/v1alpha/namespaces/ns-1/subnets/a/status`. */
  path: string;
  /** What it was answered with: 4xx are requests that wrote nothing. Absent until then. */
  status?: number;
}

/**
 * Every plane and every controller of the platform in one process, in virtual time: a hub, cells, projects and their IPAM
 * (reference E: classes of B.4, addresses that do not rest). All real, on memory storage, without sockets.
 */
export class Stack {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly metrics = new Registry();
  /** Writes of controllers since it was last emptied; Events are not among them. */
  readonly writes: Write[] = [];
  /** Asked before each write of a controller reaches its plane. */
  guard: ((write: Write) => Promise<void>) | undefined;
  /** Asked after each write of a controller was made, before its answer comes. */
  answering: ((write: Write) => Promise<void>) | undefined;
  ipamDown = false;
  readonly #instead: StackOptions['controllers'];
  readonly #quota: Quota | undefined;

  readonly #options: Required<Omit<StackOptions, 'projects' | 'cells' | 'controllers' | 'quota'>>;
  readonly #log = pino({ level: process.env.STACK_LOG ?? 'silent' });
  readonly #planes = new Map<string, PlaneRef>();
  readonly #recorders = new WeakMap<Plane, Map<string, EventRecorder>>();
  readonly #storage: Storage;
  readonly #authorizer: RbacAuthorizer;
  readonly #server: ApiServer;
  readonly #ipam: Ipam;
  readonly #lifecycle: Lifecycle;
  #controllers: Controller[] = [];
  #managers: Manager[] = [];

  private constructor(
    storage: Storage,
    options: Required<Omit<StackOptions, 'projects' | 'cells' | 'controllers' | 'quota'>>,
    clock: VirtualClock,
    { controllers: instead, quota }: Pick<StackOptions, 'controllers' | 'quota'>,
  ) {
    this.#quota = quota;
    this.clock = clock;
    this.#instead = instead;
    this.#options = options;
    this.#storage = storage;
    const random = seededRandom(options.seed);
    this.random = random;
    const log = this.#log;
    const authorizer = new RbacAuthorizer(storage);
    this.#authorizer = authorizer;
    this.#ipam = createIpam({ storage, clock, log, defaultRestSeconds: options.restSeconds });
    const authenticator = { authenticate: () => undefined };
    this.#server = new ApiServer({ storage, clock, random, log, authorizer, authenticator });
    this.#lifecycle = new Lifecycle({ storage, clock, random, onError: (err, what) => log.warn({ err }, what) });
  }

  static async open(options: StackOptions = {}): Promise<Stack> {
    const { cells = ['us-central-1'], projects = ['project-alpha', 'project-beta', 'single'] } = options;
    const {
      quietPeriodSeconds = 20,
      seed = 1,
      lag = 0,
      dataPlane = 'none',
      seeds = 'reference',
      restSeconds = 0,
      networking = true,
      referencedData = false,
    } = options;
    const clock = new VirtualClock();
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
    const wanted = { quietPeriodSeconds, seed, lag, dataPlane, seeds, restSeconds, networking, referencedData };
    const stack = new Stack(storage, wanted, clock, options);
    stack.#ipam.start();
    stack.start();
    await stack.#open({ id: 'hub', role: 'hub', name: 'hub' });
    for (const location of cells) await stack.addCell(location);
    for (const id of projects) await stack.addProject(id);
    return stack;
  }

  /** Starts the controllers, as fresh processes would. */
  start(): void {
    this.metrics.clear();
    this.#controllers = this.#makeControllers();
    const groups = this.#options.lag > 0 ? this.#controllers.map((each) => [each]) : [this.#controllers];
    this.#managers = groups.map((group) => {
      const manager = createManager({
        clock: this.clock,
        random: this.random,
        log: this.#log,
        connect: (plane, identity) => ({ transport: this.#transport(plane.id, identity), basePath: pathOf(plane) }),
      });
      for (const controller of group) manager.add(controller);
      for (const plane of this.#planes.values()) manager.engage(plane);
      manager.start();
      return manager;
    });
  }

  async stop(): Promise<void> {
    const stopping = this.#managers.splice(0).map((manager) => manager.stop());
    await this.clock.advanceUntil(Promise.all(stopping));
  }

  async restart(): Promise<void> {
    await this.stop();
    this.start();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#ipam.stop();
    await this.#lifecycle.stop();
    await this.#server.close();
    this.#authorizer.close();
    await this.#storage.close();
  }

  #makeControllers(): Controller[] {
    const { clock, random } = this;
    const log = this.#log;
    // A fresh process counts from the start.
    this.metrics.clear();
    const recorder = (plane: Plane, controller: string) => this.#recorder(plane, controller);
    const quota = this.#quota === undefined ? {} : { quota: this.#quota };
    if (this.#instead !== undefined) return this.#instead(clock, recorder);
    const { dataPlane, networking, referencedData, seeds } = this.#options;
    const projectClient = (controller: string, project: string) =>
      createClient({
        transport: this.#transport(`project/${project}`, controller),
        basePath: pathOf({ role: 'project', name: project }),
        clock,
        defaultFieldManager: controller,
      });
    return controllersOf({
      compute: { clock, hub: 'hub', recorder, networkingIntegration: networking, referencedData, dataPlane, ...quota },
      network: {
        clock,
        random,
        log,
        hub: 'hub',
        recorder,
        projectClient,
        ipamClasses:
          seeds === 'platform'
            ? defaultConfig().ipam.classes
            : { networkIPv6: 'datum-network-v6', subnetIPv6: 'datum-subnet-v6' },
        quietPeriodMilliseconds: this.#options.quietPeriodSeconds * 1000,
        dataPlane,
        metrics: this.metrics,
      },
      ...(dataPlane === 'none' ? {} : { fabric: { clock, hub: 'hub', recorder, projectClient } }),
      provider: { clock, recorder: (plane) => recorder(plane, 'simulated-provider') },
    });
  }

  #recorder(plane: Plane, controller: string): EventRecorder {
    const ofPlane = this.#recorders.get(plane) ?? new Map<string, EventRecorder>();
    this.#recorders.set(plane, ofPlane);
    const held = ofPlane.get(controller);
    if (held !== undefined) return held;
    const { clock, random } = this;
    const name = `berth.datumapis.com/${controller}`;
    const made = createRecorder({
      client: plane.client,
      clock,
      random,
      reportingController: name,
      reportingInstance: controller,
    });
    ofPlane.set(controller, made);
    plane.signal.addEventListener('abort', () => made.stop(), { once: true });
    return made;
  }

  #transport(plane: string, identity: string): Transport {
    const inner = this.#server.transport(serviceAccountIdentity(identity));
    if (identity === informerIdentity) {
      return this.#options.lag > 0 ? lagging(inner, this.clock, this.random, this.#options.lag) : inner;
    }
    const stack = this;
    return {
      async request(request: TransportRequest) {
        const { method, path } = request;
        if (plane.startsWith('project/') && stack.ipamDown && path.includes('/ipam.miloapis.com/')) {
          throw new Error('connect ECONNREFUSED');
        }
        if (method === 'GET' || path.includes('/events.k8s.io/')) return inner.request(request);
        const write: Write = { by: identity, plane, method, path: pathInPlane(path) };
        stack.writes.push(write);
        await stack.guard?.(write);
        const answer = await inner.request(request);
        write.status = answer.status;
        await stack.answering?.(write);
        return answer;
      },
      close: () => inner.close(),
    };
  }

  async #open(plane: PlaneRef): Promise<Client> {
    const path = pathOf(plane);
    const kinds = kindsOf(plane.role);
    await this.#server.openPlane({
      id: plane.id,
      path,
      ...(plane.role === 'project' ? { project: plane.name } : {}),
      crds: crdsOf(plane.role),
      aggregated: kinds
        .filter((kind) => kind.servedBy === 'aggregated')
        .map((kind) => ({ kind, backing: this.#ipam.backings.find((each) => each.kind === kind.kind)!.backing })),
    });
    await this.#authorizer.openPlane(plane.id);
    const client = this.client(plane);
    for (const { clusterRoles, clusterRoleBindings } of [
      controllerRoles(this.#controllers, plane.role),
      defaultRoles(plane.role, plane.name),
    ]) {
      for (const each of clusterRoles) await client.create(ClusterRole, each);
      for (const each of clusterRoleBindings) await client.create(ClusterRoleBinding, each);
    }
    await this.#lifecycle.openPlane(lifecyclePlane(this.#server, { id: plane.id, path }, this.clock));
    this.#planes.set(plane.id, plane);
    for (const manager of this.#managers) manager.engage(plane);
    return client;
  }

  async addProject(id: string): Promise<Client> {
    const client = await this.#open({ id: `project/${id}`, role: 'project', name: id });
    if (this.#options.seeds === 'platform') {
      const index = [...this.#planes.values()].filter(({ role }) => role === 'project').length - 1;
      for (const each of seedClasses()) await client.create(IPClass, each);
      for (const each of seedPools(seedRanges(index))) await client.create(IPPool, each);
    } else if (isDatumProject(id)) await seedDatum(client, id);
    return client;
  }

  async addCell(location: string): Promise<Client> {
    return this.#open({ id: `cell/${location}`, role: 'cell', name: location });
  }

  /** No controller reaches the plane any more; what is in it stays as it is. */
  async disengage(id: string): Promise<void> {
    await this.clock.advanceUntil(Promise.all(this.#managers.map((manager) => manager.disengage(id))));
    this.#planes.delete(id);
  }

  /** A plane that was disengaged is reached again. */
  engage(plane: PlaneRef): void {
    this.#planes.set(plane.id, plane);
    for (const manager of this.#managers) manager.engage(plane);
  }

  /** A project is gone for good: its plane and everything in it. */
  async dropProject(id: string): Promise<void> {
    await this.disengage(`project/${id}`);
    this.#lifecycle.closePlane(`project/${id}`);
    await this.#server.closePlane(`project/${id}`);
    await this.#ipam.dropProject(`project/${id}`);
    await this.#server.dropPlane(`project/${id}`);
    this.#authorizer.closePlane(`project/${id}`);
  }

  client(plane: Pick<PlaneRef, 'role' | 'name'>): Client {
    return createClient({
      transport: this.#server.transport(adminIdentity),
      basePath: pathOf(plane),
      clock: this.clock,
      userAgent: 'tester',
    });
  }

  get hub(): Client {
    return this.client({ role: 'hub', name: 'hub' });
  }

  cell(location = 'us-central-1'): Client {
    return this.client({ role: 'cell', name: location });
  }

  project(id = 'project-alpha'): Client {
    return this.client({ role: 'project', name: id });
  }

  /** Moves time on, at most `seconds`, until `look` answers something; answers that. */
  async until<T>(what: string, look: () => Promise<T | undefined | false>, seconds = 120): Promise<T> {
    const deadline = this.clock.monotonic() + seconds * 1000;
    for (;;) {
      await this.settle();
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      if (this.clock.monotonic() > deadline)
        throw new Error(`not within ${seconds} s: ${what} (seed ${this.#options.seed})`);
      await this.clock.advance(50);
    }
  }

  /** Moves time on in steps a watch can keep up with. */
  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds * 1000; passed += 250) {
      await this.clock.advance(250);
      await this.settle();
    }
  }

  /** Lets everything that takes no time happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await this.clock.settle();
  }
}

function pathOf({ role, name }: Pick<PlaneRef, 'role' | 'name'>): string {
  switch (role) {
    case 'project':
      return `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${name}/control-plane`;
    case 'cell':
      return `/planes/cells/${name}`;
    default:
      return `/planes/${role}`;
  }
}

const planePath =
  /^(\/planes\/cells\/[^/]+|\/planes\/hub|\/apis\/resourcemanager\.[^/]+\/v1alpha1\/projects\/[^/]+\/control-plane)/;

function pathInPlane(path: string): string {
  return path.replace(planePath, '').replace(/\?.*$/, '');
}
