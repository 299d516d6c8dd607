import {
  apiVersionOf,
  isTerminating,
  type KubeObject,
  parseTime,
  type ResourceType,
  type Stored,
} from '../../meta/index.ts';
import type { Client, DeleteOptions, ListOptions, ListResult, ObjectKey, Patch, WatchEvent } from '../client.ts';
import type { Clock } from '../clock/clock.ts';
import { systemClock } from '../clock/system.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts';
import { errorOf, isExpired, saysAbsent } from './errors.ts';
import { queryString, resourcePath } from './path.ts';
import { watchEvents } from './watch.ts';

export interface ClientOptions {
  transport: Transport;
  /** Path of the plane's API from the server's root, without a slash at its end: `/planes/hub`, or empty. */
  basePath: string;
  userAgent?: string;
  /** Manager of fields in writes that name none. */
  defaultFieldManager?: string;
  /** For waiting as a `Retry-After` asks. */
  clock?: Clock;
  /** Called with what the server answered to each write, before the writer has it. Not for dry runs. */
  onWrite?: (type: ResourceType, object: Stored<KubeObject>) => void;
}

const contentTypes: Record<Patch['type'], string> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
  strategic: 'application/strategic-merge-patch+json',
};

const mostRetries = 5;
const longestRetryAfterSeconds = 30;
const mostListRestarts = 3;

/**
 * A client of one plane. A 429 or 503 with `Retry-After` was not acted on by the server, so it is repeated, at most 5 times
 * and never after more than 30 s of waiting each; then its ApiError is thrown.
 */
