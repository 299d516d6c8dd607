import fastJsonPatch, { type Operation } from 'fast-json-patch';
import {
  ApiError,
  apiVersionOf,
  formatTime,
  isTerminating,
  jsonEqual,
  type KubeObject,
  type ResourceType,
  type Status,
  type StatusReason,
  type Stored,
} from '../../meta/index.ts';
import type { Clock } from '../clock/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { ByteStream } from './byte-stream.ts';

interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  resource: string;
  revision: number;
  object: Stored<KubeObject>;
}

interface OpenWatch {
  resource: string;
  namespace: string | undefined;
  stream: ByteStream;
  dead?: boolean;
}

/** What to do in place of answering a request, or undefined to answer it. */
export type Fault = (request: TransportRequest) => Error | Partial<TransportResponse> | undefined;

/**
 * A small Kubernetes API in memory for tests of this room, that does not use the room: one plane, any kind, versions that
 * rise with every write, paged lists that stay consistent, watches with resume and 410, finalizers. It does as it is told
 * about breaking connections, forgetting history, cutting chunks and being slow.
 */
export class ScriptedServer {
  revision = 1000;
  /** Requests it got: method and path. */
  readonly requests: string[] = [];
  /** Consulted for each request, first come first served. */
  readonly faults: Fault[] = [];
  /** How the bytes of a response are cut. */
  cut: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes];
  /** Milliseconds between what is done for a request and its answer. */
  slowness: () => number = () => 0;
  readonly #clock: Clock;
  readonly #state = new Map<string, Stored<KubeObject>>();
  readonly #watches = new Set<OpenWatch>();
  #history: Change[] = [];
  #compacted = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  transport(): Transport {
    return { request: (request) => this.#request(request), close: async () => undefined };
  }

  /** Creates or replaces as any other client might. */
  put<T extends KubeObject>(type: ResourceType<T>, object: T): Stored<T> {
    return this.#store(resourceOf(type), object, undefined) as Stored<T>;
  }

  /** Deletes as any other client might, finalizers or not. */
  remove(type: ResourceType, namespace: string, name: string): void {
    this.#drop(resourceOf(type), `${namespace}/${name}`);
  }

  read<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Stored<T> | undefined {
    return this.#state.get(`${resourceOf(type)}|${namespace}/${name}`) as Stored<T> | undefined;
  }

  all<T extends KubeObject>(type: ResourceType<T>): Stored<T>[] {
    const prefix = `${resourceOf(type)}|`;
    return [...this.#state].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object as Stored<T>);
  }

  /** Breaks every watch off. */
  disconnect(): void {
    for (const watch of this.#watches) watch.stream.fail(new Error('read ECONNRESET'));
  }

  /** The watches open now hear nothing any more, and are not told so. */
  stall(): void {
    for (const watch of this.#watches) watch.dead = true;
  }

  /** Ends every watch as a server does whose time for it is over. */
  endWatches(): void {
    for (const watch of this.#watches) watch.stream.end();
  }

  /** Forgets history: watches and pages from before now get a 410. */
  compact(): void {
    this.#compacted = this.revision;
    this.#history = [];
  }

  bookmark(): void {
    this.inject({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.revision) } } });
  }

  /** Sends a line on every watch, whatever it is. */
  inject(event: { type: string; object: unknown }): void {
    for (const { stream, dead } of this.#watches) if (!dead) this.#send(stream, event);
  }

  async #request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(`${request.method} ${request.path}`);
    await new Promise<void>((resolve) => this.#clock.soon(resolve));
    if (request.signal?.aborted) throw request.signal.reason;
    const fault = this.faults.shift()?.(request);
    if (fault instanceof Error) throw fault;
    if (fault !== undefined) return { status: 200, headers: {}, body: bodyOf(''), ...fault };
    try {
      const answer = this.#answer(request);
      const wait = this.slowness();
      if (wait > 0) await this.#clock.sleep(wait, request.signal);
      if (answer instanceof ByteStream) return { status: 200, headers: {}, body: answer };
      const status = request.method === 'POST' ? 201 : 200;
      return { status, headers: {}, body: bodyOf(JSON.stringify(answer), this.cut) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.code, headers: {}, body: bodyOf(JSON.stringify(error.status)) };
    }
  }

  #answer(request: TransportRequest): object {
    const url = new URL(request.path, 'http://server');
    const match =
      /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/([^/]+)(?=\/[^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/(status))?$/.exec(
        url.pathname,
      );
    if (match === null) throw ApiError.of('NotFound', 'the server could not find the requested resource');
    const [, group = '', version = '', space, plural = '', named, subresource] = match;
    const resource = `${group}/${plural}`;
    const namespace = space === undefined ? undefined : decodeURIComponent(space);
    if (named === undefined) {
      if (request.method === 'POST') return this.#create(resource, namespace ?? '', request);
      const query = url.searchParams;
      if (query.get('watch') === 'true') return this.#watch(resource, namespace, query, request.signal);
      return this.#list(resource, namespace, query, group === '' ? version : `${group}/${version}`);
    }
    const name = decodeURIComponent(named);
    const held = this.#state.get(`${resource}|${namespace ?? ''}/${name}`);
    if (held === undefined) {
      throw ApiError.of('NotFound', `${plural} "${name}" not found`, { name, group, kind: plural });
    }
    switch (request.method) {
      case 'GET':
        return held;
      case 'DELETE':
        return this.#delete(resource, held, request);
      case 'PUT':
        return this.#write(resource, JSON.parse(String(request.body)), held, subresource, isDryRun(request));
      default:
        return this.#write(resource, patched(held, request), held, subresource, isDryRun(request));
    }
  }

  #create(resource: string, namespace: string, request: TransportRequest): Stored<KubeObject> {
    const object = JSON.parse(String(request.body)) as KubeObject;
    const { name } = object.metadata;
    if (this.#state.has(`${resource}|${namespace}/${name}`)) {
      throw ApiError.of('AlreadyExists', `${resource} "${name}" already exists`);
    }
    return isDryRun(request) ? (object as Stored<KubeObject>) : this.#store(resource, object, undefined);
  }

  #write(
    resource: string,
    object: Stored<KubeObject>,
    held: Stored<KubeObject>,
    subresource: string | undefined,
    dryRun: boolean,
  ): Stored<KubeObject> {
    const { resourceVersion, uid } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== held.metadata.resourceVersion) {
      throw ApiError.of('Conflict', 'the object has been modified');
    }
    if (uid !== undefined && uid !== held.metadata.uid) throw ApiError.of('Conflict', 'uid mismatch');
    const next = subresource === 'status' ? { ...held, status: object.status } : object;
    return dryRun ? next : this.#store(resource, next, held);
  }

  #delete(resource: string, held: Stored<KubeObject>, request: TransportRequest): object {
    const { preconditions } = JSON.parse(String(request.body ?? '{}')) as { preconditions?: { uid?: string } };
    if (preconditions?.uid !== undefined && preconditions.uid !== held.metadata.uid) {
      throw ApiError.of('Conflict', 'uid precondition failed');
    }
    if ((held.metadata.finalizers ?? []).length > 0) {
      const deletionTimestamp = held.metadata.deletionTimestamp ?? formatTime(this.#clock.now());
      return this.#store(resource, { ...held, metadata: { ...held.metadata, deletionTimestamp } }, held);
    }
    this.#drop(resource, `${held.metadata.namespace ?? ''}/${held.metadata.name}`);
    return { apiVersion: 'v1', kind: 'Status', status: 'Success' };
  }

  #store(resource: string, object: KubeObject, held_: Stored<KubeObject> | undefined): Stored<KubeObject> {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const held = held_ ?? this.#state.get(`${resource}|${key}`);
    const stored = structuredClone(object) as Stored<KubeObject>;
    stored.metadata.uid = held?.metadata.uid ?? `uid-${this.revision + 1}`;
    stored.metadata.creationTimestamp = held?.metadata.creationTimestamp ?? formatTime(this.#clock.now());
    if (isTerminating(stored) && (stored.metadata.finalizers ?? []).length === 0) {
      this.#drop(resource, key, stored);
      return stored;
    }
    if (held !== undefined) {
      stored.metadata.resourceVersion = held.metadata.resourceVersion;
      if (jsonEqual(stored, held)) return held;
    }
    stored.metadata.resourceVersion = String(++this.revision);
    this.#state.set(`${resource}|${key}`, stored);
    this.#tell({ type: held === undefined ? 'ADDED' : 'MODIFIED', resource, revision: this.revision, object: stored });
    return stored;
  }

  #drop(resource: string, key: string, last?: Stored<KubeObject>): void {
    const object = last ?? this.#state.get(`${resource}|${key}`);
    if (object === undefined) return;
    this.#state.delete(`${resource}|${key}`);
    const revision = ++this.revision;
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    this.#tell({ type: 'DELETED', resource, revision, object: { ...object, metadata } });
  }

  #tell(change: Change): void {
    this.#history.push(change);
    for (const watch of this.#watches) if (!watch.dead && concerns(watch, change)) this.#send(watch.stream, change);
  }

  #send(stream: ByteStream, event: { type: string; object: unknown }): void {
    const bytes = Buffer.from(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
    for (const chunk of this.cut(bytes)) stream.push(chunk);
  }

  #watch(
    resource: string,
    namespace: string | undefined,
    query: URLSearchParams,
    signal: AbortSignal | undefined,
  ): ByteStream {
    const from = Number(query.get('resourceVersion'));
    if (from < this.#compacted) throw ApiError.of('Expired', 'too old resource version');
    const watch: OpenWatch = { resource, namespace, stream: new ByteStream(() => this.#watches.delete(watch), signal) };
    this.#watches.add(watch);
    for (const change of this.#history) {
      if (change.revision > from && concerns(watch, change)) this.#send(watch.stream, change);
    }
    return watch.stream;
  }

  #list(resource: string, namespace: string | undefined, query: URLSearchParams, apiVersion: string): object {
    const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
    const token = query.get('continue');
    const [revision, after] = token === null ? [this.revision, ''] : (JSON.parse(token) as [number, string]);
    if (revision < this.#compacted) throw ApiError.of('Expired', 'the provided continue parameter is too old');
    const prefix = `${resource}|${namespace === undefined ? '' : `${namespace}/`}`;
    const objects = this.#at(revision);
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, limit);
    return {
      apiVersion,
      kind: 'List',
      metadata: {
        resourceVersion: String(revision),
        ...(page.length < keys.length ? { continue: JSON.stringify([revision, page.at(-1)]) } : {}),
      },
      items: page.map((key) => objects.get(key)),
    };
  }

  /** The state at an earlier revision: history undone from its end. */
  #at(revision: number): Map<string, Stored<KubeObject>> {
    const objects = new Map(this.#state);
    for (const change of this.#history.toReversed()) {
      if (change.revision <= revision) break;
      const { namespace = '', name } = change.object.metadata;
      const key = `${change.resource}|${namespace}/${name}`;
      const earlier = this.#history.findLast(
        (other) =>
          other.revision < change.revision &&
          `${other.resource}|${other.object.metadata.namespace ?? ''}/${other.object.metadata.name}` === key,
      );
      if (earlier === undefined || earlier.type === 'DELETED') objects.delete(key);
      else objects.set(key, earlier.object);
    }
    return objects;
  }
}

