import type { Client, JsonPatchOperation } from '../../kube/index.ts';
import { isApiError, type KubeObject, type OwnerReference, type Stored } from '../../meta/index.ts';
import type { ServedResource } from '../resource.ts';
import { ownersOf } from './owner-index.ts';

/** The writes garbage collection is made of. Each names the very object it read: uid, and the version where it matters. */

export function keyOf(object: KubeObject): { namespace: string; name: string } {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

/** Replaces the owner references of `object`; Conflict where it has moved on since it was read. */
export async function writeOwners(
  client: Client,
  resource: ServedResource,
  object: Stored<KubeObject>,
  owners: readonly OwnerReference[],
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const metadata = { uid, resourceVersion, ownerReferences: owners.length === 0 ? null : owners };
  await client.patch(resource, keyOf(object), { type: 'merge', body: { metadata } });
}

/** Removes one finalizer, where it is there. */
export async function removeFinalizer(
  client: Client,
  resource: ServedResource,
  object: Stored<KubeObject>,
  finalizer: string,
): Promise<void> {
  const index = (object.metadata.finalizers ?? []).indexOf(finalizer);
  if (index < 0) return;
  const path = `/metadata/finalizers/${index}`;
  const body: JsonPatchOperation[] = [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ];
  await unlessGone(client.patch(resource, keyOf(object), { type: 'json', body }));
}

/** Takes the references to `owner` off a dependent. What is gone, or is another object by now, needs nothing. */
export async function orphan(
  client: Client,
  resource: ServedResource,
  dependent: { namespace: string; name: string; uid: string },
  owner: string,
): Promise<void> {
  const { namespace, name, uid } = dependent;
  const live = await client.get(resource, { namespace, name });
  if (live === undefined || live.metadata.uid !== uid) return;
  const owners = ownersOf(live);
  const rest = owners.filter((reference) => reference.uid !== owner);
  if (rest.length < owners.length) await unlessGone(writeOwners(client, resource, live, rest));
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
