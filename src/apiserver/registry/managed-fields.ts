import { jsonEqual, type KubeObject, type ManagedFieldsEntry } from '../../meta/index.ts';
import { trackUpdate } from '../patch/index.ts';
import type { Call } from './call.ts';
import { timeText } from './now.ts';

/** Records on `after`, in place, which of its fields `manager` now owns. `before` is absent for a create. */
export function trackManager(call: Call, after: KubeObject, before: KubeObject | undefined, manager: string): void {
  const { served } = call;
  const { zero, owned } = served.strategy;
  const own = before === undefined && owned !== undefined ? owned(after) : after;
  const entries = trackUpdate({
    before: before === undefined || zero === undefined ? before : { ...zero, ...before },
    after: zero === undefined ? own : { ...zero, ...own },
    ...(zero === undefined ? {} : { zero }),
    manager,
    operation: 'Update',
    subresource: call.subresource === 'status' || call.subresource === 'scale' ? call.subresource : '',
    statusSubresource: served.resource.subresources.status,
    schema: served.resource.schema.source,
    apiVersion: served.apiVersion,
    time: timeText(call.now),
  });
  if (entries.length === 0) delete after.metadata.managedFields;
  else after.metadata.managedFields = entries;
}

/** Whether both lists say the same, one by one, but for when. */
export function differInTimesAlone(
  entries: readonly ManagedFieldsEntry[] | undefined,
  stored: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (entries === undefined || stored === undefined || entries.length !== stored.length) return false;
  return entries.every((entry, index) => jsonEqual({ ...entry, time: '' }, { ...stored[index], time: '' }));
}
