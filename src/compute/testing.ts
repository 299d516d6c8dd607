import { pino } from 'pino';
import {
  crdManifest,
  Instance,
  kindsOf,
  LocationBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  topologyKeys,
  Workload,
  WorkloadDeployment,
} from '../api/index.ts';
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
} from '../apiserver/index.ts';
import { carryDown, carryNamespaces, carryUp } from '../federation/index.ts';
import {
  applyStatus,
  type Client,
  type Controller,
  createClient,
  createManager,
  createRecorder,
  mergeStatus,
  type Plane,
  type PlaneRef,
  systemClock,
  systemRandom,
  type Transport,
} from '../kube/index.ts';
import {
  apiVersionOf,
  ClusterRole,
  ClusterRoleBinding,
  formatTime,
  isTerminating,
  type KubeObject,
  type Stored,
} from '../meta/index.ts';
import {
  computeCellControllers,
  computeHubControllers,
  computeProjectControllers,
  instancePublication,
} from './index.ts';

/** Compute against the real server, on planes like the platform's, with plain stand-ins for its neighbours. */

export const location = 'us-central-1';
export const refs = {
  hub: { id: 'hub', role: 'hub', name: 'hub' },
  cell: { id: `cell/${location}`, role: 'cell', name: location },
  project: { id: 'project/alpha', role: 'project', name: 'alpha' },
} as const satisfies Record<string, PlaneRef>;

/** Where the embedded server serves a plane. */
function pathOf({ role, name }: PlaneRef): string {
  if (role === 'hub') return '/planes/hub';
  if (role === 'cell') return `/planes/cells/${name}`;
  return `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${name}/control-plane`;
}

export interface Harness {
  project: Client;
  hub: Client;
  cell: Client;
  /** Lets a plane's controllers in. */
  engage(plane: PlaneRef): void;
  /** Every request that was not a read, as `who METHOD path`. */
  writes: string[];
  /** Every request of any kind. */
  requests: string[];
  /** Claims the stand-in for network services refuses, by name: reason and message. */
  refused: Map<string, { reason: string; message: string }>;
  /** Resolves once `check` answers something truthy; throws its last complaint after ten seconds. */
  until<T>(check: () => Promise<T | undefined | false>, what: string): Promise<T>;
  /** Resolves once nothing has been written for a while. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  networking?: boolean;
  /** Planes engaged at the start, in order; all where absent. */
  engaged?: readonly PlaneRef[];
}

