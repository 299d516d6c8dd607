import { isApiError, isTerminating, jsonEqual, type KubeObject } from '../../meta/index.ts';
import { base, encoder } from '../codec.ts';
import { badRequest, conflict, invalid, notFound } from '../errors.ts';
import type { ApiResponse } from '../http/message.ts';
import type { Served } from '../served.ts';
import { PreconditionFailed, type StoredRecord } from '../storage/storage.ts';
import { backingRequest } from './backing.ts';
import { type Call, storageKey } from './call.ts';
import { committed, removed } from './committed.ts';
import { createObject, placeInNamespace } from './create.ts';
import { decodeObject } from './decode.ts';
import { differInTimesAlone, trackManager } from './managed-fields.ts';
import { type FieldValidation, writeOptions } from './options.ts';
import { checkUid, prepareUpdate, requireResourceVersion, validateUpdate } from './prepare.ts';
import { respondBytes, respondObject } from './respond.ts';
import { bodyBytes, checkSize } from './size.ts';

/** Tries before a write that names no version gives up on a busy object. */
const attempts = 5;

/** PUT on an object or its status. */
export async function update(call: Call): Promise<ApiResponse> {
  const { dryRun, manager, fieldValidation } = writeOptions(call.request, 'UpdateOptions');
  const object = decodeObject(call, fieldValidation);
  checkNameAndPlace(call, object);
  return modify(call, {
    dryRun,
    // The object is changed in place while it is stored: another attempt starts from a fresh one.
    change: (_, attempt) => (attempt === 1 ? object : shapedAgain(call, fieldValidation)),
    check: (next) => requireResourceVersion(call, next),
    track: (next, old) => trackManager(call, next, old, manager),
    ...(call.served.strategy.createOnUpdate && call.subresource === ''
      ? { create: () => createObject(call, object, dryRun, (made) => trackManager(call, made, undefined, manager)) }
      : {}),
  });
}

function shapedAgain(call: Call, mode: FieldValidation): KubeObject {
  const object = decodeObject({ ...call, warnings: [] }, mode);
  checkNameAndPlace(call, object);
  return object;
}

