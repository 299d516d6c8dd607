import { pino } from 'pino';
import { crdManifest, kindsOf } from '../../api/index.ts';
import {
  ApiServer,
  adminIdentity,
  controllerRoles,
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
import type { FabricHubDeps } from '../shared/deps.ts';

/** A hub and one project on a real server, and one controller of the fabric on them, in virtual time. */
export interface FabricHub {
  clock: VirtualClock;
  hub: Client;
  project: Client;
  /** Moves time on until `check` answers something; answers that. */
  until<T>(what: string, check: () => Promise<T | undefined | false>, seconds?: number): Promise<T>;
  close(): Promise<void>;
}

const planes = [
  { id: 'hub', role: 'hub', name: 'hub' },
  { id: 'project/alpha', role: 'project', name: 'alpha' },
] as const;
const pathOf = (plane: { id: string }): string => `/planes/${plane.id.replace('/', '-')}`;

export async function openHub(make: (deps: FabricHubDeps) => Controller): Promise<FabricHub> {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const log = pino({ level: process.env.LOG ?? 'silent' });
  const onFatal = (error: Error) => {
    throw error;
  };
  const storage = await openStorage({ file: ':memory:', clock, log: () => {}, procedures: [], onFatal });
  const authorizer = new RbacAuthorizer(storage);
  const authenticator = { authenticate: () => undefined };
  const server = new ApiServer({ storage, clock, random, log, authorizer, authenticator });
  const client = (plane: { id: string }) =>
    createClient({ transport: server.transport(adminIdentity), basePath: pathOf(plane), clock });
  const controller = make({
    clock,
    hub: 'hub',
    recorder: (plane, reportingController) =>
      createRecorder({ client: plane.client, clock, random, reportingController, reportingInstance: 'test' }),
    projectClient: (_, project) => client({ id: `project/${project}` }),
  });
  const manager = createManager({
    clock,
    random,
    log,
    connect: (plane, identity) => ({
      transport: server.transport(serviceAccountIdentity(identity)),
      basePath: pathOf(plane),
    }),
  });
  manager.add(controller);
  for (const plane of planes) {
    const crds = kindsOf(plane.role).filter((kind) => kind.servedBy === 'crd');
    await server.openPlane({ id: plane.id, path: pathOf(plane), crds: crds.map(crdManifest) });
    await authorizer.openPlane(plane.id);
    const roles = controllerRoles([controller], plane.role);
    for (const role of roles.clusterRoles) await client(plane).create(ClusterRole, role);
    for (const binding of roles.clusterRoleBindings) await client(plane).create(ClusterRoleBinding, binding);
    manager.engage(plane);
  }
  manager.start();

  return {
    clock,
    hub: client(planes[0]),
    project: client(planes[1]),
    async until(what, check, seconds = 60) {
      for (let waited = 0; waited <= seconds * 1000; waited += 50) {
        for (let turn = 0; turn < 5; turn++) await clock.settle();
        const answer = await check();
        if (answer !== undefined && answer !== false) return answer as never;
        await clock.advance(50);
      }
      throw new Error(`not within ${seconds} s: ${what}`);
    },
    async close() {
      await clock.advanceUntil(manager.stop());
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}
