import {
  computeAnnotations,
  computeLabels,
  type DataPlane,
  Instance,
  NetworkInterface,
  NetworkInterfaceClaim,
  WorkloadDeployment,
} from '../../../api/index.ts';
import { applyStatus, type Clock, type Controller, Crowd, type Plane, type Request } from '../../../kube/index.ts';
import { findCondition, isTerminating, jsonEqual, type KubeObject, type Stored } from '../../../meta/index.ts';
import { toldBy } from '../../shared/told.ts';
import { companionsRule, dataState, watchCompanions } from '../data.ts';
import { decide, type Plan, type QuotaAnswer, type Snapshot } from './decide.ts';

export interface InstanceDeps {
  clock: Clock;
  networkingIntegration: boolean;
  dataPlane: DataPlane;
  referencedData: boolean;
  quota: Quota;
}

/** Whether an instance may run at all. */
export interface Quota {
  evaluate(instance: Stored<Instance>): QuotaAnswer;
}

const name = 'compute-cell-instance';
const reads = ['get', 'list', 'watch'];
const bySlot = 'compute/slot';
const byClaim = 'compute/claim';
const byDeployment = 'compute/deployment';

/** Gates, readiness and addresses of one instance; nothing it waits for holds back another. */
export function instanceController(deps: InstanceDeps): Controller {
  const untold = new Crowd();
  return {
    name,
    rules: {
      cell: [
        { apiGroups: [Instance.group], resources: ['instances'], verbs: [...reads, 'patch'] },
        { apiGroups: [Instance.group], resources: ['instances/status'], verbs: ['patch'] },
        ...(deps.networkingIntegration
          ? [
              {
                apiGroups: [NetworkInterface.group],
                resources: ['networkinterfaceclaims', 'networkinterfaces'],
                verbs: reads,
              },
            ]
          : []),
        { apiGroups: [WorkloadDeployment.group], resources: ['workloaddeployments'], verbs: reads },
        ...(deps.referencedData ? [companionsRule] : []),
      ],
    },

    engage(plane, _planes, watch) {
      plane.signal.addEventListener('abort', () => untold.leaveAll(keyOf(plane)));
      watch.on(plane, Instance, (instance, event) => {
        if (event.type !== 'deleted' && isUntold(instance)) untold.enter(keyOf(plane, instance));
        else untold.leave(keyOf(plane, instance));
        return [requestOf(plane, instance)];
      });
      const instances = plane.informer(Instance);
      instances.addIndex(byDeployment, (instance) => ownerOf(instance).map(({ uid }) => uid));
      const instancesOf = (uid: string): Request[] =>
        instances.byIndex(byDeployment, uid).map((instance) => requestOf(plane, instance));
      watch.on(plane, WorkloadDeployment, (deployment, event) => {
        const before = event.type === 'updated' ? event.old : undefined;
        return toldText(before) === toldText(deployment) ? [] : instancesOf(deployment.metadata.uid);
      });
      if (deps.referencedData) {
        watchCompanions(plane, watch, (namespace, name) => {
          const uid = plane.informer(WorkloadDeployment).get(namespace, name)?.metadata.uid;
          return uid === undefined ? [] : instancesOf(uid);
        });
      }
      if (!deps.networkingIntegration) return;
      instances.addIndex(bySlot, slotKeys);
      plane.informer(NetworkInterfaceClaim).addIndex(bySlot, slotKeys);
      plane.informer(NetworkInterfaceClaim).addIndex(byClaim, (claim) => {
        const reference = claim.status?.networkInterfaceRef?.name;
        return reference === undefined ? [] : [`${claim.metadata.namespace ?? ''}/${reference}`];
      });
      const usersOf = (claim: Stored<NetworkInterfaceClaim>): Request[] =>
        slotKeys(claim).flatMap((slot) =>
          instances.byIndex(bySlot, slot).map((instance) => requestOf(plane, instance)),
        );
      watch.on(plane, NetworkInterfaceClaim, usersOf);
      watch.on(plane, NetworkInterface, (object) =>
        plane
          .informer(NetworkInterfaceClaim)
          .byIndex(byClaim, `${object.metadata.namespace ?? ''}/${object.metadata.name}`)
          .flatMap(usersOf),
      );
    },

    async reconcile(request, planes) {
      const plane = planes.get(request.plane);
      const instance = plane?.informer(Instance).get(request.namespace, request.name);
      if (plane === undefined || instance === undefined) return undefined;
      const plan = decide(observe(plane, instance, deps, untold.others(keyOf(plane, instance))));
      await act(plan, plane, instance);
      const { lookAgainAfterMilliseconds: requeueAfterMilliseconds } = plan;
      return requeueAfterMilliseconds === undefined ? undefined : { requeueAfterMilliseconds };
    },
  };
}

