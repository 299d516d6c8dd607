import type { Clock, Identity, Random } from '../../kube/index.ts';
import type { CustomResourceDefinition, KubeObject } from '../../meta/index.ts';
import type { AccountTokens } from '../access/account-tokens.ts';
import type { ApiRequest } from '../http/message.ts';
import type { Output } from '../http/negotiate.ts';
import type { Plane } from '../plane.ts';
import type { Served, StrategyContext } from '../served.ts';
import type { Storage, StorageKey } from '../storage/storage.ts';

/** A write about to be stored, validated already. */
export interface AdmissionWrite {
  readonly plane: string;
  readonly identity: Identity;
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly object: KubeObject;
  /** Absent for a create. */
  readonly old?: KubeObject;
}

/** Throws ApiError to refuse a write. */
export type Admission = (write: AdmissionWrite) => void;

/** What an API server hands its handlers. */
export interface ServerContext {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  readonly admission: Admission | undefined;
  /** Absent: no tokens are issued. */
  readonly accountTokens: AccountTokens | undefined;
  /** A CRD got its deletion timestamp: its objects go, then it goes. */
  definitionDeleted(call: Call, definition: CustomResourceDefinition): void;
}

export interface Limits {
  /** Bytes of a request body. */
  readonly bodyBytes: number;
  /** Bytes of one stored object. */
  readonly objectBytes: number;
  /** Requests being answered at once over the network, watches not counted. */
  readonly readsInFlight: number;
  readonly writesInFlight: number;
  /** Milliseconds a request over the network may take, watches not counted. */
  readonly requestTimeoutMilliseconds: number;
  /** Bytes a watcher may leave unread before it is cut off. */
  readonly watchBacklogBytes: number;
  /** Milliseconds between two bookmarks. */
  readonly bookmarkMilliseconds: number;
  /** Bytes from which a body is compressed for a client that accepts gzip. */
  readonly gzipBytes: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 3 * 1024 * 1024,
  objectBytes: 1.5 * 1024 * 1024,
  readsInFlight: 400,
  writesInFlight: 200,
  requestTimeoutMilliseconds: 60_000,
  watchBacklogBytes: 16 * 1024 * 1024,
  bookmarkMilliseconds: 60_000,
  gzipBytes: 128 * 1024,
};

/** One request about one resource: where it goes, who sends it, how it wants its answer. */
export interface Call {
  readonly server: ServerContext;
  readonly plane: Plane;
  readonly served: Served;
  readonly request: ApiRequest;
  readonly identity: Identity;
  /** '' for cluster scope and for all namespaces. */
  readonly namespace: string;
  /** '' for the collection. */
  readonly name: string;
  readonly subresource: string;
  readonly output: Output;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Texts for `Warning` headers. */
  readonly warnings: string[];
  /** Throws 403 where the caller may not do `verb` to the same object. */
  authorize(verb: string): void;
}

export function storageKey(call: Call, name = call.name, namespace = call.namespace): StorageKey {
  return { plane: call.plane.id, resource: call.served.storage, namespace, name };
}

export function strategyContext(call: Call): StrategyContext {
  return { now: call.now, nameConflict: (definition) => call.plane.nameConflict(definition) };
}