export function createClient(options: ClientOptions): Client {
  const { transport, basePath, onWrite, clock = systemClock } = options;
  const commonHeaders: Record<string, string> = {
    accept: 'application/json',
    'user-agent': options.userAgent ?? 'berth',
  };

  async function send(request: TransportRequest): Promise<TransportResponse> {
    for (let attempt = 0; ; attempt++) {
      const response = await transport.request(request);
      if (response.status < 400) return response;
      const body = await readText(response.body);
      const wait = retryAfterSeconds(response, clock.now());
      if (wait === undefined || wait > longestRetryAfterSeconds || attempt === mostRetries) {
        throw errorOf(response.status, body);
      }
      await clock.sleep(wait * 1000, request.signal);
    }
  }

  async function exchange(
    method: TransportRequest['method'],
    path: string,
    signal: AbortSignal | undefined,
    body?: { type: string; value: unknown },
  ): Promise<unknown> {
    const response = await send({
      method,
      path,
      headers: body === undefined ? commonHeaders : { ...commonHeaders, 'content-type': body.type },
      ...(body === undefined ? {} : { body: JSON.stringify(body.value) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.object !== undefined) return response.object;
    const text = await readText(response.body);
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${method} ${path} was answered ${response.status} with a body that is not JSON`);
    }
  }

  async function write<T extends KubeObject>(
    method: 'POST' | 'PUT' | 'PATCH',
    type: ResourceType<T>,
    path: string,
    body: { type: string; value: unknown },
    write: { dryRun?: boolean; signal?: AbortSignal; fieldManager?: string | undefined; force?: boolean | undefined },
  ): Promise<Stored<T>> {
    const query = queryString({
      fieldManager: write.fieldManager ?? options.defaultFieldManager,
      force: write.force,
      dryRun: write.dryRun ? 'All' : undefined,
    });
    const stored = (await exchange(method, path + query, write.signal, body)) as Stored<T>;
    if (!write.dryRun && isOfType(type, stored)) onWrite?.(type, stored);
    return stored;
  }

  /** One pass over all pages; `limit` undefined asks for everything at once. */
  async function listPages<T extends KubeObject>(
    type: ResourceType<T>,
    list: ListOptions,
    limit: number | undefined,
  ): Promise<ListResult<T>> {
    const path = resourcePath(basePath, type, { namespace: list.namespace });
    const items: Stored<T>[] = [];
    let resourceVersion: string | undefined;
    let next: string | undefined;
    do {
      const { labelSelector, fieldSelector } = list;
      const query = queryString({ labelSelector, fieldSelector, limit, continue: next });
      const page = (await exchange('GET', path + query, list.signal)) as {
        metadata?: { resourceVersion?: string; continue?: string };
        items?: Stored<T>[] | null;
      };
      for (const item of page.items ?? []) items.push(withTypeMeta(type, item));
      resourceVersion ??= page.metadata?.resourceVersion;
      next = page.metadata?.continue || undefined;
    } while (next !== undefined);
    if (!resourceVersion) throw new Error(`GET ${path} was answered without a list's resourceVersion`);
    return { items, resourceVersion };
  }

  return {
    async get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, signal?: AbortSignal) {
      try {
        return (await exchange('GET', resourcePath(basePath, type, key), signal)) as Stored<T>;
      } catch (error) {
        if (saysAbsent(error, type, key)) return undefined;
        throw error;
      }
    },

    async list<T extends KubeObject>(type: ResourceType<T>, list: ListOptions = {}) {
      for (let attempt = 0; attempt < mostListRestarts; attempt++) {
        try {
          return await listPages(type, list, list.pageSize ?? 500);
        } catch (error) {
          if (!isExpired(error)) throw error;
        }
      }
      // Pages that keep expiring are slower than the server's history is long: one answer cannot expire.
      return listPages(type, list, undefined);
    },

    async create(type, object, write_ = {}) {
      const namespace = object.metadata.namespace ?? '';
      return write('POST', type, resourcePath(basePath, type, { namespace }), json(object), write_);
    },

    async update(type, object, write_ = {}) {
      const place = {
        namespace: object.metadata.namespace ?? '',
        name: object.metadata.name,
        subresource: write_.subresource,
      };
      return write('PUT', type, resourcePath(basePath, type, place), json(object), write_);
    },

    async patch(type, key, patch, write_ = {}) {
      const path = resourcePath(basePath, type, { ...key, subresource: write_.subresource });
      const applies = patch.type === 'apply' ? { fieldManager: patch.fieldManager, force: patch.force } : {};
      const body = { type: contentTypes[patch.type], value: patch.body };
      return write('PATCH', type, path, body, { ...write_, ...applies });
    },

    async delete(type: ResourceType, key: ObjectKey, deletion: DeleteOptions = {}) {
      const { preconditions, propagationPolicy, signal } = deletion;
      const dryRun = deletion.dryRun ? ['All'] : undefined;
      const body = json({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy, dryRun });
      try {
        const answer = await exchange('DELETE', resourcePath(basePath, type, key), signal, body);
        // An object that was removed at once may be answered too, as it last was.
        if (dryRun === undefined && isOfType(type, answer) && isTerminating(answer)) onWrite?.(type, answer);
        return true;
      } catch (error) {
        if (saysAbsent(error, type, key)) return false;
        throw error;
      }
    },

    watch<T extends KubeObject>(type: ResourceType<T>, watch: Parameters<Client['watch']>[1]) {
      const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = watch;
      const query = queryString({
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion,
        timeoutSeconds,
        labelSelector,
        fieldSelector,
      });
      const path = resourcePath(basePath, type, { namespace: watch.namespace }) + query;
      return watchEvents(
        (signal) => send({ method: 'GET', path, headers: commonHeaders, signal }),
        watch.signal,
      ) as AsyncIterable<WatchEvent<T>>;
    },
  };
}

function json(value: unknown): { type: string; value: unknown } {
  return { type: 'application/json', value };
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Seconds, or undefined where the response does not ask to be tried again. RFC 9110 allows seconds or a date. */
function retryAfterSeconds(response: TransportResponse, nowMilliseconds: number): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const header = response.headers['retry-after'];
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = parseTime(header);
  return date === undefined ? undefined : Math.max(0, (date - nowMilliseconds) / 1000);
}

/** Built-in kinds come without apiVersion and kind inside a list. */
function withTypeMeta<T extends KubeObject>(type: ResourceType<T>, item: Stored<T>): Stored<T> {
  return item.kind === undefined ? { ...item, apiVersion: apiVersionOf(type), kind: type.kind } : item;
}

function isOfType(type: ResourceType, answer: unknown): answer is Stored<KubeObject> {
  const object = answer as KubeObject | null;
  return object?.kind === type.kind && object.apiVersion === apiVersionOf(type);
}
