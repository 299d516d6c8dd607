import type { KubeObject, ManagedFieldsEntry } from '../../meta/index.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { compareValues } from './compare.ts';
import { differenceOfSets, unionSets } from './field-set.ts';
import { rootType, type TrackedSubresource } from './field-type.ts';
import {
  capUpdateManagers,
  entryOf,
  isSameManager,
  type Manager,
  type ManagerIdentity,
  managersOf,
  newEntry,
  sortEntries,
  startingEntries,
} from './managers.ts';

export interface TrackUpdateInput {
  /** The stored object; undefined for a create. */
  before: KubeObject | undefined;
  /** What a new object of the kind has anyway. */
  zero?: object;
  /** What will be stored, pruned and defaulted, with the managedFields the client sent, if any. */
  after: KubeObject;
  manager: string;
  operation: 'Update';
  subresource: TrackedSubresource;
  /** Whether the resource serves `/status`. */
  statusSubresource: boolean;
  /** Structural schema of the whole object; undefined: maps granular, lists atomic. */
  schema: JsonSchema | undefined;
  /** `group/version` of the request. */
  apiVersion: string;
  /** RFC 3339, seconds: what a changed entry shows. */
  time: string;
}

/** Before a create there is an object with empty metadata: so `metadata` itself is nobody's. */
const nothing = { metadata: {} };

/**
 * managedFields after a create, an update or any patch but an apply. Changed and new fields go to `manager` and leave
 * everyone else; removed fields leave everyone. Where nothing moved the stored array itself is answered.
 *
 * Empty means that the object is not tracked (managedFields is to be left out): so after a reset with `[]` or `[{}]`, and
 * for every later update until the next apply, as in kube-apiserver. Never throws.
 */
export function trackUpdate(input: TrackUpdateInput): ManagedFieldsEntry[] {
  const stored = input.before?.metadata.managedFields;
  // A subresource write cannot edit what belongs to the whole object.
  const sent = input.subresource === '' ? input.after.metadata.managedFields : undefined;
  const starting = startingEntries(stored, sent);
  if (starting.length === 0 && input.before !== undefined) return [];

  const type = rootType(input.schema, input);
  const changes = compareValues(input.before ?? { ...nothing, ...input.zero }, input.after, type);
  if (changes === undefined) return starting === stored ? stored : storedForm(managersOf(starting, type));
  const managers = managersOf(starting, type);

  const identity: ManagerIdentity = input;
  let own: Manager | undefined;
  let moved = false;
  for (const manager of managers) {
    const before = manager.set;
    manager.set = differenceOfSets(before, changes.removed);
    if (own === undefined && isSameManager(manager.entry, identity)) own = manager;
    else manager.set = differenceOfSets(manager.set, changes.written);
    if (manager.set !== before) moved = true;
  }
  if (changes.written !== undefined) {
    moved = true;
    const set = unionSets(own?.set, changes.written);
    // Of a scale it is not written when, there as here.
    const time = input.subresource === 'scale' ? undefined : input.time;
    if (own === undefined) managers.push({ entry: newEntry(identity, time, changes.written), set });
    else if (time !== undefined) Object.assign(own, { set, entry: { ...own.entry, time } });
    else own.set = set;
  }
  return !moved && starting === stored ? stored : storedForm(managers);
}

/** What is stored: emptied entries dropped, the oldest updates folded, in order. */
export function storedForm(managers: readonly Manager[]): ManagedFieldsEntry[] {
  const entries: ManagedFieldsEntry[] = [];
  for (const manager of managers) {
    const entry = entryOf(manager);
    if (entry !== undefined) entries.push(entry);
  }
  return sortEntries(capUpdateManagers(entries));
}
