import { jsonEqual, type KubeObject, type ManagedFieldsEntry } from '../../meta/index.ts';
import type { ApiRequest } from '../http/message.ts';
import { trackUpdate } from '../patch/index.ts';
import type { Call } from './call.ts';
import { timeText } from './now.ts';
import { writeOptions } from './options.ts';

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

/** Who asked what, of an object that is answered and not stored: a review, or a request for a token. */
export function ownedByAsker(
  { apiVersion, spec }: KubeObject,
  request: ApiRequest,
  now: number,
  subresource: '' | 'token' = '',
): ManagedFieldsEntry[] {
  const entries = trackUpdate({
    before: undefined,
    after: { apiVersion, kind: '', metadata: { name: '' }, spec } as KubeObject,
    zero: { spec: subresource === '' ? {} : { boundObjectRef: {} } },
    manager: writeOptions(request, 'CreateOptions').manager,
    operation: 'Update',
    subresource: '',
    statusSubresource: true,
    schema: undefined,
    apiVersion,
    time: timeText(now),
  });
  return subresource === '' ? entries : entries.map((entry) => ({ ...entry, subresource }));
}

/** Whether both lists say the same, one by one, but for when. */
export function differInTimesAlone(
  entries: readonly ManagedFieldsEntry[] | undefined,
  stored: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (entries === undefined || stored === undefined || entries.length !== stored.length) return false;
  return entries.every((entry, index) => jsonEqual({ ...entry, time: '' }, { ...stored[index], time: '' }));
}
