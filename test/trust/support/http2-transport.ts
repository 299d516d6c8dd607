import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { Transport } from '../../../src/kube/index.ts';
import { bearer, type Served } from './api.ts';

const quietMilliseconds = 1_000;

/**
 * A transport that sends everything over one HTTP/2 connection, as clients written in Go do, and makes a new one where that is
 * broken: what breaks it breaks every watch at once.
 */
export function http2Transport({ ca }: Served, port: number): Transport {
  let session: ClientHttp2Session | undefined;

  function connected(): ClientHttp2Session {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const made = connect(`https://127.0.0.1:${port}`, { ca });
    // Its streams tell of it.
    made.on('error', () => {});
    made.on('goaway', () => made.close());
    // A connection on which nothing comes is dead: new requests must not be put on it.
    made.setTimeout(quietMilliseconds, () => made.destroy());
    session = made;
    return made;
  }

  return {
    request({ method, path, headers, body, signal }) {
      return new Promise((resolve, reject) => {
        const stream = connected().request({
          [constants.HTTP2_HEADER_METHOD]: method,
          [constants.HTTP2_HEADER_PATH]: path,
          authorization: bearer,
          ...headers,
        });
        const abort = () => stream.close(constants.NGHTTP2_CANCEL);
        signal?.addEventListener('abort', abort, { once: true });
        stream.once('close', () => {
          signal?.removeEventListener('abort', abort);
          reject(new Error('the connection was closed before an answer came'));
        });
        stream.once('error', reject);
        stream.once('response', (answered) => {
          const flat = Object.entries(answered).map(([name, value]) => [name, String(value)] as const);
          const status = Number(answered[constants.HTTP2_HEADER_STATUS]);
          resolve({ status, headers: Object.fromEntries(flat), body: stream });
        });
        stream.end(body);
      });
    },
    async close() {
      session?.destroy();
    },
  };
}
