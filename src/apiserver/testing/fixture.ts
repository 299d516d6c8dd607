import { pino } from 'pino';
import { type Identity, systemClock, systemRandom, type TransportResponse } from '../../kube/index.ts';
import type { KubeObject, Status } from '../../meta/index.ts';
import { type Authority, inMemoryAuthority } from '../access/index.ts';
import type { Authorizer } from '../access/interfaces.ts';
import { ApiServer, type ApiServerOptions, type PlaneOptions } from '../server.ts';
import { openTestStorage } from './storage.ts';
import { widgetDefinitionOf, widgetOf } from './widgets.ts';

/** A server on memory storage, for tests of this room: real everywhere, driven over the direct transport. */

export const base = '/planes/hub';
export const widgets = `${base}/apis/example.com/v1/namespaces/default/widgets`;

/** With a default, and a CEL transition rule. */
export const widgetDefinition = widgetDefinitionOf({
  group: 'example.com',
  columns: [{ name: 'Phase', type: 'string', jsonPath: '.status.phase' }],
  spec: {
    properties: {
      color: { type: 'string', default: 'red' },
      replicas: { type: 'integer', minimum: 0 },
      fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is fixed' }] },
    },
  },
});

export const admin: Identity = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };
const everybody: Authorizer = { authorize: () => ({ allowed: true }) };

export interface Answer<T = KubeObject> {
  status: number;
  headers: Record<string, string>;
  text: string;
  body: T;
}

export interface Fixture {
  server: ApiServer;
  /** A request as `admin`; the body is sent as JSON. `type` is the Content-Type. */
  send<T = KubeObject>(method: string, path: string, body?: unknown, type?: string): Promise<Answer<T>>;
  request(
    method: string,
    path: string,
    options?: {
      body?: string | Uint8Array;
      headers?: Record<string, string>;
      identity?: Identity;
      signal?: AbortSignal;
    },
  ): Promise<TransportResponse>;
  /** Opens a watch and collects its events until it is closed. */
  watch(path: string, headers?: Record<string, string>): Promise<WatchLog>;
  close(): Promise<void>;
}

export interface SeenEvent {
  type: string;
  object: KubeObject & Status;
}

export interface WatchLog {
  events: SeenEvent[];
  /** Resolves once there are `count` events, or the watch has ended. */
  until(count: number): Promise<SeenEvent[]>;
  /** Resolves when the watch ends. */
  ended: Promise<void>;
  close(): void;
}

export async function startServer(
  options: Partial<ApiServerOptions> & { plane?: Partial<PlaneOptions> } = {},
): Promise<Fixture> {
  const storage = options.storage ?? (await openTestStorage());
  const server = new ApiServer({
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: 'silent' }),
    authenticator: { authenticate: () => undefined },
    authorizer: everybody,
    ...options,
    storage,
  });
  await server.openPlane({ id: 'hub', path: base, crds: [widgetDefinition], ...options.plane });
  const transports = new Map<Identity, ReturnType<ApiServer['transport']>>();
  const request: Fixture['request'] = (method, path, { identity = admin, ...rest } = {}) => {
    const transport = transports.get(identity) ?? server.transport(identity);
    transports.set(identity, transport);
    return transport.request({ method: method as 'GET', path, ...rest });
  };
  return {
    server,
    request,
    async send<T>(method: string, path: string, body?: unknown, type = 'application/json') {
      const response = await request(method, path, {
        headers: { 'content-type': type, 'user-agent': 'tester/1.0' },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await textOf(response);
      return { status: response.status, headers: response.headers, text, body: parsed(text) as T };
    },
    async watch(path, headers = {}) {
      const abort = new AbortController();
      const response = await request('GET', path, { headers, signal: abort.signal });
      if (response.status !== 200) throw new Error(await textOf(response));
      return watchLog(response, abort);
    },
    async close() {
      await server.close();
      await storage.close();
    },
  };
}

/** A server on a port of loopback, and who signs its clients. */
export interface Listening extends Fixture {
  port: number;
  authority: Authority;
}

export const bearer = 'Bearer letmein';

/** As `startServer`, over TLS: `admin` is who sends `bearer`, and who has a certificate is whom it names. */
export async function startListening(options: Parameters<typeof startServer>[0] = {}): Promise<Listening> {
  const authority = await inMemoryAuthority({ clock: systemClock });
  const fixture = await startServer({
    authenticator: {
      authenticate(headers, certificate) {
        if (headers.authorization === bearer) return admin;
        if (certificate === undefined) return undefined;
        return { user: String(certificate.subject.CN), groups: ['system:masters'] };
      },
    },
    ...options,
  });
  const { key, certificate: cert } = authority.serving;
  const tls = { key, cert, clientCa: authority.caCertificate };
  const { port } = await fixture.server.listen({ host: '127.0.0.1', port: 0, tls });
  return { ...fixture, port, authority };
}

export async function textOf(response: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function watchLog(response: TransportResponse, abort: AbortController): WatchLog {
  const events: SeenEvent[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const ended = (async () => {
    for await (const chunk of response.body) {
      for (const line of Buffer.from(chunk).toString('utf8').split('\n')) {
        if (line !== '') events.push(JSON.parse(line) as SeenEvent);
      }
      for (const check of waiting) check();
    }
    over = true;
    for (const check of waiting) check();
  })();
  return {
    events,
    ended,
    until: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (events.length < count && !over) return;
          waiting.delete(check);
          resolve(events);
        };
        waiting.add(check);
        check();
      }),
    close: () => abort.abort(),
  };
}

/** A Widget; `spec` and metadata as given. */
export const widget = (name: string, spec: object = {}, metadata: object = {}): KubeObject =>
  widgetOf('example.com', name, spec, metadata);
