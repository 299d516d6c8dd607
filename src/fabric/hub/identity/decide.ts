import {
  fabricIdentityName,
  type Network,
  NetworkFabricIdentity,
  networkingLabels,
  oldestIdentity,
} from '../../../api/index.ts';
import { apiVersionOf, isTerminating, type Stored } from '../../../meta/index.ts';

/** Where a network is, by its names. */
export interface NetworkPlace {
  project: string;
  namespace: string;
  name: string;
}

export interface Snapshot {
  network: Stored<Network> | undefined;
  /** Those that say they are of a network of this place, and those of the network's UID. */
  identities: readonly Stored<NetworkFabricIdentity>[];
}

export interface Plan {
  /** Of networks that are gone: to be asked for once more before they are let go. */
  abandoned: readonly Stored<NetworkFabricIdentity>[];
  /** Of a network that has an older one: nobody goes by them. */
  surplus: readonly Stored<NetworkFabricIdentity>[];
  /** Whether the network is to get a number. */
  allocate: boolean;
}

/** Pure. One number per network UID, for as long as that network is there. */
export function decide({ network, identities }: Snapshot): Plan {
  const uid = network?.metadata.uid;
  const own = identities.filter(({ spec }) => spec.networkUID === uid);
  const kept = oldestIdentity(own);
  const live = identities.filter((identity) => !isTerminating(identity));
  return {
    abandoned: live.filter(({ spec }) => spec.networkUID !== uid),
    surplus: live.filter((identity) => identity.spec.networkUID === uid && identity !== kept),
    // A network on its way out has nothing made for it any more.
    allocate: network !== undefined && kept === undefined && !isTerminating(network),
  };
}

/** Pure. The object that gives `number` to a network: creating it is what makes the number the network's. */
export function identityOf(number: number, place: NetworkPlace, networkUID: string): NetworkFabricIdentity {
  const { project, namespace, name } = place;
  return {
    apiVersion: apiVersionOf(NetworkFabricIdentity),
    kind: NetworkFabricIdentity.kind,
    metadata: { name: fabricIdentityName(number), labels: { [networkingLabels.networkUID]: networkUID } },
    spec: { identity: number, networkUID, networkRef: { project, namespace, name } },
  };
}
