import { type IPClaim, Location, Network, scopeRoles } from '../../api/index.ts';

export type Scope = NonNullable<NonNullable<IPClaim['spec']>['scope']>;

/**
 * The scope of a network's addresses: the network with its UID, so that a network made again under an old name has
 * an address space of its own (F21), and the location by its name. A context that nobody stamped with its network's UID
 * (one applied by hand) gives a scope by name alone.
 */
export function networkScope(network: { name: string; uid?: string | undefined }, location?: string): Scope {
  const { name, uid } = network;
  const scope: Scope = {
    [scopeRoles.network]: {
      apiGroup: Network.group,
      kind: Network.kind,
      name,
      ...(uid === undefined ? {} : { uid }),
    },
  };
  if (location !== undefined) {
    scope[scopeRoles.location] = { apiGroup: Location.group, kind: Location.kind, name: location };
  }
  return scope;
}