/** A fault that answers with a Status of that reason. */
export function refusal(reason: StatusReason, message: string, headers: Record<string, string> = {}): Fault {
  const status: Status = ApiError.of(reason, message).status;
  return () => ({ status: status.code, headers, body: bodyOf(JSON.stringify(status)) });
}

export async function* bodyOf(
  text: string,
  cut: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes],
): AsyncGenerator<Uint8Array> {
  yield* cut(Buffer.from(text));
}

function resourceOf(type: ResourceType): string {
  return `${type.group}/${type.plural}`;
}

function isDryRun(request: TransportRequest): boolean {
  return request.path.includes('dryRun=All');
}

function concerns(watch: OpenWatch, change: Change): boolean {
  if (watch.resource !== change.resource) return false;
  return watch.namespace === undefined || watch.namespace === change.object.metadata.namespace;
}

function patched(held: Stored<KubeObject>, request: TransportRequest): Stored<KubeObject> {
  const body = JSON.parse(String(request.body));
  switch (request.headers?.['content-type']) {
    case 'application/json-patch+json':
      try {
        return fastJsonPatch.applyPatch(structuredClone(held), body as Operation[], true).newDocument;
      } catch (error) {
        throw ApiError.of('Invalid', `the patch does not apply: ${(error as Error).message}`);
      }
    case 'application/merge-patch+json':
    case 'application/apply-patch+yaml':
      return merge(held, body) as Stored<KubeObject>;
    default:
      throw ApiError.of('UnsupportedMediaType', 'not a patch');
  }
}

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}

/** A kind to test with, and a way to write its objects short. */
export interface Thing extends KubeObject<{ color?: string; size?: number }, { phase?: string; note?: string }> {}
export const Thing: ResourceType<Thing> = {
  group: 'test.example',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
};

export function thing(name: string, spec: NonNullable<Thing['spec']> = {}, metadata: object = {}): Thing {
  return {
    apiVersion: apiVersionOf(Thing),
    kind: 'Thing',
    metadata: { name, namespace: 'default', ...metadata },
    spec,
  };
}
