import type { Client } from '../kube/index.ts';
import { type KubeObject, parseTime, type ResourceType, type Stored } from '../meta/index.ts';

/** A copy that was made before its source by more than clocks differ is of an earlier source. */
const skewMilliseconds = 60_000;

/** Mark of a copy of something that is not there any more. */
export const unknownSource = 'unknown';

/**
 * The mark a copy should have, where somebody took it off: `uid`, or `unknownSource` where the copy can not be of `source`.
 * Undefined for what `isMaker` never wrote, which is nobody's copy. Who wrote an object only the server knows: it is read
 * live.
 */
export async function lostMark(
  client: Client,
  type: ResourceType,
  copy: Stored<KubeObject>,
  isMaker: (manager: string) => boolean,
  source: Stored<KubeObject> | undefined,
  uid = source?.metadata.uid,
): Promise<string | undefined> {
  const { namespace = '', name } = copy.metadata;
  const live = await client.get(type, { namespace, name });
  if (live?.metadata.uid !== copy.metadata.uid) return undefined;
  const isOurs = live.metadata.managedFields?.some(
    ({ manager, subresource }) => subresource === undefined && isMaker(manager),
  );
  if (isOurs !== true) return undefined;
  return source === undefined || madeAt(source) - madeAt(copy) > skewMilliseconds ? unknownSource : uid;
}

function madeAt(object: Stored<KubeObject>): number {
  return parseTime(object.metadata.creationTimestamp) ?? 0;
}
