import { hash } from 'node:crypto';
import { joinName } from '../../api/index.ts';
import type { Attachment } from './devices.ts';
import {
  attachmentIdentifier,
  formatIdentifier,
  fromHex,
  type IdentifierKind,
  parseIdentifier,
  vpcIdentifier,
} from './identifiers.ts';

/** Names of the objects a node makes. Upper case is not legal in them, so identifiers stand there in hexadecimal (F23). */

/** What stands for a published identifier in a name: its hexadecimal, or a hash of a text that is none. */
export function namePart(kind: IdentifierKind, published: string): string {
  const value = parseIdentifier(kind, published);
  return value === undefined ? `x${hash('sha256', published, 'hex').slice(0, 12)}` : value.toString(16);
}

/** BGPVRFInstance of a VPC on a node; `vpc` as published. */
export function vrfInstanceName(vpc: string, node: string): string {
  return joinName([namePart(vpcIdentifier, vpc), node]);
}

/** BGPAdvertisement of an attachment on a node; identifiers as published. */
export function advertisementName(vpc: string, attachment: string, node: string): string {
  return joinName([namePart(vpcIdentifier, vpc), namePart(attachmentIdentifier, attachment), node]);
}

/** Whose a BGPVRFInstance is. A node's name may have hyphens, so names are read from the front. */
export function parseVrfInstanceName(name: string): number | undefined {
  const [first, ...node] = name.split('-');
  return node.length === 0 ? undefined : fromHex(vpcIdentifier, first ?? '');
}

/** Whose a BGPAdvertisement is, in the form with a node's name and in the older one without. */
export function parseAdvertisementName(name: string): Attachment | undefined {
  const [first = '', second = ''] = name.split('-');
  const vpc = fromHex(vpcIdentifier, first);
  const attachment = fromHex(attachmentIdentifier, second);
  return vpc === undefined || attachment === undefined ? undefined : { vpc, attachment };
}

/** The value of the tenant-id label and annotation: both identifiers as published. @throws RangeError */
export function tenantId({ vpc, attachment }: Attachment): string {
  return `${formatIdentifier(vpcIdentifier, vpc)}-${formatIdentifier(attachmentIdentifier, attachment)}`;
}

export function parseTenantId(text: string): Attachment | undefined {
  const at = text.indexOf('-');
  const vpc = parseIdentifier(vpcIdentifier, text.slice(0, Math.max(at, 0)));
  const attachment = parseIdentifier(attachmentIdentifier, text.slice(at + 1));
  return vpc === undefined || attachment === undefined ? undefined : { vpc, attachment };
}
