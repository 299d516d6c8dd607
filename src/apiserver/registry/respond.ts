import { stringify } from 'yaml';
import { ApiError, type KubeObject } from '../../meta/index.ts';
import { bytesToText, decode, servedBytes, shared } from '../codec.ts';
import { badRequest } from '../errors.ts';
import type { ApiResponse } from '../http/message.ts';
import type { Output } from '../http/negotiate.ts';
import type { Served } from '../served.ts';
import { partialObjectMetadata, type TableOptions } from '../table/index.ts';
import type { Call } from './call.ts';
import { tableOf } from './table.ts';

/** Answers in the form the request's Accept asked for. */

const contentTypes = { json: 'application/json', yaml: 'application/yaml' } as const;

function answer(call: Call, status: number, body: string | Uint8Array): ApiResponse {
  const { format } = call.output;
  const converted =
    format === 'json' ? body : stringify(JSON.parse(typeof body === 'string' ? body : bytesToText(body)));
  return { status, headers: { 'content-type': contentTypes[format] }, body: converted };
}

/** One stored record. */
export function respondBytes(call: Call, status: number, value: Uint8Array, revision: number): ApiResponse {
  if (call.output.as === 'object') {
    const response = answer(call, status, servedBytes(call.served, value, revision));
    if (call.output.format !== 'json') return response;
    return { ...response, object: () => shared(call.served, value, revision) };
  }
  return respondObject(call, status, decode(call.served, value, revision));
}

/** One object that is not stored as it is (dry run, an object just deleted). */
export function respondObject(call: Call, status: number, object: KubeObject): ApiResponse {
  return answer(call, status, JSON.stringify(transform(call, call.output, object)));
}

/** A body that is no object of the resource (Status, Scale): no Table is made of it. */
export function respondPlain(call: Call, status: number, value: unknown): ApiResponse {
  return answer(call, status, JSON.stringify(value));
}

function transform(call: Call, output: Output, object: KubeObject): unknown {
  if (output.as === 'object') return object;
  if (output.as === 'Table') {
    return tableOf(call.served, [object], {
      ...tableOptions(call),
      metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
    });
  }
  if (output.as === 'PartialObjectMetadataList') {
    throw notAcceptable(call, 'the requested object is not a list', '');
  }
  return partialObjectMetadata(object, output.version);
}

/** 406 for metadata in the form of a list of what is none, or the other way round. */
function notAcceptable({ served, output }: Call, why: string, suffix: 'List' | ''): ApiError {
  const { custom } = served.strategy;
  const type = custom ? `*unstructured.Unstructured${suffix}` : `*core.${served.resource.kind}${suffix}`;
  return ApiError.of('NotAcceptable', `you requested ${output.as}, but ${why} (${type})`);
}

/** Throws 400. */
export function tableOptions(call: Call): TableOptions {
  const include = call.request.query.get('includeObject') ?? '';
  if (!['', 'None', 'Metadata', 'Object'].includes(include)) {
    const why = `Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`;
    throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`);
  }
  return {
    now: call.now,
    version: call.output.version,
    ...(include === '' ? {} : { includeObject: include as 'None' | 'Metadata' | 'Object' }),
  };
}

export interface ListMetadata {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** A list: stored bytes one after the other wherever nothing must change. */
export function respondList(
  call: Call,
  metadata: ListMetadata,
  records: readonly { value: Uint8Array; revision: number }[],
): ApiResponse {
  const { served, output } = call;
  if (output.as === 'Table') {
    const objects = records.map((record) => decode(served, record.value, record.revision));
    const table = tableOf(served, objects, { ...tableOptions(call), metadata });
    return answer(call, 200, JSON.stringify(table));
  }
  if (output.as === 'PartialObjectMetadata') throw notAcceptable(call, 'the requested object is a list', 'List');
  if (output.as !== 'object') {
    const items = records.map((record) => {
      return partialObjectMetadata(decode(served, record.value, record.revision), output.version);
    });
    const apiVersion = `meta.k8s.io/${output.version}`;
    return answer(call, 200, JSON.stringify({ kind: 'PartialObjectMetadataList', apiVersion, metadata, items }));
  }
  // The lists of custom resources say so even where there is no more to come.
  const listed = served.strategy.custom ? { continue: '', ...metadata } : metadata;
  const head = `{"kind":${JSON.stringify(served.resource.listKind)},"apiVersion":${JSON.stringify(served.apiVersion)},"metadata":${JSON.stringify(listed)},"items":[`;
  const parts: Uint8Array[] = [Buffer.from(head)];
  for (const [index, record] of records.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(...itemOf(served, servedBytes(served, record.value, record.revision)));
  }
  parts.push(end);
  return answer(call, 200, Buffer.concat(parts));
}

/** Items of a list of a built-in kind do not say what they are: the list does. */
function itemOf(served: Served, bytes: Uint8Array): Uint8Array[] {
  if (served.strategy.custom) return [bytes];
  const { apiVersion, resource } = served;
  const type = { apiVersion: JSON.stringify(apiVersion), kind: JSON.stringify(resource.kind) };
  for (const head of [
    `{"apiVersion":${type.apiVersion},"kind":${type.kind},`,
    `{"kind":${type.kind},"apiVersion":${type.apiVersion},`,
  ]) {
    const start = Buffer.from(head);
    if (start.equals(bytes.subarray(0, start.length))) return [brace, bytes.subarray(start.length)];
  }
  const { apiVersion: _, kind: __, ...rest } = JSON.parse(bytesToText(bytes)) as KubeObject;
  return [Buffer.from(JSON.stringify(rest))];
}

const brace = Buffer.from('{');
const comma = Buffer.from(',');
const end = Buffer.from(']}\n');
