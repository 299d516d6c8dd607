import type { Client } from '../kube/index.ts';
import { type KubeObject, parseTime, type ResourceType, type Stored } from '../meta/index.ts';
import { sourceUidOf } from './copy.ts';

/** A copy that was made before its source by more than clocks differ is of an earlier source. */
const skewMilliseconds = 60_000;

/** Mark of a copy of something that is not there any more. */
export const unknownSource = 'unknown';

export interface Unmarked<T extends KubeObject> {
  /** Of the plane the copy is in. */
  client: Client;
  type: ResourceType<T>;
  copy: Stored<T> | undefined;
  source: Stored<KubeObject> | undefined;
  /** What a copy of `source` is marked with, where that is not its UID. */
  uid?: string | undefined;
  /** Whether the field manager is one that makes such copies. */
  isMaker(manager: string): boolean;
  /** Whether the copy has all its marks, where there are more than the UID of its source. */
  isMarked?(copy: Stored<T>): boolean;
}

/**
 * The mark a copy should have, where somebody took it off: `uid`, or `unknownSource` where the copy can not be of `source`.
 * Undefined for one that has its marks, and for what `isMaker` never wrote, which is nobody's copy. Who wrote an object only
 * the server knows: it is read live.
 */
export async function lostMark<T extends KubeObject>({
  client,
  type,
  copy,
  source,
  uid = source?.metadata.uid,
  isMaker,
  isMarked = (each) => sourceUidOf(each) !== undefined,
}: Unmarked<T>): Promise<string | undefined> {
  if (copy === undefined || isMarked(copy)) return undefined;
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
