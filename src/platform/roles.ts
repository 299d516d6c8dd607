import { controllerRoles, defaultRoles } from '../apiserver/index.ts';
import type { Client, Controller, ObjectKey } from '../kube/index.ts';
import {
  ClusterRole,
  ClusterRoleBinding,
  isApiError,
  jsonEqual,
  type KubeObject,
  type ResourceType,
} from '../meta/index.ts';
import { cellRole } from './cell/roles.ts';
import type { FeatureGates } from './gates.ts';
import { peopleRoles } from './people-roles.ts';
import type { PlaneRef } from './planes.ts';

/** On roles the platform wrote: only those are ever removed by it. */
const managedBy = { 'app.kubernetes.io/managed-by': 'berth' };

/**
 * Writes into a plane the roles of its controllers, of cells that are processes of their own, and the defaults of every
 * plane, as today's rules have them. What is as it should be is not written; roles of controllers that no longer exist are removed.
 */
export async function installRoles(
  client: Client,
  plane: PlaneRef,
  controllers: readonly Controller[],
  featureGates: FeatureGates,
): Promise<void> {
  const own = controllerRoles(controllers, plane.role);
  const defaults = defaultRoles(plane.role, plane.name);
  // A cell of this process has no use for what a process of its own is given.
  const cells = plane.role === 'cell' ? undefined : cellRole(plane.role, featureGates);
  const wanted = [
    ...own.clusterRoles,
    ...defaults.clusterRoles,
    ...peopleRoles(plane.role),
    ...(cells === undefined ? [] : [cells.clusterRole]),
  ];
  await install(client, ClusterRole, wanted, ({ rules, aggregationRule, metadata: { labels } }) =>
    // What is collected is not ours to say.
    aggregationRule === undefined ? [rules, facing(labels)] : [aggregationRule, facing(labels)],
  );
  await install(
    client,
    ClusterRoleBinding,
    [
      ...own.clusterRoleBindings,
      ...defaults.clusterRoleBindings,
      ...(cells === undefined ? [] : [cells.clusterRoleBinding]),
    ],
    (binding) => [binding.roleRef, binding.subjects],
  );
}

/** Labels by which a role becomes part of another. */
function facing(labels: Readonly<Record<string, string>> = {}): string[] {
  return Object.keys(labels)
    .filter((label) => label.includes('/aggregate-to-'))
    .sort();
}

async function install<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  wanted: readonly T[],
  content: (object: T) => unknown,
): Promise<void> {
  const { items } = await client.list(type);
  const there = new Map(items.map((object) => [object.metadata.name, object]));
  const marked = (object: T): T => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...managedBy } },
  });
  await Promise.all(
    wanted.map(async (object) => {
      const held = there.get(object.metadata.name);
      if (held === undefined) await client.create(type, marked(object));
      else if (!jsonEqual(content(held), content(object))) {
        const metadata = {
          ...held.metadata,
          labels: { ...held.metadata.labels, ...object.metadata.labels, ...managedBy },
        };
        await client.update(type, { ...object, metadata });
      }
    }),
  );
  const names = new Set(wanted.map((object) => object.metadata.name));
  for (const { metadata } of items) {
    const ours = metadata.labels?.['app.kubernetes.io/managed-by'] === 'berth';
    if (ours && !names.has(metadata.name)) await remove(client, type, { namespace: '', name: metadata.name });
  }
}

async function remove(client: Client, type: ResourceType, key: ObjectKey): Promise<void> {
  try {
    await client.delete(type, key);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
