import { ApiError, isApiError, type KubeObject, type ResourceType, type Stored } from '../../meta/index.ts';
import type { Client, JsonPatchOperation } from '../client.ts';
import { jsonPointer } from './pointer.ts';

const mostAttempts = 5;

/**
 * Puts `finalizer` on the object `object` was read as, and answers it as stored; `object` itself where it is on it
 * already. Throws NotFound when that object is gone, and what the server says when it is being deleted.
 */
export async function addFinalizer<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  object: Stored<T>,
  finalizer: string,
): Promise<Stored<T>> {
  const result = await patchFinalizers(client, type, object, (held, metadata) => {
    if (held.includes(finalizer)) return undefined;
    const path = jsonPointer('metadata', 'finalizers');
    // A list that is absent cannot be tested for that; the version stands for it.
    if (held.length === 0) {
      return [
        { op: 'test', path: jsonPointer('metadata', 'resourceVersion'), value: metadata.resourceVersion },
        { op: 'add', path, value: [finalizer] },
      ];
    }
    return [
      { op: 'test', path, value: held },
      { op: 'add', path: `${path}/-`, value: finalizer },
    ];
  });
  if (result !== undefined) return result;
  const { name } = object.metadata;
  throw ApiError.of('NotFound', `${type.plural} "${name}" not found`, { name, group: type.group, kind: type.plural });
}

/**
 * Takes `finalizer` off the object `object` was read as, and answers it as stored; `object` itself where it is not on it,
 * undefined where that object is gone.
 */
export function removeFinalizer<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  object: Stored<T>,
  finalizer: string,
): Promise<Stored<T> | undefined> {
  return patchFinalizers(client, type, object, (held) => {
    const position = held.indexOf(finalizer);
    if (position === -1) return undefined;
    const path = jsonPointer('metadata', 'finalizers', position);
    return [
      { op: 'test', path, value: finalizer },
      { op: 'remove', path },
    ];
  });
}

/** Sends what `operations` says, with a test of the UID; again after a fresh read while a test fails. */
async function patchFinalizers<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  object: Stored<T>,
  operations: (held: readonly string[], metadata: Stored<T>['metadata']) => JsonPatchOperation[] | undefined,
): Promise<Stored<T> | undefined> {
  const { uid, namespace = '', name } = object.metadata;
  const key = { namespace, name };
  let current: Stored<T> = object;
  for (let attempt = 1; ; attempt++) {
    const body = operations(current.metadata.finalizers ?? [], current.metadata);
    if (body === undefined) return current;
    const isIt: JsonPatchOperation = { op: 'test', path: jsonPointer('metadata', 'uid'), value: uid };
    try {
      return await client.patch(type, key, { type: 'json', body: [isIt, ...body] });
    } catch (error) {
      // Servers answer a failed test with Invalid; a race they lost themselves with Conflict.
      const retried = isApiError(error, 'NotFound', 'Invalid', 'Conflict') && attempt < mostAttempts;
      if (!retried) throw error;
      const fresh = await client.get(type, key);
      if (fresh === undefined || fresh.metadata.uid !== uid) return undefined;
      current = fresh;
    }
  }
}
