import type {
  NetworkAttachmentDefinition,
  NetworkContext,
  NetworkInterface,
  VPC,
  VPCAttachment,
} from '../../../api/index.ts';
import type { Stored } from '../../../meta/index.ts';
import type { Egress } from '../egress/resolve.ts';

/** Everything the decision about the attachment of one interface needs, as the caches had it at one moment. */
export interface Snapshot {
  networkInterface: Stored<NetworkInterface>;
  /** What the interface names, or else its attachment; there or not. */
  contextName: string | undefined;
  context: Stored<NetworkContext> | undefined;
  vpc: Stored<VPC> | undefined;
  /** Of the interface's name. */
  attachment: Stored<VPCAttachment> | undefined;
  definition: Stored<NetworkAttachmentDefinition> | undefined;
  /** The way out of the VPC, resolved from the same caches. */
  egress: Egress;
  /** Handed out in this pass; `none`: every identifier of the VPC is held. */
  identifier?: number | 'none';
  /** Milliseconds since the Unix epoch. */
  now: number;
}

export type AttachmentStatus = NonNullable<VPCAttachment['status']>;
/** The fabric's part of an interface's status, all of it. */
export type InterfaceStatus = Pick<NonNullable<NetworkInterface['status']>, 'conditions' | 'attachmentRef' | 'vpc'>;