export function checkNameAndPlace(call: Call, object: KubeObject): void {
  const { metadata } = object;
  if ((metadata.name ?? '') === '') {
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== call.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`);
  }
  placeInNamespace(call, object);
}

export interface Modification {
  dryRun: boolean;
  /**
   * The new object from the current one. It may set fields of the object and of its metadata, and must not change anything
   * deeper in place. Called again when somebody was faster.
   */
  change(current: KubeObject, attempt: number): KubeObject | Promise<KubeObject>;
  /** Refuses a changed object before it is compared with the stored one. */
  check?(next: KubeObject): void;
  /** Sets managed fields on the complete object. */
  track(next: KubeObject, old: KubeObject): void;
  /** What to do where there is no object; 404 where absent. */
  create?(): Promise<ApiResponse>;
}

/**
 * Reads, changes, checks and writes one object; an identical result writes nothing. Removes the object where it was
 * terminating and its last finalizer went. Throws 404, 409, 422.
 */
export async function modify(call: Call, modification: Modification): Promise<ApiResponse> {
  const key = storageKey(call);
  for (let attempt = 1; ; attempt++) {
    const record = await call.server.storage.get(key, { newest: true });
    if (record === undefined) {
      if (modification.create !== undefined) return modification.create();
      throw notFound(call.served.resource, call.name);
    }
    const { value } = record;
    const old = base(call.served, value, record.revision);
    // What is not changed is shared with `old`, which keeps comparisons cheap: only these two levels are written to.
    const changed = await modification.change({ ...old, metadata: { ...old.metadata } }, attempt);
    const next = { ...changed, metadata: { ...changed.metadata } };
    checkUid(call, next, old);
    modification.check?.(next);
    checkVersion(call, next, record);
    prepareUpdate(call, next, old);
    // Kinds of the server itself have no revision of their schema; of several versions, another's may have judged it.
    const { schemaRevision, siblings } = call.served;
    const settled = schemaRevision > 0 && siblings === undefined && isOfToday(call.served, record);
    validateUpdate(call, next, old, settled);
    modification.track(next, old);
    keepTimes(next, old);
    next.metadata.resourceVersion = String(record.revision);
    checkSize(call, next, bodyBytes(call) + value.length);
    try {
      return await write(call, record, next, old, modification.dryRun);
    } catch (error) {
      if (call.served.resource.backing !== undefined && isApiError(error, 'Conflict') && attempt < attempts) continue;
      if (!(error instanceof PreconditionFailed)) throw error;
      if (error.actual === 'absent') throw notFound(call.served.resource, call.name);
      // A write that names the version it is for is refused by the next look.
      if (attempt === attempts) throw conflict(call.served.resource, call.name);
    }
  }
}

/** Whether an object was stored under the schema that is served now. */
function isOfToday({ schemaRevision }: Served, { revision }: StoredRecord): boolean {
  return revision >= schemaRevision;
}

/** Entries of managedFields whose time alone is another are no change: the stored ones stay. */
function keepTimes(next: KubeObject, old: KubeObject): void {
  const { managedFields: entries, ...metadata } = next.metadata;
  const { managedFields: stored, ...before } = old.metadata;
  if (entries === stored || !differInTimesAlone(entries, stored)) return;
  const same = jsonEqual(
    { ...next, metadata: { ...metadata, resourceVersion: before.resourceVersion } },
    { ...old, metadata: before },
  );
  if (same) next.metadata.managedFields = stored!;
}

/** Throws 409 where the object names a version that is not the current one. */
function checkVersion(call: Call, next: KubeObject, record: StoredRecord): void {
  const asked = (next.metadata.resourceVersion ?? '').replace(/^0+(?=\d)/, '');
  if (asked === '' || asked === '0') return;
  if (!/^\d+$/.test(asked)) {
    throw invalid(call.served.resource, call.name, [
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.resourceVersion',
        message: `Invalid value: ${JSON.stringify(asked)}: strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`,
      },
    ]);
  }
  if (asked !== String(record.revision)) throw conflict(call.served.resource, call.name);
}

async function write(
  call: Call,
  record: StoredRecord,
  next: KubeObject,
  old: KubeObject,
  dryRun: boolean,
): Promise<ApiResponse> {
  const { served, server } = call;
  if (jsonEqual(next, old) && isOfToday(served, record)) {
    await server.storage.settled();
    return respondBytes(call, 200, record.value, record.revision);
  }
  const { backing } = served.resource;
  if (backing !== undefined) {
    return respondObject(call, 200, await backing.update(backingRequest(call, dryRun), next, old));
  }
  if (dryRun) {
    await server.storage.settled();
    return respondObject(call, 200, next);
  }
  const going = mayGo(call, next);
  // What goes is told of as it last was.
  const encode = encoder(served, going ? { ...old, metadata: { ...old.metadata } } : next);
  let value: Uint8Array | undefined;
  const put = {
    key: record.key,
    encode: (revision: number) => {
      value = encode(revision);
      return value;
    },
  };
  const { revision } = await server.storage.commit({
    preconditions: [{ key: record.key, revision: record.revision }],
    ...(going ? { deletes: [put] } : { puts: [put] }),
  });
  if (going) {
    removed(call, call.name);
    return respondObject(call, 200, next);
  }
  committed(call, next, revision);
  return respondBytes(call, 200, value!, revision);
}

/** Whether nothing holds a terminating object any longer. */
export function mayGo(call: Call, object: KubeObject): boolean {
  return (
    isTerminating(object) &&
    (object.metadata.finalizers ?? []).length === 0 &&
    call.served.strategy.holdsDeletion?.(object) !== true
  );
}
