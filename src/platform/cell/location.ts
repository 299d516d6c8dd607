import { Location, ServingLocation } from '../../api/index.ts';
import type { Client } from '../../kube/index.ts';
import { apiVersionOf, isApiError, Lease } from '../../meta/index.ts';
import { embeddedCell } from '../locations.ts';
import { StartError } from '../start.ts';
import { cellLease } from './roles.ts';

/**
 * Makes sure that a location has one cell only: two would run every instance twice, each with addresses of its own. Which
 * cluster it is, is written down on the hub by the first that comes. Answers whether the hub publishes the location already.
 * @throws {StartError} where another cell has the location.
 */
export async function takeLocation(
  hub: Client,
  location: string,
  cellUid: string,
  signal: AbortSignal,
): Promise<boolean> {
  const named = await hub.get(Location, { namespace: '', name: location }, signal);
  if (named?.metadata.annotations?.[embeddedCell] === 'true') {
    throw new StartError(
      `location ${location} has a cell inside the platform that serves the hub: name a location that has none`,
    );
  }
  const key = { namespace: 'kube-system', name: `${cellLease}-${location}` };
  const holder = (await hub.get(Lease, key, signal))?.spec?.holderIdentity ?? (await take(hub, key, cellUid, signal));
  if (holder !== cellUid) {
    throw new StartError(
      `location ${location} has another cluster as its cell (UID ${holder} of its namespace kube-system, this one has ${cellUid}): name another location, or delete lease ${key.name} in ${key.namespace} on the hub if that cluster is gone for good`,
    );
  }
  return (await hub.get(ServingLocation, { namespace: '', name: location }, signal)) !== undefined;
}

async function take(
  hub: Client,
  key: { namespace: string; name: string },
  holderIdentity: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const lease: Lease = {
    apiVersion: apiVersionOf(Lease),
    kind: Lease.kind,
    metadata: { ...key },
    spec: { holderIdentity },
  };
  try {
    await hub.create(Lease, lease, { signal });
    return holderIdentity;
  } catch (error) {
    // Another process was first: of this cluster, or of another.
    if (!isApiError(error, 'AlreadyExists')) throw error;
    return (await hub.get(Lease, key, signal))?.spec?.holderIdentity;
  }
}
