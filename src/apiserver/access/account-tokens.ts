import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { join } from 'node:path';
import { type Clock, type Identity, type Random, systemRandom } from '../../kube/index.ts';
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-file.ts';

/** Something a token lives no longer than. */
export interface BoundObject {
  name: string;
  uid: string;
}

export interface TokenAsked {
  /** Plane the account is in, and the path it is served under: the token is good there alone. */
  plane: string;
  base: string;
  namespace: string;
  account: BoundObject;
  audiences: readonly string[];
  seconds: number;
  /** A Secret of the namespace. */
  secret?: BoundObject;
}

/** What a valid token says. One frozen object per token while it is remembered. */
export interface AccountClaims {
  readonly plane: string;
  readonly namespace: string;
  readonly account: BoundObject;
  readonly secret: BoundObject | undefined;
  readonly audiences: readonly string[];
  readonly identity: Identity;
}

interface Payload {
  aud: string[];
  exp: number;
  iat: number;
  iss: string;
  jti: string;
  'kubernetes.io': {
    namespace: string;
    serviceaccount: BoundObject;
    secret?: BoundObject;
    /** Ours: kube-apiserver has one plane. */
    plane: string;
  };
  nbf: number;
  sub: string;
}

const fileName = 'accounts.key';
/** Of ES256 (RFC 7518, 3.4), as Node names it. */
const curveName = 'prime256v1';
const issuer = 'https://kubernetes.default.svc';
const remembered = 1024;
const credentialId = 'authentication.kubernetes.io/credential-id';

/** Who issues the tokens of the plane served under `base`, which is also whom they are for unless another is named. */
export function issuerOf(base: string): string {
  return `${issuer}${base}`;
}

/**
 * Signs and reads the tokens of service accounts: JSON Web Tokens (RFC 7519, ES256) with the claims kube-apiserver's have.
 * Whether the account is still there is for whoever reads one to see.
 */
export class AccountTokens {
  readonly #key: KeyObject;
  readonly #public: KeyObject;
  readonly #header: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: Random;
  /** By SHA-256 of the token. */
  readonly #read = new Map<string, { payload: Payload; claims: AccountClaims }>();

  private constructor(pem: string, clock: Pick<Clock, 'now'>, random: Random) {
    this.#key = createPrivateKey(pem);
    if (this.#key.asymmetricKeyDetails?.namedCurve !== curveName) throw new Error(`it is no key of ${curveName}`);
    this.#public = createPublicKey(this.#key);
    const kid = createHash('sha256')
      .update(this.#public.export({ type: 'spki', format: 'der' }))
      .digest('base64url');
    this.#header = encode({ alg: 'ES256', kid });
    this.#clock = clock;
    this.#random = random;
  }

  static inMemory(clock: Pick<Clock, 'now'>, random: Random = systemRandom): AccountTokens {
    return new AccountTokens(makeKey(), clock, random);
  }

  /** With the key kept in `folder` (`accounts.key`, 0600), made where there is none: tokens outlive a restart. */
  static async open(folder: string, clock: Pick<Clock, 'now'>, random: Random = systemRandom): Promise<AccountTokens> {
    await ensurePrivateFolder(folder);
    const file = join(folder, fileName);
    let pem = await readPrivateFile(file);
    if (pem === undefined) {
      pem = makeKey();
      await writePrivateFile(file, pem);
    }
    try {
      return new AccountTokens(pem, clock, random);
    } catch {
      throw new Error(
        `${file} is damaged: put it back from a backup, or delete it to have a new key made, which invalidates every token of a service account`,
      );
    }
  }

  /** `expires` in milliseconds since the Unix epoch. */
  issue(asked: TokenAsked): { token: string; expires: number } {
    const now = Math.floor(this.#clock.now() / 1000);
    const { plane, base, namespace, account, secret } = asked;
    const payload: Payload = {
      aud: [...asked.audiences],
      exp: now + asked.seconds,
      iat: now,
      iss: issuerOf(base),
      jti: this.#random.uuid(),
      'kubernetes.io': {
        namespace,
        serviceaccount: account,
        ...(secret === undefined ? {} : { secret }),
        plane,
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    };
    const signed = `${this.#header}.${encode(payload)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return { token: `${signed}.${signature.toString('base64url')}`, expires: payload.exp * 1000 };
  }

  /** What a token says that was signed here for the plane under `base` and is valid now; undefined for any other text. */
  read(token: string, base: string): AccountClaims | undefined {
    const digest = createHash('sha256').update(token).digest('base64');
    let known = this.#read.get(digest);
    if (known === undefined) {
      const payload = this.#verified(token);
      if (payload === undefined) return undefined;
      if (this.#read.size >= remembered) this.#read.clear();
      known = { payload, claims: claimsOf(payload) };
      this.#read.set(digest, known);
    }
    const { exp, nbf, iss } = known.payload;
    const now = this.#clock.now() / 1000;
    return iss === issuerOf(base) && now >= nbf && now < exp ? known.claims : undefined;
  }

  #verified(token: string): Payload | undefined {
    const [header, payload, signature, ...more] = token.split('.');
    if (header !== this.#header || payload === undefined || signature === undefined || more.length > 0)
      return undefined;
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' as const };
    const right = verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'));
    return right ? (JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Payload) : undefined;
  }
}

function claimsOf({ aud, jti, sub, 'kubernetes.io': bound }: Payload): AccountClaims {
  const { namespace, serviceaccount: account, secret, plane } = bound;
  const identity: Identity = Object.freeze({
    user: sub,
    uid: account.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: { [credentialId]: [`JTI=${jti}`] },
  });
  return Object.freeze({ plane, namespace, account, secret, audiences: aud, identity });
}

function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: curveName });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
