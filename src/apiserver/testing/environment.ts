import type { Logger } from 'pino';
import {
  type Client,
  type Controller,
  createClient,
  createManager,
  type Manager,
  type Plane,
  type PlaneRef,
  planeRef,
  type Random,
  Recorders,
  seededRandom,
  type Transport,
  VirtualClock,
} from '../../kube/index.ts';
import { serviceAccountIdentity } from '../access/identities.ts';
import { planePath } from '../http/path.ts';
import { type PlaneContent, TestServer, type TestServerOptions } from './server.ts';
import { Wire } from './wire.ts';

/** Longest time of the clock that `until` lets pass where nothing else is said. */
const patienceSeconds = 120;

export interface EnvironmentOptions extends ProcessOptions {
  /** Of everything left to chance; default 1. */
  seed?: number;
  storage?: TestServerOptions['storage'];
}

/** How the processes of the controllers are. */
export interface ProcessOptions {
  /** Every controller in a process of its own, with caches of its own; default: one for all. */
  apart?: boolean;
  /** Puts something between an identity and the server, below the wire. */
  connect?: (transport: Transport, identity: string) => Transport;
}

/**
 * Planes on one server, and controllers at work in them, in virtual time: what controller-runtime calls an envtest
 * environment. All real, on memory storage, without sockets.
 */
export class Environment {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly server: TestServer;
  readonly wire = new Wire();
  readonly #process: ProcessOptions;
  readonly #recorders: Recorders;
  readonly #planes = new Map<string, PlaneRef>();
  #make: () => readonly Controller[] = () => [];
  /** Whose rights the planes are opened with. */
  #controllers: readonly Controller[] = [];
  #managers: Manager[] = [];

  protected constructor(server: TestServer, clock: VirtualClock, process: ProcessOptions) {
    this.server = server;
    this.clock = clock;
    this.random = server.random;
    this.#process = process;
    this.#recorders = new Recorders({ clock, random: server.random, domain: 'berth.datumapis.com', instance: '1' });
  }

  static async open({ seed = 1, storage = {}, ...process }: EnvironmentOptions = {}): Promise<Environment> {
    const clock = new VirtualClock();
    return new Environment(await TestServer.open({ clock, random: seededRandom(seed), storage }), clock, process);
  }

  /** What `start` starts, made anew for each process; planes opened from now on grant them their rights. */
  use(make: () => readonly Controller[]): void {
    this.#make = make;
    this.#controllers = make();
  }

  /** Starts the controllers, as a fresh process would. Planes may come before or after. */
  start(): void {
    this.wire.crashed = false;
    this.#controllers = this.#make();
    const processes = this.#process.apart ? this.#controllers.map((each) => [each]) : [this.#controllers];
    this.#managers = processes.map((controllers) => {
      const { clock, random } = this;
      const manager = createManager({
        clock,
        random,
        log: this.log,
        connect: (plane, identity) => ({ transport: this.#transport(plane, identity), basePath: planePath(plane) }),
      });
      for (const controller of controllers) manager.add(controller);
      for (const plane of this.#planes.values()) manager.engage(plane);
      manager.start();
      return manager;
    });
  }

  /** Ends the process: at once where it has crashed, else as one that is told to stop. */
  async stop(): Promise<void> {
    const drain = this.wire.crashed ? 0 : undefined;
    await this.clock.advanceUntil(Promise.all(this.#managers.splice(0).map((manager) => manager.stop(drain))));
  }

  /** A process that ends and a fresh one; `meanwhile` nobody looks. */
  async restart(meanwhile?: () => Promise<unknown>): Promise<void> {
    await this.stop();
    await meanwhile?.();
    this.start();
    await this.settle();
  }

  /** Serves a plane with the rights of the controllers, and lets them in unless they are to be `engaged` later. */
  async openPlane(plane: PlaneRef, content: PlaneContent, engaged = true): Promise<Client> {
    const client = await this.server.openPlane(plane, content, this.#controllers);
    if (engaged) this.engage(plane);
    return client;
  }

  /** A plane that is served is reached by the controllers from now on. */
  engage(plane: PlaneRef): void {
    this.#planes.set(plane.id, plane);
    for (const manager of this.#managers) manager.engage(plane);
  }

  /** No controller reaches the plane any more; what is in it stays as it is. */
  async disengage(id: string): Promise<void> {
    this.#planes.delete(id);
    await this.clock.advanceUntil(Promise.all(this.#managers.map((manager) => manager.disengage(id))));
  }

  /** The plane and everything in it are gone; see `TestServer.dropPlane`. */
  async dropPlane(id: string, forget?: () => Promise<unknown>): Promise<void> {
    await this.disengage(id);
    await this.server.dropPlane(id, forget);
  }

  /** Planes as their administrator has them. */
  get hub(): Client {
    return this.server.admin(planeRef('hub'));
  }

  cell(location = 'us-central-1'): Client {
    return this.server.admin(planeRef('cell', location));
  }

  project(id = 'alpha'): Client {
    return this.server.admin(planeRef('project', id));
  }

  get log(): Logger {
    return this.server.log;
  }

  /** Events in `plane`, under the name and identity of `controller`. */
  readonly recorder = (plane: Plane, controller: string) => this.#recorders.of(plane, controller);

  /** A project's API under the identity of `controller`. */
  readonly projectClient = (controller: string, project: string): Client => {
    const plane = planeRef('project', project);
    return createClient({
      transport: this.#transport(plane, controller),
      basePath: planePath(plane),
      clock: this.clock,
      defaultFieldManager: controller,
    });
  };

  #transport(plane: PlaneRef, identity: string): Transport {
    const { connect = (transport) => transport } = this.#process;
    const transport = connect(this.server.api.transport(serviceAccountIdentity(identity)), identity);
    return this.wire.through(transport, identity, plane.id, planePath(plane));
  }

  /**
   * Moves time on, at most `seconds`, until `look` answers something other than undefined or false; answers that. Throws when
   * it does not, and as soon as the process has crashed.
   */
  async until<T>(what: string, look: () => Promise<T | undefined | false>, seconds = patienceSeconds): Promise<T> {
    const deadline = this.clock.monotonic() + seconds * 1000;
    for (;;) {
      await this.settle();
      if (this.wire.crashed) throw new Error(`the process has ended before ${what}`);
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      if (this.clock.monotonic() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
      await this.clock.advance(50);
    }
  }

  /** Moves time on in steps a watch can keep up with. */
  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds * 1000; passed += 250) {
      await this.clock.advance(Math.min(250, seconds * 1000 - passed));
      await this.settle();
    }
  }

  /** Lets everything that takes no time happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await this.clock.settle();
  }

  /** Moves time on until nothing has been written for `seconds`. */
  async quiet(seconds = 0.5): Promise<void> {
    for (let before = -1; before !== this.wire.writes.length; ) {
      before = this.wire.writes.length;
      await this.pass(seconds);
    }
  }

  async close(): Promise<void> {
    await this.stop();
    await this.server.close();
  }
}
