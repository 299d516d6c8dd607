import type { KubeObject, ResourceType, Stored } from '../meta/index.ts';

/** Where an object is: `namespace` is empty for cluster-scoped kinds. */
export interface ObjectKey {
  namespace: string;
  name: string;
}

export interface ListOptions {
  /** All namespaces where absent. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects per page; the client pages until the end by itself. Default 500. */
  pageSize?: number;
  signal?: AbortSignal;
}

export interface ListResult<T extends KubeObject> {
  items: Stored<T>[];
  resourceVersion: string;
}

export interface WriteOptions {
  dryRun?: boolean;
  fieldManager?: string;
  signal?: AbortSignal;
}

/** One operation of RFC 6902. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

export type Patch =
  /** RFC 7386. For status that one controller owns; put `metadata.resourceVersion` in it as the guard. */
  | { type: 'merge'; body: object }
  /** RFC 6902. For finalizers, with a `test`. */
  | { type: 'json'; body: JsonPatchOperation[] }
  /** Server-side apply: the whole of what the manager wants, with apiVersion, kind and metadata.name. */
  | { type: 'apply'; body: object; fieldManager: string; force?: boolean }
  | { type: 'strategic'; body: object };

export interface PatchOptions extends WriteOptions {
  /** `finalize` is of namespaces only, and only for `update`. */
  subresource?: 'status' | 'scale' | 'finalize';
}

export interface DeleteOptions {
  /** Refused with Conflict when the object is another one or has moved on. */
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** Whether it would be refused; nothing is deleted. */
  dryRun?: boolean;
  signal?: AbortSignal;
}

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Stored<T> }
  | { type: 'BOOKMARK'; resourceVersion: string };

export interface WatchOptions extends Omit<ListOptions, 'pageSize'> {
  resourceVersion: string;
  /** Seconds after which the server ends the watch. */
  timeoutSeconds?: number;
}

/**
 * A client of one plane under one identity. What it answers belongs to nobody: where the server is in the same process it is
 * deep-frozen and read by others too. Every method rejects with `ApiError` when the server refused, and with the
 * transport's error when no answer came. `get` answers undefined for an object that is not there (404 NotFound of that
 * very object); every other 404 (API not served, project gone) is an ApiError.
 */
export interface Client {
  get<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    signal?: AbortSignal,
  ): Promise<Stored<T> | undefined>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ListResult<T>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<Stored<T>>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: PatchOptions): Promise<Stored<T>>;
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<Stored<T>>;
  /** Answers whether there was something to delete: false for 404 of that very object. */
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /** Ends when the server ends it; throws ApiError for an ERROR event (410 Expired after compaction). */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}
