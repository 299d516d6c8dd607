import { jsonEqual, type ManagedFieldsEntry } from '../../meta/index.ts';
import { type FieldSet, isLeafNode, leafNode, type MutableFieldSet, parseFieldSet, unionSets } from './field-set.ts';
import { type FieldType, leafType, type TrackedSubresource, typeOfKey } from './field-type.ts';
import { isObject } from './object.ts';

/** More `Update` entries than this are folded together, the oldest first. */
export const maximumUpdateManagers = 10;
/** The manager they are folded into. */
export const ancientChanges = 'ancient-changes';
/** The manager that owns what was there before the first apply, where nothing was tracked. */
export const beforeFirstApply = 'before-first-apply';

/** An entry of managedFields whose set may have moved on from the stored one. */
export interface Manager {
  entry: ManagedFieldsEntry;
  set: FieldSet | undefined;
}

export function managersOf(entries: readonly ManagedFieldsEntry[], type: FieldType): Manager[] {
  return entries.map((entry) => {
    const stored = entry.fieldsV1 as FieldSet;
    return { entry, set: isLeafNode(stored) ? undefined : reconcile(stored, type) };
  });
}

/** `set` after a field became atomic: who owned anything below it owns it whole. The same set where none did. */
function reconcile(set: FieldSet, type: FieldType): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in set) {
    const node = set[element] as FieldSet;
    if (isLeafNode(node)) continue;
    const kind = typeOfElement(type, element);
    if (kind.shape === 'untracked') continue;
    const next = kind.shape === 'leaf' ? leafNode : reconcile(node, kind);
    if (next === node) continue;
    result ??= { ...set };
    result[element] = next;
  }
  return result ?? set;
}

function typeOfElement(type: FieldType, element: string): FieldType {
  if (type.shape === 'map') return typeOfKey(type, element.slice(2));
  return type.shape === 'listMap' ? type.item : leafType;
}

/** The entry with its set, unchanged where the set is the stored one; undefined where nothing is left. */
export function entryOf(manager: Manager): ManagedFieldsEntry | undefined {
  if (manager.set === undefined) return undefined;
  if (manager.set === (manager.entry.fieldsV1 as FieldSet)) return manager.entry;
  return { ...manager.entry, fieldsV1: manager.set as Record<string, unknown> };
}

export interface ManagerIdentity {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: TrackedSubresource;
}

/** One manager has one `Apply` entry per subresource, and one `Update` entry per subresource and version. */
export function isSameManager(entry: ManagedFieldsEntry, identity: ManagerIdentity): boolean {
  return (
    entry.manager === identity.manager &&
    entry.operation === identity.operation &&
    (entry.subresource ?? '') === identity.subresource &&
    (entry.operation === 'Apply' || entry.apiVersion === identity.apiVersion)
  );
}

export function newEntry(identity: ManagerIdentity, time: string | undefined, set: FieldSet): ManagedFieldsEntry {
  return {
    manager: identity.manager,
    operation: identity.operation,
    apiVersion: identity.apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: set as Record<string, unknown>,
    ...(identity.subresource === '' ? {} : { subresource: identity.subresource }),
  };
}

/** Entries in kube-apiserver's order: Apply before Update, then by time, manager, version, subresource. */
export function sortEntries(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  return entries.sort(
    (a, b) =>
      byText(a.operation, b.operation) ||
      byText(a.time ?? '', b.time ?? '') ||
      byText(a.manager, b.manager) ||
      byText(a.apiVersion, b.apiVersion) ||
      byText(a.subresource ?? '', b.subresource ?? ''),
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Folds the oldest `Update` entries of one version into one named `ancient-changes` until `maximumUpdateManagers` are
 * left. A version with a single old entry keeps it, so several versions may stay above the limit.
 */
export function capUpdateManagers(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const updates = entries.filter((entry) => entry.operation === 'Update');
  let excess = updates.length - maximumUpdateManagers;
  if (excess <= 0) return entries;
  const oldestFirst = updates.sort((a, b) => byText(a.time ?? '', b.time ?? '') || byText(a.manager, b.manager));
  const buckets = new Map<string, { first: ManagedFieldsEntry; folded: ManagedFieldsEntry | undefined }>();
  const gone = new Set<ManagedFieldsEntry>();
  for (const entry of oldestFirst) {
    if (excess <= 0) break;
    const bucket = buckets.get(entry.apiVersion);
    if (bucket === undefined) {
      buckets.set(entry.apiVersion, { first: entry, folded: undefined });
      continue;
    }
    const into = bucket.folded ?? bucket.first;
    const { subresource: _, ...rest } = entry;
    const set = unionSets(into.fieldsV1 as FieldSet, entry.fieldsV1 as FieldSet) ?? leafNode;
    bucket.folded = { ...rest, manager: ancientChanges, fieldsV1: set as Record<string, unknown> };
    gone.add(bucket.first).add(entry);
    excess--;
  }
  const kept = entries.filter((entry) => !gone.has(entry));
  for (const { folded } of buckets.values()) if (folded !== undefined) kept.push(folded);
  return kept;
}

/**
 * The entries a write starts from. A client that sends well-formed managedFields edits them; one that sends none, or
 * unreadable ones, leaves the stored ones; one that sends `[]` or `[{}]` resets them (an empty answer).
 */
export function startingEntries(
  stored: ManagedFieldsEntry[] | undefined,
  sent: readonly unknown[] | undefined,
): readonly ManagedFieldsEntry[] {
  if (sent === undefined || sent === stored) return stored ?? [];
  if (sent.length === 0 || (sent.length === 1 && isObject(sent[0]) && Object.keys(sent[0]).length === 0)) return [];
  // Nearly always they come back as they were read, and comparing is cheaper than decoding.
  if (jsonEqual(sent, stored)) return stored as ManagedFieldsEntry[];
  const decoded = decodeEntries(sent);
  return decoded === undefined || decoded.length === 0 ? (stored ?? []) : decoded;
}

function decodeEntries(sent: readonly unknown[]): ManagedFieldsEntry[] | undefined {
  const entries: ManagedFieldsEntry[] = [];
  for (const raw of sent) {
    const entry = decodeEntry(raw);
    if (entry === undefined) return undefined;
    if (!isLeafNode(entry.fieldsV1 as FieldSet)) mergeInto(entries, entry);
  }
  return entries;
}

function mergeInto(entries: ManagedFieldsEntry[], entry: ManagedFieldsEntry): void {
  const identity = { ...entry, subresource: (entry.subresource ?? '') as TrackedSubresource };
  const index = entries.findIndex((other) => isSameManager(other, identity));
  if (index < 0) {
    entries.push(entry);
    return;
  }
  const set = unionSets(entries[index]?.fieldsV1 as FieldSet, entry.fieldsV1 as FieldSet) ?? leafNode;
  entries[index] = { ...entry, fieldsV1: set as Record<string, unknown> };
}

function decodeEntry(raw: unknown): ManagedFieldsEntry | undefined {
  if (!isObject(raw)) return undefined;
  const { manager = '', operation, apiVersion, time, fieldsType, fieldsV1, subresource } = raw;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof manager !== 'string' || typeof apiVersion !== 'string' || fieldsType !== 'FieldsV1') return undefined;
  if (!isOptionalText(time) || !isOptionalText(subresource)) return undefined;
  const set = parseFieldSet(fieldsV1 ?? {});
  if (set === 'invalid') return undefined;
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined || time === null ? {} : { time: time as string }),
    fieldsType,
    fieldsV1: (set ?? leafNode) as Record<string, unknown>,
    ...(subresource ? { subresource: subresource as string } : {}),
  };
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
