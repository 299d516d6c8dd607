import { join } from 'node:path';
import {
  AccountAuthenticator,
  AccountTokens,
  type Authenticator,
  type Authority,
  adminIdentity,
  CertificateAuthenticator,
  ensureAuthority,
  inMemoryAuthority,
  type KubeconfigContext,
  projectIdentity,
  type ReviewKind,
  type Storage,
  TokenAuthenticator,
  TokenStore,
  tokenReview,
  unionAuthenticator,
  writeKubeconfig,
} from '../apiserver/index.ts';
import type { Clock, Random } from '../kube/index.ts';
import { secretsFolder } from './files.ts';
import { contextName, type PlaneRef } from './planes.ts';

interface Kept {
  authority: Authority;
  tokens: TokenStore;
  accountTokens: AccountTokens;
}

export interface AccessOptions {
  folder: string | undefined;
  host: string;
  clock: Clock;
  random: Random;
  storage: Storage;
}

/** Certificates and tokens of the platform, and the kubeconfig that carries them. */
export class Access {
  readonly authority: Authority;
  readonly authenticator: Authenticator;
  /** Signs the tokens of service accounts. */
  readonly accountTokens: AccountTokens;
  /** Answers whose a token is. */
  readonly tokenReview: ReviewKind;
  readonly #tokens: TokenStore;
  #writing: Promise<void> = Promise.resolve();

  private constructor({ authority, tokens, accountTokens }: Kept, storage: Storage, clock: Clock) {
    this.authority = authority;
    this.#tokens = tokens;
    this.accountTokens = accountTokens;
    const accounts = new AccountAuthenticator(accountTokens, storage);
    this.tokenReview = tokenReview(tokens, accounts);
    // Health and version are answered to anybody; what else somebody unknown may do is up to roles, as everything.
    this.authenticator = unionAuthenticator(
      [new TokenAuthenticator(tokens), accounts, new CertificateAuthenticator(() => clock.now())],
      { anonymous: true },
    );
  }

  /**
   * Kept in `folder`, made where there is none; in memory only where it is undefined. `storage` has the service accounts.
   */
  static async open({ folder, host, clock, random, storage }: AccessOptions): Promise<Access> {
    const options = { hosts: [host], clock, random };
    if (folder === undefined) {
      const authority = await inMemoryAuthority(options);
      const accountTokens = AccountTokens.inMemory(clock, random);
      return new Access({ authority, tokens: TokenStore.inMemory(random), accountTokens }, storage, clock);
    }
    const secrets = join(folder, secretsFolder);
    const authority = await ensureAuthority(secrets, options);
    const tokens = await TokenStore.open(secrets, random);
    const accountTokens = await AccountTokens.open(secrets, clock, random);
    return new Access({ authority, tokens, accountTokens }, storage, clock);
  }

  /**
   * Writes the kubeconfig with a context for every plane. Operators' planes carry the administrator's token, a project's
   * that of its own user, who reaches nothing else. Answers the names of the contexts.
   */
  async writeKubeconfig(file: string, server: string, planes: readonly PlaneRef[], current: string): Promise<string[]> {
    const admin = await this.#tokens.ensure('admin', adminIdentity);
    const contexts: KubeconfigContext[] = [];
    for (const plane of planes) {
      const token =
        plane.role === 'project' ? await this.#tokens.ensure(contextName(plane), projectIdentity(plane.name)) : admin;
      contexts.push({ name: contextName(plane), path: plane.path, credential: { token } });
    }
    const caCertificate = this.authority.caCertificate;
    const named = contexts.some((context) => context.name === current) ? current : (contexts[0]?.name ?? current);
    const write = this.#writing.then(() => writeKubeconfig({ file, server, caCertificate, contexts, current: named }));
    // A failed write is told to whoever asked for it, and stands in no later one's way.
    this.#writing = write.catch(() => {});
    await write;
    return contexts.map((context) => context.name);
  }

  /** Makes the token of a project that is gone nobody's. */
  async revokeProject(plane: PlaneRef): Promise<void> {
    await this.#tokens.revoke(contextName(plane));
  }
}
