import { ApiError, type KubeObject, type ManagedFieldsEntry } from '../../meta/index.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { problemInApplied } from './applied.ts';
import { claimedPaths } from './claim.ts';
import { compareValues } from './compare.ts';
import { conflictError, type FieldConflict } from './conflict.ts';
import { differenceOfSets, type FieldSet, intersectSets, leafNode, setsEqual, unionSets } from './field-set.ts';
import { type MapType, rootType, type TrackedSubresource } from './field-type.ts';
import {
  beforeFirstApply,
  isSameManager,
  type Manager,
  type ManagerIdentity,
  managersOf,
  newEntry,
} from './managers.ts';
import { mergeValues } from './merge.ts';
import { pruneValue } from './prune.ts';
import { storedForm, trackUpdate } from './track.ts';

export interface ApplyInput {
  /** The stored object; undefined where there is none. */
  live: KubeObject | undefined;
  /** What the manager wants: all of its fields, and nothing else. */
  applied: KubeObject;
  manager: string;
  /** Take over conflicting fields instead of refusing. */
  force: boolean;
  subresource: TrackedSubresource;
  /** Whether the resource serves `/status`. */
  statusSubresource: boolean;
  /** Structural schema of the whole object; undefined: maps granular, lists atomic. */
  schema: JsonSchema | undefined;
  /** `group/version` of the request. */
  apiVersion: string;
  /** RFC 3339, seconds. */
  time: string;
  /** Versions still served, where that is known: entries of any other are forgotten. */
  servedVersions?: readonly string[];
}

export interface ApplyResult {
  /** `live` itself where nothing changed. Server-owned metadata (uid, resourceVersion, generation, …) is live's. */
  object: KubeObject;
  /** Whether anything but the time of an entry differs from `live`. */
  changed: boolean;
}

/**
 * Server-side apply (KEP 555): lays `applied` over `live`, removes what the manager applied before and nobody owns any
 * more, and records ownership. The identity and resourceVersion of `applied` are preconditions for the caller to judge.
 * A map or list left without content stays, empty, where someone else owns it itself.
 *
 * @throws ApiError Conflict with one cause per field where another manager owns what would change and `force` is off;
 *   BadRequest where `applied` carries managedFields, another version, undeclared fields or items without their keys.
 */
export function serverSideApply(input: ApplyInput): ApplyResult {
  const type = rootType(input.schema, input);
  refuseMalformed(input, type);
  const identity: ManagerIdentity = { ...input, operation: 'Apply' };
  const claimed = claimedPaths(input.applied, type);
  if (input.live === undefined) return { object: firstObject(input, claimed, identity), changed: true };
  return applyTo(input.live, input, type, claimed, identity);
}

function refuseMalformed({ applied, apiVersion }: ApplyInput, type: MapType): void {
  if (applied.metadata.managedFields !== undefined && applied.metadata.managedFields !== null) {
    throw ApiError.of('BadRequest', 'metadata.managedFields must be nil');
  }
  if (applied.apiVersion !== apiVersion) {
    throw ApiError.of(
      'BadRequest',
      `Incorrect version specified in apply patch. Specified patch version: ${applied.apiVersion}, expected: ${apiVersion}`,
    );
  }
  const problem = problemInApplied(applied, type);
  if (problem === undefined) return;
  const { name } = applied.metadata;
  const qualified = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  const subject = `/${name}; ${qualified}, Kind=${applied.kind}`;
  throw ApiError.of('BadRequest', `failed to create typed patch object (${subject}): ${problem}`);
}

function firstObject(input: ApplyInput, claimed: FieldSet | undefined, identity: ManagerIdentity): KubeObject {
  const { managedFields: _, ...metadata } = input.applied.metadata;
  const object: KubeObject = { ...input.applied, metadata };
  if (input.statusSubresource) delete object.status;
  if (claimed !== undefined) object.metadata.managedFields = [newEntry(identity, input.time, claimed)];
  return object;
}

function applyTo(
  live: KubeObject,
  input: ApplyInput,
  type: MapType,
  claimed: FieldSet | undefined,
  identity: ManagerIdentity,
): ApplyResult {
  const stored = live.metadata.managedFields ?? [];
  const managers = managersOf(
    stored.length === 0 ? entriesBeforeFirstApply(live, input) : servedEntries(stored, input),
    type,
  );
  const index = managers.findIndex(({ entry }) => isSameManager(entry, identity));
  const own = index < 0 ? undefined : managers[index];
  const others = managers.filter((manager) => manager !== own);

  const merged = mergeValues(live, input.applied, type);
  const object = pruneGivenUp(merged, own?.set, claimed, others, type) as KubeObject;
  const changes = object === live ? undefined : compareValues(live, object, type);
  const conflicts = changes === undefined ? [] : conflictsWith(others, changes.written);
  if (conflicts.length > 0 && !input.force) throw conflictError(conflicts);
  for (const other of others) {
    other.set = differenceOfSets(differenceOfSets(other.set, changes?.written), changes?.removed);
  }

  const sameClaim = own !== undefined && setsEqual(own.set, claimed) && own.entry.apiVersion === input.apiVersion;
  if (object === live && (sameClaim || (own === undefined && claimed === undefined))) {
    return { object: live, changed: false };
  }
  // The time of an entry is that of the last apply that changed more than who owns what.
  const time = object === live ? own?.entry.time : input.time;
  const entries = storedForm([...others, applierOf(identity, time, claimed)]);
  return { object: withManagedFields(object, entries), changed: true };
}

function applierOf(identity: ManagerIdentity, time: string | undefined, claimed: FieldSet | undefined): Manager {
  return { entry: newEntry(identity, time, claimed ?? leafNode), set: claimed };
}

/** Who owns an object that was never tracked: everything in it is one earlier manager's. */
function entriesBeforeFirstApply(live: KubeObject, input: ApplyInput): ManagedFieldsEntry[] {
  const { subresource, statusSubresource, schema, apiVersion, time } = input;
  return trackUpdate({
    before: undefined,
    after: live,
    manager: beforeFirstApply,
    operation: 'Update',
    subresource,
    statusSubresource,
    schema,
    apiVersion,
    time,
  });
}

function servedEntries(entries: readonly ManagedFieldsEntry[], input: ApplyInput): readonly ManagedFieldsEntry[] {
  const served = input.servedVersions;
  return served === undefined ? entries : entries.filter((entry) => served.includes(entry.apiVersion));
}

function pruneGivenUp(
  merged: unknown,
  last: FieldSet | undefined,
  claimed: FieldSet | undefined,
  others: readonly Manager[],
  type: MapType,
): unknown {
  if (last === undefined || differenceOfSets(last, claimed) === undefined) return merged;
  let owned = claimed;
  for (const { set } of others) owned = unionSets(owned, set);
  // metadata is nobody's and always stays: this keeps it from counting as given up with the last label.
  return pruneValue(merged, last, { 'f:metadata': leafNode, ...owned }, type);
}

function conflictsWith(others: readonly Manager[], written: FieldSet | undefined): FieldConflict[] {
  const conflicts: FieldConflict[] = [];
  for (const { entry, set } of others) {
    const fields = intersectSets(set, written);
    if (fields !== undefined) conflicts.push({ entry, fields });
  }
  return conflicts;
}

function withManagedFields(object: KubeObject, entries: ManagedFieldsEntry[]): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } };
}
