import { fabricLabels, type NetworkAttachmentDefinition, type VPC, type VPCAttachment } from '../../../api/index.ts';
import {
  type Attachment,
  attachmentIdentifier,
  formatIdentifier,
  parseIdentifier,
  vpcIdentifier,
} from '../../codec/index.ts';

/** The identifier of a VPC that has one which is legal. */
export function vpcIdOf(vpc: VPC | undefined): number | undefined {
  return parseIdentifier(vpcIdentifier, vpc?.status?.vpc ?? '');
}

/** What a definition records. */
export function recordedPair({ metadata }: NetworkAttachmentDefinition): Attachment | undefined {
  return pairOf(metadata.labels?.[fabricLabels.vpc], metadata.labels?.[fabricLabels.vpcAttachment]);
}

/** What the status of an attachment repeats of it. */
export function repeatedPair({ status }: VPCAttachment): Attachment | undefined {
  return pairOf(status?.vpc, status?.vpcAttachment);
}

/** The published forms of both. */
export function publishedPair({ vpc, attachment }: Attachment): { vpc: string; attachment: string } {
  return {
    vpc: formatIdentifier(vpcIdentifier, vpc),
    attachment: formatIdentifier(attachmentIdentifier, attachment),
  };
}

function pairOf(vpcText = '', attachmentText = ''): Attachment | undefined {
  const vpc = parseIdentifier(vpcIdentifier, vpcText);
  const attachment = parseIdentifier(attachmentIdentifier, attachmentText);
  return vpc === undefined || attachment === undefined ? undefined : { vpc, attachment };
}
