import { X509Certificate } from 'node:crypto';
import type { Identity } from '../../kube/index.ts';
import { masters, unauthenticated, withAuthenticated } from './identities.ts';
import type { Authenticator, PeerCertificate, RequestHeaders } from './interfaces.ts';

const clientAuth = '1.3.6.1.5.5.7.3.2';
const rememberedCertificates = 1024;

/**
 * Common name = user, organizations = groups, as kube-apiserver reads a client certificate. The TLS layer has verified
 * the chain; here the purpose and the validity now are checked (a connection may outlive its certificate).
 */
export class CertificateAuthenticator implements Authenticator {
  readonly #now: () => number;
  readonly #known = new Map<string, { identity: Identity; until: number } | undefined>();

  constructor(now: () => number) {
    this.#now = now;
  }

  authenticate(_headers: RequestHeaders, peerCertificate: PeerCertificate | undefined): Identity | undefined {
    if (peerCertificate === undefined) return undefined;
    const key = Buffer.from(peerCertificate.raw).toString('base64');
    if (!this.#known.has(key)) {
      if (this.#known.size >= rememberedCertificates) this.#known.clear();
      this.#known.set(key, read(peerCertificate));
    }
    const known = this.#known.get(key);
    return known !== undefined && this.#now() < known.until ? known.identity : undefined;
  }
}

function read(peer: PeerCertificate): { identity: Identity; until: number } | undefined {
  const { CN: user, O: organizations } = peer.subject;
  if (typeof user !== 'string' || user === '') return undefined;
  try {
    const certificate = new X509Certificate(Buffer.from(peer.raw));
    if (!(certificate.keyUsage ?? []).includes(clientAuth)) return undefined;
    const groups =
      organizations === undefined ? [] : typeof organizations === 'string' ? [organizations] : organizations;
    const identity = Object.freeze(withAuthenticated({ user, groups: [...groups] }));
    return { identity, until: certificate.validToDate.getTime() };
  } catch {
    return undefined;
  }
}

/** Whoever proved nothing. Give it as the last of a union only where anonymous requests are wanted. */
export const anonymousIdentity: Identity = Object.freeze({ user: 'system:anonymous', groups: [unauthenticated] });

/**
 * The first answer of several authenticators. With `anonymous`, a request without any credentials is
 * `system:anonymous`; one with wrong credentials is refused all the same.
 */
export function unionAuthenticator(
  authenticators: readonly Authenticator[],
  options: { anonymous?: boolean } = {},
): Authenticator {
  return {
    async authenticate(headers, peerCertificate, path) {
      for (const authenticator of authenticators) {
        const identity = await authenticator.authenticate(headers, peerCertificate, path);
        if (identity !== undefined) return impersonationRefused(headers) ? undefined : identity;
      }
      const tried = headers.authorization !== undefined || peerCertificate !== undefined;
      return options.anonymous === true && !tried ? anonymousIdentity : undefined;
    },
  };
}

/**
 * Impersonation is not offered. A request that asks for it must not run as the one who asked (`kubectl --as` would do,
 * with the wrong rights, what its user wanted tried with fewer), so it is not let in at all.
 */
function impersonationRefused(headers: RequestHeaders): boolean {
  return headers['impersonate-user'] !== undefined || headers['impersonate-group'] !== undefined;
}

export function isMaster(identity: Identity): boolean {
  return identity.groups.includes(masters);
}
