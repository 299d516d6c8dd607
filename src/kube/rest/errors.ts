import { ApiError, type ResourceType, type Status, type StatusReason } from '../../meta/index.ts';
import type { ObjectKey } from '../client.ts';

const reasons: Record<number, StatusReason> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
  507: 'InsufficientStorage',
};

/** The error a response of `code` stands for: its Status where the body is one, else one made from code and text. */
export function errorOf(code: number, body: string): ApiError {
  const parsed = parseStatus(body);
  if (parsed !== undefined) return new ApiError({ ...parsed, code: parsed.code ?? code });
  const said = body.trim().slice(0, 1000);
  return new ApiError({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: said === '' ? `the server answered ${code}` : `the server answered ${code}: ${said}`,
    reason: reasons[code] ?? '',
    code,
  });
}

function parseStatus(body: string): Status | undefined {
  try {
    const value = JSON.parse(body) as Status | null;
    return typeof value === 'object' && value?.kind === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether `error` says that this very object is not there. Another 404 (an API that is not served, a project that is
 * gone) must not be mistaken for it: absence is acted on. Servers put the resource's plural in `details.kind`.
 */
export function saysAbsent(error: unknown, type: ResourceType, key: ObjectKey): boolean {
  if (!(error instanceof ApiError) || error.code !== 404 || error.reason !== 'NotFound') return false;
  const details = error.status.details;
  return (
    details !== undefined &&
    details.name === key.name &&
    (details.group ?? '') === type.group &&
    (details.kind === type.plural || details.kind === type.kind)
  );
}

/**
 * Whether a list or watch must start over: the version asked for is no longer in the server's history, or is ahead of
 * it, as after a restore.
 */
export function isExpired(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.code === 410 || (error.status.details?.causes ?? []).some((c) => c.reason === 'ResourceVersionTooLarge');
}
