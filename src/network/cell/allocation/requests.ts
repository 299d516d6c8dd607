import { IpPrefix } from '../../../address/index.ts';
import { type AddressRequest, ipClaimNameParts, type NetworkInterface } from '../../../api/index.ts';

/** What IPAM gave for one request. */
export interface Allocation {
  request: AddressRequest;
  /** The IPClaim. */
  name: string;
  uid: string;
  /** The block, in CIDR form. */
  cidr: string;
  /** Whether it was made in this pass. */
  created: boolean;
}

type ClaimSpec = {
  ipFamilies?: readonly ('IPv4' | 'IPv6')[];
  addresses?: readonly { class: string }[];
};
type InterfaceSpec = NetworkInterface['spec'];
type Address = NonNullable<InterfaceSpec['addresses']>[number];
type ExternalAddress = NonNullable<InterfaceSpec['externalAddresses']>[number];

/** One request per family, in the claim's order, then one per class. */
export function requestsOf(spec: ClaimSpec): AddressRequest[] {
  const families = (spec.ipFamilies ?? []).map((family): AddressRequest => ({ family }));
  return [...families, ...(spec.addresses ?? []).map((address): AddressRequest => ({ class: address.class }))];
}

/** The requests an interface's own addresses answer. */
export function requestsOfInterface(spec: InterfaceSpec): AddressRequest[] {
  const families = (spec.addresses ?? []).map((address): AddressRequest => ({ family: address.family }));
  return [...families, ...(spec.externalAddresses ?? []).map((address): AddressRequest => ({ class: address.class }))];
}

/** `f-ipv6`, `c-<class>`: what tells the requests of one interface apart. */
export function keyOfRequest(request: AddressRequest): string {
  return ipClaimNameParts('', request)[1];
}

export function wordsOf(request: AddressRequest): string {
  return 'family' in request ? `an ${request.family} address` : `an address of class ${request.class}`;
}

export function familyOf(cidr: string): 'IPv4' | 'IPv6' {
  return cidr.includes(':') ? 'IPv6' : 'IPv4';
}

/** An external address as it is published: without a length where it is one address (D.9). */
export function externalText(cidr: string): string {
  const prefix = IpPrefix.tryParse(cidr);
  return prefix !== undefined && prefix.size === 1n ? prefix.first.toString() : cidr;
}

/** The addresses of an interface with these allocations; the first of `families` is the primary one. */
export function addressesOf(
  allocations: readonly Allocation[],
  families: readonly string[],
): { addresses: Address[]; externalAddresses: ExternalAddress[] } {
  const addresses: Address[] = [];
  const externalAddresses: ExternalAddress[] = [];
  for (const { request, cidr } of allocations) {
    if ('class' in request) {
      externalAddresses.push({ family: familyOf(cidr), address: externalText(cidr), class: request.class });
    } else {
      addresses.push({ family: request.family, address: cidr, primary: request.family === families[0] });
    }
  }
  return { addresses, externalAddresses };
}

/** Whether two texts, each an address or a block, are the same addresses. Compared as numbers. */
export function sameAddress(a: string, b: string): boolean {
  const [left, right] = [prefixOf(a), prefixOf(b)];
  return left === undefined || right === undefined ? a === b : left.equals(right);
}

function prefixOf(text: string): IpPrefix | undefined {
  if (text.includes('/')) return IpPrefix.tryParse(text);
  return IpPrefix.tryParse(`${text}/${text.includes(':') ? 128 : 32}`);
}
