import {
  copyNameTaken,
  crdsOf,
  Instance,
  LocationBinding,
  NetworkContext,
  NetworkInterface,
  NetworkInterfaceClaim,
  ServingLocation,
  topologyKeys,
  Workload,
  WorkloadDeployment,
} from '../api/index.ts';
import { Environment, type Sent } from '../apiserver/testing/index.ts';
import { carryDown, carryNamespaces, carryUp } from '../federation/index.ts';
import { applyStatus, type Client, type Controller, mergeStatus, type Plane, planeRef } from '../kube/index.ts';
import { apiVersionOf, isTerminating, type KubeObject, type Stored } from '../meta/index.ts';
import {
  computeCellControllers,
  computeHubControllers,
  computeProjectControllers,
  instancePublication,
} from './index.ts';

export const location = 'us-central-1';
export const refs = {
  hub: planeRef('hub'),
  cell: planeRef('cell', location),
  project: planeRef('project', 'alpha'),
};

export interface Rig {
  environment: Environment;
  project: Client;
  hub: Client;
  cell: Client;
  /** Every request, reads and informers' included. */
  requests: Sent[];
  /** Claims the stand-in for network services refuses, by name: reason and message. */
  refused: Map<string, { reason: string; message: string }>;
}

export interface RigOptions {
  networking?: boolean;
  /** Whether controllers reach the planes from the start; default true. */
  engaged?: boolean;
}

/** Compute at work on a hub, a cell and a project, with plain stand-ins for its neighbours. */
export async function openCompute({ networking = true, engaged = true }: RigOptions = {}): Promise<Rig> {
  const environment = await Environment.open();
  const { clock, log, recorder, wire } = environment;
  const requests: Sent[] = [];
  wire.onRequest = (sent) => requests.push(sent);
  const refused: Rig['refused'] = new Map();
  const options = { hub: refs.hub.id, log, recorder, nameTaken: copyNameTaken };
  const deps = {
    clock,
    log,
    hub: refs.hub.id,
    recorder,
    networkingIntegration: networking,
    referencedData: false,
    dataPlane: 'none',
  } as const;
  environment.use(() => [
    carryNamespaces(options),
    carryDown({ type: ServingLocation, selectedBy: 'name', drains: false }, options),
    carryDown({ type: WorkloadDeployment, selectedBy: { label: topologyKeys.location }, drains: true }, options),
    carryUp(instancePublication, options),
    ...computeProjectControllers(deps),
    ...computeHubControllers(deps),
    ...computeCellControllers(deps),
    provider,
    ...(networking ? [networkServices(refused)] : []),
  ]);
  for (const plane of Object.values(refs)) await environment.openPlane(plane, { crds: crdsOf(plane.role) }, engaged);
  const rig = {
    environment,
    hub: environment.hub,
    cell: environment.cell(),
    project: environment.project(),
    requests,
    refused,
  };
  await rig.hub.create(ServingLocation, {
    apiVersion: apiVersionOf(ServingLocation),
    kind: ServingLocation.kind,
    metadata: { name: location },
  } as ServingLocation);
  await rig.project.create(LocationBinding, bindingOf(location));
  environment.start();
  return rig;
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
function networkServices(refused: Rig['refused']): Controller {
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

export function condition(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message = 'said') {
  return { type, status, reason, message, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

export function keyOf(object: KubeObject): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
