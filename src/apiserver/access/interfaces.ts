import type { Identity } from '../../kube/index.ts';
import type { KubeObject } from '../../meta/index.ts';

/** Lower-case header names, as node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A client certificate the TLS layer has already verified against the server's client CA. */
export interface PeerCertificate {
  readonly subject: { readonly CN?: string | undefined; readonly O?: string | readonly string[] | undefined };
  /** DER. */
  readonly raw: Uint8Array;
}

/** Who sent a request that arrived over the network. */
export interface Authenticator {
  /**
   * Answers the identity, or undefined where the credentials are missing or wrong: the server then answers 401. An
   * authenticator that lets anonymous requests in answers `system:anonymous` for a request without credentials.
   */
  authenticate(
    headers: RequestHeaders,
    peerCertificate: PeerCertificate | undefined,
    /** Of the request, without its query: some credentials are good in one plane only. */
    path?: string,
  ): Identity | undefined | Promise<Identity | undefined>;
}

/** What somebody is about to do. For a path that is no resource only `path` and `verb` (lower-case method) are set. */
export interface AccessAttributes {
  /** `root`, `hub`, `cell/<location>`, `project/<id>`. */
  readonly plane: string;
  readonly identity: Identity;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or a lower-case HTTP method. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** '' for the resource itself. */
  readonly subresource: string;
  /** '' for cluster scope and for all namespaces. */
  readonly namespace: string;
  /** '' where the request names no object. */
  readonly name: string;
  /** Set for a path that is no resource (`/metrics`, `/apis`), relative to the plane; '' otherwise. */
  readonly path: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** Ends up in the 403's message where given. */
  readonly reason?: string;
}

/** Who may do what. Called on every request, so it answers at once (from caches). */
export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
}

/**
 * A kind that is answered and never stored (TokenReview, SubjectAccessReview and the like): only `create`. `review`
 * gets the decoded body and answers the object to return, or throws ApiError.
 */
export interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  review(
    request: {
      plane: string;
      /** Path the plane is served under; '' for the root plane. */
      base: string;
      identity: Identity;
      namespace: string;
      now: number;
    },
    object: KubeObject,
  ): KubeObject | Promise<KubeObject>;
}
