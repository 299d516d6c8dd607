import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Clock, Identity } from '../kube/index.ts';
import { ApiError } from '../meta/index.ts';
import type { Authenticator, PeerCertificate } from './access/interfaces.ts';
import type { Handler } from './handler.ts';
import { type ApiResponse, type EventStream, failure, isStream } from './http/message.ts';
import { booleanParameter } from './http/negotiate.ts';
import { warningHeaders } from './http/warnings.ts';
import type { Limits } from './registry/call.ts';

const compress = promisify(gzip);

export interface TlsFiles {
  /** PEM. */
  key: string | Uint8Array;
  cert: string | Uint8Array;
  /** PEM of the authority client certificates must come from; none are asked for where absent. */
  clientCa?: string | Uint8Array;
}

export interface ListenOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  tls: TlsFiles;
}

export interface FrontOptions {
  handler: Handler;
  authenticator: Authenticator;
  clock: Clock;
  log: Logger;
  limits: Limits;
}

/** HTTP/1.1, and HTTP/2 where the client offers it: client-go and kubectl do, and carry all their watches on one connection. */
type Asked = IncomingMessage | Http2ServerRequest;
type Answering = ServerResponse | Http2ServerResponse;

/** What a client may have under way on one connection; Go's default, and so kube-apiserver's. */
const streamsPerConnection = 250;
const maxHeaderBytes = 64 * 1024;

/** The HTTPS side of a server: who is asking, limits, bodies, compression. */
export class Front {
  readonly #options: FrontOptions;
  readonly #servers = new Set<Http2SecureServer>();
  readonly #sockets = new Set<TLSSocket>();
  readonly #streams = new Set<EventStream>();
  readonly #peers = new WeakMap<TLSSocket, PeerCertificate>();
  #reads = 0;
  #writes = 0;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /** Rejects with the system's error where the port cannot be had. */
  async listen(options: ListenOptions): Promise<{ port: number }> {
    const { tls } = options;
    const server = createSecureServer(
      {
        ...contextOf(tls),
        ...(tls.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
        allowHTTP1: true,
        // Of HTTP/1.1 connections; Node takes them here, and its types do not know.
        ...({
          keepAliveTimeout: 120_000,
          requestTimeout: this.#options.limits.requestTimeoutMilliseconds,
          noDelay: true,
          maxHeaderSize: maxHeaderBytes,
        } as object),
        settings: { maxConcurrentStreams: streamsPerConnection, maxHeaderListSize: maxHeaderBytes },
      },
      (request, response) => void this.#serve(request, response),
    );
    this.#follow(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, resolve);
    });
    server.on('error', (error) => this.#options.log.error({ err: error }, 'listening failed'));
    this.#servers.add(server);
    return { port: (server.address() as AddressInfo).port };
  }

  replaceCertificate(tls: TlsFiles): void {
    for (const server of this.#servers) server.setSecureContext(contextOf(tls));
  }

  /** Stops listening and ends what is going on. */
  async close(): Promise<void> {
    for (const stream of this.#streams) stream.cancel();
    await Promise.all(
      [...this.#servers].map(
        (server) =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            for (const socket of this.#sockets) socket.destroy();
          }),
      ),
    );
    this.#servers.clear();
  }

  #follow(server: Http2SecureServer): void {
    server.on('secureConnection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('sessionError', (error) => this.#options.log.debug({ err: error }, 'a connection broke'));
  }

  async #serve(request: Asked, response: Answering): Promise<void> {
    const abort = new AbortController();
    response.once('close', () => {
      // Of a request that was answered nothing is left to break off.
      if (!response.writableFinished) abort.abort();
    });
    try {
      const answer = await this.#answer(request, abort.signal);
      if (!request.complete && request.httpVersionMajor === 1) response.setHeader('connection', 'close');
      if (isStream(answer.body)) await this.#stream(response, answer, answer.body);
      else await this.#whole(request, response, answer, answer.body);
    } catch (error) {
      if (!isGone(response)) this.#options.log.warn({ err: error, path: request.url }, 'a connection broke');
      response.destroy();
    }
  }

  async #answer(request: Asked, signal: AbortSignal): Promise<ApiResponse> {
    try {
      const identity = await this.#identity(request);
      const body = await readBody(request, this.#options.limits.bodyBytes);
      const url = request.url ?? '/';
      const at = url.indexOf('?');
      const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
      const asked = {
        method: request.method ?? 'GET',
        path: at < 0 ? url : url.slice(0, at),
        query,
        headers: request.headers,
        body,
        identity,
        signal,
      };
      const goesOn = booleanParameter(query, 'watch') === true;
      if (goesOn) return await this.#options.handler.handle(asked);
      return await this.#limited(asked.method, () => this.#options.handler.handle(asked));
    } catch (error) {
      if (error instanceof ApiError) return failure(error);
      throw error;
    }
  }

