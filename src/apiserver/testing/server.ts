import { type Logger, pino } from 'pino';
import {
  type Client,
  type Clock,
  type Controller,
  createClient,
  type PlaneRef,
  type Random,
  systemClock,
  systemRandom,
} from '../../kube/index.ts';
import { ClusterRole, ClusterRoleBinding } from '../../meta/index.ts';
import { defaultRoles } from '../access/default-roles.ts';
import { adminIdentity } from '../access/identities.ts';
import { RbacAuthorizer } from '../access/rbac/authorizer.ts';
import { controllerRoles } from '../access/roles.ts';
import { planePath } from '../http/path.ts';
import { Lifecycle, type LifecyclePlane, lifecyclePlane } from '../lifecycle/index.ts';
import { ApiServer, type ApiServerOptions, type PlaneOptions } from '../server.ts';
import type { StorageOptions } from '../storage/open.ts';
import type { Storage } from '../storage/storage.ts';
import { openTestStorage } from './storage.ts';

/** What a plane serves beside the built-in kinds. */
export type PlaneContent = Pick<PlaneOptions, 'crds' | 'aggregated'>;

export interface TestServerOptions {
  /** Default: the machine's. */
  clock?: Clock;
  /** Default: the machine's. */
  random?: Random;
  /** Default: silent, unless TEST_LOG names a level. */
  log?: Logger;
  storage?: Partial<Omit<StorageOptions, 'clock'>>;
  /** What of the server is to be otherwise. Nobody is authenticated by default: callers come with their identity. */
  server?: Partial<Omit<ApiServerOptions, 'storage' | 'authorizer' | 'clock' | 'random' | 'log'>>;
}

/** Store, RBAC, handlers and what happens by itself, of any planes: all real, reached without sockets. */
export class TestServer {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly storage: Storage;
  readonly authorizer: RbacAuthorizer;
  readonly api: ApiServer;
  readonly lifecycle: Lifecycle;

  private constructor(storage: Storage, clock: Clock, options: TestServerOptions) {
    const { random = systemRandom, log = pino({ level: process.env.TEST_LOG ?? 'silent' }), server } = options;
    this.clock = clock;
    this.random = random;
    this.log = log;
    this.storage = storage;
    this.authorizer = new RbacAuthorizer(storage);
    const { authorizer } = this;
    const authenticator = { authenticate: () => undefined };
    this.api = new ApiServer({ authenticator, ...server, storage, clock, random, log, authorizer });
    this.lifecycle = new Lifecycle({
      storage,
      clock,
      random,
      onError: (err, what) => log.warn({ err }, what),
    });
  }

  static async open(options: TestServerOptions = {}): Promise<TestServer> {
    const { clock = systemClock } = options;
    return new TestServer(await openTestStorage({ ...options.storage, clock }), clock, options);
  }

  /** Serves a plane, with the roles every plane has and those of `controllers`. Answers its administrator's client. */
  async openPlane(plane: PlaneRef, content?: PlaneContent, controllers?: readonly Controller[]): Promise<Client> {
    const client = await this.servePlane(plane, content, controllers);
    await this.lifecycle.openPlane(this.lifecyclePlane(plane));
    return client;
  }

  /** As `openPlane`, but nothing happens in it by itself. */
  async servePlane(
    plane: PlaneRef,
    content: PlaneContent = { crds: [] },
    controllers: readonly Controller[] = [],
  ): Promise<Client> {
    const { id, role, name } = plane;
    await this.api.openPlane({
      id,
      path: planePath(plane) || '/',
      ...(role === 'project' ? { project: name } : {}),
      ...content,
    });
    await this.authorizer.openPlane(id);
    const client = this.admin(plane);
    for (const { clusterRoles, clusterRoleBindings } of [
      controllerRoles(controllers, role),
      defaultRoles(role, name),
    ]) {
      for (const each of clusterRoles) await client.create(ClusterRole, each);
      for (const each of clusterRoleBindings) await client.create(ClusterRoleBinding, each);
    }
    return client;
  }

  lifecyclePlane(plane: PlaneRef): LifecyclePlane {
    return lifecyclePlane(this.api, { id: plane.id, path: planePath(plane) }, this.clock);
  }

  /** The plane and everything in it are gone. `forget` is called between the two steps, for what is kept elsewhere. */
  async dropPlane(id: string, forget?: () => Promise<unknown>): Promise<void> {
    this.lifecycle.closePlane(id);
    await this.api.closePlane(id);
    await forget?.();
    await this.api.dropPlane(id);
    this.authorizer.closePlane(id);
  }

  admin(plane: Pick<PlaneRef, 'role' | 'name'>): Client {
    return createClient({
      transport: this.api.transport(adminIdentity),
      basePath: planePath(plane),
      clock: this.clock,
      userAgent: 'tester',
    });
  }

  async close(): Promise<void> {
    await this.lifecycle.stop();
    await this.api.close();
    this.authorizer.close();
    await this.storage.close();
  }
}