export async function startHarness({ networking = true, engaged }: HarnessOptions = {}): Promise<Harness> {
  const clock = systemClock;
  const random = systemRandom;
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
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
  const lifecycle = new Lifecycle({ storage, clock, random, onError: () => {} });
  const requests: string[] = [];
  const writes: string[] = [];
  const recorded = (who: string, transport: Transport): Transport => ({
    ...transport,
    close: () => transport.close(),
    request(request) {
      const line = `${who} ${request.method} ${request.path}`;
      requests.push(line);
      if (request.method !== 'GET') writes.push(line);
      return transport.request(request);
    },
  });
  const manager = createManager({
    clock,
    random,
    log,
    connect: (plane, who) => ({
      transport: recorded(who, server.transport(serviceAccountIdentity(who))),
      basePath: pathOf(plane),
    }),
  });
  const refused: Harness['refused'] = new Map();
  const options = { hub: refs.hub.id };
  const deps = {
    clock,
    hub: refs.hub.id,
    networkingIntegration: networking,
    referencedData: false,
    dataPlane: 'none',
    recorder: (plane: Plane, controller: string) =>
      createRecorder({
        client: plane.client,
        clock,
        random,
        reportingController: controller,
        reportingInstance: 'test',
      }),
  } as const;
  const controllers = [
    carryNamespaces(options),
    carryDown({ type: ServingLocation, selectedBy: 'name', drains: false }, options),
    carryDown({ type: WorkloadDeployment, selectedBy: { label: topologyKeys.location }, drains: true }, options),
    carryUp(instancePublication, options),
    ...computeProjectControllers(deps),
    ...computeHubControllers(deps),
    ...computeCellControllers(deps),
    provider,
    ...(networking ? [networkServices(refused)] : []),
  ];
  for (const controller of controllers) manager.add(controller);

  const open = async (plane: PlaneRef): Promise<Client> => {
    const basePath = pathOf(plane);
    const crds = kindsOf(plane.role)
      .filter((kind) => kind.servedBy === 'crd')
      .map(crdManifest);
    await server.openPlane({ id: plane.id, path: basePath, crds });
    await authorizer.openPlane(plane.id);
    const client = createClient({ transport: server.transport(adminIdentity), basePath, clock });
    for (const roles of [controllerRoles(controllers, plane.role), defaultRoles(plane.role, plane.name)]) {
      for (const role of roles.clusterRoles) await client.create(ClusterRole, role);
      for (const binding of roles.clusterRoleBindings) await client.create(ClusterRoleBinding, binding);
    }
    await lifecycle.openPlane(lifecyclePlane(server, { id: plane.id, path: basePath }, clock));
    return client;
  };
  const [hub, cell, project] = [await open(refs.hub), await open(refs.cell), await open(refs.project)];
  await hub.create(ServingLocation, {
    apiVersion: apiVersionOf(ServingLocation),
    kind: ServingLocation.kind,
    metadata: { name: location },
  } as ServingLocation);
  await project.create(LocationBinding, bindingOf(location));
  for (const plane of engaged ?? Object.values(refs)) manager.engage(plane);
  manager.start();

  return {
    project,
    hub,
    cell,
    writes,
    requests,
    refused,
    engage: (plane) => manager.engage(plane),
    async until(check, what) {
      const deadline = clock.monotonic() + 10_000;
      for (;;) {
        const answer = await check();
        if (answer !== undefined && answer !== false) return answer;
        if (clock.monotonic() > deadline) throw new Error(`not within 10 s: ${what}`);
        await clock.sleep(5);
      }
    },
    async settled() {
      for (let before = -1; before !== writes.length; ) {
        before = writes.length;
        await clock.sleep(400);
      }
    },
    async close() {
      await manager.stop();
      await lifecycle.stop();
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}

export function bindingOf(name: string): LocationBinding {
  return {
    apiVersion: apiVersionOf(LocationBinding),
    kind: LocationBinding.kind,
    metadata: { name },
    spec: { locationRef: { name } },
  };
}

/** A workload as a consumer writes it. */
export function workload(name: string, replicas: number, template: Partial<Instance['spec']> = {}): Workload {
  return {
    apiVersion: apiVersionOf(Workload),
    kind: Workload.kind,
    metadata: { name, namespace: 'default' },
    spec: {
      template: {
        spec: {
          runtime: {
            resources: { instanceType: 'datumcloud/d1-standard-2' },
            sandbox: { containers: [{ name: 'web', image: 'nginx:1' }] },
          },
          ...('networkInterfaceClaimTemplates' in template
            ? {}
            : { networkInterfaces: [{ network: { name: 'default' }, name: 'eth0' }] }),
          ...template,
        },
      },
      placements: [{ name: 'here', locations: [{ name: location }], scaleSettings: { minReplicas: replicas } }],
    },
  } as Workload;
}

const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

/** Starts what has no gate left. */
const provider: Controller = {
  name: 'test-provider',
  rules: { cell: everything },
  engage: (plane, _, watch) => watch.on(plane, Instance),
  async reconcile(request, planes) {
    const plane = planes.get(request.plane);
    const instance = plane?.informer(Instance).get(request.namespace, request.name);
    const controller = instance?.spec?.controller;
    if (plane === undefined || instance === undefined || isTerminating(instance)) return undefined;
    if (controller === undefined || (controller.schedulingGates ?? []).length > 0) return undefined;
    if (instance.status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True')) {
      return undefined;
    }
    const conditions = [condition('Programmed', 'True', 'Programmed'), condition('Available', 'True', 'Available')];
    await applyStatus(plane.client, Instance, instance, { conditions }, 'test-provider');
    return undefined;
  },
};

/** What network services do as far as compute sees it: binds claims to interfaces that keep their addresses. */
function networkServices(refused: Harness['refused']): Controller {
  let addresses = 0;
  const held = async (plane: Plane, claim: Stored<NetworkInterfaceClaim>): Promise<Stored<NetworkInterface>> => {
    const claimRef = { name: claim.metadata.name, uid: claim.metadata.uid };
    const there = plane.informer(NetworkInterface).get(claim.metadata.namespace ?? '', claim.metadata.name);
    if (there === undefined) {
      const { network, interfaceName, ipFamilies, reclaimPolicy, attachmentMode } = claim.spec;
      const address = `fd20:1000:0:0:${(++addresses).toString(16)}::/96`;
      return plane.client.create(NetworkInterface, {
        apiVersion: apiVersionOf(NetworkInterface),
        kind: NetworkInterface.kind,
        metadata: { name: claim.metadata.name, namespace: claim.metadata.namespace ?? '' },
        spec: {
          ...{ network, interfaceName, ipFamilies, reclaimPolicy, attachmentMode, claimRef, mtu: 1400 },
          addresses: [{ family: 'IPv6', address, primary: true }],
        },
      } as NetworkInterface);
    }
    if (there.spec.claimRef?.uid === claim.metadata.uid) return there;
    return plane.client.patch(NetworkInterface, keyOf(there), { type: 'merge', body: { spec: { claimRef } } });
  };
  const present = async (plane: Plane, { metadata, spec }: Stored<WorkloadDeployment>): Promise<void> => {
    const { networkInterfaces = [], networkInterfaceClaimTemplates = [] } = spec?.template.spec ?? {};
    const names = [
      ...networkInterfaces.map((each) => each.network),
      ...networkInterfaceClaimTemplates.map((each) => each.spec.network),
    ];
    for (const { name } of names) {
      const key = { name: `${name}-${location}`, namespace: metadata.namespace ?? '' };
      if (plane.informer(NetworkContext).get(key.namespace, key.name) !== undefined) continue;
      await plane.client
        .create(NetworkContext, {
          apiVersion: apiVersionOf(NetworkContext),
          kind: NetworkContext.kind,
          metadata: key,
          spec: { network: { name }, location: { name: location } },
        })
        .catch(() => {});
    }
  };
  return {
    name: 'test-network',
    rules: { cell: everything },
    engage(plane, _, watch) {
      watch.on(plane, NetworkInterfaceClaim);
      watch.on(plane, NetworkInterface);
      watch.on(plane, WorkloadDeployment, (deployment, event) => {
        if (event.type === 'added') void present(plane, deployment);
        return [];
      });
    },
    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      if (plane === undefined) return undefined;
      const claim = plane.informer(NetworkInterfaceClaim).get(request.namespace, request.name);
      if (claim === undefined) {
        const left = plane.informer(NetworkInterface).get(request.namespace, request.name);
        if (left?.spec.claimRef === undefined) return undefined;
        if (left.spec.reclaimPolicy === 'Delete') await plane.client.delete(NetworkInterface, request);
        else await plane.client.patch(NetworkInterface, request, { type: 'merge', body: { spec: { claimRef: null } } });
        return undefined;
      }
      if (isTerminating(claim)) return undefined;
      const refusal = refused.get(claim.metadata.name);
      if (refusal !== undefined) {
        const says = (type: string) => condition(type, 'False', refusal.reason, refusal.message);
        await mergeStatus(plane.client, NetworkInterfaceClaim, claim, {
          conditions: ['Bound', 'Allocated', 'Ready'].map(says),
        });
        return { requeueAfterMilliseconds: 50 };
      }
      const bound = await held(plane, claim);
      await mergeStatus(plane.client, NetworkInterfaceClaim, claim, {
        networkInterfaceRef: { name: bound.metadata.name },
        addresses: bound.spec.addresses ?? [],
        conditions: [
          condition('Bound', 'True', 'Bound'),
          condition('Allocated', 'True', 'Allocated'),
          condition('Ready', 'Unknown', 'NotPrepared'),
        ],
      });
      return undefined;
    },
  };
}

const start = systemClock.now();

export function condition(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message = 'said') {
  return { type, status, reason, message, observedGeneration: 1, lastTransitionTime: formatTime(start) };
}

export function keyOf(object: KubeObject): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
