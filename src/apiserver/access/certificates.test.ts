import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Identity } from '../../kube/index.ts';
import { parseTime } from '../../meta/index.ts';
import { CertificateAuthenticator } from './authenticators.ts';
import { type Authority, ensureAuthority, inMemoryAuthority, type KeyPair } from './certificates.ts';

const day = 86_400_000;
// A real moment: node judges certificates by the machine's clock. The platform's era is wide enough around it.
const start = parseTime(execFileSync('date', ['-u', '+%Y-%m-%dT%H:%M:%SZ'], { encoding: 'utf8' }).trim())!;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-ca-'));
});
afterEach(() => rm(folder, { recursive: true }));

function at(now: number, hosts: string[] = []) {
  return ensureAuthority(join(folder, 'pki'), { clock: { now: () => now }, hosts });
}

/** Serves with `authority`, asks under `host` trusting its CA, answers who the server saw. */
async function ask(
  authority: Authority,
  host: string,
  client?: KeyPair,
): Promise<{ authorized: boolean; identity: Identity | undefined }> {
  const authenticator = new CertificateAuthenticator(() => start);
  const server = createServer(
    {
      cert: authority.serving.certificate,
      key: authority.serving.key,
      ca: authority.caCertificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (incoming, outgoing) => {
      const socket = incoming.socket as TLSSocket;
      const peer = socket.authorized ? socket.getPeerCertificate() : undefined;
      const identity = authenticator.authenticate({}, peer as never);
      outgoing.end(JSON.stringify({ authorized: socket.authorized, identity }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const credentials = client === undefined ? {} : { cert: client.certificate, key: client.key };
    return await new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        servername: '',
        port,
        ca: authority.caCertificate,
        agent: false,
        ...credentials,
      };
      const hello = host === '127.0.0.1' ? options : { ...options, servername: host };
      const outgoing = request(hello, (incoming) => {
        let text = '';
        incoming.on('data', (chunk) => {
          text += chunk;
        });
        incoming.on('end', () => resolve(JSON.parse(text)));
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  } finally {
    server.close();
  }
}

test('everything is readable by its owner alone, also what was wider before', async () => {
  await at(start);
  expect((await stat(join(folder, 'pki'))).mode & 0o777).toBe(0o700);
  const files = await readdir(join(folder, 'pki'));
  expect(files.sort()).toEqual(['ca.crt', 'ca.key', 'server.crt', 'server.key']);
  for (const file of files) expect((await stat(join(folder, 'pki', file))).mode & 0o777).toBe(0o600);
  await chmod(join(folder, 'pki', 'ca.key'), 0o644);
  await at(start);
  expect((await stat(join(folder, 'pki', 'ca.key'))).mode & 0o777).toBe(0o600);
});

test('a second start serves the same certificates', async () => {
  const first = await at(start);
  const second = await at(start + 10 * day);
  expect(second.caCertificate).toBe(first.caCertificate);
  expect(second.serving).toEqual(first.serving);
});

test('a client that trusts the CA reaches it as localhost, 127.0.0.1 and the given hosts, and no other', async () => {
  const authority = await at(start, ['berth.example', '10.1.2.3']);
  await expect(ask(authority, 'localhost')).resolves.toEqual({ authorized: false });
  await expect(ask(authority, '127.0.0.1')).resolves.toEqual({ authorized: false });
  await expect(ask(authority, 'berth.example')).resolves.toEqual({ authorized: false });
  await expect(ask(authority, 'other.example')).rejects.toThrow(/altnames/i);
  const text = execFileSync('openssl', ['x509', '-noout', '-ext', 'subjectAltName'], {
    input: authority.serving.certificate,
    encoding: 'utf8',
  });
  expect(text).toContain('IP Address:0:0:0:0:0:0:0:1');
  expect(text).toContain('IP Address:10.1.2.3');
});

test('other hosts bring a new serving certificate of the same CA', async () => {
  const first = await at(start);
  const second = await at(start, ['berth.example']);
  expect(second.caCertificate).toBe(first.caCertificate);
  expect(second.serving.certificate).not.toBe(first.serving.certificate);
});

test('near its end the serving certificate is renewed, then the CA with it', async () => {
  const first = await at(start);
  const later = await at(start + 340 * day);
  expect(later.serving.certificate).not.toBe(first.serving.certificate);
  expect(later.caCertificate).toBe(first.caCertificate);
  const muchLater = await at(start + 3300 * day);
  expect(muchLater.caCertificate).not.toBe(first.caCertificate);
});

test('a clock before the CA was made is told, and changes nothing; a serving certificate of a later time is made anew', async () => {
  const { caCertificate } = await at(start);
  const files = await readdir(join(folder, 'pki'));
  const read = () => Promise.all(files.map((file) => readFile(join(folder, 'pki', file), 'utf8')));
  const before = await read();
  await expect(at(start - 30 * day)).rejects.toThrow(
    /^the clock says \S+Z, and the certificate authority in \S+ is valid from \S+Z: set the clock/,
  );
  expect(await read()).toEqual(before);
  const ahead = await at(start + 60 * day, ['berth.example']);
  const now = await at(start, ['berth.example']);
  expect(now.caCertificate).toBe(caCertificate);
  expect(now.serving.certificate).not.toBe(ahead.serving.certificate);
});

test('a running server renews by asking', async () => {
  let now = start;
  const authority = await inMemoryAuthority({ clock: { now: () => now } });
  const before = authority.serving;
  expect(await authority.renew()).toBe(false);
  now += 350 * day;
  expect(await authority.renew()).toBe(true);
  expect(authority.serving.certificate).not.toBe(before.certificate);
});

test('a key that does not belong to its certificate is replaced', async () => {
  const first = await at(start);
  await writeFile(join(folder, 'pki', 'server.key'), 'nonsense');
  const second = await at(start);
  expect(second.serving.certificate).not.toBe(first.serving.certificate);
  expect(await readFile(join(folder, 'pki', 'server.key'), 'utf8')).toBe(second.serving.key);
});

test('a first start that ended between key and certificate is begun anew, and so is a renewal', async () => {
  const [key, certificate] = [join(folder, 'pki', 'ca.key'), join(folder, 'pki', 'ca.crt')];
  const first = await at(start);
  await rm(certificate);
  const second = await at(start);
  expect(second.caCertificate).not.toBe(first.caCertificate);
  await writeFile(key, 'that of the renewed one');
  const near = start + 3300 * day;
  const third = await at(near);
  expect(third.caCertificate).not.toBe(second.caCertificate);
  expect((await at(near)).caCertificate).toBe(third.caCertificate);
});

test('a client certificate is its common name in its organizations', async () => {
  const authority = await inMemoryAuthority({ clock: { now: () => start } });
  const client = await authority.issueClient('ada', ['builders', 'system:masters']);
  expect(await ask(authority, 'localhost', client)).toEqual({
    authorized: true,
    identity: { user: 'ada', groups: ['builders', 'system:masters', 'system:authenticated'] },
  });
});

test('another CA of the same kind, and the serving certificate, prove nothing', async () => {
  const authority = await inMemoryAuthority({ clock: { now: () => start } });
  const stranger = await inMemoryAuthority({ clock: { now: () => start } });
  const client = await stranger.issueClient('ada', ['system:masters']);
  expect(await ask(authority, 'localhost', client)).toEqual({ authorized: false });
  expect((await ask(authority, 'localhost', authority.serving)).identity).toBeUndefined();
});

test('a certificate that ended while its connection lived is no longer accepted', async () => {
  const authority = await inMemoryAuthority({ clock: { now: () => start } });
  const { certificate } = await authority.issueClient('ada', [], 1);
  let now = start;
  const authenticator = new CertificateAuthenticator(() => now);
  const der = Buffer.from(certificate.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const peer = { subject: { CN: 'ada' }, raw: der };
  expect(authenticator.authenticate({}, peer)?.user).toBe('ada');
  now += 2 * day;
  expect(authenticator.authenticate({}, peer)).toBeUndefined();
});
