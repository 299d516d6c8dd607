import { createPrivateKey, createPublicKey, X509Certificate as NodeCertificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { formatTime } from '../../meta/index.ts';
import type { AuthorityOptions, KeyPair } from './issuing.ts';
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-file.ts';

export type { AuthorityOptions, KeyPair };

/** A certificate authority of our own, with what it issued for serving. */
export interface Authority {
  /** PEM: what a client must trust, and what client certificates are verified against. */
  readonly caCertificate: string;
  /** The certificate to serve with; replaced by `renew`. */
  readonly serving: KeyPair;
  /** A client certificate: `user` becomes the common name, `groups` the organizations. Valid for `days` (default 365). */
  issueClient(user: string, groups: readonly string[], days?: number): Promise<KeyPair>;
  /** Issues a new serving certificate where the present one is near its end; answers whether it did. */
  renew(): Promise<boolean>;
}

const day = 86_400_000;
const caDays = 3650;
const servingDays = 365;
/** What is left of a certificate's life when it is replaced: CA a year, serving certificate 30 days. */
const caRenewDays = 365;
const servingRenewDays = 30;

/** Loaded when something is to be issued, which is rare: it takes longer to load than the rest of a start. */
const issuing = () => import('./issuing.ts');

/**
 * The certificate authority kept in `folder` (`ca.crt`, `ca.key`, `server.crt`, `server.key`; files 0600 in a folder
 * 0700). Made where there is no `ca.crt`; renewed near its end. A new CA comes with a new serving certificate, which is
 * also made anew where it is of no use (it is not what clients trust): damaged, of another CA, or for other `hosts`.
 * @throws one sentence, with nothing written, where the CA is there and can not be used, which everybody trusts who has a
 *   kubeconfig; and where the clock says a time before it was made: a CA made by a wrong clock would be trusted by nobody.
 */
export async function ensureAuthority(folder: string, options: AuthorityOptions): Promise<Authority> {
  await ensurePrivateFolder(folder);
  const read = (name: string) => readPrivateFile(join(folder, name));
  const write = async (name: string, pair: KeyPair) => {
    // The key first: a crash in between leaves no certificate, or one near its end, and the next start makes both.
    await writePrivateFile(join(folder, `${name}.key`), pair.key);
    await writePrivateFile(join(folder, `${name}.crt`), pair.certificate);
  };
  const now = options.clock.now();
  let ca = keptAuthority(folder, await read('ca.crt'), await read('ca.key'), now);
  const keptCa = ca !== undefined;
  if (ca !== undefined && validFrom(ca) > now) throw new Error(tooEarly(folder, now, validFrom(ca)));
  if (ca === undefined) {
    ca = await (await issuing()).makeCa(caDays, options);
    await write('ca', ca);
  }
  const hosts = allHosts(options.hosts);
  const before = usable(await read('server.crt'), await read('server.key'), now + servingRenewDays * day);
  const keep =
    keptCa && before !== undefined && validFrom(before) <= now && isIssuedBy(before, ca) && isFor(before, hosts);
  const serving = keep ? before : await (await issuing()).makeServing(ca, hosts, servingDays, options);
  if (!keep) await write('server', serving);
  return new IssuingAuthority(ca, serving, hosts, options, (pair) => write('server', pair));
}

/** The same, kept nowhere. */
export async function inMemoryAuthority(options: AuthorityOptions): Promise<Authority> {
  const { makeCa, makeServing } = await issuing();
  const ca = await makeCa(caDays, options);
  const hosts = allHosts(options.hosts);
  const serving = await makeServing(ca, hosts, servingDays, options);
  return new IssuingAuthority(ca, serving, hosts, options, async () => {});
}

class IssuingAuthority implements Authority {
  readonly #ca: KeyPair;
  readonly #hosts: readonly string[];
  readonly #options: AuthorityOptions;
  readonly #keep: (serving: KeyPair) => Promise<void>;
  #serving: KeyPair;

  constructor(
    ca: KeyPair,
    serving: KeyPair,
    hosts: readonly string[],
    options: AuthorityOptions,
    keep: (serving: KeyPair) => Promise<void>,
  ) {
    this.#ca = ca;
    this.#serving = serving;
    this.#hosts = hosts;
    this.#options = options;
    this.#keep = keep;
  }

  get caCertificate(): string {
    return this.#ca.certificate;
  }

  get serving(): KeyPair {
    return this.#serving;
  }

  async issueClient(user: string, groups: readonly string[], days = 365): Promise<KeyPair> {
    return (await issuing()).makeClient(this.#ca, user, groups, days, this.#options);
  }

  async renew(): Promise<boolean> {
    const { certificate, key } = this.#serving;
    if (usable(certificate, key, this.#options.clock.now() + servingRenewDays * day) !== undefined) return false;
    const serving = await (await issuing()).makeServing(this.#ca, this.#hosts, servingDays, this.#options);
    await this.#keep(serving);
    this.#serving = serving;
    return true;
  }
}

function allHosts(hosts: readonly string[] = []): string[] {
  return [...new Set(['localhost', '127.0.0.1', '::1', ...hosts])].sort();
}

/** The CA of `folder`; undefined where there is none, and where it is near its end: then it is replaced, or was about to be. */
function keptAuthority(
  folder: string,
  certificate: string | undefined,
  key: string | undefined,
  now: number,
): KeyPair | undefined {
  if (certificate === undefined) return undefined;
  const parsed = attempt(() => new NodeCertificate(certificate));
  if (parsed === undefined) throw new Error(unusable(folder, 'ca.crt', 'is damaged'));
  if (parsed.validToDate.getTime() < now + caRenewDays * day) return undefined;
  if (key === undefined) throw new Error(unusable(folder, 'ca.key', 'is missing'));
  const parsedKey = attempt(() => createPrivateKey(key));
  if (parsedKey === undefined) throw new Error(unusable(folder, 'ca.key', 'is damaged'));
  if (!parsed.checkPrivateKey(parsedKey)) throw new Error(unusable(folder, 'ca.key', 'is not the key of ca.crt'));
  return { certificate, key };
}

function unusable(folder: string, file: string, what: string): string {
  return `${join(folder, file)} ${what}: put it back from a backup, or delete ca.crt to have another authority made, which no kubeconfig handed out so far trusts`;
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** The pair, where both parts are readable, belong together and the certificate is valid beyond `until` (milliseconds). */
function usable(certificate: string | undefined, key: string | undefined, until: number): KeyPair | undefined {
  if (certificate === undefined || key === undefined) return undefined;
  const parsed = attempt(() => new NodeCertificate(certificate));
  const parsedKey = attempt(() => createPrivateKey(key));
  if (parsed === undefined || parsedKey === undefined || parsed.validToDate.getTime() < until) return undefined;
  return parsed.checkPrivateKey(parsedKey) ? { certificate, key } : undefined;
}

/** Milliseconds since the Unix epoch. */
function validFrom({ certificate }: KeyPair): number {
  return new NodeCertificate(certificate).validFromDate.getTime();
}

function tooEarly(folder: string, now: number, from: number): string {
  return `the clock says ${formatTime(now)}, and the certificate authority in ${folder} is valid from ${formatTime(from)}: set the clock; where the authority was made by a wrong one, delete ca.crt to have another made`;
}

function isIssuedBy(pair: KeyPair, ca: KeyPair): boolean {
  return new NodeCertificate(pair.certificate).verify(createPublicKey(ca.certificate));
}

/** Whether it is for exactly these names and addresses. */
function isFor(pair: KeyPair, hosts: readonly string[]): boolean {
  const certificate = new NodeCertificate(pair.certificate);
  const named = (host: string) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host));
  return certificate.subjectAltName?.split(', ').length === hosts.length && hosts.every((host) => named(host));
}
