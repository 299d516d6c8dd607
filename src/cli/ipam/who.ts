import { IpAddress, IpPrefix } from '../../address/index.ts';
import {
  type IPAllocation,
  IPClaim,
  IPPool,
  identityLabels,
  type NetworkInterface,
  networkingAnnotations,
  networkingLabels,
} from '../../api/index.ts';
import type { Stored } from '../../meta/index.ts';
import { type Access, holderOf, IpamFailure, ipamExitCodes } from './access.ts';
import { age, type Report } from './output.ts';

export interface Holder {
  allocation: { namespace: string; name: string; cidr: string; purpose: string; since: string };
  pool: string;
  /** Scope the address is unique within, where that is not the project. */
  scope?: unknown;
  /** The IPClaim that holds it; absent where it is retained, reserved or a pool's. */
  claim?: { namespace: string; name: string; uid: string };
  /** Who the claim is for, by its identity labels. */
  interface?: InterfaceFacts;
}

export interface InterfaceFacts {
  cellUID: string;
  /** In the cell. */
  namespace: string;
  name: string;
  /** The copy in the project: its name, and the claim that holds the interface. */
  copy?: { namespace: string; name: string; heldBy?: string; location?: string };
}

/**
 * Who holds an address: every allocation it lies in, in the innermost pool around it.
 * @throws {IpamFailure} notFound where nobody does, saying whether a pool has it.
 */
export async function who(access: Access, text: string, now: number): Promise<Report> {
  const address = IpAddress.tryParse(text) ?? IpPrefix.tryParse(text)?.first;
  if (address === undefined) {
    throw new IpamFailure(ipamExitCodes.usage, `${JSON.stringify(text)} is no IP address, such as 10.0.0.7 or fd20::1`);
  }
  const around = (await access.client.list(IPPool)).items
    .map((pool) => ({ pool, range: IpPrefix.tryParse(pool.status?.allocatedCIDR ?? '') }))
    .filter((each) => each.range?.contains(address))
    .sort((a, b) => b.range!.length - a.range!.length);
  const innermost = around.filter((each) => each.range!.length === around[0]!.range!.length);
  if (innermost.length === 0) {
    throw new IpamFailure(ipamExitCodes.notFound, `nobody holds ${address}: it lies in no IPPool of this project`);
  }
  const holders: Holder[] = [];
  for (const { pool } of innermost) {
    for await (const allocation of access.allocations(pool.metadata.name)) {
      if (!IpPrefix.tryParse(allocation.status?.allocatedCIDR ?? '')?.contains(address)) continue;
      holders.push(await factsOf(access, allocation));
    }
  }
  if (holders.length === 0) {
    const pools = innermost.map(({ pool, range }) => `IPPool "${pool.metadata.name}" (${range})`).join(', ');
    const excluded = innermost
      .flatMap(({ pool }) => pool.spec?.excludedRanges ?? [])
      .find((range) => IpPrefix.tryParse(range)?.contains(address));
    const why = excluded === undefined ? 'it is free or rests in' : `${excluded} is excluded by`;
    throw new IpamFailure(ipamExitCodes.notFound, `nobody holds ${address}: ${why} ${pools}`);
  }
  return {
    data: { address: address.toString(), holders },
    head: ['BLOCK', 'POOL', 'PURPOSE', 'CLAIM', 'INTERFACE', 'HELD BY', 'AGE'],
    rows: holders.map((holder) => [
      holder.allocation.cidr,
      holder.pool,
      holder.allocation.purpose === 'Claim' && holder.claim === undefined ? 'Retained' : holder.allocation.purpose,
      holder.claim === undefined ? '-' : `${holder.claim.namespace}/${holder.claim.name}`,
      holder.interface === undefined ? '-' : `${holder.interface.namespace}/${holder.interface.name}`,
      holder.interface?.copy?.heldBy ?? '-',
      age(holder.allocation.since, now),
    ]),
  };
}

async function factsOf(access: Access, { metadata, spec, status }: Stored<IPAllocation>): Promise<Holder> {
  const { client } = access;
  const ref = spec?.claimRef;
  const claim =
    ref === undefined ? undefined : await client.get(IPClaim, { namespace: ref.namespace ?? '', name: ref.name });
  const facts = claim === undefined ? undefined : await interfaceOf(access, claim);
  return {
    allocation: {
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      cidr: status?.allocatedCIDR ?? '',
      purpose: spec?.purpose ?? '',
      since: metadata.creationTimestamp,
    },
    pool: spec?.poolRef?.name ?? '',
    ...(spec?.scope === undefined ? {} : { scope: spec.scope }),
    ...(claim === undefined
      ? {}
      : { claim: { namespace: claim.metadata.namespace ?? '', name: claim.metadata.name, uid: claim.metadata.uid } }),
    ...(facts === undefined ? {} : { interface: facts }),
  };
}

/** The interface an IPClaim was made for, by its identity labels; undefined where it has none. */
export async function interfaceOf(access: Access, claim: IPClaim): Promise<InterfaceFacts | undefined> {
  const { labels, annotations } = claim.metadata;
  const namespace = labels?.[identityLabels.interfaceNamespace];
  const name = annotations?.[networkingAnnotations.interfaceName] ?? labels?.[identityLabels.interfaceName];
  if (namespace === undefined || name === undefined) return undefined;
  const items = await access.interfaces(`${networkingLabels.sourceNamespace}=${namespace}`);
  const copy = items.find((each) => each.metadata.name === name) ?? items.find((each) => isCopyOf(each, claim));
  const heldBy = copy === undefined ? undefined : holderOf(copy);
  const location = copy?.metadata.labels?.[networkingLabels.location];
  return {
    cellUID: labels?.[identityLabels.cellUID] ?? '',
    namespace,
    name,
    ...(copy === undefined
      ? {}
      : {
          copy: {
            namespace: copy.metadata.namespace ?? '',
            name: copy.metadata.name,
            ...(heldBy === undefined ? {} : { heldBy }),
            ...(location === undefined ? {} : { location }),
          },
        }),
  };
}

/** The copy of another name publishes the very block. */
function isCopyOf({ spec }: NetworkInterface, { status }: IPClaim): boolean {
  const held = IpPrefix.tryParse(status?.allocatedCIDR ?? '');
  return [...(spec?.addresses ?? []), ...(spec?.externalAddresses ?? [])].some(({ address }) => {
    const shown = IpPrefix.tryParse(address)?.first ?? IpAddress.tryParse(address);
    return held !== undefined && shown !== undefined && held.contains(shown);
  });
}
