import {
  fabricAnnotations,
  fabricLabels,
  NetworkAttachmentDefinition,
  type NetworkInterface,
  VPCAttachment,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  controllerReference,
  isControlledBy,
  jsonEqual,
  type KubeObject,
  type OwnerReference,
  type Stored,
} from '../../../meta/index.ts';
import { type Attachment, hostDevice } from '../../codec/index.ts';
import { renderConflist } from '../conflist/render.ts';
import { publishedPair } from './pair.ts';

/** The two objects of an attachment, made of what they derive from. */

export function newAttachment(networkInterface: Stored<NetworkInterface>, vpcName: string): VPCAttachment {
  const { name, namespace = '' } = networkInterface.metadata;
  return {
    apiVersion: apiVersionOf(VPCAttachment),
    kind: VPCAttachment.kind,
    metadata: { name, namespace, ownerReferences: [controllerReference(networkInterface)] },
    spec: attachmentSpec(networkInterface, vpcName),
  };
}

/** Nothing of egress is in it: that is the VPC's, and of no one attachment. */
function attachmentSpec({ metadata, spec }: Stored<NetworkInterface>, vpcName: string): VPCAttachment['spec'] {
  const addresses = spec.addresses?.map(({ address }) => address);
  return {
    vpc: { name: vpcName },
    interfaceRef: { name: metadata.name },
    interface: {
      name: spec.interfaceName,
      mode: spec.attachmentMode,
      ...(addresses === undefined || addresses.length === 0 ? {} : { addresses }),
    },
  };
}

/** The merge patch that makes an attachment what its interface says; undefined where it is that already. */
export function attachmentPatch(
  attachment: Stored<VPCAttachment>,
  networkInterface: Stored<NetworkInterface>,
  vpcName: string,
): object | undefined {
  const wanted = attachmentSpec(networkInterface, vpcName);
  const owned = isControlledBy(attachment, networkInterface);
  if (owned && jsonEqual(attachment.spec, wanted)) return undefined;
  // A list that is not wanted any more has to be taken out by name.
  const addresses = wanted.interface.addresses ?? null;
  return {
    ...(owned ? {} : { metadata: { ownerReferences: ownedBy(attachment, controllerReference(networkInterface)) } }),
    spec: { ...wanted, interface: { ...wanted.interface, addresses } },
  };
}

export interface DefinitionInput {
  networkInterface: Stored<NetworkInterface>;
  attachment: Stored<VPCAttachment>;
  pair: Attachment;
  shardSIDs: readonly string[];
}

export function newDefinition(input: DefinitionInput): NetworkAttachmentDefinition {
  const { name, namespace = '' } = input.networkInterface.metadata;
  return {
    apiVersion: apiVersionOf(NetworkAttachmentDefinition),
    kind: NetworkAttachmentDefinition.kind,
    metadata: { name, namespace, ...markedFor(input), ownerReferences: [controllerReference(input.attachment)] },
    spec: { config: configOf(input) },
  };
}

/** The merge patch that makes a definition what it should be, other people's labels left alone; undefined where it is. */
export function definitionPatch(
  definition: Stored<NetworkAttachmentDefinition>,
  input: DefinitionInput,
): object | undefined {
  const { labels, annotations } = markedFor(input);
  const { metadata, spec } = definition;
  const config = configOf(input);
  const owned = isControlledBy(definition, input.attachment);
  const marked = covers(metadata.labels, labels) && covers(metadata.annotations, annotations);
  if (owned && marked && spec?.config === config) return undefined;
  return {
    metadata: {
      labels,
      annotations,
      ...(owned ? {} : { ownerReferences: ownedBy(definition, controllerReference(input.attachment)) }),
    },
    spec: { config },
  };
}

function markedFor({ pair }: DefinitionInput) {
  const { vpc, attachment } = publishedPair(pair);
  return {
    labels: { [fabricLabels.vpc]: vpc, [fabricLabels.vpcAttachment]: attachment },
    // Known before a runtime asks for the device, which has to name it then.
    annotations: { [fabricAnnotations.hostInterface]: hostDevice(pair) },
  };
}

function configOf({ networkInterface, pair, shardSIDs }: DefinitionInput): string {
  const { metadata, spec } = networkInterface;
  return renderConflist({
    name: metadata.name,
    mode: spec.attachmentMode,
    ...publishedPair(pair),
    mtu: spec.mtu,
    addresses: (spec.addresses ?? []).map(({ address, gateway }) => ({ address, gateway })),
    shardSIDs,
  });
}

/** Owners of `object` with `controller` in the place of whichever controlled it. */
function ownedBy({ metadata }: KubeObject, controller: OwnerReference): OwnerReference[] {
  return [...(metadata.ownerReferences ?? []).filter((reference) => reference.controller !== true), controller];
}

function covers(held: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => held?.[key] === value);
}
