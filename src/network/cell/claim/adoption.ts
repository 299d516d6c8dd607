import {
  type NetworkInterface,
  type NetworkInterfaceClaim,
  networkingLabels,
  reasonMessage,
} from '../../../api/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import { type Refused, type Routing, recordOf } from '../routing.ts';

/** Who asks for an interface, and where. */
export interface Suitor {
  claim: Stored<NetworkInterfaceClaim>;
  routing: Routing;
  networkUid: string | undefined;
}

/**
 * Why an interface that is there can not be this claim's, in the order of reference C.4. One that offers more than the
 * claim asks for will do.
 */
export function adoptionRefusal(networkInterface: Stored<NetworkInterface>, suitor: Suitor): Refused | undefined {
  const { claim } = suitor;
  const { spec, metadata } = networkInterface;
  const { name } = metadata;
  if (isTerminating(networkInterface)) {
    return { reason: 'Terminating', message: reasonMessage('Terminating', { kind: 'NetworkInterface', name }) };
  }
  if (spec.claimRef !== undefined && !namesThisClaim(spec.claimRef, claim)) {
    const message = reasonMessage('InterfaceHeldByAnotherClaim', { interface: name, holder: spec.claimRef.name });
    return { reason: 'InterfaceHeldByAnotherClaim', message };
  }
  const foreign = networkRefusal(networkInterface, suitor);
  if (foreign !== undefined) return foreign;
  const wanted = claim.spec.interfaceName;
  const found = spec.interfaceName;
  if (found !== wanted) {
    const message = reasonMessage('InterfaceNameMismatch', { interface: name, found, wanted });
    return { reason: 'InterfaceNameMismatch', message };
  }
  const family = claim.spec.ipFamilies.find((each) => !spec.addresses?.some(({ family }) => family === each));
  if (family !== undefined) {
    return {
      reason: 'AddressFamilyMissing',
      message: reasonMessage('AddressFamilyMissing', { interface: name, family }),
    };
  }
  const missing = claim.spec.addresses?.find(
    (each) => !spec.externalAddresses?.some((address) => address.class === each.class),
  );
  if (missing !== undefined) {
    const message = reasonMessage('AddressClassMissing', { interface: name, class: missing.class });
    return { reason: 'AddressClassMissing', message };
  }
  const [policy, asked] = [spec.reclaimPolicy, claim.spec.reclaimPolicy];
  if (policy === asked) return undefined;
  const message = reasonMessage('ReclaimPolicyMismatch', {
    interface: name,
    found: policy,
    wanted: `reclaimPolicy ${asked}`,
  });
  return { reason: 'ReclaimPolicyMismatch', message };
}

/** A reference without a UID, as other services write it, is believed by its name. */
function namesThisClaim(ref: { name: string; uid?: string }, claim: Stored<NetworkInterfaceClaim>): boolean {
  return ref.uid === undefined ? ref.name === claim.metadata.name : ref.uid === claim.metadata.uid;
}

/** An interface of another network, of a network of the same name that is gone (F21), or of another place. */
export function networkRefusal(
  networkInterface: Stored<NetworkInterface>,
  { claim, routing, networkUid }: Suitor,
): Refused | undefined {
  const { metadata, spec } = networkInterface;
  const record = recordOf(networkInterface);
  const uid = metadata.labels?.[networkingLabels.networkUID];
  const refuse = (found: string, wanted: string): Refused => ({
    reason: 'NetworkMismatch',
    message: reasonMessage('NetworkMismatch', { interface: metadata.name, found, wanted }),
  });
  const wanted = claim.spec.network.name;
  if (spec.network.name !== wanted) return refuse(`network ${spec.network.name}`, `network ${wanted}`);
  if (uid !== undefined && networkUid !== undefined && uid !== networkUid) {
    return refuse(`a deleted network ${wanted} (UID ${uid})`, `network ${wanted} (UID ${networkUid})`);
  }
  if (record === undefined) return undefined;
  for (const part of ['location', 'project', 'namespace'] as const) {
    if (record[part] === routing[part]) continue;
    const place = part === 'namespace' ? 'project namespace' : part;
    return refuse(`network ${wanted} in ${place} ${record[part]}`, `network ${wanted} in ${place} ${routing[part]}`);
  }
  return undefined;
}
