import { pino } from 'pino';
import { crdManifest, kindsOf } from '../../api/index.ts';
import {
  ApiServer,
  adminIdentity,
  controllerRoles,
  defaultRoles,
  Lifecycle,
  lifecyclePlane,
  openStorage,
  RbacAuthorizer,
  serviceAccountIdentity,
} from '../../apiserver/index.ts';
import {
  type Client,
  type Controller,
  createClient,
  createManager,
  createRecorder,
  seededRandom,
  VirtualClock,
} from '../../kube/index.ts';
import { ClusterRole, ClusterRoleBinding } from '../../meta/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { networkHubControllers } from './index.ts';

/** The hub's half of network services on a real server: hub, projects and their garbage collector, in virtual time. */
export interface Hub {
  clock: VirtualClock;
  hub: Client;
  project(id: string): Client;
  /** Serves one more project and lets the controllers work in it. */
  addProject(id: string): Promise<Client>;
  dropProject(id: string): Promise<void>;
  /** Moves time on, at most `seconds`, until `check` answers something; answers that. */
  until<T>(what: string, check: () => Promise<T | undefined | false>, seconds?: number): Promise<T>;
  /** Moves time on in steps a watch can keep up with. */
  pass(seconds: number): Promise<void>;
  /** Writes of the controllers since the last call, such as `PATCH …/networkcontexts/net-loc`. */
  writes(): string[];
  /** Stops the controllers, as a process that ends does, and starts fresh ones; `meanwhile` nobody looks. */
  restart(meanwhile?: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

type PlaneRef = { id: string; role: 'hub' | 'project'; name: string };

const pathOf = (plane: { id: string }): string => `/planes/${plane.id.replace('/', '-')}`;

export async function startHub(options: { quietPeriodSeconds: number; projects: readonly string[] }): Promise<Hub> {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const log = pino({ level: process.env.LOG ?? 'silent' });
  const storage = await openStorage({
    file: ':memory:',
    clock,
    log: () => {},
    procedures: [],
    onFatal: (error) => {
      throw error;
    },
  });
  const authorizer = new RbacAuthorizer(storage);
  const authenticator = { authenticate: () => undefined };
  const server = new ApiServer({ storage, clock, random, log, authorizer, authenticator });
  const lifecycle = new Lifecycle({ storage, clock, random, onError: (err, what) => log.warn({ err }, what) });
  const written: string[] = [];
  const planes: PlaneRef[] = [];
  const admin = (plane: { id: string }) =>
    createClient({ transport: server.transport(adminIdentity), basePath: pathOf(plane), clock });

  const deps: NetworkDeps = {
    clock,
    random,
    log,
    hub: 'hub',
    recorder: (plane, controller) =>
      createRecorder({
        client: plane.client,
        clock,
        random,
        reportingController: controller,
        reportingInstance: controller,
        onError: (err) => log.warn({ err }, 'event'),
      }),
    projectClient: (_, project) => admin({ id: `project/${project}` }),
    ipamClasses: {},
    quietPeriodMilliseconds: options.quietPeriodSeconds * 1000,
    dataPlane: 'none',
  };
  let controllers: Controller[] = networkHubControllers(deps);
  let manager = startManager();

  function startManager() {
    const made = createManager({
      clock,
      random,
      log,
      connect: (plane, identity) => {
        const transport = server.transport(serviceAccountIdentity(identity));
        return {
          transport: {
            ...transport,
            request: (request) => {
              const event = request.path.includes('events.k8s.io');
              if (request.method !== 'GET' && !event) written.push(`${request.method} ${request.path.split('?')[0]}`);
              return transport.request(request);
            },
            close: () => transport.close(),
          },
          basePath: pathOf(plane),
        };
      },
    });
    for (const controller of controllers) made.add(controller);
    made.start();
    return made;
  }

  async function open(plane: PlaneRef): Promise<Client> {
    const crds = kindsOf(plane.role)
      .filter((kind) => kind.servedBy === 'crd')
      .map(crdManifest);
    await server.openPlane({ id: plane.id, path: pathOf(plane), crds });
    await authorizer.openPlane(plane.id);
    const client = admin(plane);
    const roles = [controllerRoles(controllers, plane.role), defaultRoles(plane.role, plane.name)];
    for (const { clusterRoles, clusterRoleBindings } of roles) {
      for (const role of clusterRoles) await client.create(ClusterRole, role);
      for (const binding of clusterRoleBindings) await client.create(ClusterRoleBinding, binding);
    }
    await lifecycle.openPlane(lifecyclePlane(server, { id: plane.id, path: pathOf(plane) }, clock));
    planes.push(plane);
    manager.engage(plane);
    return client;
  }

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await clock.settle();
  };
  const hubClient = await open({ id: 'hub', role: 'hub', name: 'hub' });
  const projects = new Map<string, Client>();
  const addProject = async (id: string): Promise<Client> => {
    const client = await open({ id: `project/${id}`, role: 'project', name: id });
    projects.set(id, client);
    return client;
  };
  for (const id of options.projects) await addProject(id);

  return {
    clock,
    hub: hubClient,
    project: (id) => projects.get(id)!,
    addProject,
    async dropProject(id) {
      planes.splice(
        planes.findIndex((plane) => plane.id === `project/${id}`),
        1,
      );
      await clock.advanceUntil(manager.disengage(`project/${id}`));
    },
    async until(what, check, seconds = 60) {
      for (let waited = 0; waited <= seconds * 1000; waited += 50) {
        await settle();
        const answer = await check();
        if (answer !== undefined && answer !== false) return answer as never;
        await clock.advance(50);
      }
      throw new Error(`not within ${seconds} s: ${what}`);
    },
    async pass(seconds) {
      for (let passed = 0; passed < seconds * 1000; passed += 250) {
        await clock.advance(250);
        await settle();
      }
    },
    writes: () => written.splice(0),
    async restart(meanwhile) {
      await clock.advanceUntil(manager.stop());
      await meanwhile?.();
      controllers = networkHubControllers(deps);
      manager = startManager();
      for (const plane of planes) manager.engage(plane);
      await settle();
    },
    async close() {
      await clock.advanceUntil(manager.stop());
      await lifecycle.stop();
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}
