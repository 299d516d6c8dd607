import { IPClaim, identityLabels, isProjectGone } from '../../../api/index.ts';
import type { Client } from '../../../kube/index.ts';
import { isApiError, type Stored } from '../../../meta/index.ts';
import { holderOf, identitySelector, isOf, type Place } from './identity.ts';

/** Everything IPAM holds for an interface, found by identity and not by memory. */
export async function listAllocations(client: Client, { identity, routing }: Place): Promise<Stored<IPClaim>[]> {
  const { items } = await client.list(IPClaim, {
    namespace: routing.namespace,
    labelSelector: identitySelector(identity),
  });
  return items.filter((claim) => isOf(claim, identity));
}

/**
 * Gives back what IPAM holds for an interface, but for what `keep` says belongs to a holder of now. Done when it resolves.
 * A project that is gone took its addresses along (F8); any other failure is thrown, and nothing is forgotten.
 */
export async function release(
  client: Client,
  place: Place,
  keep: (holder: string | undefined) => boolean,
): Promise<void> {
  try {
    const held = await listAllocations(client, place);
    await releaseAll(
      client,
      place,
      held.filter((claim) => !keep(holderOf(claim))),
    );
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
  const { name, uid } = metadata;
  try {
    await client.delete(IPClaim, { namespace, name }, { preconditions: { uid } });
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
