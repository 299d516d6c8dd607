import { ApiError } from '../../meta/index.ts';
import { badRequest, expired, invalid, notFound, resourceVersionTooLarge } from '../errors.ts';
import type { ApiResponse } from '../http/message.ts';
import { integerParameter } from '../http/negotiate.ts';
import type { FieldError } from '../schema/schema.ts';
import { labelEqualities } from '../selectors.ts';
import { RevisionCompacted, RevisionInFuture, type StoredRecord } from '../storage/storage.ts';
import { type Call, storageKey } from './call.ts';
import { type ContinueToken, decodeContinue, encodeContinue } from './continue.ts';
import { type ListMetadata, respondBytes, respondList } from './respond.ts';
import { type Selection, selectionOf } from './selection.ts';

/** GET of one object. */
export async function get(call: Call): Promise<ApiResponse> {
  checkNotAhead(call, call.request.query.get('resourceVersion') ?? '');
  const record = await call.server.storage.get(storageKey(call));
  if (record === undefined) throw notFound(call.served.resource, call.name);
  return respondBytes(call, 200, record.value, record.revision);
}

/** What is read is the newest: only a version that is yet to come cannot be had. Throws 400 and 504. */
function checkNotAhead(call: Call, asked: string): void {
  if (asked === '') return;
  const { revision } = call.server.storage;
  if (parseRevision(asked) > revision) throw resourceVersionTooLarge(asked, revision);
}

/** GET of a collection. */
export async function list(call: Call): Promise<ApiResponse> {
  const page = await collect(call);
  return respondList(call, listMetadata(page), page.records);
}

