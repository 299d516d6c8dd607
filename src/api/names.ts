import { hash } from 'node:crypto';
import type { IPFamily } from './networking/shared.ts';

/**
 * Names that join parts. A name is readable where it fits and is legal; else it is cut and ends with a hash of its
 * parts. Two different lists of parts can have one readable name (a-b + c, a + b-c): who finds the readable name held
 * by someone else uses `hashedName` of the same parts. Readers find objects by labels and fields; a name is a hint.
 */

const hashLength = 12;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelText = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

interface NameOptions {
  /** Characters; 253, as object names have, where absent. */
  maxLength?: number;
  separator?: string;
}

/** The parts joined; where that is too long or no DNS subdomain, `hashedName` of them. */
export function joinName(parts: readonly string[], options: NameOptions = {}): string {
  const readable = parts.join(options.separator ?? '-');
  return readable.length <= (options.maxLength ?? 253) && subdomain.test(readable)
    ? readable
    : hashedName(parts, options);
}

/** The parts joined and cut, then `-` and 12 hex digits of SHA-256 over the parts joined with NUL. Always legal. */
export function hashedName(parts: readonly string[], options: NameOptions = {}): string {
  const { maxLength = 253, separator = '-' } = options;
  const prefix = parts
    .join(separator)
    .slice(0, maxLength - hashLength - 1)
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .replace(/\.(?=[.-])|(?<=[.-])\./g, '-')
    .replace(/^[.-]+|[.-]+$/g, '');
  return prefix === '' ? digest(parts) : `${prefix}-${digest(parts)}`;
}

/** `text` where a label can carry it (at most 63 characters), else cut, with a hash at the end. */
export function labelValue(text: string): string {
  if (text.length <= 63 && labelText.test(text)) return text;
  const prefix = text
    .slice(0, 63 - hashLength - 1)
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  return prefix === '' ? digest([text]) : `${prefix}-${digest([text])}`;
}

function digest(parts: readonly string[]): string {
  return hash('sha256', parts.join('\0'), 'hex').slice(0, hashLength);
}

/** NetworkContext of a network in a location. */
export function contextName(network: string, location: string): string {
  return joinName([network, location]);
}

/** Subnet of a NetworkContext: `<context>-ipv6`. */
export function subnetName(context: string, family: IPFamily): string {
  return joinName([context, family.toLowerCase()]);
}

/** WorkloadDeployment of a workload's placement in a location. Never has a UID in it: a workload made again gets it again. */
export function deploymentName(workload: string, placement: string, location: string): string {
  return joinName([workload, placement, location]);
}

/** Instance of a slot. */
export function instanceName(deployment: string, ordinal: number): string {
  return joinName([deployment, String(ordinal)]);
}

/** NetworkInterfaceClaim of an instance's interface, or of its template of claims. Providers derive the same. */
export function claimName(instance: string, interfaceName: string): string {
  return joinName([instance, interfaceName]);
}

/** What an IPClaim of an interface asks for: an address of a family, or one of a class. */
export type AddressRequest = { family: IPFamily } | { class: string };

/** Parts of the name of an IPClaim: `<claim>-f-ipv6`, `<claim>-c-<class>`; `hashedName` of them where that is held. */
export function ipClaimNameParts(claim: string, request: AddressRequest): [string, string] {
  return [claim, 'family' in request ? `f-${request.family.toLowerCase()}` : `c-${request.class}`];
}

/** IPClaim of one address of an interface. */
export function ipClaimName(claim: string, request: AddressRequest): string {
  return joinName(ipClaimNameParts(claim, request));
}

/** IPClaim of a network's range: `network-<uid>` for IPv6, `network-<uid>-ipv4` for IPv4. */
export function networkRangeClaimName(networkUID: string, family: IPFamily): string {
  return rangeClaimName('network', networkUID, family);
}

/** IPClaim of the range of a network in a location: `networkcontext-<uid>` for IPv6, `…-ipv4` for IPv4. */
export function subnetRangeClaimName(contextUID: string, family: IPFamily): string {
  return rangeClaimName('networkcontext', contextUID, family);
}

function rangeClaimName(level: string, uid: string, family: IPFamily): string {
  return joinName(family === 'IPv6' ? [level, uid] : [level, uid, 'ipv4']);
}

/** Namespace on the hub and in the cells that stands for a project's namespace. */
export function hubNamespaceName(namespaceUID: string): string {
  return `ns-${namespaceUID}`;
}

/** NetworkFabricIdentity of a number. */
export function fabricIdentityName(identity: number): string {
  return `id-${identity}`;
}

const clusterPrefix = 'cluster-';

/** Value of the upstream-cluster-name label for a project: `cluster-<project>`, with `/` as `_`. */
export function clusterLabel(project: string): string {
  return clusterPrefix + project.replaceAll('/', '_');
}

/**
 * The project an upstream-cluster-name label names; undefined where it names none (no prefix, or nothing after it).
 * The older form with a leading slash, `cluster-_<project>`, names the same project.
 */
export function projectOfClusterLabel(label: string | undefined): string | undefined {
  if (label === undefined || !label.startsWith(clusterPrefix)) return undefined;
  const project = label.slice(clusterPrefix.length).replaceAll('_', '/').replace(/^\//, '');
  return project === '' ? undefined : project;
}
