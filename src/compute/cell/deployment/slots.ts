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
  WorkloadDeployment,
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

const carriedLabels = [computeLabels.workloadName, computeLabels.placementName, computeLabels.location];

/** Labels shared by everything of a deployment's slots. */
function commonLabels(deployment: WorkloadDeployment): Record<string, string> {
  const labels = deployment.metadata.labels ?? {};
  return Object.fromEntries(
    carriedLabels.flatMap((key) => {
      const value = labels[key];
      return value === undefined || value === '' ? [] : [[key, value]];
    }),
  );
}

/** The instance of a slot under `name`, which starts once `gates` have gone. */
export function instanceOf(
  deployment: Stored<WorkloadDeployment>,
  ordinal: number,
  name: string,
  templateHash: string,
  gates: readonly string[],
): Instance {
  const template = deployment.spec!.template;
  const labels = {
    ...template.metadata?.labels,
    ...commonLabels(deployment),
    [computeLabels.instanceIndex]: String(ordinal),
    [computeLabels.workloadUID]: deployment.spec!.workloadRef.uid,
    [computeLabels.deploymentUID]: deployment.metadata.uid,
    [computeLabels.deploymentName]: labelValue(deployment.metadata.name),
    [computeLabels.serviceName]: computeServiceName,
  };
  return {
    apiVersion: apiVersionOf(Instance),
    kind: Instance.kind,
    metadata: {
      name,
      namespace: deployment.metadata.namespace ?? '',
      labels,
      ...(template.metadata?.annotations === undefined ? {} : { annotations: template.metadata.annotations }),
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      ...template.spec,
      location: { name: deployment.spec!.locationRef.name },
      controller: { templateHash, schedulingGates: gates.map((gate) => ({ name: gate })) },
    },
  };
}

/**
 * Names a slot's claim can have: the readable one, and its hashed form for where somebody else has that (instance a-0
 * with interface 1-b and instance a-0-1 with interface b join to one name).
 */
export function slotClaimNames(
  deployment: WorkloadDeployment,
  ordinal: number,
  request: InterfaceRequest,
): [readable: string, hashed: string] {
  const instance = instanceName(deployment.metadata.name, ordinal);
  return [claimName(instance, request.name), hashedName([instance, request.name])];
}

/** Whether a slot's claim can have this name. */
export function isSlotClaimName(
  name: string,
  deployment: WorkloadDeployment,
  ordinal: number,
  request: InterfaceRequest,
): boolean {
  const instance = instanceName(deployment.metadata.name, ordinal);
  return name === claimName(instance, request.name) || name === hashedName([instance, request.name]);
}

/** The names of the claims of slots 0 … `count` - 1. */
export function ordinalsByClaimName(
  deployment: WorkloadDeployment,
  request: InterfaceRequest,
  count: number,
): Map<string, number> {
  const ordinals = new Map<string, number>();
  for (let ordinal = 0; ordinal < count; ordinal++) {
    for (const name of slotClaimNames(deployment, ordinal, request)) ordinals.set(name, ordinal);
  }
  return ordinals;
}

/**
 * The first of `names` that nobody has; undefined where one has to be waited for: what a deployment of this name has,
 * this one or an earlier one, is on its way out, and a name is what a retained interface is found by.
 */
export function freeName(
  names: readonly string[],
  deployment: WorkloadDeployment,
  holderOf: (name: string) => KubeObject | undefined,
): string | undefined {
  for (const name of names) {
    const holder = holderOf(name);
    if (holder === undefined) return name;
    if (controllingDeployment(holder) === deployment.metadata.name) return undefined;
  }
  return undefined;
}

/** Name of the deployment that controls an object. */
export function controllingDeployment(object: KubeObject): string | undefined {
  return object.metadata.ownerReferences?.find((ref) => ref.controller === true && ref.kind === WorkloadDeployment.kind)
    ?.name;
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
      labels: { ...claimLabels(deployment, request), [computeLabels.instanceIndex]: String(ordinal) },
      ...(Object.keys(request.annotations).length === 0 ? {} : { annotations: request.annotations }),
      // Protected from the first moment: no instance of the slot can exist before the finalizer does.
      finalizers: [computeFinalizers.slotInUse],
      ownerReferences: [controllerReference(deployment)],
    },
    spec: claimSpecOf(deployment, request),
  };
}

/** Labels of every claim of a deployment; each has the number of its slot besides. */
export function claimLabels(deployment: WorkloadDeployment, request: InterfaceRequest): Record<string, string> {
  return { ...request.labels, ...commonLabels(deployment) };
}

/** Labels a claim should have and has not: `common` and its number. Others' labels on it stay. */
export function missingLabels(
  claim: NetworkInterfaceClaim,
  ordinal: number,
  common: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const held = claim.metadata.labels ?? {};
  let missing: Record<string, string> | undefined;
  for (const key in common) if (held[key] !== common[key]) missing = { ...missing, [key]: common[key] ?? '' };
  const index = computeLabels.instanceIndex;
  return held[index] === String(ordinal) ? missing : { ...missing, [index]: String(ordinal) };
}

/** What a deployment's claims ask for. */
export function claimSpecOf(deployment: WorkloadDeployment, request: InterfaceRequest): NetworkInterfaceClaim['spec'] {
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
export function claimFits({ spec }: NetworkInterfaceClaim, wanted: NetworkInterfaceClaim['spec']): boolean {
  return (
    spec.network.name === wanted.network.name &&
    spec.interfaceName === wanted.interfaceName &&
    spec.attachmentMode === wanted.attachmentMode &&
    spec.reclaimPolicy === wanted.reclaimPolicy &&
    spec.networkInterfaceName === wanted.networkInterfaceName &&
    isSame(spec.ipFamilies, wanted.ipFamilies, (family) => family) &&
    isSame(spec.addresses, wanted.addresses, (address) => address.class)
  );
}

function isSame<T>(a: readonly T[] = [], b: readonly T[] = [], of: (item: T) => unknown): boolean {
  if (a.length !== b.length) return false;
  for (const [index, item] of a.entries()) if (of(item) !== of(b[index]!)) return false;
  return true;
}

export function ownedBy<T extends KubeObject>(objects: readonly Stored<T>[], deployment: KubeObject): Stored<T>[] {
  return objects.filter((object) => isControlledBy(object, deployment));
}
