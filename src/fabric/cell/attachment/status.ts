import { type NetworkInterface, type Reason, reasonMessage, VPCAttachment } from '../../../api/index.ts';
import { type Condition, findCondition, type Stored, withCondition } from '../../../meta/index.ts';
import type { Egress } from '../egress/resolve.ts';
import type { AttachmentStatus, InterfaceStatus } from './snapshot.ts';

/** Why an interface is not prepared, as its condition says it. */
export interface Refused {
  reason: Reason;
  message: string;
}

/** What this controller says of an attachment that has its definition. */
export interface Attached {
  vpc: string;
  attachment: string;
  definition: string;
}

const egressReady = 'InternetEgressReady';

/**
 * Pure. The whole status of an attachment: this controller's fields as they should be, and everything else as it is, which
 * is the other writer's. `attached` absent: what was said of it stays.
 */
export function attachmentStatus(
  { metadata, status = {} }: Stored<VPCAttachment>,
  attached: Attached | undefined,
  { sourceAddress, ready }: Egress,
  now: number,
): AttachmentStatus {
  const observedGeneration = metadata.generation ?? 1;
  const { egress: _, ...others } = status;
  let conditions: readonly Condition[] | undefined = status.conditions;
  const say = (type: string, entry: Pick<Condition, 'status' | 'reason' | 'message'>) => {
    conditions = withCondition(conditions, { type, ...entry, observedGeneration }, now);
  };
  if (attached !== undefined) {
    const message = reasonMessage('AttachmentDefinitionReady', { name: attached.definition });
    say('Ready', { status: 'True', reason: 'AttachmentDefinitionReady', message });
  }
  if (ready !== undefined) say(egressReady, ready);
  else conditions = conditions?.filter(({ type }) => type !== egressReady);
  return {
    ...others,
    observedGeneration,
    ...(conditions === undefined ? {} : { conditions: [...conditions] }),
    ...(attached === undefined
      ? {}
      : {
          vpc: attached.vpc,
          vpcAttachment: attached.attachment,
          networkAttachmentDefinition: attached.definition,
        }),
    // Absent while nothing can be stated: an empty list would say that there is no address.
    ...(sourceAddress === undefined ? {} : { egress: { internet: { sourceAddresses: [sourceAddress] } } }),
  };
}

/**
 * Pure. The fabric's part of an interface's status: applied whole, since what is left out of an apply goes. Programmed is
 * what the node says on the attachment; until one does, nobody knows.
 */
export function interfaceStatus(
  { metadata, status }: Stored<NetworkInterface>,
  attachment: Stored<VPCAttachment> | undefined,
  vpc: string | undefined,
  refused: Refused | undefined,
  now: number,
): InterfaceStatus {
  const observedGeneration = metadata.generation ?? 1;
  const of = (type: string, entry: Pick<Condition, 'status' | 'reason' | 'message'>) => {
    const before = status?.conditions?.filter((condition) => condition.type === type);
    const { status: value, reason, message } = entry;
    return withCondition(before, { type, status: value, reason, message, observedGeneration }, now);
  };
  const { name } = metadata;
  const prepared: Pick<Condition, 'status' | 'reason' | 'message'> =
    refused === undefined
      ? { status: 'True', reason: 'AttachmentReady', message: reasonMessage('AttachmentReady', { name }) }
      : { status: 'False', ...refused };
  const programmed = findCondition(attachment?.status?.conditions, 'Programmed') ?? {
    status: 'Unknown',
    reason: 'AwaitingDataPlane',
    message: reasonMessage('AwaitingDataPlane'),
  };
  return {
    conditions: [...of('Prepared', prepared), ...of('Programmed', programmed)],
    ...(attachment === undefined ? {} : { attachmentRef: refTo(attachment) }),
    ...(vpc === undefined ? {} : { vpc }),
  };
}

function refTo({ metadata }: Stored<VPCAttachment>) {
  return { apiGroup: VPCAttachment.group, kind: VPCAttachment.kind, name: metadata.name };
}
