import { attachmentIdentifier, formatIdentifier, parseIdentifier, vpcIdentifier } from './identifiers.ts';

/** Names of devices on a node: 14 characters (11 for a VRF) of the 15 that Linux allows. */

export interface Attachment {
  vpc: number;
  attachment: number;
}

const start = 'G';
const ends = { host: 'H', guest: 'G' } as const;
const attachmentDevice = /^G([0-9A-Za-z]{9})([0-9A-Za-z]{3})([HG])$/;
const routingDevice = /^G([0-9A-Za-z]{9})V$/;

/** The device of an attachment that stays on the node. @throws RangeError for numbers that are no identifiers. */
export function hostDevice(of: Attachment): string {
  return `${start}${paddedVpc(of.vpc)}${paddedAttachment(of.attachment)}${ends.host}`;
}

/** The name under which the other end of a veth is made, before it moves into the instance. @throws RangeError */
export function guestDevice(of: Attachment): string {
  return `${start}${paddedVpc(of.vpc)}${paddedAttachment(of.attachment)}${ends.guest}`;
}

/** The routing device of a VPC on a node. @throws RangeError */
export function vrfDevice(vpc: number): string {
  return `${start}${paddedVpc(vpc)}V`;
}

/** Whose device a name is; undefined for a device of somebody else's. */
export function parseAttachmentDevice(name: string): (Attachment & { end: 'host' | 'guest' }) | undefined {
  const [, vpcText, attachmentText, end] = attachmentDevice.exec(name) ?? [];
  const vpc = parseIdentifier(vpcIdentifier, vpcText ?? '');
  const attachment = parseIdentifier(attachmentIdentifier, attachmentText ?? '');
  if (vpc === undefined || attachment === undefined) return undefined;
  return { vpc, attachment, end: end === ends.host ? 'host' : 'guest' };
}

/** Whose routing device a name is; undefined for a device of somebody else's. */
export function parseVrfDevice(name: string): number | undefined {
  return parseIdentifier(vpcIdentifier, routingDevice.exec(name)?.[1] ?? '');
}

function paddedVpc(vpc: number): string {
  return formatIdentifier(vpcIdentifier, vpc).padStart(vpcIdentifier.base62Digits, '0');
}

function paddedAttachment(attachment: number): string {
  return formatIdentifier(attachmentIdentifier, attachment).padStart(attachmentIdentifier.base62Digits, '0');
}