function keyOf(plane: Plane, instance?: Stored<Instance>): string {
  return `${plane.id}\0${instance?.metadata.uid ?? ''}`;
}

function requestOf(plane: Plane, { metadata }: KubeObject): Request {
  return { plane: plane.id, namespace: metadata.namespace ?? '', name: metadata.name };
}

const tellingInstances = [
  computeAnnotations.networkRefusal,
  computeAnnotations.expectedReferencedData,
  computeAnnotations.referencedDataError,
];

/** What a deployment's annotations tell its instances, as one text. */
function toldText(deployment: WorkloadDeployment | undefined): string {
  return tellingInstances.map((key) => deployment?.metadata.annotations?.[key] ?? '').join('\0');
}

/** Whether nothing has been said of its readiness yet. */
function isUntold({ status }: Instance): boolean {
  return (findCondition(status?.conditions, 'Ready')?.status ?? 'Unknown') === 'Unknown';
}

/** A slot as an index key: the controlling deployment's UID and the ordinal. */
function slotKeys(object: KubeObject): string[] {
  const ordinal = object.metadata.labels?.[computeLabels.instanceIndex];
  return ordinal === undefined ? [] : ownerOf(object).map(({ uid }) => `${uid}/${ordinal}`);
}

/** The deployment that controls an object, if one does. */
function ownerOf({ metadata }: KubeObject): { name: string; uid: string }[] {
  const owner = metadata.ownerReferences?.find(
    (ref) => ref.controller === true && ref.kind === WorkloadDeployment.kind,
  );
  return owner === undefined ? [] : [owner];
}

function observe(plane: Plane, instance: Stored<Instance>, deps: InstanceDeps, crowd: number): Snapshot {
  const { networkingIntegration: networking, dataPlane, quota, clock } = deps;
  const [slot = ''] = slotKeys(instance);
  // A claim on its way out and its successor may both be there: the successor speaks.
  const claims = networking ? plane.informer(NetworkInterfaceClaim).byIndex(bySlot, slot) : [];
  const claim = claims.find((each) => !isTerminating(each)) ?? claims[0];
  const reference = claim?.status?.networkInterfaceRef?.name;
  const [owner] = ownerOf(instance);
  const deployment =
    owner === undefined
      ? undefined
      : plane.informer(WorkloadDeployment).get(instance.metadata.namespace ?? '', owner.name);
  return {
    instance,
    networkRefusal: networking ? toldBy(deployment, computeAnnotations.networkRefusal) : undefined,
    // A gate from the time when data was carried: nobody would open it any more.
    data: deps.referencedData && deployment !== undefined ? dataState(plane, deployment) : undefined,
    claim,
    networkInterface:
      reference === undefined
        ? undefined
        : plane.informer(NetworkInterface).get(instance.metadata.namespace ?? '', reference),
    quota: quota.evaluate(instance),
    dataPlane,
    networking,
    crowd,
    now: clock.now(),
  };
}

async function act(plan: Plan, plane: Plane, instance: Stored<Instance>): Promise<void> {
  let current = instance;
  // The status first: whoever starts an instance whose gates are gone finds its addresses in it.
  if (plan.status !== undefined && !isSaid(plan.status, instance)) {
    current = await applyStatus(plane.client, Instance, instance, plan.status, name);
  }
  if (plan.gates !== undefined) {
    const { namespace = '', name: instanceName, uid, resourceVersion } = current.metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { controller: { schedulingGates: plan.gates } } };
    await plane.client.patch(Instance, { namespace, name: instanceName }, { type: 'merge', body });
  }
}

/** Whether the status says all of it already. */
function isSaid(wanted: NonNullable<Plan['status']>, { status }: Stored<Instance>): boolean {
  const conditions = (wanted.conditions ?? []).every((condition) =>
    status?.conditions?.some((held) => jsonEqual(held, condition)),
  );
  return (
    conditions &&
    (wanted.networkInterfaces === undefined || jsonEqual(wanted.networkInterfaces, status?.networkInterfaces ?? [])) &&
    jsonEqual(wanted.controller, status?.controller)
  );
}
