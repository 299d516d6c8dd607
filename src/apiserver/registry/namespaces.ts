import { isTerminating, type KubeObject } from '../../meta/index.ts';
import { bytesToText } from '../codec.ts';
import type { StoredRecord } from '../storage/storage.ts';
import type { Call } from './call.ts';

const terminating = new WeakMap<StoredRecord, boolean>();

/** Whether objects can be made in `namespace`, by its newest state. */
export async function namespaceState(call: Call, namespace: string): Promise<'active' | 'terminating' | 'absent'> {
  const key = { plane: call.plane.id, resource: '/namespaces', namespace: '', name: namespace };
  const record = await call.server.storage.get(key, { newest: true });
  if (record === undefined) return 'absent';
  let ending = terminating.get(record);
  if (ending === undefined) {
    ending = isTerminating(JSON.parse(bytesToText(record.value)) as KubeObject);
    terminating.set(record, ending);
  }
  return ending ? 'terminating' : 'active';
}
