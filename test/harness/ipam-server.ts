import { pino } from 'pino';
import type { Registry } from 'prom-client';
import { crdsOf, IPClass, IPPool, kindsOf } from '../../src/api/index.ts';
import { ApiServer, type Authorizer, adminIdentity, planePath, type Storage } from '../../src/apiserver/index.ts';
import { openTestStorage } from '../../src/apiserver/testing/index.ts';
import { createIpam, type Ipam, ipamStorage, seedClasses, seedPools, seedRanges } from '../../src/ipam/index.ts';
import {
  type Client,
  type Clock,
  createClient,
  systemClock,
  systemRandom,
  type Transport,
} from '../../src/kube/index.ts';

const everybody: Authorizer = { authorize: () => ({ allowed: true }) };

export interface IpamServer {
  server: ApiServer;
  storage: Storage;
  ipam: Ipam;
  /** A client of a project, through its path and the generic handlers. */
  client(project: string): Client;
  transport(): Transport;
  pathOf(project: string): string;
  stop(): Promise<void>;
}

export interface IpamServerOptions {
  projects: readonly string[];
  /** Opened by the caller, and closed by `stop`; in memory where absent. */
  storage?: Storage;
  file?: string;
  clock?: Clock;
  metrics?: Registry;
  restSeconds?: number;
  /** Whether projects start with the classes and pools every project has. */
  seed?: boolean;
}

export function openIpamStorage(file = ':memory:', clock: Clock = systemClock): Promise<Storage> {
  return openTestStorage({ file, clock, ...ipamStorage });
}

const projectPath = (project: string) => planePath({ role: 'project', name: project });

/** The real API server with IPAM's kinds in some projects, and no network: no sockets, everything allowed. */
export async function startIpamServer(options: IpamServerOptions): Promise<IpamServer> {
  const { clock = systemClock, metrics, restSeconds = 0, seed = true } = options;
  const storage = options.storage ?? (await openIpamStorage(options.file, clock));
  const log = pino({ level: 'silent' });
  const ipam = createIpam({
    storage,
    clock,
    log,
    defaultRestSeconds: restSeconds,
    ...(metrics === undefined ? {} : { metrics }),
  });
  const server = new ApiServer({
    storage,
    clock,
    random: systemRandom,
    log,
    authenticator: { authenticate: () => adminIdentity },
    authorizer: everybody,
    ...(metrics === undefined ? {} : { metrics }),
  });
  await server.openPlane({ id: 'root', path: '/', crds: crdsOf('root') });
  const client = (project: string) =>
    createClient({ transport: server.transport(adminIdentity), basePath: projectPath(project), clock });
  for (const [index, project] of options.projects.entries()) {
    await server.openPlane({
      id: `project/${project}`,
      path: projectPath(project),
      project,
      crds: crdsOf('project'),
      aggregated: ipam.aggregated(kindsOf('project')),
    });
    if (!seed) continue;
    for (const each of seedClasses()) await client(project).create(IPClass, each);
    for (const each of seedPools(seedRanges(index))) await client(project).create(IPPool, each);
  }
  ipam.start();
  return {
    server,
    storage,
    ipam,
    client,
    transport: () => server.transport(adminIdentity),
    pathOf: projectPath,
    async stop() {
      await ipam.stop();
      await server.close();
      await storage.close();
    },
  };
}
