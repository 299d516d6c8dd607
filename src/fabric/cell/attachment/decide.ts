import {
  type NetworkAttachmentDefinition,
  type NetworkInterface,
  networkingLabels,
  reasonMessage,
  VPCAttachment,
} from '../../../api/index.ts';
import { isConditionTrue, isControlledBy, isTerminating, jsonEqual, type Stored } from '../../../meta/index.ts';
import type { Attachment } from '../../codec/index.ts';
import type { Egress } from '../egress/resolve.ts';
import { attachmentPatch, type DefinitionInput, definitionPatch, newAttachment, newDefinition } from './objects.ts';
import { publishedPair, recordedPair, repeatedPair, vpcIdOf } from './pair.ts';
import type { AttachmentStatus, InterfaceStatus, Snapshot } from './snapshot.ts';
import { attachmentStatus, interfaceStatus, type Refused } from './status.ts';

/** One write, or none. After each the attachment is looked at again with what it changed. */
export type Step =
  | { do: 'rest' }
  /** Takes an identifier in the VPC. */
  | { do: 'identify'; vpcId: number }
  | { do: 'attach'; object: VPCAttachment }
  | { do: 'reattach'; patch: object }
  | { do: 'define'; object: NetworkAttachmentDefinition; pair: Attachment }
  | { do: 'redefine'; patch: object }
  /** The attachment's status, whole. */
  | { do: 'tell'; status: AttachmentStatus }
  /** The interface's; ends a pass. */
  | { do: 'publish'; status: InterfaceStatus };

const noWay: Egress = { shardSIDs: [] };

/**
 * Pure. The next step for the attachment of an interface (reference D). An interface gets one when it is bound, allocated and
 * its network is here; the one it has then follows its interface and its VPC, whoever holds them: the VPC's siblings
 * share their routes, so none of them may stay behind.
 */
export function decide(snapshot: Snapshot): Step {
  const { networkInterface, attachment } = snapshot;
  // A copy in a project whose plane this cluster also serves is nothing to attach (F36).
  if (networkInterface.metadata.labels?.[networkingLabels.interfaceProjection] !== undefined) return { do: 'rest' };
  const wanted = isWanted(networkInterface);
  if (attachment === undefined) {
    if (!wanted) return { do: 'rest' };
    const admitted = admit(snapshot);
    if (isRefused(admitted)) return publish(snapshot, admitted);
    const pair = pairFor(snapshot, admitted.vpcId);
    if (pair === undefined) return { do: 'identify', vpcId: admitted.vpcId };
    if (pair === 'none') return publish(snapshot, exhausted(snapshot));
    return { do: 'attach', object: newAttachment(networkInterface, admitted.vpcName) };
  }
  // Its end brings another look.
  if (isTerminating(attachment)) return { do: 'rest' };
  if (!isAttachmentOf(attachment, networkInterface)) {
    return wanted ? publish(snapshot, nameTaken(VPCAttachment.kind, attachment)) : { do: 'rest' };
  }
  return upkeep(snapshot, attachment, wanted);
}

/** D.1: held by a claim that got its addresses, on a network that is here. */
function isWanted({ metadata, spec, status }: Stored<NetworkInterface>): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    spec.claimRef !== undefined &&
    status?.phase === 'Bound' &&
    status.networkContextRef !== undefined &&
    isConditionTrue(status.conditions, 'Allocated')
  );
}

interface Admission {
  vpcName: string;
  vpcId: number;
}

/** D.2: what must be there, in the order in which it comes. A VPC at its end waits for what it has, and takes nothing new. */
function admit({ networkInterface, contextName = '', context, vpc, attachment }: Snapshot): Admission | Refused {
  const ending = vpc !== undefined && isTerminating(vpc) && attachment === undefined;
  if (vpc === undefined || ending || (context !== undefined && !isVpcOf(vpc, context))) {
    return { reason: 'AwaitingVPC', message: reasonMessage('AwaitingVPC', { vpc: contextName }) };
  }
  const vpcId = vpcIdOf(vpc);
  if (vpcId === undefined) {
    return {
      reason: 'AwaitingVPCIdentifier',
      message: reasonMessage('AwaitingVPCIdentifier', { vpc: vpc.metadata.name }),
    };
  }
  if (context === undefined || !isNetworkOf(context, networkInterface)) {
    const message = reasonMessage('AwaitingNetworkContext', { context: contextName });
    return { reason: 'AwaitingNetworkContext', message };
  }
  return { vpcName: vpc.metadata.name, vpcId };
}

/** An attachment that is there: its own fields, its definition, and what is said of both. */
function upkeep(snapshot: Snapshot, attachment: Stored<VPCAttachment>, wanted: boolean): Step {
  const { networkInterface, definition, now } = snapshot;
  const admitted = admit(snapshot);
  const refused = isRefused(admitted) ? admitted : undefined;
  const vpcName = isRefused(admitted) ? attachment.spec.vpc.name : admitted.vpcName;
  const reattach = attachmentPatch(attachment, networkInterface, vpcName);
  if (reattach !== undefined) return { do: 'reattach', patch: reattach };

  if (definition !== undefined && isTerminating(definition)) return { do: 'rest' };
  if (definition !== undefined && !isDefinitionOf(definition, attachment)) {
    const taken = nameTaken('NetworkAttachmentDefinition', definition);
    return told(snapshot, attachment, undefined, noWay) ?? (wanted ? publish(snapshot, taken) : { do: 'rest' });
  }
  const pair = isRefused(admitted) ? recordsOf(snapshot)[0] : pairFor(snapshot, admitted.vpcId);
  if (pair === undefined && !isRefused(admitted)) return { do: 'identify', vpcId: admitted.vpcId };
  if (pair === undefined || pair === 'none') {
    const why = refused ?? exhausted(snapshot);
    return told(snapshot, attachment, undefined, noWay) ?? (wanted ? publish(snapshot, why) : { do: 'rest' });
  }
  // Without its VPC or its network there is no way out either.
  const egress = refused === undefined ? snapshot.egress : noWay;
  const input: DefinitionInput = { networkInterface, attachment, pair, shardSIDs: egress.shardSIDs };
  const tell = told(snapshot, attachment, pair, egress);
  if (definition === undefined) return { do: 'define', object: newDefinition(input), pair };
  // An address goes before the way it belongs to, and comes after it.
  if (tell !== undefined && attachment.status?.egress !== undefined && egress.sourceAddress === undefined) return tell;
  const redefine = definitionPatch(definition, input);
  if (redefine !== undefined) return { do: 'redefine', patch: redefine };
  if (tell !== undefined) return tell;
  if (!wanted) return { do: 'rest' };
  const status = interfaceStatus(networkInterface, attachment, publishedPair(pair).vpc, refused, now);
  return isSaid(status, networkInterface) ? { do: 'rest' } : { do: 'publish', status };
}

