/**
 * How bytes reach an API server: HTTP to a real one, or a direct call into the embedded one. A transport is created with
 * an identity; every request it carries is authenticated and authorized as that identity, on either way.
 */
export interface Transport {
  /** Rejects only when no answer came (connection refused, reset, aborted). Any status code is an answer. */
  request(request: TransportRequest): Promise<TransportResponse>;
  close(): Promise<void>;
}

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, from the server's root: `/planes/hub/api/v1/namespaces?limit=500`. */
  path: string;
  /** Lower-case names. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

export interface TransportResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** The body as it arrives; a watch never ends by itself. Leaving the loop early cancels the request. */
  body: AsyncIterable<Uint8Array>;
  /**
   * From a server in the same process, of an answer that is one object: what `body` says, deep-frozen, since others read
   * the same object. To be taken instead of `body`.
   */
  object?: unknown;
  /** Likewise of a watch: its events, those of one moment together. Leaving the loop early cancels the request. */
  events?: AsyncIterable<readonly WireEvent[]>;
}

/** One line of a watch. */
export interface WireEvent {
  type: string;
  object: unknown;
}

/** Who a request is from, as the authorizer sees it. */
export interface Identity {
  user: string;
  /** Of who is one object only: a service account made again under its name is somebody else. */
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}
