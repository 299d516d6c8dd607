import { reasonMessage, type ServingLocation, type WorkloadDeployment } from '../../api/index.ts';
import type { Stored } from '../../meta/index.ts';

/** Names of the ServingLocations in a cell: exactly one is its identity. */
export type LocationIdentity = readonly string[];

export function locationIdentity(locations: readonly Stored<ServingLocation>[]): LocationIdentity {
  return locations.map((location) => location.metadata.name).sort();
}

/** Why a deployment may start nothing in this cell, if so. A cell that does not know its location yet contradicts nobody. */
export function locationRefusal(
  deployment: WorkloadDeployment,
  identity: LocationIdentity,
): { reason: 'AmbiguousServingLocation' | 'LocationMismatch'; message: string } | undefined {
  const wanted = deployment.spec?.locationRef.name ?? '';
  const [found] = identity;
  if (identity.length > 1) {
    const message = reasonMessage('AmbiguousServingLocation', { count: identity.length });
    return { reason: 'AmbiguousServingLocation', message };
  }
  if (found === undefined || found === wanted) return undefined;
  return { reason: 'LocationMismatch', message: reasonMessage('LocationMismatch', { wanted, found }) };
}
