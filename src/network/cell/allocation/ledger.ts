import { IPClaim, identityLabels, isProjectGone } from '../../../api/index.ts';
import type { Client } from '../../../kube/index.ts';
import { isApiError, type Stored } from '../../../meta/index.ts';
import { identitySelector, isOf, type Place } from './identity.ts';

/** Everything IPAM holds for an interface, found by identity and not by memory. */
export async function listAllocations(client: Client, { identity, routing }: Place): Promise<Stored<IPClaim>[]> {
  const { items } = await client.list(IPClaim, {
    namespace: routing.namespace,
    labelSelector: identitySelector(identity),
  });
  return items.filter((claim) => isOf(claim, identity));
}

/**
 * Gives back those of the IPClaims that IPAM holds for an interface which `released` picks. Done when it resolves. A project
 * that is gone took its addresses along (F8); any other failure is thrown, and nothing is forgotten.
 */
export async function release(
  client: Client,
  place: Place,
  released: (held: readonly Stored<IPClaim>[]) => Stored<IPClaim>[] | Promise<Stored<IPClaim>[]>,
): Promise<void> {
  try {
    await releaseAll(client, place, await released(await listAllocations(client, place)));
  } catch (error) {
    if (!isProjectGone(error)) throw error;
  }
}

/** Every one is tried before a failure is thrown. */
export async function releaseAll(
  client: Client,
  { routing }: Place,
  claims: readonly Stored<IPClaim>[],
): Promise<void> {
  const results = await Promise.allSettled(claims.map((claim) => releaseOne(client, routing.namespace, claim)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function releaseOne(client: Client, namespace: string, { metadata }: Stored<IPClaim>): Promise<void> {
  const { name, uid, resourceVersion } = metadata;
  try {
    // The version too: whoever has taken it up since it was judged has written to it.
    await client.delete(IPClaim, { namespace, name }, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isApiError(error, 'Conflict')) throw error;
    // Where another object has the name by now, ours is gone.
    const now = await client.get(IPClaim, { namespace, name });
    if (now?.metadata.uid === uid) throw error;
  }
}

/** Makes `holder` the one whose release this allocation answers to. */
export async function setHolder(
  client: Client,
  { routing }: Place,
  { metadata: { name, resourceVersion } }: Stored<IPClaim>,
  holder: string,
): Promise<void> {
  const body = { metadata: { resourceVersion, labels: { [identityLabels.holderUID]: holder } } };
  await client.patch(IPClaim, { namespace: routing.namespace, name }, { type: 'merge', body });
}
