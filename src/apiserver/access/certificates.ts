import { createPrivateKey, createPublicKey, X509Certificate as NodeCertificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
// First: @peculiar/x509's dependency injection refuses to load without it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { type Clock, type Random, systemRandom } from '../../kube/index.ts';
import { dateOf } from '../../meta/index.ts';
import { ensurePrivateFolder, readPrivateFile, writePrivateFile } from './private-file.ts';

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

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

export interface AuthorityOptions {
  /** Names and addresses to serve under besides localhost, 127.0.0.1 and ::1. */
  hosts?: readonly string[];
  clock: Pick<Clock, 'now'>;
  random?: Random;
}

const day = 86_400_000;
const caDays = 3650;
const servingDays = 365;
/** What is left of a certificate's life when it is replaced: CA a year, serving certificate 30 days. */
const caRenewDays = 365;
const servingRenewDays = 30;
/** Clocks of two machines differ a little. */
const backdateMilliseconds = 300_000;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * The certificate authority kept in `folder` (`ca.crt`, `ca.key`, `server.crt`, `server.key`; files 0600 in a folder
 * 0700). Made where there is none; renewed near its end, where key and certificate do not belong together, and, for the
 * serving certificate, where `hosts` changed. A new CA comes with a new serving certificate.
 */
export async function ensureAuthority(folder: string, options: AuthorityOptions): Promise<Authority> {
  await ensurePrivateFolder(folder);
  const read = (name: string) => readPrivateFile(join(folder, name));
  const write = async (name: string, pair: KeyPair) => {
    // The key first: a crash in between leaves a pair that does not match, which the next start replaces.
    await writePrivateFile(join(folder, `${name}.key`), pair.key);
    await writePrivateFile(join(folder, `${name}.crt`), pair.certificate);
  };
  const now = options.clock.now();
  let ca = usable(await read('ca.crt'), await read('ca.key'), now + caRenewDays * day);
  const keptCa = ca !== undefined;
  if (ca === undefined) {
    ca = await makeCa(options);
    await write('ca', ca);
  }
  const hosts = allHosts(options.hosts);
  const before = usable(await read('server.crt'), await read('server.key'), now + servingRenewDays * day);
  const keep = keptCa && before !== undefined && isIssuedBy(before, ca) && namesOf(before) === hosts.join(',');
  const serving = keep ? before : await makeServing(ca, hosts, options);
  if (!keep) await write('server', serving);
  return new IssuingAuthority(ca, serving, hosts, options, (pair) => write('server', pair));
}

/** The same, kept nowhere. */
export async function inMemoryAuthority(options: AuthorityOptions): Promise<Authority> {
  const ca = await makeCa(options);
  const hosts = allHosts(options.hosts);
  return new IssuingAuthority(ca, await makeServing(ca, hosts, options), hosts, options, async () => {});
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
    const subject = [{ CN: [user] }, ...groups.map((group) => ({ O: [group] }))];
    return issue(this.#ca, subject, days, this.#options, [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ]);
  }

  async renew(): Promise<boolean> {
    const { certificate, key } = this.#serving;
    if (usable(certificate, key, this.#options.clock.now() + servingRenewDays * day) !== undefined) return false;
    const serving = await makeServing(this.#ca, this.#hosts, this.#options);
    await this.#keep(serving);
    this.#serving = serving;
    return true;
  }
}

function allHosts(hosts: readonly string[] = []): string[] {
  return [...new Set(['localhost', '127.0.0.1', '::1', ...hosts])].sort();
}

async function makeCa(options: AuthorityOptions): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const serialNumber = serial(options.random);
  const now = options.clock.now();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber,
    // The serial is in the name, so that a client holding an old CA of the same name is told "unknown authority".
    name: [{ CN: [`berth-ca-${serialNumber.slice(0, 8)}`] }],
    notBefore: dateOf(now - backdateMilliseconds),
    notAfter: dateOf(now + caDays * day),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}

function makeServing(ca: KeyPair, hosts: readonly string[], options: AuthorityOptions): Promise<KeyPair> {
  return issue(ca, [{ CN: ['berth-apiserver'] }], servingDays, options, [
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host })),
    ),
  ]);
}

async function issue(
  ca: KeyPair,
  subject: x509.JsonName,
  days: number,
  options: AuthorityOptions,
  extensions: x509.Extension[],
): Promise<KeyPair> {
  const caCertificate = new x509.X509Certificate(ca.certificate);
  const der = createPrivateKey(ca.key).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await crypto.subtle.importKey('pkcs8', new Uint8Array(der), algorithm, false, ['sign']);
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const now = options.clock.now();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(options.random),
    subject,
    issuer: caCertificate.subjectName.toJSON(),
    notBefore: dateOf(now - backdateMilliseconds),
    notAfter: dateOf(Math.min(now + days * day, caCertificate.notAfter.getTime())),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(caCertificate.publicKey),
      ...extensions,
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}

async function exportKey(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}

/** 16 bytes as hex, positive (RFC 5280, 4.1.2.2). */
function serial(random: Random = systemRandom): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** The pair, where both parts are readable, belong together and the certificate is valid beyond `until` (milliseconds). */
function usable(certificate: string | undefined, key: string | undefined, until: number): KeyPair | undefined {
  if (certificate === undefined || key === undefined) return undefined;
  try {
    const parsed = new NodeCertificate(certificate);
    if (parsed.validToDate.getTime() < until || !parsed.checkPrivateKey(createPrivateKey(key))) return undefined;
    return { certificate, key };
  } catch {
    return undefined;
  }
}

function isIssuedBy(pair: KeyPair, ca: KeyPair): boolean {
  return new NodeCertificate(pair.certificate).verify(createPublicKey(ca.certificate));
}

function namesOf(pair: KeyPair): string {
  const extension = new x509.X509Certificate(pair.certificate).getExtension(x509.SubjectAlternativeNameExtension);
  return (extension?.names.items ?? [])
    .map((name) => name.value)
    .sort()
    .join(',');
}
