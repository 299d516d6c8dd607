import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Project } from '../api/index.ts';
import {
  ApiServer,
  Lifecycle,
  openStorage,
  RbacAuthorizer,
  refuseEscalation,
  reviewKinds,
  type Storage,
  StorageOpenError,
  serviceAccountIdentity,
} from '../apiserver/index.ts';
import { createIpam, ipamStorage, seedClasses, seedPools, seedRanges } from '../ipam/index.ts';
import {
  type Client,
  type Clock,
  type Controller,
  createManager,
  type Plane,
  type Random,
  Recorders,
  systemClock,
  systemRandom,
} from '../kube/index.ts';
import { apiVersionOf, isApiError, isConditionTrue } from '../meta/index.ts';
import { unpackBackup } from './backup.ts';
import type { CellSpec } from './cells.ts';
import type { PlatformConfig } from './config.ts';
import { controllerDeps, controllersOf } from './controllers.ts';
import { storeFile } from './files.ts';
import { ensureLocations } from './locations.ts';
import { PlaneHost } from './plane-host.ts';
import { cellPlane, contextName, hubPlane, type PlaneRef, projectPlane, rootPlane } from './planes.ts';
import { projectController } from './project/controller.ts';
import { projectClients } from './project-clients.ts';
import { kubeconfigWritten, listen, makeFolder, openAccess, StartError } from './start.ts';

export interface PlatformOptions {
  /** Holds everything; created where it is not there. Undefined: nothing is kept. */
  folder: string | undefined;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Cells and projects to have, besides those there are. */
  cells: readonly CellSpec[];
  projects: readonly string[];
  config: PlatformConfig;
  log: Logger;
  /** Told what has been done, while it is done. */
  progress?: (what: string, detail: string) => void;
  /** The store failed: nothing more can be acknowledged. */
  onFatal: (error: Error) => void;
  clock?: Clock;
  random?: Random;
}

export interface Platform {
  /** `https://127.0.0.1:7443`. */
  url: string;
  /** Path of the kubeconfig. */
  kubeconfig: string;
  /** Names of its contexts. */
  contexts: readonly string[];
  /** What the authorizer has seen used, and what was granted: see the access test. */
  authorizer: RbacAuthorizer;
  /** Everything at work in it, with the rules each exports. */
  controllers: readonly Controller[];
  /** Stops controllers, then the server, then the store: in that order nothing is lost. */
  stop(): Promise<void>;
}

/** How long the first projects may take to be served. */
const projectsMilliseconds = 30_000;

/**
 * Starts the embedded platform: every plane, every controller, one port.
 * @throws {StorageOpenError | StartError} with one sentence; nothing of what is there is changed then.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { clock = systemClock, random = systemRandom } = options;
  const undo: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const failed = Promise.withResolvers<never>();
  const onFatal = (error: Error): void => {
    failed.reject(new StartError(error.message));
    options.onFatal(error);
  };
  failed.promise.catch(() => {});
  const starting = start({ ...options, clock, random, onFatal }, undo, stop);
  try {
    return await Promise.race([starting, failed.promise]);
  } catch (error) {
    await stop();
    // What a start that was given up has begun since.
    starting.then(stop, stop).catch(() => {});
    throw error;
  }
}

type Undo = (() => Promise<void>)[];

async function start(
  options: PlatformOptions & { clock: Clock; random: Random },
  undo: Undo,
  stop: () => Promise<void>,
): Promise<Platform> {
  const { clock, random, log, config } = options;
  const progress = options.progress ?? (() => {});
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });

  const storage = await openStore(options);
  undo.push(() => storage.close());
  progress('storage', options.folder === undefined ? 'in memory' : join(options.folder, storeFile));

  const access = await openAccess({ folder: options.folder, host: options.host, clock, random, storage });
  const authorizer = new RbacAuthorizer(storage);
  undo.push(async () => authorizer.close());
  const ipam = createIpam({ storage, clock, log, metrics, defaultRestSeconds: config.restSeconds });
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
  const ready = { done: false };
  server.addReadyCheck({ name: 'planes', ready: () => ready.done });
  const port = await listen(server, options, access);
  const url = `https://${options.host}:${port}`;

  const lifecycle = new Lifecycle({
    storage,
    clock,
    random,
    onError: (err, what) => log.warn({ err, what }, 'tried again'),
  });
  undo.push(() => lifecycle.stop());
  const manager = createManager({
    clock,
    random,
    log,
    metrics,
    connect: (plane, identity) => ({
      transport: server.transport(serviceAccountIdentity(identity)),
      basePath: pathOf(plane),
    }),
  });
  undo.push(() => manager.stop());

  const kubeconfig = await kubeconfigFile(options.folder, undo);
  const planes: PlaneRef[] = [];
  let cells: CellSpec[] = [];
  const writeContexts = () => access.writeKubeconfig(kubeconfig, url, planes, 'project-alpha');
  const recorders = new Recorders({
    clock,
    random,
    domain: 'berth.datumapis.com',
    instance: String(process.pid),
    onError: (err) => log.warn({ err }, 'an event was not written'),
  });
  const recorder = (plane: Plane, controller: string) => recorders.of(plane, controller);
  const projectClient = projectClients((controller) => server.transport(serviceAccountIdentity(controller)), clock);
  const controllers = [
    ...controllersOf(controllerDeps({ clock, random, log, metrics, config, recorder, projectClient, simulate: true })),
    projectController({
      clock,
      cells: () => cells,
      seeds: (ranges) => ({ classes: seedClasses(), pools: seedPools(seedRanges(ranges)) }),
      async open(project) {
        const plane = projectPlane(project);
        await host.open(plane);
        if (!planes.some((each) => each.id === plane.id)) {
          planes.push(plane);
          if (ready.done) await writeContexts();
        }
      },
      async drop(project) {
        const plane = projectPlane(project);
        await host.drop(project);
        const index = planes.findIndex((each) => each.id === plane.id);
        if (index >= 0) planes.splice(index, 1);
        await access.revokeProject(plane);
        await writeContexts();
      },
    }),
  ];
  for (const controller of controllers) manager.add(controller);
  const { featureGates } = config;
  const host = new PlaneHost({ server, authorizer, lifecycle, manager, ipam, controllers, featureGates, clock });

  ipam.start();
  undo.push(() => ipam.stop());
  await Promise.all([host.open(rootPlane), host.open(hubPlane)]);
  planes.push(rootPlane, hubPlane);
  cells = await ensureLocations(host.admin(hubPlane), options.cells);
  await Promise.all(cells.map((cell) => host.open(cellPlane(cell.location))));
  planes.push(...cells.map((cell) => cellPlane(cell.location)));
  progress('planes', `root, hub, ${cells.map((cell) => contextName(cellPlane(cell.location))).join(', ')}`);

  const projects = await ensureProjects(host.admin(rootPlane), options.projects);
  manager.start();
  progress('controllers', `${controllers.length} at work`);
  await projectsReady(host.admin(rootPlane), projects, (id) => planes.some((plane) => plane.id === id), clock);
  planes.sort(byContext);
  progress('projects', projects.join(', '));
  ready.done = true;
  const contexts = await kubeconfigWritten(kubeconfig, writeContexts());
  return { url, kubeconfig, contexts, authorizer, controllers, stop };
}

/** In the order a person reads them: operators' planes, cells, projects. */
function byContext(a: PlaneRef, b: PlaneRef): number {
  const roles = ['root', 'hub', 'cell', 'project'];
  return roles.indexOf(a.role) - roles.indexOf(b.role) || (a.name < b.name ? -1 : 1);
}

