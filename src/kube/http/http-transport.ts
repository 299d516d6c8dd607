import type { Pool } from 'undici';
import type { Transport } from '../transport.ts';

export interface HttpTransportOptions {
  /** `https://host:port`, with a path in front of all others where the API is served under one. */
  server: string;
  /** PEM of the authorities that may vouch for the server; the system's where absent. */
  ca?: string | Buffer;
  /** Bearer token, or how to get the one to use now. */
  token?: string | (() => string);
  /** PEM of a client certificate and its key. */
  cert?: string | Buffer;
  key?: string | Buffer;
  /** Accepts any certificate of the server. */
  insecure?: boolean;
  /** Name the server's certificate must carry, where it is not the host's. */
  serverName?: string;
  /** After which silence a watch is given up as lost. */
  watchSilenceMilliseconds?: number;
}

/** API servers answer within their own 60 s (a watch answers its headers at once). */
const headersTimeoutMilliseconds = 90_000;
const bodyTimeoutMilliseconds = 90_000;
/**
 * A watch to which nothing happens gets a bookmark about once a minute, from kube-apiserver and the embedded server alike. A
 * connection that a network dropped without a word is noticed by nothing else for many minutes.
 */
const defaultWatchSilenceMilliseconds = 150_000;

/** Loaded with the first request: a platform that serves itself makes none, and is spared the memory of the library. */
const loading = () => import('undici');

/**
 * A transport over HTTP/1.1 with connections of its own, kept alive between requests. It is one identity: credentials are
 * bound to it when it is made, and no connection is shared with another transport.
 */
export function httpTransport(options: HttpTransportOptions): Transport {
  const { token, ca, cert, key, insecure, serverName } = options;
  const { watchSilenceMilliseconds = defaultWatchSilenceMilliseconds } = options;
  const server = parseServer(options.server);
  if ((cert === undefined) !== (key === undefined))
    throw new Error('a client certificate needs its key, and the key it');
  const prefix = server.pathname.replace(/\/+$/, '');
  let pool: Promise<Pool> | undefined;
  let closed = false;
  const connect = async (): Promise<Pool> => {
    const { Pool } = await loading();
    return new Pool(server.origin, {
      headersTimeout: headersTimeoutMilliseconds,
      bodyTimeout: bodyTimeoutMilliseconds,
      connect: {
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(insecure ? { rejectUnauthorized: false } : {}),
        ...(serverName === undefined ? {} : { servername: serverName }),
      },
    });
  };

  return {
    async request({ method, path, headers, body, signal }) {
      if (closed) throw new Error('the transport is closed');
      pool ??= connect();
      const connections = await pool;
      const bearer = typeof token === 'function' ? token() : token;
      const send = () =>
        connections.request({
          method,
          path: prefix + path,
          headers: { ...headers, ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) },
          ...(body === undefined ? {} : { body }),
          ...(signal === undefined ? {} : { signal }),
          ...(isWatch(path) ? { bodyTimeout: watchSilenceMilliseconds } : {}),
        });
      const response = await send().catch((error) => {
        // A server may close a kept connection just when it is used again. Only reading is safe to repeat.
        if (method === 'GET' && wasClosed(error) && !signal?.aborted) return send();
        throw error;
      });
      const flat: Record<string, string> = {};
      for (const [name, value] of Object.entries(response.headers)) {
        if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
      }
      return { status: response.statusCode, headers: flat, body: response.body };
    },

    /** Breaks off what is still under way: watches never end by themselves. */
    async close() {
      closed = true;
      await (await pool)?.destroy();
    },
  };
}

function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    throw new Error(`${JSON.stringify(text)} is not the URL of a server: https://host[:port][/path] is`);
  }
  return url;
}

function wasClosed(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(String((error as { code?: unknown }).code));
}

function isWatch(path: string): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(path);
}