  async #identity(request: Asked): Promise<Identity> {
    const peer = this.#peerOf(request.socket as TLSSocket);
    const path = request.url?.split('?', 1)[0];
    const identity = await this.#options.authenticator.authenticate(request.headers, peer, path);
    if (identity === undefined) throw ApiError.of('Unauthorized', 'Unauthorized');
    return identity;
  }

  /** The verified client certificate of a connection, parsed once. */
  #peerOf(socket: TLSSocket): PeerCertificate | undefined {
    if (!socket.authorized) return undefined;
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const { subject, raw } = socket.getPeerCertificate();
    if (raw === undefined) return undefined;
    const peer: PeerCertificate = { subject: subject as unknown as PeerCertificate['subject'], raw };
    this.#peers.set(socket, peer);
    return peer;
  }

  /** Runs one request within the limits of how many go on at once and how long one may take. */
  async #limited(method: string, run: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const { limits, clock } = this.#options;
    const reads = method === 'GET' || method === 'HEAD';
    if (reads ? this.#reads >= limits.readsInFlight : this.#writes >= limits.writesInFlight) {
      throw ApiError.of('TooManyRequests', 'Too many requests, please try again later.', { retryAfterSeconds: 1 });
    }
    const change = (by: number): void => {
      if (reads) this.#reads += by;
      else this.#writes += by;
    };
    change(1);
    const answered = run().finally(() => change(-1));
    let timer: { cancel(): void } | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = clock.after(limits.requestTimeoutMilliseconds, () => {
        const seconds = Math.round(limits.requestTimeoutMilliseconds / 1000);
        reject(ApiError.of('Timeout', `the request did not complete within ${seconds} s`, {}));
      });
    });
    try {
      return await Promise.race([answered, late]);
    } finally {
      timer?.cancel();
    }
  }

  async #whole(request: Asked, response: Answering, answer: ApiResponse, body: string | Uint8Array): Promise<void> {
    let bytes: Uint8Array = typeof body === 'string' ? Buffer.from(body) : body;
    const headers: Record<string, string | string[]> = { ...answer.headers, ...warningsOf(answer) };
    headers['cache-control'] = 'no-cache, private';
    if (bytes.length >= this.#options.limits.gzipBytes && acceptsGzip(request)) {
      bytes = await compress(bytes, { level: 1 });
      headers['content-encoding'] = 'gzip';
      headers.vary = 'Accept-Encoding';
    }
    headers['content-length'] = String(bytes.length);
    writeHead(response, answer.status, headers);
    if (request.method === 'HEAD') response.end();
    else response.end(bytes);
  }

  async #stream(response: Answering, answer: ApiResponse, stream: EventStream): Promise<void> {
    this.#streams.add(stream);
    try {
      writeHead(response, answer.status, {
        ...answer.headers,
        ...warningsOf(answer),
        'cache-control': 'no-cache, private',
      });
      (response as ServerResponse).flushHeaders();
      for await (const chunk of stream) {
        if (!write(response, chunk)) await drained(response);
        if (isGone(response)) break;
      }
      response.end();
    } finally {
      this.#streams.delete(stream);
    }
  }
}

function contextOf({ key, cert, clientCa }: TlsFiles): { key: Buffer; cert: Buffer; ca?: Buffer } {
  return { key: key as Buffer, cert: cert as Buffer, ...(clientCa === undefined ? {} : { ca: clientCa as Buffer }) };
}

type Headers = Record<string, string | string[]>;

// Both classes have these methods, in signatures that TypeScript cannot call as one.
function writeHead(response: Answering, status: number, headers: Headers): void {
  (response as ServerResponse).writeHead(status, headers);
}

function write(response: Answering, chunk: Uint8Array): boolean {
  return (response as ServerResponse).write(chunk);
}

function isGone(response: Answering): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}

function drained(response: Answering): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (isGone(response)) done();
  });
}

function warningsOf(answer: ApiResponse): Record<string, string[]> {
  return answer.warnings === undefined ? {} : { warning: warningHeaders(answer.warnings) };
}

function acceptsGzip(request: Asked): boolean {
  const accepted = request.headers['accept-encoding'];
  return typeof accepted === 'string' && /(^|,)\s*gzip\s*(,|;(?!\s*q=0(\.0*)?\s*(,|$))|$)/.test(accepted);
}

/** Throws 413. */
async function readBody(request: Asked, limitBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function tooLarge(limitBytes: number): ApiError {
  return ApiError.of('RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);
}
