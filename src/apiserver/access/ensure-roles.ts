import type { Client } from '../../kube/index.ts';
import {
  ClusterRole,
  ClusterRoleBinding,
  isApiError,
  jsonEqual,
  type KubeObject,
  type ResourceType,
} from '../../meta/index.ts';
import type { Roles } from './roles.ts';

/**
 * Makes a plane have `roles`, reading once and writing only what is missing or says something else: a start over what
 * is already there writes nothing. What else is in the plane stays. A binding to another role is replaced, since a
 * binding's role cannot be changed. `client` must be allowed to grant all of it.
 */
export async function ensureRoles(client: Client, roles: Roles): Promise<void> {
  // Roles first: a binding is never about a role that is not there.
  await ensure(client, ClusterRole, roles.clusterRoles, (role) => role.rules);
  await ensure(
    client,
    ClusterRoleBinding,
    roles.clusterRoleBindings,
    (binding) => binding.subjects,
    (binding) => binding.roleRef,
  );
}

async function ensure<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  wanted: readonly T[],
  content: (object: T) => unknown,
  immutable: (object: T) => unknown = () => undefined,
): Promise<void> {
  const present = new Map((await client.list(type)).items.map((item) => [item.metadata.name, item]));
  for (const object of wanted) {
    const { name } = object.metadata;
    const before = present.get(name);
    if (before === undefined) {
      await unless('AlreadyExists', client.create(type, object));
    } else if (!jsonEqual(immutable(before), immutable(object))) {
      await client.delete(type, { namespace: '', name }, { preconditions: { uid: before.metadata.uid } });
      await unless('AlreadyExists', client.create(type, object));
    } else if (!jsonEqual(content(before), content(object))) {
      const { resourceVersion } = before.metadata;
      await client.update(type, { ...object, metadata: { ...object.metadata, resourceVersion } });
    }
  }
}

async function unless(reason: 'AlreadyExists', write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isApiError(error, reason)) throw error;
  }
}
