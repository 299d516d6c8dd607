import type { Identity } from '../../kube/index.ts';
import { ApiError, type KubeObject } from '../../meta/index.ts';
import type { AccountAuthenticator } from './account-authenticator.ts';
import { issuerOf } from './account-tokens.ts';
import type { ReviewKind } from './interfaces.ts';
import type { TokenStore } from './tokens.ts';

/** authentication.k8s.io/v1 TokenReview: whose a token is, for a service that was shown one and does not know. */
export function tokenReview(tokens: Pick<TokenStore, 'identify'>, accounts: AccountAuthenticator): ReviewKind {
  /** Tokens of the server itself are for the server, whoever issued them. */
  const judge = async (token: string, base: string, wanted: readonly string[]): Promise<object> => {
    const claims = await accounts.review(token, base);
    const identity = claims?.identity ?? tokens.identify(token);
    if (identity === undefined) return refused('invalid bearer token');
    const intended = claims?.audiences ?? [issuerOf(base)];
    const audiences = wanted.filter((audience) => intended.includes(audience));
    if (audiences.length > 0) return accepted(identity, audiences);
    const [given, target] = [goList(intended), goList(wanted)];
    return refused(`[invalid bearer token, token audiences ${given} is invalid for the target audiences ${target}]`);
  };
  return {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenReview',
    plural: 'tokenreviews',
    namespaced: false,
    async review({ base }, object) {
      const { token, audiences } = specOf(object);
      const asked = audiences.length === 0 ? [issuerOf(base)] : audiences;
      return { ...object, status: await judge(token, base, asked) } as KubeObject;
    },
  };
}

function refused(error: string): object {
  return { user: {}, error };
}

/** As Go's %q prints a list. */
function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

function accepted({ user, uid, groups, extra }: Identity, audiences: readonly string[]): object {
  return {
    authenticated: true,
    user: {
      username: user,
      ...(uid === undefined ? {} : { uid }),
      groups,
      ...(extra === undefined ? {} : { extra }),
    },
    audiences,
  };
}

function specOf({ spec }: KubeObject): { token: string; audiences: string[] } {
  const { token = '', audiences } = (spec ?? {}) as { token?: unknown; audiences?: unknown };
  if (token === '') throw ApiError.of('BadRequest', 'token is required for TokenReview in authentication');
  const list = audiences ?? [];
  if (typeof token !== 'string' || !Array.isArray(list) || list.some((audience) => typeof audience !== 'string')) {
    throw ApiError.of('BadRequest', 'spec.token must be a string and spec.audiences a list of strings');
  }
  return { token, audiences: list };
}
