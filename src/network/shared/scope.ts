import { type IPClaim, Location, Network, scopeRoles } from '../../api/index.ts';

export type Scope = NonNullable<NonNullable<IPClaim['spec']>['scope']>;

/**
 * The scope of a network's addresses: the network with its UID, so that a network made again under an old name has
 * an address space of its own (F21), and the location by its name.
 */
export function networkScope(network: { name: string; uid: string }, location?: string): Scope {
  const scope: Scope = {
    [scopeRoles.network]: { apiGroup: Network.group, kind: Network.kind, name: network.name, uid: network.uid },
  };
  if (location !== undefined) {
    scope[scopeRoles.location] = { apiGroup: Location.group, kind: Location.kind, name: location };
  }
  return scope;
}
