import { Registry } from 'prom-client';
import { crdsOf, type DataPlane, IPClass, IPPool, kindsOf } from '../../src/api/index.ts';
import { Environment, type ProcessOptions, type Sent, TestServer } from '../../src/apiserver/testing/index.ts';
import type { Quota } from '../../src/compute/index.ts';
import { createIpam, type Ipam, ipamStorage, seedClasses, seedPools, seedRanges } from '../../src/ipam/index.ts';
import {
  type Client,
  type Controller,
  informerIdentity,
  type PlaneRef,
  planeRef,
  seededRandom,
  VirtualClock,
} from '../../src/kube/index.ts';
import type { NetworkDeps } from '../../src/network/index.ts';
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
  controllers?: (stack: Stack) => Controller[];
  /** Feature gate NetworkingIntegration; default true. */
  networking?: boolean;
  /** Feature gate ReferencedData; default false. */
  referencedData?: boolean;
  /** How long a presence nothing needs is kept; default 20. */
  quietPeriodSeconds?: number;
  /** Whether controllers are at work from the start; default true. */
  started?: boolean;
  /** Of everything left to chance. */
  seed?: number;
  /** Every controller in a process of its own, with caches of its own that are up to so many versions late. */
  lag?: number;
  /** Default: none. */
  dataPlane?: DataPlane;
}

/**
 * Every plane and every controller of the platform in one environment: a hub, cells, projects and their IPAM (reference E:
 * classes of B.4, addresses that do not rest).
 */
export class Stack extends Environment {
  readonly metrics = new Registry();
  /** Requests of controllers to the IPAM of projects since it was last emptied. */
  readonly asked: Sent[] = [];
  ipamDown = false;
  readonly #options: StackOptions;
  readonly #ipam: Ipam;
  #projects = 0;

  private constructor(server: TestServer, clock: VirtualClock, process: ProcessOptions, options: StackOptions) {
    super(server, clock, process);
    this.#options = options;
    const { storage, log } = server;
    this.#ipam = createIpam({ storage, clock, log, defaultRestSeconds: options.restSeconds ?? 0 });
    this.wire.onRequest = (sent) => this.#toIpam(sent);
    this.use(() => this.#makeControllers());
  }

  static override async open(options: StackOptions = {}): Promise<Stack> {
    const { cells = ['us-central-1'], projects = ['project-alpha', 'project-beta', 'single'] } = options;
    const { seed = 1, lag = 0 } = options;
    const clock = new VirtualClock();
    const random = seededRandom(seed);
    const server = await TestServer.open({ clock, random, storage: ipamStorage });
    const late: ProcessOptions = {
      apart: true,
      connect: (transport, identity) =>
        identity === informerIdentity ? lagging(transport, clock, random, lag) : transport,
    };
    const stack = new Stack(server, clock, lag > 0 ? late : {}, options);
    stack.#ipam.start();
    if (options.started !== false) stack.start();
    await stack.#open(planeRef('hub'));
    for (const location of cells) await stack.addCell(location);
    for (const id of projects) await stack.addProject(id);
    return stack;
  }

  /** What network services are given here. */
  networkDeps(): NetworkDeps {
    const { clock, random, log, recorder, projectClient, metrics } = this;
    const { seeds, quietPeriodSeconds = 20, dataPlane = 'none' } = this.#options;
    const ranges = { networkIPv6: 'datum-network-v6', subnetIPv6: 'datum-subnet-v6' };
    return {
      clock,
      random,
      log,
      hub: 'hub',
      recorder,
      projectClient,
      ipamClasses: seeds === 'platform' ? defaultConfig().ipam.classes : ranges,
      quietPeriodMilliseconds: quietPeriodSeconds * 1000,
      dataPlane,
      metrics,
    };
  }

  #makeControllers(): Controller[] {
    // A fresh process counts from the start.
    this.metrics.clear();
    const { clock, log, recorder, projectClient } = this;
    const { controllers, quota, dataPlane = 'none', networking = true, referencedData = false } = this.#options;
    if (controllers !== undefined) return controllers(this);
    return controllersOf({
      compute: {
        ...{ clock, log, hub: 'hub', recorder, networkingIntegration: networking, referencedData, dataPlane },
        ...(quota === undefined ? {} : { quota }),
      },
      network: this.networkDeps(),
      ...(dataPlane === 'none' ? {} : { fabric: { clock, hub: 'hub', recorder, projectClient } }),
      provider: { clock, recorder: (plane) => recorder(plane, 'simulated-provider') },
    });
  }

  #toIpam(sent: Sent): void {
    const { by, plane, path } = sent;
    if (by === informerIdentity || !plane.startsWith('project/') || !path.startsWith('/apis/ipam.miloapis.com/'))
      return;
    if (this.ipamDown) throw new Error('connect ECONNREFUSED');
    this.asked.push(sent);
  }

  #open(plane: PlaneRef): Promise<Client> {
    const { role } = plane;
    return this.openPlane(plane, { crds: crdsOf(role), aggregated: this.#ipam.aggregated(kindsOf(role)) });
  }

  async addProject(id: string): Promise<Client> {
    const client = await this.#open(planeRef('project', id));
    if (this.#options.seeds === 'platform') {
      for (const each of seedClasses()) await client.create(IPClass, each);
      for (const each of seedPools(seedRanges(this.#projects++))) await client.create(IPPool, each);
    } else if (isDatumProject(id)) await seedDatum(client, id);
    return client;
  }

  addCell(location: string): Promise<Client> {
    return this.#open(planeRef('cell', location));
  }

  /** A project is gone for good: its plane and everything in it. */
  async dropProject(id: string): Promise<void> {
    const plane = `project/${id}`;
    await this.dropPlane(plane, () => this.#ipam.dropProject(plane));
  }

  override project(id = 'project-alpha'): Client {
    return super.project(id);
  }

  override async close(): Promise<void> {
    await this.stop();
    await this.#ipam.stop();
    await super.close();
  }
}
