import { apiVersionOf, jsonEqual, type KubeObject, type ResourceType, type Stored } from '../../meta/index.ts';
import type { Client } from '../client.ts';

/**
 * Makes `status` the whole status of `object`, by a merge patch guarded by the version `object` was read at: Conflict
 * when it has moved on. Writes nothing and answers `object` where they are equal already.
 */
export async function mergeStatus<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  object: Stored<T>,
  status: NonNullable<T['status']>,
): Promise<Stored<T>> {
  const before = object.status ?? {};
  if (jsonEqual(before, status)) return object;
  const { namespace = '', name, resourceVersion } = object.metadata;
  const body = { metadata: { resourceVersion }, status: mergeDifference(before, status) };
  return client.patch(type, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}

/**
 * Applies `status` as `fieldManager`'s part of the status of `object`: all that manager wants there, nothing of others'.
 * The UID goes along, so that another object of the same name is refused with Conflict.
 */
export function applyStatus<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  object: Stored<T>,
  status: Partial<NonNullable<T['status']>>,
  fieldManager: string,
): Promise<Stored<T>> {
  const { namespace = '', name, uid } = object.metadata;
  const body = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, ...(type.namespaced ? { namespace } : {}), uid },
    status,
  };
  const patch = { type: 'apply', body, fieldManager, force: true } as const;
  return client.patch(type, { namespace, name }, patch, { subresource: 'status' });
}

/** The RFC 7386 patch that makes `after` of `before`: what differs, and null for what goes. */
export function mergeDifference(before: object, after: object): Record<string, unknown> {
  const old = new Map<string, unknown>(Object.entries(before));
  const patch: [string, unknown][] = [];
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const held = old.get(key);
    old.delete(key);
    if (jsonEqual(held, value)) continue;
    patch.push([key, isMap(held) && isMap(value) ? mergeDifference(held, value) : value]);
  }
  for (const [key, value] of old) if (value !== undefined) patch.push([key, null]);
  return Object.fromEntries(patch);
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
