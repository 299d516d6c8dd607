import { pino } from 'pino';
import {
  crdManifest,
  EgressShard,
  EgressShardParameters,
  kindsOf,
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  networkingLabels,
  VPC,
  VPCAttachment,
} from '../../api/index.ts';
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
  applyStatus,
  type Client,
  type Controller,
  createClient,
  createManager,
  createRecorder,
  mergeStatus,
  type Plane,
  seededRandom,
  type TransportRequest,
  VirtualClock,
} from '../../kube/index.ts';
import {
  apiVersionOf,
  ClusterRole,
  ClusterRoleBinding,
  controllerReference,
  Event,
  formatTime,
  Namespace,
  type Stored,
} from '../../meta/index.ts';
import { formatIdentifier, vpcIdentifier } from '../codec/index.ts';
import { type Intent, parametersOf, shardNamespace, shardOf } from './egress/testing.ts';

/** The fabric's controllers in a cell on a real server, with its garbage collector, in virtual time. */

export const namespace = 'ns-alpha';
const cell = { id: 'cell/us-central-1', role: 'cell', name: 'us-central-1' } as const;
const path = '/planes/cells/us-central-1';

/** What passes from the controllers to the server, and where it is cut. */
export interface Wire {
  /** `POST vpcattachments`, `PUT vpcattachments/status`; Events are not counted. */
  writes: string[];
  /** How many of them came too late: the object had moved on. */
  conflicts: number;
  /** Holds every write up, as a wire does. */
  delay?: () => Promise<void>;
  /** The process ends at this write (counted from 1): before it, or after it and before its answer. */
  crash?: { at: number; applied: boolean } | undefined;
  crashed: boolean;
}

