import {
  claimName,
  computeFinalizers,
  computeLabels,
  computeServiceName,
  hashedName,
  Instance,
  instanceName,
  labelValue,
  NetworkInterfaceClaim,
  schedulingGates,
  type WorkloadDeployment,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  controllerReference,
  isControlledBy,
  type KubeObject,
  type Stored,
} from '../../../meta/index.ts';
import { deviceName, type InterfaceRequest } from '../../shared/template.ts';

/** A slot is (deployment, ordinal, interface name): what owns a claim, whatever instance happens to be in it. */

/** Ordinal of the slot an instance or a claim is of, or undefined where its label says none. */
export function ordinalOf(object: KubeObject): number | undefined {
  const text = object.metadata.labels?.[computeLabels.instanceIndex];
  return text !== undefined && /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined;
}

/** Labels shared by everything of a slot. */
function slotLabels(deployment: Stored<WorkloadDeployment>, ordinal: number): Record<string, string> {
  const labels = deployment.metadata.labels ?? {};
  const carried = Object.fromEntries(
    [computeLabels.workloadName, computeLabels.placementName, computeLabels.location].flatMap((key) => {
      const value = labels[key];
      return value === undefined || value === '' ? [] : [[key, value]];
    }),
  );
  return { ...carried, [computeLabels.instanceIndex]: String(ordinal) };
}

/** The instance of a slot, gated until its network and its quota are there. */
export function instanceOf(
  deployment: Stored<WorkloadDeployment>,
  ordinal: number,
  templateHash: string,
  networking: boolean,
): Instance {
  const template = deployment.spec!.template;
  const gates = networking ? [schedulingGates.network, schedulingGates.quota] : [schedulingGates.quota];
  const labels = {
    ...template.metadata?.labels,
    ...slotLabels(deployment, ordinal),
    [computeLabels.workloadUID]: deployment.spec!.workloadRef.uid,
    [computeLabels.deploymentUID]: deployment.metadata.uid,
    [computeLabels.deploymentName]: labelValue(deployment.metadata.name),
    [computeLabels.serviceName]: computeServiceName,
  };
  return {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: {
      name: instanceName(deployment.metadata.name, ordinal),
      namespace: deployment.metadata.namespace ?? '',
      labels,
      ...(template.metadata?.annotations === undefined ? {} : { annotations: template.metadata.annotations }),
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      ...template.spec,
      location: { name: deployment.spec!.locationRef.name },
      controller: { templateHash, schedulingGates: gates.map((name) => ({ name })) },
    },
  };
}

/**
 * Name of a slot's claim: the readable one, or its hashed form where `taken` says that somebody else has it
 * (instance a-0 with interface 1-b and instance a-0-1 with interface b join to one name).
 */
export function slotClaimName(
  deployment: WorkloadDeployment,
  ordinal: number,
  request: InterfaceRequest,
  taken: (name: string) => boolean,
): string {
  const instance = instanceName(deployment.metadata.name, ordinal);
  const readable = claimName(instance, request.name);
  return taken(readable) ? hashedName([instance, request.name]) : readable;
}

/** The claim of a slot. Owned by the deployment: an instance comes and goes without its claim noticing (F1). */
export function claimOf(
  deployment: Stored<WorkloadDeployment>,
  ordinal: number,
  request: InterfaceRequest,
  name: string,
): NetworkInterfaceClaim {
  return {
    apiVersion: apiVersionOf(NetworkInterfaceClaim),
    kind: NetworkInterfaceClaim.kind,
    metadata: {
      name,
      namespace: deployment.metadata.namespace ?? '',
      labels: { ...request.labels, ...slotLabels(deployment, ordinal) },
      ...(Object.keys(request.annotations).length === 0 ? {} : { annotations: request.annotations }),
      // Protected from the first moment: no instance of the slot can exist before the finalizer does.
      finalizers: [computeFinalizers.slotInUse],
      ownerReferences: [controllerReference(deployment)],
    },
    spec: claimSpecOf(deployment, request),
  };
}

function claimSpecOf(deployment: WorkloadDeployment, request: InterfaceRequest): NetworkInterfaceClaim['spec'] {
  return {
    ...request.spec,
    interfaceName: deviceName(request),
    attachmentMode: deployment.spec?.networkAttachment ?? request.spec.attachmentMode,
  };
}

/**
 * Whether a claim still asks for what the template asks for. Everything in a claim is immutable, so a template that asks
 * for something else (another network) needs another claim.
 */
export function claimFits(
  claim: NetworkInterfaceClaim,
  deployment: WorkloadDeployment,
  request: InterfaceRequest,
): boolean {
  const wanted = claimSpecOf(deployment, request);
  const classes = (spec: NetworkInterfaceClaim['spec']) =>
    (spec.addresses ?? []).map((address) => address.class).join();
  return (
    claim.spec.network.name === wanted.network.name &&
    claim.spec.interfaceName === wanted.interfaceName &&
    claim.spec.attachmentMode === wanted.attachmentMode &&
    claim.spec.reclaimPolicy === wanted.reclaimPolicy &&
    claim.spec.networkInterfaceName === wanted.networkInterfaceName &&
    (claim.spec.ipFamilies ?? []).join() === (wanted.ipFamilies ?? []).join() &&
    classes(claim.spec) === classes(wanted)
  );
}

export function ownedBy<T extends KubeObject>(objects: readonly Stored<T>[], deployment: KubeObject): Stored<T>[] {
  return objects.filter((object) => isControlledBy(object, deployment));
}
