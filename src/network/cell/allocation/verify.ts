import {
  type AddressRequest,
  IPClaim,
  ipClaimName,
  type NetworkInterface,
  networkingAnnotations,
} from '../../../api/index.ts';
import type { Client } from '../../../kube/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import { isOf, keyOfClaim, type Place } from './identity.ts';
import { listAllocations } from './ledger.ts';
import { keyOfRequest, sameAddress } from './requests.ts';

/** A published address that IPAM does not hold for the interface. */
export interface MissingAddress {
  address: string;
  /** The IPClaim that was looked for. */
  ipClaim: string;
  /** What that IPClaim holds in its place; absent where there is none. */
  held?: string;
}

/**
 * Compares what an interface publishes with what IPAM holds (C.5). The readable names first, which cost one read each;
 * what is not under them is looked for by identity.
 */
export async function verify(
  client: Client,
  place: Place,
  networkInterface: Stored<NetworkInterface>,
): Promise<MissingAddress[]> {
  const { metadata, spec } = networkInterface;
  const minted = metadata.annotations?.[networkingAnnotations.allocationClaim] ?? spec.claimRef?.name ?? metadata.name;
  const published: { request: AddressRequest; address: string }[] = [
    ...(spec.addresses ?? []).map(({ family, address }) => ({ request: { family }, address })),
    ...(spec.externalAddresses ?? []).map(({ class: name, address }) => ({ request: { class: name }, address })),
  ];
  let all: Promise<Stored<IPClaim>[]> | undefined;
  const missing = await Promise.all(
    published.map(async ({ request, address }): Promise<MissingAddress | undefined> => {
      const name = ipClaimName(minted, request);
      const named = await client.get(IPClaim, { namespace: place.routing.namespace, name });
      if (named !== undefined && isOf(named, place.identity) && holds(named, address)) return undefined;
      all ??= listAllocations(client, place);
      const mine = (await all).filter((claim) => keyOfClaim(claim) === keyOfRequest(request));
      if (mine.some((claim) => holds(claim, address))) return undefined;
      const other = mine[0] ?? named;
      const held = other?.status?.allocatedCIDR;
      return { address, ipClaim: other?.metadata.name ?? name, ...(held === undefined ? {} : { held }) };
    }),
  );
  return missing.filter((each) => each !== undefined);
}

/** Whether an IPClaim holds an address, and is not about to let go of it. */
export function holds(claim: Stored<IPClaim>, address: string): boolean {
  const cidr = claim.status?.allocatedCIDR;
  return (
    !isTerminating(claim) && claim.status?.phase !== 'Releasing' && cidr !== undefined && sameAddress(cidr, address)
  );
}