export interface FabricCell {
  clock: VirtualClock;
  client: Client;
  wire: Wire;
  /** Moves time on until `check` answers something; answers that. */
  until<T>(what: string, check: () => Promise<T | undefined | false>, seconds?: number): Promise<T>;
  /** Until nothing is written any more. */
  settle(): Promise<void>;
  start(): void;
  /** Ends the controllers’ process. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface Deps {
  clock: VirtualClock;
  recorder(plane: Plane, controller: string): ReturnType<typeof createRecorder>;
}

export async function openCell(controllersOf: (deps: Deps) => Controller[]): Promise<FabricCell> {
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
  const wire: Wire = { writes: [], conflicts: 0, crashed: false };
  const deps: Deps = {
    clock,
    recorder: (plane, controller) =>
      createRecorder({
        client: plane.client,
        clock,
        random,
        reportingController: controller,
        reportingInstance: controller,
        onError: (err) => log.warn({ err }, 'event'),
      }),
  };

  const crds = kindsOf('cell')
    .filter((kind) => kind.servedBy === 'crd')
    .map(crdManifest);
  await server.openPlane({ id: cell.id, path, crds });
  await authorizer.openPlane(cell.id);
  const client = createClient({ transport: server.transport(adminIdentity), basePath: path, clock });
  for (const roles of [controllerRoles(controllersOf(deps), 'cell'), defaultRoles('cell', cell.name)]) {
    for (const role of roles.clusterRoles) await client.create(ClusterRole, role);
    for (const binding of roles.clusterRoleBindings) await client.create(ClusterRoleBinding, binding);
  }
  await lifecycle.openPlane(lifecyclePlane(server, { id: cell.id, path }, clock));
  for (const name of [namespace, shardNamespace]) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  async function passed(request: TransportRequest, send: (request: TransportRequest) => ReturnType<typeof sent>) {
    if (wire.crashed) throw new Error('the process has ended');
    const [, resource = ''] = /\/([a-z-]+)\/?[^/]*(?:\/status)?(?:\?.*)?$/.exec(request.path) ?? [];
    if (request.method === 'GET' || request.path.includes('/events')) return send(request);
    const kind = /\/namespaces\/[^/]+\/([a-z-]+)/.exec(request.path)?.[1] ?? resource;
    wire.writes.push(`${request.method} ${kind}${/\/status(\?|$)/.test(request.path) ? '/status' : ''}`);
    if (wire.crash === undefined || wire.writes.length !== wire.crash.at) {
      await wire.delay?.();
      const response = await send(request);
      if (response.status === 409) wire.conflicts++;
      return response;
    }
    if (wire.crash.applied) await send(request).catch(() => undefined);
    wire.crashed = true;
    throw new Error('the process has ended');
  }
  const sent = (request: TransportRequest) => server.transport(adminIdentity).request(request);

  let manager: ReturnType<typeof createManager> | undefined;
  const settleTurns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await clock.settle();
  };

  async function stopManager(): Promise<void> {
    const stopping = manager?.stop(wire.crashed ? 0 : 2_000);
    manager = undefined;
    if (stopping !== undefined) await clock.advanceUntil(stopping);
  }

  return {
    clock,
    client,
    wire,
    async until(what, check, seconds = 30) {
      for (let waited = 0; waited <= seconds * 1000; waited += 25) {
        await settleTurns();
        const answer = await check();
        if (answer !== undefined && answer !== false) return answer as never;
        await clock.advance(25);
      }
      throw new Error(`not within ${seconds} s: ${what}`);
    },
    async settle() {
      for (let quiet = 0, before = -1; quiet < 4; ) {
        await clock.advance(100);
        await settleTurns();
        quiet = before === wire.writes.length ? quiet + 1 : 0;
        before = wire.writes.length;
      }
    },
    start() {
      wire.crashed = false;
      manager = createManager({
        clock,
        random,
        log,
        connect: (_, identity) => {
          const transport = server.transport(serviceAccountIdentity(identity));
          return {
            transport: {
              request: (request) => passed(request, (each) => transport.request(each)),
              close: () => transport.close(),
            },
            basePath: path,
          };
        },
      });
      for (const controller of controllersOf(deps)) manager.add(controller);
      manager.engage(cell);
      manager.start();
    },
    stop: stopManager,
    async close() {
      await stopManager();
      await lifecycle.stop();
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}

// What neighbours do.

interface ContextOptions {
  internet?: Intent | undefined;
  /** UID of the network. */
  uid?: string;
}

const networkUidOf = (network: string) => `${network}-uid`;

export function contextNameOf(network: string): string {
  return `${network}-us-central-1`;
}

/** A network\u2019s presence, as propagation delivers it. */
export function context(
  client: Client,
  network: string,
  options: ContextOptions = {},
): Promise<Stored<NetworkContext>> {
  const { internet, uid = networkUidOf(network) } = options;
  return client.create(NetworkContext, {
    apiVersion: apiVersionOf(NetworkContext),
    kind: NetworkContext.kind,
    metadata: { name: contextNameOf(network), namespace, labels: { [networkingLabels.networkUID]: uid } },
    spec: {
      network: { name: network },
      location: { name: 'us-central-1' },
      ipFamilies: ['IPv6', 'IPv4'],
      mtu: 1440,
      ...(internet === undefined ? {} : { egress: { internet } }),
    },
  });
}

/** What the hub projects on it from now on. */
export async function project(client: Client, network: string, internet: Intent | undefined): Promise<void> {
  const key = { namespace, name: contextNameOf(network) };
  // Null first: what is left out of a merge stays.
  await client.patch(NetworkContext, key, { type: 'merge', body: { spec: { egress: { internet: null } } } });
  if (internet === undefined) return;
  await client.patch(NetworkContext, key, { type: 'merge', body: { spec: { egress: { internet } } } });
}

