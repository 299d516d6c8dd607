import { isTerminating, jsonEqual, type KubeObject } from '../../meta/index.ts';
import { decode, encoder } from '../codec.ts';
import { conflict, notFound } from '../errors.ts';
import type { ApiResponse } from '../http/message.ts';
import { PreconditionFailed, type StoredRecord } from '../storage/storage.ts';
import { backingRequest } from './backing.ts';
import { type Call, storageKey, strategyContext } from './call.ts';
import { committed, removed } from './committed.ts';
import { type DeleteOptions, deleteOptions } from './delete-options.ts';
import { timeText } from './now.ts';
import { collect, listMetadata } from './read.ts';
import { respondList, respondObject, respondPlain } from './respond.ts';
import { mayGo } from './update.ts';

/** DELETE of one object: 200 with a Status when it is gone (of some kinds with the object), with the object while finalizers hold it. */
export async function remove(call: Call): Promise<ApiResponse> {
  const options = deleteOptions(call);
  const { object, gone } = await deleteObject(call, options, options.dryRun);
  if (!gone || call.served.strategy.answersDeleted === true)
    return respondObject(call, options.accepted ? 202 : 200, object);
  const { group, plural } = call.served.resource;
  return respondPlain(call, 200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name,
      ...(group === '' ? {} : { group }),
      kind: plural,
      uid: object.metadata.uid,
    },
  });
}

/**
 * DELETE of a collection: everything the selectors select, and answers the list of it. A version says of which snapshot:
 * what came later is not meant.
 */
export async function removeCollection(call: Call): Promise<ApiResponse> {
  const options = deleteOptions(call);
  const page = await collect(call, { exact: true });
  const failures: unknown[] = [];
  const next = page.records.values();
  const deleting = async () => {
    for (const { key } of next) {
      try {
        await deleteObject({ ...call, namespace: key.namespace, name: key.name }, options, options.dryRun);
      } catch (error) {
        if (!isGone(error)) failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: deletesAtOnce }, deleting));
  if (failures.length > 0) throw failures[0];
  return respondList(call, listMetadata(page), page.records);
}

/** Of a collection. Whoever else asks meanwhile waits for so many and not for all of it. */
const deletesAtOnce = 64;

function isGone(error: unknown): boolean {
  return error instanceof Error && 'reason' in error && error.reason === 'NotFound';
}

const attempts = 5;

/** Throws 404, 409 where a precondition does not hold, and what the kind's own rules say. */
export async function deleteObject(
  call: Call,
  options: Pick<DeleteOptions, 'preconditions' | 'propagationPolicy'>,
  dryRun: boolean,
): Promise<{ object: KubeObject; gone: boolean }> {
  const { served, server } = call;
  const key = storageKey(call);
  for (let attempt = 1; ; attempt++) {
    const record = await server.storage.get(key, { newest: true });
    if (record === undefined) throw notFound(served.resource, call.name);
    const object = decode(served, record.value, record.revision);
    checkPreconditions(call, object, options.preconditions);
    const refused = served.strategy.refuseDelete?.(object);
    if (refused !== undefined) throw refused;
    const old = decode(served, record.value, record.revision);
    markForDeletion(call, object, options);
    try {
      return await finish(call, record, object, old, dryRun);
    } catch (error) {
      if (!(error instanceof PreconditionFailed)) throw error;
      if (error.actual === 'absent') throw notFound(served.resource, call.name);
      if (options.preconditions?.resourceVersion !== undefined || attempt === attempts) {
        throw conflict(served.resource, call.name);
      }
    }
  }
}

function checkPreconditions(call: Call, object: KubeObject, preconditions: DeleteOptions['preconditions']): void {
  const { uid, resourceVersion } = object.metadata;
  const { resource } = call.served;
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(kindOf(resource), call.name, why);
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(kindOf(resource), call.name, why);
  }
}

/** What kube-apiserver names the object by where a precondition of a delete fails. */
function kindOf({ group, kind }: { group: string; kind: string }): { group: string; plural: string } {
  return { group, plural: kind };
}

/** Sets the deletion timestamp and the garbage collector's finalizers as `propagationPolicy` asks, in place. */
function markForDeletion(
  call: Call,
  object: KubeObject,
  options: Pick<DeleteOptions, 'preconditions' | 'propagationPolicy'>,
): void {
  const { metadata } = object;
  const before = metadata.finalizers ?? [];
  const policy = options.propagationPolicy;
  const orphan = policy === undefined ? before.includes('orphan') : policy === 'Orphan';
  const foreground = policy === undefined ? before.includes('foregroundDeletion') : policy === 'Foreground';
  const finalizers = before.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  if (orphan) finalizers.push('orphan');
  if (foreground) finalizers.push('foregroundDeletion');
  if (!jsonEqual([...before].sort(), [...finalizers].sort())) {
    if (finalizers.length === 0) delete metadata.finalizers;
    else metadata.finalizers = finalizers;
  }
  if (metadata.deletionTimestamp !== undefined) return;
  metadata.deletionTimestamp = timeText(call.now);
  metadata.deletionGracePeriodSeconds = 0;
  if (metadata.generation !== undefined) metadata.generation++;
  call.served.strategy.prepareDelete?.(object, strategyContext(call));
}

async function finish(
  call: Call,
  record: StoredRecord,
  object: KubeObject,
  old: KubeObject,
  dryRun: boolean,
): Promise<{ object: KubeObject; gone: boolean }> {
  const { served, server } = call;
  if (served.resource.backing !== undefined) return finishBacked(call, object, old, dryRun);
  const gone = mayGo(call, object);
  if (dryRun || (!gone && jsonEqual(object, old))) {
    await server.storage.settled();
    return { object, gone };
  }
  // What goes at once is shown in its DELETED event as it was, not as it would have been while terminating.
  const last = gone && !isTerminating(old) ? old : object;
  const encode = encoder(served, last);
  const write = { key: record.key, encode };
  const { revision } = await server.storage.commit({
    preconditions: [{ key: record.key, revision: record.revision }],
    ...(gone ? { deletes: [write] } : { puts: [write] }),
  });
  if (gone) removed(call, call.name);
  else committed(call, object, revision);
  return { object: last, gone };
}

/** A backing marks what it deletes by itself; only finalizers that the propagation policy adds are written first. */
async function finishBacked(
  call: Call,
  object: KubeObject,
  old: KubeObject,
  dryRun: boolean,
): Promise<{ object: KubeObject; gone: boolean }> {
  const backing = call.served.resource.backing!;
  const request = backingRequest(call, dryRun);
  const { finalizers } = object.metadata;
  let current = old;
  if (finalizers !== undefined && !jsonEqual(finalizers, old.metadata.finalizers)) {
    current = await backing.update(request, { ...old, metadata: { ...old.metadata, finalizers } }, old);
  }
  const left = await backing.delete(request, current);
  return { object: left, gone: (left.metadata.finalizers ?? []).length === 0 };
}
