import type { Identity } from '../../kube/index.ts';
import { storedObject } from '../codec.ts';
import { splitPlanePath } from '../http/path.ts';
import type { Storage, StorageKey } from '../storage/storage.ts';
import { type AccountClaims, type AccountTokens, type BoundObject, issuerOf } from './account-tokens.ts';
import type { Authenticator, PeerCertificate, RequestHeaders } from './interfaces.ts';
import { bearerOf } from './tokens.ts';

/**
 * Lets in whoever has a token of a service account of the plane a request goes to: as long as the account is there, it and
 * no other of its name, and what the token was bound to.
 */
export class AccountAuthenticator implements Authenticator {
  readonly #tokens: Pick<AccountTokens, 'read'>;
  readonly #storage: Pick<Storage, 'get'>;

  constructor(tokens: Pick<AccountTokens, 'read'>, storage: Pick<Storage, 'get'>) {
    this.#tokens = tokens;
    this.#storage = storage;
  }

  async authenticate(
    headers: RequestHeaders,
    _peer: PeerCertificate | undefined,
    path = '/',
  ): Promise<Identity | undefined> {
    const token = bearerOf(headers);
    if (token === undefined) return undefined;
    const { base } = splitPlanePath(path);
    const claims = await this.review(token, base);
    return claims?.audiences.includes(issuerOf(base)) === true ? claims.identity : undefined;
  }

  /** What a token says, whomever it is for, where everything it is bound to is still there. */
  async review(token: string, base: string): Promise<AccountClaims | undefined> {
    const claims = this.#tokens.read(token, base);
    if (claims === undefined) return undefined;
    const { plane, namespace, account, secret } = claims;
    const there = (resource: string, bound: BoundObject): Promise<boolean> =>
      this.#isThere({ plane, resource, namespace, name: bound.name }, bound.uid);
    if (!(await there('/serviceaccounts', account))) return undefined;
    return secret === undefined || (await there('/secrets', secret)) ? claims : undefined;
  }

  async #isThere(key: StorageKey, uid: string): Promise<boolean> {
    const record = await this.#storage.get(key);
    return record !== undefined && storedObject(record.value).metadata.uid === uid;
  }
}
