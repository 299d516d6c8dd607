// First: @peculiar/x509's dependency injection refuses to load without it.
import 'reflect-metadata';
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { type Clock, type Random, systemRandom } from '../../kube/index.ts';
import { dateOf } from '../../meta/index.ts';

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface AuthorityOptions {
  /** Names and addresses to serve under besides localhost, 127.0.0.1 and ::1. */
  hosts?: readonly string[];
  clock: Pick<Clock, 'now'>;
  random?: Random;
}

const day = 86_400_000;
/** Clocks of two machines differ a little. */
const backdateMilliseconds = 300_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export async function makeCa(days: number, options: AuthorityOptions): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const serialNumber = serial(options.random);
  const now = options.clock.now();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber,
    // The serial is in the name, so that a client holding an old CA of the same name is told "unknown authority".
    name: [{ CN: [`berth-ca-${serialNumber.slice(0, 8)}`] }],
    notBefore: dateOf(now - backdateMilliseconds),
    notAfter: dateOf(now + days * day),
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

export function makeServing(
  ca: KeyPair,
  hosts: readonly string[],
  days: number,
  options: AuthorityOptions,
): Promise<KeyPair> {
  return issue(ca, [{ CN: ['berth-apiserver'] }], days, options, [
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host })),
    ),
  ]);
}

export function makeClient(
  ca: KeyPair,
  user: string,
  groups: readonly string[],
  days: number,
  options: AuthorityOptions,
): Promise<KeyPair> {
  const subject = [{ CN: [user] }, ...groups.map((group) => ({ O: [group] }))];
  return issue(ca, subject, days, options, [
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
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