/** The VPC of a context, and its identifier where it has one yet. */
export async function vpc(client: Client, network: string, identifier: number | undefined): Promise<Stored<VPC>> {
  const name = contextNameOf(network);
  const owner = await client.get(NetworkContext, { namespace, name });
  const made = await client.create(VPC, {
    apiVersion: apiVersionOf(VPC),
    kind: VPC.kind,
    metadata: {
      name,
      namespace,
      ...(owner === undefined ? {} : { ownerReferences: [controllerReference(owner)] }),
    },
    spec: { networks: ['fd5a:9:2::/64'] },
  });
  return identifier === undefined ? made : identify(client, made, identifier);
}

export function identify(client: Client, object: Stored<VPC>, identifier: number): Promise<Stored<VPC>> {
  return mergeStatus(client, VPC, object, { vpc: formatIdentifier(vpcIdentifier, identifier) });
}

interface InterfaceOptions {
  network?: string;
  mode?: 'Netns' | 'Hypervisor';
  mtu?: number | undefined;
  address?: string;
}

/** An interface that a claim holds, with its addresses: what network services have made. */
export async function boundInterface(
  client: Client,
  name: string,
  options: InterfaceOptions = {},
): Promise<Stored<NetworkInterface>> {
  const { network = 'net', mode = 'Netns', address = 'fd5a:9:2:0:c::/96' } = options;
  const mtu = 'mtu' in options ? options.mtu : 1440;
  const made = await client.create(NetworkInterface, {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: { name, namespace, labels: { [networkingLabels.networkUID]: networkUidOf(network) } },
    spec: {
      network: { name: network },
      claimRef: { name, uid: `${name}-claim` },
      interfaceName: 'eth0',
      attachmentMode: mode,
      ...(mtu === undefined ? {} : { mtu }),
      addresses: [
        { family: 'IPv6', address, gateway: 'fd5a:9:2::1', primary: true },
        { family: 'IPv4', address: '10.70.3.9/32', gateway: '10.70.0.1' },
      ],
      reclaimPolicy: 'Delete',
    },
  });
  return sayBound(client, made);
}

/** network/cell\u2019s part of its status. */
export function sayBound(client: Client, object: Stored<NetworkInterface>): Promise<Stored<NetworkInterface>> {
  const said = {
    status: 'True',
    reason: 'Allocated',
    message: 'Allocated',
    lastTransitionTime: formatTime(0),
  } as const;
  return applyStatus(
    client,
    NetworkInterface,
    object,
    {
      phase: 'Bound',
      networkContextRef: { name: contextNameOf(object.spec.network.name) },
      conditions: [{ type: 'Allocated', ...said }],
    },
    'network-cell',
  );
}

/** A shard as an operator and its node make it. */
export async function shard(
  client: Client,
  name: string,
  options: Parameters<typeof shardOf>[1] = {},
): Promise<Stored<EgressShard>> {
  const { metadata, status = {}, ...rest } = shardOf(name, options);
  const { labels = {} } = metadata;
  const made = await client.create(EgressShard, {
    ...rest,
    metadata: { name, namespace: metadata.namespace!, labels },
  });
  return mergeStatus(client, EgressShard, made, status);
}

export function shardKey(name: string): { namespace: string; name: string } {
  return { namespace: shardNamespace, name };
}

export function parameters(
  client: Client,
  ...of: Parameters<typeof parametersOf>
): Promise<Stored<EgressShardParameters>> {
  const { metadata, ...rest } = parametersOf(...of);
  return client.create(EgressShardParameters, { ...rest, metadata: { name: metadata.name } });
}

export const get = {
  interface: (client: Client, name: string) => client.get(NetworkInterface, { namespace, name }),
  attachment: (client: Client, name: string) => client.get(VPCAttachment, { namespace, name }),
  definition: (client: Client, name: string) => client.get(NetworkAttachmentDefinition, { namespace, name }),
};

export async function eventNotes(client: Client, reason: string): Promise<string[]> {
  const { items } = await client.list(Event);
  return items.filter((event) => event.reason === reason).map((event) => event.note ?? '');
}
