import type { NetworkContext, NetworkInterface, NetworkInterfaceClaim, Subnet } from '../../../api/index.ts';
import type { KubeObject, Stored } from '../../../meta/index.ts';
import type { Outcome } from '../allocation/allocate.ts';
import type { MissingAddress } from '../allocation/verify.ts';

/** Which of a release's steps are done in this pass. Each can be done again at no cost but a call. */
export interface Done {
  released?: boolean;
  restored?: boolean;
}

/** Everything the decision about one claim needs. */
export interface Snapshot {
  claim: Stored<NetworkInterfaceClaim>;
  /** The interface the claim is about: the one it names, or the one of its own name. */
  networkInterface: Stored<NetworkInterface> | undefined;
  /** What the data plane attaches that interface by, as its `attachmentRef` names it. */
  attachment?: KubeObject | undefined;
  /** Names of the ServingLocations in the cell. */
  servingLocations: readonly string[];
  /** Of the claim's namespace. */
  namespaceLabels: Readonly<Record<string, string>> | undefined;
  namespaceTerminating: boolean;
  /** Presences of the claim's network in the namespace, of any location. */
  contexts: readonly Stored<NetworkContext>[];
  /** Subnets of those contexts. */
  subnets: readonly Stored<Subnet>[];
  /** What IPAM answered in this pass, once it was asked. */
  outcome?: Outcome;
  /** Published addresses IPAM does not hold, once that was looked up in this pass; undefined where it could not be. */
  missing?: readonly MissingAddress[] | 'unreachable';
  /** What of a release is done in this pass. */
  done?: Done;
  /** Whether the published addresses are to be compared with IPAM's in this pass. */
  verificationDue: boolean;
  /** Whether the data plane has time left to say what it makes of a new interface, so that the claim is told of both at once. */
  patient?: boolean;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

export type ClaimStatus = NonNullable<NetworkInterfaceClaim['status']>;
export type InterfaceStatus = NonNullable<NetworkInterface['status']>;

/** The interface a claim is about. Named once and for all: the field is immutable. */
export function interfaceNameOf({ metadata, spec }: NetworkInterfaceClaim): string {
  return spec.networkInterfaceName ?? metadata.name;
}

export function isHeldBy(
  networkInterface: NetworkInterface | undefined,
  claim: Stored<NetworkInterfaceClaim>,
): boolean {
  return networkInterface?.spec.claimRef?.uid === claim.metadata.uid;
}
