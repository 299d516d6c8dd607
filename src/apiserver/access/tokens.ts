import { createHash, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { type Identity, type Random, systemRandom } from '../../kube/index.ts';
import { withAuthenticated } from './identities.ts';
import type { Authenticator, PeerCertificate, RequestHeaders } from './interfaces.ts';
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-file.ts';

interface Entry {
  name: string;
  token: string;
  user: string;
  groups: string[];
}

const fileName = 'tokens.json';
const tokenBytes = 32;

/**
 * Bearer tokens by name: made once, the same at every start, until revoked. Kept in `tokens.json` (0600), whole, because
 * the kubeconfig written at each start carries them.
 */
export class TokenStore {
  readonly #file: string | undefined;
  readonly #random: Random;
  readonly #entries = new Map<string, Entry>();
  /** By SHA-256 of the token: looking up a digest tells an attacker's clock nothing about a token. */
  readonly #byDigest = new Map<string, { digest: Buffer; identity: Identity }>();
  #write: Promise<void> = Promise.resolve();

  private constructor(file: string | undefined, random: Random) {
    this.#file = file;
    this.#random = random;
  }

  static inMemory(random: Random = systemRandom): TokenStore {
    return new TokenStore(undefined, random);
  }

  /** Opens the tokens of `folder`. Throws with one sentence naming the file where it is damaged: nothing is overwritten. */
  static async open(folder: string, random: Random = systemRandom): Promise<TokenStore> {
    await ensurePrivateFolder(folder);
    const file = join(folder, fileName);
    const store = new TokenStore(file, random);
    const text = await readPrivateFile(file);
    if (text !== undefined) for (const entry of parse(text, file)) store.#add(entry);
    return store;
  }

  /** The token of `name`, made now where there is none or where it was another identity's. Resolves once on disk. */
  async ensure(name: string, identity: Identity): Promise<string> {
    const before = this.#entries.get(name);
    const groups = [...identity.groups];
    if (before !== undefined && before.user === identity.user && before.groups.join('\n') === groups.join('\n')) {
      await this.#write;
      return before.token;
    }
    if (before !== undefined) this.#remove(before);
    const token = Buffer.from(this.#random.bytes(tokenBytes)).toString('base64url');
    this.#add({ name, token, user: identity.user, groups });
    await this.#save();
    return token;
  }

  /** From now on the token of `name` is nobody's. Answers whether there was one; resolves once on disk. */
  async revoke(name: string): Promise<boolean> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    this.#remove(entry);
    await this.#save();
    return true;
  }

  names(): string[] {
    return [...this.#entries.keys()].sort();
  }

  identify(token: string): Identity | undefined {
    const digest = digestOf(token);
    const found = this.#byDigest.get(digest.toString('base64'));
    return found !== undefined && timingSafeEqual(found.digest, digest) ? found.identity : undefined;
  }

  #add(entry: Entry): void {
    const digest = digestOf(entry.token);
    this.#entries.set(entry.name, entry);
    // One frozen object per token: the authorizer's caches are keyed by it.
    const identity = Object.freeze(withAuthenticated({ user: entry.user, groups: entry.groups }));
    this.#byDigest.set(digest.toString('base64'), { digest, identity });
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.name);
    this.#byDigest.delete(digestOf(entry.token).toString('base64'));
  }

  #save(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return Promise.resolve();
    const write = this.#write
      .catch(() => {})
      .then(() => {
        const tokens = [...this.#entries.values()];
        return writePrivateFile(file, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`);
      });
    this.#write = write;
    return write;
  }
}

/** `Authorization: Bearer <token>`, as RFC 6750 and kube-apiserver read it. */
export class TokenAuthenticator implements Authenticator {
  readonly #store: Pick<TokenStore, 'identify'>;

  constructor(store: Pick<TokenStore, 'identify'>) {
    this.#store = store;
  }

  authenticate(headers: RequestHeaders, _peer?: PeerCertificate): Identity | undefined {
    const token = bearerOf(headers);
    return token === undefined ? undefined : this.#store.identify(token);
  }
}

/** The token of `Authorization: Bearer <token>`. */
export function bearerOf({ authorization }: RequestHeaders): string | undefined {
  if (typeof authorization !== 'string') return undefined;
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function parse(text: string, file: string): Entry[] {
  const damaged = () =>
    new Error(
      `${file} is damaged: put it back from a backup, or delete it to have new tokens made, which invalidates every kubeconfig handed out so far`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged();
  }
  const { version, tokens } = (value ?? {}) as { version?: unknown; tokens?: unknown };
  if (typeof version === 'number' && version > 1) {
    throw new Error(`${file} was written by a newer version of Berth (format ${version}, this one reads 1)`);
  }
  if (version !== 1 || !Array.isArray(tokens)) throw damaged();
  return tokens.map((entry: Partial<Entry> | null) => {
    const { name, token, user, groups } = entry ?? {};
    const valid =
      typeof name === 'string' &&
      typeof token === 'string' &&
      token.length >= 32 &&
      typeof user === 'string' &&
      Array.isArray(groups) &&
      groups.every((group) => typeof group === 'string');
    if (!valid) throw damaged();
    return { name, token, user, groups };
  });
}
