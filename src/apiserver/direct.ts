import type { Identity, Transport, TransportRequest, TransportResponse } from '../kube/index.ts';
import type { Handler } from './handler.ts';
import { type ApiRequest, type ApiResponse, isStream } from './http/message.ts';
import { warningHeaders } from './http/warnings.ts';

const noQuery = new URLSearchParams();

/**
 * A transport that calls the handler in the same process. Nothing is skipped but the sockets (the same authorization, the
 * same bytes), and objects come parsed as well: see `TransportResponse.object`.
 */
export function directTransport(handler: Handler, identity: Identity): Transport {
  const streams = new Set<{ cancel(): void }>();
  let closed = false;
  return {
    async request(request: TransportRequest): Promise<TransportResponse> {
      if (closed) throw new Error('the transport is closed');
      request.signal?.throwIfAborted();
      const response = await handler.handle(apiRequest(request, identity));
      if (!isStream(response.body)) {
        const object = response.object?.();
        return { ...headOf(response), body: once(response.body), ...(object === undefined ? {} : { object }) };
      }
      const stream = response.body;
      streams.add(stream);
      const done = () => streams.delete(stream);
      return { ...headOf(response), body: following(stream, done), events: following(stream.events(), done) };
    },
    async close() {
      closed = true;
      for (const stream of streams) stream.cancel();
      streams.clear();
    },
  };
}

function apiRequest(request: TransportRequest, identity: Identity): ApiRequest {
  const at = request.path.indexOf('?');
  return {
    method: request.method,
    path: at < 0 ? request.path : request.path.slice(0, at),
    query: at < 0 ? noQuery : new URLSearchParams(request.path.slice(at + 1)),
    headers: request.headers ?? {},
    body: request.body,
    identity,
    signal: request.signal,
  };
}

function headOf(response: ApiResponse): { status: number; headers: Record<string, string> } {
  const { status, headers, warnings } = response;
  if (warnings === undefined) return { status, headers };
  return { status, headers: { ...headers, warning: warningHeaders(warnings).join(', ') } };
}

async function* once(body: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof body === 'string' ? Buffer.from(body) : body;
}

async function* following<T>(stream: AsyncIterable<T>, done: () => void): AsyncGenerator<T> {
  try {
    yield* stream;
  } finally {
    done();
  }
}
