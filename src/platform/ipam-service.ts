import { join } from 'node:path';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { kindsOf, Project } from '../api/index.ts';
import {
  ApiServer,
  adminIdentity,
  openPostgresStorage,
  PreconditionFailed,
  RbacAuthorizer,
  refuseEscalation,
  reviewKinds,
  type Storage,
  type StorageKey,
} from '../apiserver/index.ts';
import { createIpam, type Ipam, proceduresUrl } from '../ipam/index.ts';
import { type Clock, createClient, type Random, systemClock, systemRandom } from '../kube/index.ts';
import { apiVersionOf, formatTime, isApiError } from '../meta/index.ts';
import { defaultFeatureGates, UsageError } from './gates.ts';
import { type PlaneRef, projectPlane, rootPlane } from './planes.ts';
import { installRoles } from './roles.ts';
import { kubeconfigWritten, listen, makeFolder, openAccess } from './start.ts';

export interface IpamServiceOptions {
  /** `postgres://user:password@host:port/database`. */
  store: string;
  /** Certificates, tokens and the kubeconfig. */
  folder: string;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Projects to have, besides those the database has. */
  projects: readonly string[];
  /** How long a freed block rests where neither its pool nor its class says. */
  restSeconds: number;
  log: Logger;
  /** The service can no longer show the truth. */
  onFatal: (error: Error) => void;
  clock?: Clock;
  random?: Random;
}

export interface IpamService {
  url: string;
  kubeconfig: string;
  projects: readonly string[];
  stop(): Promise<void>;
}

const projectsQuery = { plane: 'root', resource: `${Project.group}/${Project.plural}` };
const retryMilliseconds = 1000;
/** Servers that start at once meet while they write the same namespaces and roles. */
const mostMeetings = 10;

/**
 * Serves IPAM alone, from PostgreSQL: the API of every project under the project's path, with certificates, tokens and roles
 * as the embedded platform has them. Several of these work on one database. Which projects there are is in the database:
 * a project that any server was started with is served by all.
 * @throws {StorageOpenError | StartError | UsageError} with one sentence.
 */
export async function startIpamService(options: IpamServiceOptions): Promise<IpamService> {
  const { clock = systemClock, random = systemRandom, log, host, folder } = options;
  if (!/^postgres(ql)?:\/\//.test(options.store)) {
    throw new UsageError('--store must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; SQLite is what berth up keeps');
  }
  await makeFolder(folder);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const storage = await openPostgresStorage({
    url: options.store,
    clock,
    log: (level, message, data) => log[level](data ?? {}, message),
    procedures: [proceduresUrl],
    onFatal: options.onFatal,
  });
  const undo: (() => Promise<void>)[] = [() => storage.close()];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const access = await openAccess({ folder, host, clock, random, storage });
    const authorizer = new RbacAuthorizer(storage);
    undo.push(async () => authorizer.close());
    const ipam = createIpam({
      storage,
      clock,
      log,
      metrics,
      defaultRestSeconds: options.restSeconds,
      shared: true,
    });
    const server = new ApiServer({
      storage,
      clock,
      random,
      log,
      metrics,
      authorizer,
      authenticator: access.authenticator,
      accountTokens: access.accountTokens,
      reviews: [...reviewKinds(authorizer), access.tokenReview],
      admission: (write) => refuseEscalation(authorizer, write),
    });
    undo.push(() => server.close());
    server.addReadyCheck({ name: 'postgresql', ready: () => storage.isReachable });
    await meeting(() => server.openPlane({ id: 'root', path: '/', crds: [] }));
    await authorizer.openPlane('root');
    for (const project of options.projects) await ensureProject(storage, project, random, clock);

    const planes: PlaneRef[] = [];
    const open = async (project: string) => {
      const plane = projectPlane(project);
      if (planes.some((each) => each.id === plane.id)) return;
      planes.push(plane);
      try {
        await openPlane({ server, authorizer, ipam, clock }, plane);
      } catch (error) {
        planes.splice(planes.indexOf(plane), 1);
        await server.closePlane(plane.id);
        authorizer.closePlane(plane.id);
        throw error;
      }
    };
    const { records, revision } = await storage.list(projectsQuery);
    for (const { key } of records) await open(key.name);

    const port = await listen(server, options, access);
    const url = `https://${host}:${port}`;
    const kubeconfig = join(folder, 'kubeconfig');
    const write = () =>
      access.writeKubeconfig(kubeconfig, url, [rootPlane, ...planes], `project-${planes[0]?.name ?? ''}`);
    await kubeconfigWritten(kubeconfig, write());
    let stopping = false;
    undo.push(async () => {
      stopping = true;
    });
    const openLater = async (project: string) => {
      while (!stopping) {
        try {
          await open(project);
          await write();
          return;
        } catch (err) {
          log.error({ err, project }, 'a project cannot be served yet; it is tried again');
          await clock.sleep(retryMilliseconds);
        }
      }
    };
    const watching = storage.watch(
      { ...projectsQuery, from: revision },
      {
        events(events) {
          for (const { type, key: of } of events) {
            if (type === 'put') void openLater(of.name);
          }
        },
        closed() {},
      },
    );
    undo.push(async () => watching.close());
    ipam.start();
    undo.push(() => ipam.stop());
    return { url, kubeconfig, projects: planes.map((plane) => plane.name), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ensureProject(storage: Storage, name: string, random: Random, clock: Clock): Promise<void> {
  const key: StorageKey = { ...projectsQuery, namespace: '', name };
  const metadata = { name, uid: random.uuid(), creationTimestamp: formatTime(clock.now()), generation: 1 };
  const object = { apiVersion: apiVersionOf(Project), kind: Project.kind, metadata, spec: {} };
  const encode = (revision: number) =>
    Buffer.from(JSON.stringify({ ...object, metadata: { ...metadata, resourceVersion: String(revision) } }));
  try {
    await storage.commit({ preconditions: [{ key, revision: 'absent' }], puts: [{ key, encode }] });
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
  }
}

interface Parts {
  server: ApiServer;
  authorizer: RbacAuthorizer;
  ipam: Ipam;
  clock: Clock;
}

async function openPlane({ server, authorizer, ipam, clock }: Parts, plane: PlaneRef): Promise<void> {
  await meeting(() =>
    server.openPlane({
      id: plane.id,
      path: plane.path,
      project: plane.name,
      crds: [],
      aggregated: ipam.aggregated(kindsOf('project')),
    }),
  );
  await authorizer.openPlane(plane.id);
  const client = createClient({ transport: server.transport(adminIdentity), basePath: plane.path, clock });
  await meeting(() => installRoles(client, plane, [], defaultFeatureGates()));
}

/** Tries again what another server did first. */
async function meeting(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      ignoreMeeting(error);
      if (attempt === mostMeetings) throw error;
    }
  }
}

function ignoreMeeting(error: unknown): void {
  if (error instanceof PreconditionFailed) return;
  if (isApiError(error, 'AlreadyExists') || isApiError(error, 'Conflict')) return;
  throw error;
}
