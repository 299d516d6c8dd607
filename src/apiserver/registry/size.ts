import { ApiError, type KubeObject } from '../../meta/index.ts';
import type { Call } from './call.ts';

/**
 * Throws 413 for an object over the server's limit. What is far below it is not measured: an object is at most about
 * twice what came in (`sourceBytes`: the request's body, and the object it changes).
 */
export function checkSize(call: Call, object: KubeObject, sourceBytes: number): void {
  const limit = call.server.limits.objectBytes;
  if (sourceBytes < limit / 2) return;
  const size = Buffer.byteLength(JSON.stringify(object));
  if (size <= limit) return;
  throw ApiError.of(
    'RequestEntityTooLarge',
    `the object is too large to store: it has ${size} bytes of JSON, the limit is ${limit}`,
  );
}

export function bodyBytes(call: Call): number {
  return call.request.body?.length ?? 0;
}