async function openStore(options: PlatformOptions & { clock: Clock }): Promise<Storage> {
  const { folder, clock, log, onFatal } = options;
  if (folder !== undefined) {
    await makeFolder(folder);
    await unpackBackup(folder).catch((error: Error) => {
      throw new StartError(`the backup in ${folder} cannot be unpacked (${error.message}): check its permissions`);
    });
  }
  return openStorage({
    file: folder === undefined ? ':memory:' : join(folder, storeFile),
    clock,
    log: (level, message, data) => log[level](data ?? {}, message),
    ...ipamStorage,
    // Watchers that were away longer than this reaches back list anew; more of it is memory nobody else has use for.
    history: { bytes: 8 * 2 ** 20 },
    onFatal,
  });
}

async function kubeconfigFile(folder: string | undefined, undo: Undo): Promise<string> {
  if (folder !== undefined) return join(folder, 'kubeconfig');
  const made = await mkdtemp(join(tmpdir(), 'berth-'));
  undo.unshift(() => rm(made, { recursive: true, force: true }));
  return join(made, 'kubeconfig');
}

function pathOf(plane: { role: PlaneRef['role']; name: string }): string {
  switch (plane.role) {
    case 'root':
      return rootPlane.path;
    case 'hub':
      return hubPlane.path;
    case 'cell':
      return cellPlane(plane.name).path;
    case 'project':
      return projectPlane(plane.name).path;
  }
}

/** Projects there were, and those asked for now. */
async function ensureProjects(root: Client, asked: readonly string[]): Promise<string[]> {
  const there = (await root.list(Project)).items.map((project) => project.metadata.name);
  for (const name of asked) {
    if (there.includes(name)) continue;
    try {
      await root.create(Project, {
        apiVersion: apiVersionOf(Project),
        kind: Project.kind,
        metadata: { name },
        spec: {},
      });
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
    }
  }
  return [...new Set([...there, ...asked])].sort();
}

/** Waits until every project that is not being deleted is served. */
async function projectsReady(
  root: Client,
  projects: readonly string[],
  isOpen: (plane: string) => boolean,
  clock: Clock,
): Promise<void> {
  const deadline = clock.monotonic() + projectsMilliseconds;
  for (;;) {
    const { items } = await root.list(Project);
    const waiting = items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        projects.includes(metadata.name) &&
        // What an earlier run said of it is not enough: its plane must be served by this one.
        !(isOpen(projectPlane(metadata.name).id) && isConditionTrue(status?.conditions, 'Ready')),
    );
    if (waiting.length === 0) return;
    if (clock.monotonic() > deadline) {
      const names = waiting.map((project) => project.metadata.name).join(', ');
      throw new StartError(`projects ${names} did not come up within ${projectsMilliseconds / 1000} s: see the log`);
    }
    await clock.sleep(10);
  }
}

export { StorageOpenError };
