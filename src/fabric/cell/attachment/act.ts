import { NetworkAttachmentDefinition, NetworkInterface, VPCAttachment } from '../../../api/index.ts';
import { applyStatus, type Plane } from '../../../kube/index.ts';
import { isApiError, type KubeObject, type ResourceType, type Stored } from '../../../meta/index.ts';
import { fieldManager, keyOf } from '../cell.ts';
import type { Step } from './decide.ts';
import type { Identifiers } from './identifiers.ts';
import type { AttachmentStatus, Snapshot } from './snapshot.ts';

/** Carries out one step, and answers what the attachment looks like after it. Every write is guarded, and can be repeated. */
export async function act(step: Step, snapshot: Snapshot, plane: Plane, identifiers: Identifiers): Promise<Snapshot> {
  const { client } = plane;
  switch (step.do) {
    case 'rest':
      return snapshot;
    case 'identify': {
      const { vpc } = snapshot;
      if (vpc === undefined) return snapshot;
      const { uid } = snapshot.networkInterface.metadata;
      return { ...snapshot, identifier: (await identifiers.take(plane, vpc, step.vpcId, uid)) ?? 'none' };
    }
    case 'attach':
      return { ...snapshot, attachment: await client.create(VPCAttachment, step.object) };
    case 'reattach':
      return { ...snapshot, attachment: await patch(VPCAttachment, snapshot.attachment, step.patch, plane) };
    case 'define':
      return { ...snapshot, definition: await client.create(NetworkAttachmentDefinition, step.object) };
    case 'redefine':
      return {
        ...snapshot,
        definition: await patch(NetworkAttachmentDefinition, snapshot.definition, step.patch, plane),
      };
    case 'tell':
      return { ...snapshot, attachment: await tell(step.status, snapshot.attachment, plane) };
    case 'publish': {
      const { networkInterface } = snapshot;
      const published = await applyStatus(client, NetworkInterface, networkInterface, step.status, fieldManager);
      return { ...snapshot, networkInterface: published };
    }
  }
}

/**
 * Whole and under its version, because the other writer does the same: neither can undo the other (design: fabric). Where
 * that one was faster, the answer is what it wrote: to be decided on again, at once.
 */
async function tell(
  status: AttachmentStatus,
  attachment: Stored<VPCAttachment> | undefined,
  { client }: Plane,
): Promise<Stored<VPCAttachment>> {
  if (attachment === undefined) throw new Error('the status of an attachment that is not there');
  try {
    return await client.update(VPCAttachment, { ...attachment, status }, { subresource: 'status' });
  } catch (error) {
    if (!isApiError(error, 'Conflict')) throw error;
    const now = await client.get(VPCAttachment, keyOf(attachment));
    const { uid, resourceVersion } = attachment.metadata;
    // Not shown yet, what was faster: it is when the queue comes back to it.
    if (now?.metadata.uid !== uid || now.metadata.resourceVersion === resourceVersion) throw error;
    return now;
  }
}

function patch<T extends KubeObject>(
  type: ResourceType<T>,
  object: Stored<T> | undefined,
  body: { metadata?: object },
  { client }: Plane,
): Promise<Stored<T>> {
  if (object === undefined) throw new Error(`a patch of a ${type.kind} that is not there`);
  const { uid, resourceVersion } = object.metadata;
  const guarded = { ...body, metadata: { ...body.metadata, uid, resourceVersion } };
  return client.patch(type, keyOf(object), { type: 'merge', body: guarded });
}
