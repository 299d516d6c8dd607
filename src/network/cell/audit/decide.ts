import {
  type IPClaim,
  identityLabels,
  type NetworkInterface,
  type NetworkInterfaceClaim,
  networkingAnnotations,
  networkingFinalizers,
  networkingLabels,
} from '../../../api/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import type { Identity } from '../allocation/identity.ts';
import { sameAddress } from '../allocation/requests.ts';
import { holds } from '../allocation/verify.ts';
import { interfaceNameOf } from '../claim/snapshot.ts';
import { recordOf } from '../routing.ts';

/** Whom an IPClaim says it is for; undefined where it does not say all of it: then it is not ours to judge. */
export function identityOfClaim({ metadata }: Stored<IPClaim>): Identity | undefined {
  const { labels = {}, annotations = {} } = metadata;
  const cellUid = labels[identityLabels.cellUID];
  const namespace = labels[identityLabels.interfaceNamespace];
  const interfaceName = annotations[networkingAnnotations.interfaceName] ?? labels[identityLabels.interfaceName];
  return cellUid && namespace && interfaceName ? { cellUid, namespace, interfaceName } : undefined;
}

/** Who could name an allocation. */
export interface Owners {
  /** The interface it says it is for. */
  networkInterface: Stored<NetworkInterface> | undefined;
  /** The claim of its `holder-uid`, at its end or not. */
  holder: Stored<NetworkInterfaceClaim> | undefined;
}

/**
 * Pure. Whether anything will ever give an allocation back: the claim that holds it, until it has let go; an interface that
 * publishes it; or an interface at its end, which releases whatever has its identity.
 */
export function isNamed(ipClaim: Stored<IPClaim>, project: string, { networkInterface, holder }: Owners): boolean {
  if (isTerminating(ipClaim) || ipClaim.status?.phase === 'Releasing') return true;
  const identity = identityOfClaim(ipClaim);
  if (identity === undefined) return true;
  if (holder !== undefined && interfaceNameOf(holder) === identity.interfaceName) return true;
  if (networkInterface === undefined || isCopy(networkInterface)) return false;
  const record = recordOf(networkInterface);
  // The same text in another project is another address.
  const elsewhere = record?.project !== project || record.namespace !== ipClaim.metadata.namespace;
  if (record !== undefined && elsewhere) return false;
  const { metadata, spec } = networkInterface;
  if (isTerminating(networkInterface) && metadata.finalizers?.includes(networkingFinalizers.interfaceRelease))
    return true;
  const published = [...(spec.addresses ?? []), ...(spec.externalAddresses ?? [])];
  const cidr = ipClaim.status?.allocatedCIDR;
  return cidr !== undefined && published.some(({ address }) => sameAddress(address, cidr));
}

/** Pure. Whether an interface publishes an address that is none of `held`, what IPAM holds for it. */
export function lacksAddresses({ spec }: Stored<NetworkInterface>, held: readonly Stored<IPClaim>[]): boolean {
  return [...(spec.addresses ?? []), ...(spec.externalAddresses ?? [])].some(
    ({ address }) => !held.some((claim) => holds(claim, address)),
  );
}

/** Whether an interface's addresses are this cell's to look after in a project. */
export function isAudited(networkInterface: Stored<NetworkInterface>): boolean {
  return !isCopy(networkInterface) && !isTerminating(networkInterface) && recordOf(networkInterface) !== undefined;
}

function isCopy({ metadata }: Stored<NetworkInterface>): boolean {
  return metadata.labels?.[networkingLabels.interfaceProjection] !== undefined;
}

/** When each allocation nobody can name was first found, by UID. */
export class Suspects {
  readonly #since = new Map<string, number>();

  /**
   * Pure but for its memory: takes what one observation of a project found and answers what has been so long enough.
   * What was not found again is forgotten.
   */
  observe(project: string, found: readonly string[], now: number, apartMilliseconds: number): Set<string> {
    const prefix = `${project}\0`;
    const keys = new Set(found.map((uid) => prefix + uid));
    for (const key of this.#since.keys()) if (key.startsWith(prefix) && !keys.has(key)) this.#since.delete(key);
    const due = new Set<string>();
    for (const uid of found) {
      const since = this.#since.get(prefix + uid);
      if (since === undefined) this.#since.set(prefix + uid, now);
      else if (now - since >= apartMilliseconds) due.add(uid);
    }
    return due;
  }
}
