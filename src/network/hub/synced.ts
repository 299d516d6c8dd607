import type { Plane } from '../../kube/index.ts';
import type { KubeObject, ResourceType } from '../../meta/index.ts';

/** When to look again while a plane has not listed what is asked of it: it has no event to wait for. */
export const unsyncedRetry = { requeueAfterMilliseconds: 200 };

/**
 * Whether absence means something in `plane`. A request waits for the informers of the plane it is in; those of another
 * plane may still be listing.
 */
export function isSynced(plane: Plane, types: readonly ResourceType[]): boolean {
  return types.every((type) => plane.informer(type as ResourceType<KubeObject>).synced);
}
