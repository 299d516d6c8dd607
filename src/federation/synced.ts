import type { Plane } from '../kube/index.ts';
import type { ResourceType } from '../meta/index.ts';

/** When to look again while a plane has not listed what is asked of it: there is no event to wait for. */
export const unsyncedRetry = { requeueAfterMilliseconds: 200 };

/**
 * Whether absence means something in `plane`. A request waits for the informers of its own plane only; what those of
 * another plane lack before their first list is no absence, and nothing may be made or deleted on it.
 */
export function isSynced(plane: Plane, types: readonly ResourceType[]): boolean {
  return types.every((type) => plane.informer(type).synced);
}
