import {
  fabricAnnotations,
  fabricLabels,
  Instance,
  type NetworkAttachmentDefinition,
  type NetworkInterface,
  type Reason,
  reasonMessage,
} from '../../../api/index.ts';
import { isTerminating, type ObjectMeta, type OwnerReference, type Stored } from '../../../meta/index.ts';
import { recordedPair } from '../attachment/pair.ts';
import { type Entry, mergeNetworks } from './networks.ts';

export interface PodSnapshot {
  /** The pod that is about to be created. */
  pod: { metadata: ObjectMeta };
  /** Where it is created; a pod does not have to say so itself. */
  namespace: string;
  /** What `instanceRefOf` names. */
  instance: Stored<Instance> | undefined;
  /** By name, in the pod's namespace. */
  interfaces: ReadonlyMap<string, Stored<NetworkInterface>>;
  definitions: ReadonlyMap<string, Stored<NetworkAttachmentDefinition>>;
}

export type PodAnswer =
  /** As it is, where there are no annotations. */
  { allowed: true; annotations?: Record<string, string> } | { allowed: false; reason: Reason; message: string };

const unchanged: PodAnswer = { allowed: true };

/** The instance a pod runs: its controller, of the kind and the group. */
export function instanceRefOf({ metadata }: { metadata: ObjectMeta }): OwnerReference | undefined {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  const ours = controller?.kind === Instance.kind && controller.apiVersion.split('/')[0] === Instance.group;
  return ours ? controller : undefined;
}

/**
 * Pure. Which annotations a pod of an instance gets, so that a runtime attaches the instance's interfaces: the first as the
 * pod's own network, the others beside it (reference D.6). Denied where one of them is not there to be attached: a pod that
 * started without it would look well.
 */
export function decidePod({ pod, namespace, instance, interfaces, definitions }: PodSnapshot): PodAnswer {
  if (pod.metadata.labels?.[fabricLabels.injectInterfaces] !== 'true') return unchanged;
  const owner = instanceRefOf(pod);
  if (owner === undefined) return deny('PodOwnerMissing', reasonMessage('PodOwnerMissing', {}));
  if (instance === undefined || instance.metadata.uid !== owner.uid) {
    return deny('PodOwnerMissing', reasonMessage('PodOwnerMissing', { instance: owner.name }));
  }
  const entries: Entry[] = [];
  for (const { name, interfaceName } of interfacesOf(instance)) {
    const params = { instance: instance.metadata.name, interface: interfaceName ?? name };
    if (interfaceName === undefined || !interfaces.has(interfaceName)) {
      return deny('PodInterfaceMissing', reasonMessage('PodInterfaceMissing', params));
    }
    const definition = definitions.get(interfaceName);
    if (definition === undefined || isTerminating(definition)) {
      return deny('PodDefinitionMissing', reasonMessage('PodDefinitionMissing', params));
    }
    if (recordedPair(definition) === undefined) {
      return deny('PodIdentifierMissing', reasonMessage('PodIdentifierMissing', params));
    }
    const entry = `${namespace}/${interfaceName}`;
    if (!entries.includes(entry)) entries.push(entry);
  }
  const [first, ...others] = entries;
  if (first === undefined) return unchanged;
  const { [fabricAnnotations.networks]: existing } = pod.metadata.annotations ?? {};
  return {
    allowed: true,
    annotations: {
      [fabricAnnotations.defaultNetwork]: first,
      ...(others.length === 0 ? {} : { [fabricAnnotations.networks]: mergeNetworks(existing, others, namespace) }),
      [fabricAnnotations.injectedInterfaces]: entries.join(','),
    },
  };
}

/** What the instance has, or is to have: one that is not bound yet is missing, not absent. */
function interfacesOf({ spec, status }: Stored<Instance>): { name: string; interfaceName: string | undefined }[] {
  const shown = (status?.networkInterfaces ?? []).map(({ name, networkInterfaceRef }) => ({
    name: name ?? networkInterfaceRef?.name ?? '',
    interfaceName: networkInterfaceRef?.name,
  }));
  const asked = [
    ...(spec?.networkInterfaces ?? []).map(({ name }) => name),
    ...(spec?.networkInterfaceClaimTemplates ?? []).map(({ metadata }) => metadata?.name),
  ];
  const unseen = shown.length > 0 ? [] : asked.map((name) => ({ name: name ?? 'eth0', interfaceName: undefined }));
  return [...shown, ...unseen];
}

function deny(reason: Reason, message: string): PodAnswer {
  return { allowed: false, reason, message };
}