export function listMetadata(page: Collected): ListMetadata {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

export interface Collected {
  records: StoredRecord[];
  revision: number;
  continue?: string;
  remaining?: number;
}

/** Reads what a list asks for; `exact`: at the version it names, if it names one. Throws 400, 410 for a snapshot that is gone, 422 for parameters that do not go together. */
export async function collect(call: Call, { exact = false } = {}): Promise<Collected> {
  const { query } = call.request;
  const selection = selectionOf(call.served, query);
  const wanted = Math.max(0, integerParameter(query, 'limit') ?? 0);
  const token = query.get('continue') ?? '';
  const asked = query.get('resourceVersion') ?? '';
  checkListParameters(call, asked, query.get('resourceVersionMatch') ?? '', token);
  // Any version will do: kube-apiserver answers that from its cache, whole.
  const limit = asked === '0' ? 0 : wanted;
  const from = token === '' ? undefined : decodeContinue(token);
  const revision =
    from !== undefined && from.revision >= 0 ? from.revision : exactRevision(call, asked, exact || limit > 0);
  try {
    if (revision === undefined && from === undefined) {
      const named = await readNamed(call, selection);
      if (named !== undefined) return named;
      const indexed = await readIndexed(call, selection, limit);
      if (indexed !== undefined) return indexed;
    }
    return await readPages(call, selection, limit, from, revision);
  } catch (error) {
    if (error instanceof RevisionCompacted) throw tooOld(from);
    if (error instanceof RevisionInFuture) throw resourceVersionTooLarge(asked, call.server.storage.revision);
    throw error;
  }
}

/** Others no key can have: nothing matches them. */
const plainName = /^[\x21-\x7e]+$/;

/** By key, where a selector leaves one object that can match: `kubectl wait`, and every watch of a single object, ask so. */
async function readNamed(call: Call, { name, matches }: Selection): Promise<Collected | undefined> {
  if (name === undefined || !plainName.test(name)) return undefined;
  if (call.served.resource.namespaced && call.namespace === '') return undefined;
  const { storage } = call.server;
  const { revision } = storage;
  const record = await storage.get(storageKey(call, name));
  const selected = record !== undefined && matches?.(record) !== false;
  // Written while it was read: then that is the state this is.
  return { records: selected ? [record] : [], revision: Math.max(revision, record?.revision ?? 0) };
}

/** By an index of the resource's own, where it has one for this selector and everything fits on one page. */
async function readIndexed(call: Call, { matches }: Selection, limit: number): Promise<Collected | undefined> {
  const { backing } = call.served.resource;
  if (backing?.candidates === undefined) return undefined;
  const { storage } = call.server;
  // What is read may be newer than this, never older: a watch from here misses nothing.
  const { revision } = storage;
  const labels = labelEqualities(call.request.query.get('labelSelector') ?? '');
  const keys = labels.size === 0 ? undefined : await backing.candidates(call.plane.id, labels);
  if (keys === undefined || (limit > 0 && keys.length > limit)) return undefined;
  const place = { plane: call.plane.id, resource: call.served.storage };
  const wanted = keys.filter((key) => call.namespace === '' || key.namespace === call.namespace);
  const found = await Promise.all(wanted.map((key) => storage.get({ ...place, ...key })));
  const records = found.filter(
    (record) => record !== undefined && (matches === undefined || matches(record)),
  ) as StoredRecord[];
  return { records, revision };
}

async function readPages(
  call: Call,
  selection: Selection,
  limit: number,
  from: ContinueToken | undefined,
  revision: number | undefined,
): Promise<Collected> {
  const { storage } = call.server;
  const range = {
    plane: call.plane.id,
    resource: call.served.storage,
    ...(call.namespace === '' ? {} : { namespace: call.namespace }),
  };
  const { matches } = selection;
  const found: StoredRecord[] = [];
  let after = from === undefined ? undefined : { namespace: from.namespace, name: from.name };
  let at = revision;
  for (;;) {
    const page = await storage.list({
      ...range,
      ...(limit === 0 ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
      ...(at === undefined ? {} : { revision: at }),
    });
    at = page.revision;
    for (const [index, record] of page.records.entries()) {
      if (matches !== undefined && !matches(record)) continue;
      found.push(record);
      if (limit === 0 || found.length < limit) continue;
      const left = page.records.length - index - 1 + page.remaining;
      if (left === 0) return { records: found, revision: at };
      const { namespace, name } = record.key;
      const next = encodeContinue({ revision: at, namespace, name });
      return { records: found, revision: at, continue: next, ...(matches === undefined ? { remaining: left } : {}) };
    }
    const last = page.records.at(-1);
    if (page.remaining === 0 || last === undefined) return { records: found, revision: at };
    after = { namespace: last.key.namespace, name: last.key.name };
  }
}

/** The revision a list must be read at; undefined for the newest. Throws 504 for one that is ahead. */
function exactRevision(call: Call, asked: string, exact: boolean): number | undefined {
  if (asked === '' || asked === '0') return undefined;
  const revision = parseRevision(asked);
  const match = call.request.query.get('resourceVersionMatch') ?? '';
  const { storage } = call.server;
  if (revision > storage.revision) throw resourceVersionTooLarge(asked, storage.revision);
  // Without a match rule a limited list is exact, an unlimited one not older than (Kubernetes' compatibility rule).
  return match === 'Exact' || (match === '' && exact) ? revision : undefined;
}

/** Throws 400. */
export function parseRevision(text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    const value = JSON.stringify(text);
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`,
    );
  }
  return Number(text);
}

function checkListParameters(call: Call, asked: string, match: string, token: string): void {
  const errors: FieldError[] = [];
  const forbid = (field: string, why: string): void => {
    errors.push({ reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` });
  };
  if (call.request.query.get('sendInitialEvents')) {
    forbid('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  }
  if (match !== '') {
    if (asked === '')
      forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (token !== '') forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push({
        reason: 'FieldValueNotSupported',
        field: 'resourceVersionMatch',
        message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
      });
    }
    if (match === 'Exact' && asked === '0') {
      forbid('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  if (token !== '' && asked !== '' && asked !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}

function tooOld(from: ContinueToken | undefined): ApiError {
  if (from === undefined) return expired('The resourceVersion for the provided list is too old.');
  const next = encodeContinue({ ...from, revision: -1 });
  const error = ApiError.of(
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
  );
  error.status.metadata = { continue: next };
  return error;
}