/** The identifiers to use in a VPC: those on record there, or else those handed out in this pass. */
function pairFor(snapshot: Snapshot, vpcId: number): Attachment | 'none' | undefined {
  const record = recordsOf(snapshot).find(({ vpc }) => vpc === vpcId);
  if (record !== undefined) return record;
  const { identifier } = snapshot;
  return identifier === undefined || identifier === 'none' ? identifier : { vpc: vpcId, attachment: identifier };
}

/**
 * The definition is the record. The status repeats it, and so tells when a label has been edited since, or the definition has
 * gone: either way the device of a running instance keeps its name.
 */
function recordsOf({ attachment, definition }: Snapshot): Attachment[] {
  const repeated = attachment === undefined ? undefined : repeatedPair(attachment);
  const recorded = definition === undefined ? undefined : recordedPair(definition);
  return [repeated, recorded].filter((pair) => pair !== undefined);
}

function told(
  { now }: Snapshot,
  attachment: Stored<VPCAttachment>,
  pair: Attachment | undefined,
  egress: Egress,
): Step | undefined {
  const attached = pair === undefined ? undefined : { ...publishedPair(pair), definition: attachment.metadata.name };
  const status = attachmentStatus(attachment, attached, egress, now);
  return jsonEqual(status, attachment.status) ? undefined : { do: 'tell', status };
}

function publish(snapshot: Snapshot, refused: Refused): Step {
  const { networkInterface, attachment, now } = snapshot;
  const own = attachment !== undefined && isAttachmentOf(attachment, networkInterface) ? attachment : undefined;
  const vpc = own === undefined ? undefined : networkInterface.status?.vpc;
  const status = interfaceStatus(networkInterface, own, vpc, refused, now);
  return isSaid(status, networkInterface) ? { do: 'rest' } : { do: 'publish', status };
}

function isSaid(wanted: InterfaceStatus, { status }: Stored<NetworkInterface>): boolean {
  const held = (status?.conditions ?? []).filter(({ type }) => wanted.conditions?.some((each) => each.type === type));
  return (
    jsonEqual(wanted.attachmentRef, status?.attachmentRef) &&
    wanted.vpc === status?.vpc &&
    wanted.conditions?.every((condition) => held.some((each) => jsonEqual(each, condition))) === true
  );
}

function exhausted({ vpc, contextName = '' }: Snapshot): Refused {
  const message = reasonMessage('VPCIdentifierExhausted', { vpc: vpc?.metadata.name ?? contextName });
  return { reason: 'VPCIdentifierExhausted', message };
}

function nameTaken(kind: string, { metadata }: { metadata: { name: string } }): Refused {
  const message = reasonMessage('AttachmentNameTaken', { kind, name: metadata.name });
  return { reason: 'AttachmentNameTaken', message };
}

/** One whose owner went with a restored backup, but that says whose it is, is taken back; anybody else's is left alone. */
function isAttachmentOf(attachment: Stored<VPCAttachment>, networkInterface: Stored<NetworkInterface>): boolean {
  if (isControlledBy(attachment, networkInterface)) return true;
  return !isControlled(attachment) && attachment.spec.interfaceRef?.name === networkInterface.metadata.name;
}

/** Also that of an attachment of the same name which was there before: the record outlives it (F77). */
function isDefinitionOf(definition: Stored<NetworkAttachmentDefinition>, attachment: Stored<VPCAttachment>): boolean {
  const controller = definition.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller === undefined) return recordedPair(definition) !== undefined;
  return controller.kind === VPCAttachment.kind && controller.name === attachment.metadata.name;
}

function isControlled({ metadata }: Stored<VPCAttachment>): boolean {
  return metadata.ownerReferences?.some((reference) => reference.controller === true) === true;
}

/** A VPC made for an earlier presence of the same name is another network's. */
function isVpcOf(vpc: NonNullable<Snapshot['vpc']>, context: NonNullable<Snapshot['context']>): boolean {
  const controller = vpc.metadata.ownerReferences?.find((reference) => reference.controller === true);
  return controller === undefined || controller.uid === context.metadata.uid;
}

/** By what both say they are, never by a name alone (F14). */
function isNetworkOf(context: NonNullable<Snapshot['context']>, { metadata, spec }: Stored<NetworkInterface>): boolean {
  const [uid, wanted] = [context.metadata, metadata].map((each) => each.labels?.[networkingLabels.networkUID]);
  const sameNetwork = uid === undefined || wanted === undefined || uid === wanted;
  return sameNetwork && context.spec?.network.name === spec.network.name;
}

function isRefused(answer: object): answer is Refused {
  return 'reason' in answer;
}
