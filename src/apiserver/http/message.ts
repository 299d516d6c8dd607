import { stringify } from 'yaml';
import type { Identity, WireEvent } from '../../kube/index.ts';
import type { ApiError, Status } from '../../meta/index.ts';

/** A request as the handlers see it, whichever way it came. */
export interface ApiRequest {
  readonly method: string;
  /** From the server's root, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string | Uint8Array | undefined;
  readonly identity: Identity;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | EventStream;
  /** What a body that is one object says, deep-frozen, for a reader in this process. */
  readonly object?: () => unknown;
  /** One `Warning` header each (RFC 7234), as `299 - "text"`. */
  readonly warnings?: readonly string[];
}

/** A body that goes on: a watch. Chunks hold whole lines. */
export interface EventStream extends AsyncIterable<Uint8Array> {
  /** The same as events, objects deep-frozen, for a reader in this process. A stream is read in one of the two ways. */
  events(): AsyncIterable<readonly WireEvent[]>;
  /** Ends the stream from the reading side. */
  cancel(): void;
}

export function isStream(body: ApiResponse['body']): body is EventStream {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

export const jsonHeaders = 'application/json';

export function json(status: number, value: unknown): ApiResponse {
  return { status, headers: { 'content-type': jsonHeaders }, body: JSON.stringify(value) };
}

export function text(status: number, value: string): ApiResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: value };
}

/** A JSON body in YAML for who wants just that. */
export function inFormat(response: ApiResponse, accept: string | undefined): ApiResponse {
  if (accept === undefined || !accept.startsWith('application/yaml')) return response;
  const headers = { ...response.headers, 'content-type': 'application/yaml' };
  return { ...response, headers, body: stringify(JSON.parse(response.body as string)) };
}

export function failure(error: ApiError): ApiResponse {
  const status: Status = error.status;
  const response = json(status.code, status);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined) response.headers['retry-after'] = String(retryAfter);
  return response;
}
