// First: @peculiar/x509 refuses to load without it.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpTransport } from './http-transport.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate that vouches for itself, and its key. */
async function selfSigned(name: string): Promise<{ cert: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true),
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
      ],
    },
    webcrypto as never,
  );
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  };
}

let server: { cert: string; key: string };
let client: { cert: string; key: string };
let url: string;
let listening: ReturnType<typeof createServer>;

beforeAll(async () => {
  [server, client] = await Promise.all([selfSigned('api.test'), selfSigned('alice')]);
  listening = createServer(
    { ...server, ca: client.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket;
      response.end(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'nobody');
    },
  );
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(listening.address() as AddressInfo).port}`;
});
afterAll(() => {
  listening.closeAllConnections();
  listening.close();
});

async function ask(options: Omit<Parameters<typeof httpTransport>[0], 'server'>): Promise<string> {
  const transport = httpTransport({ server: url, ...options });
  try {
    const { body } = await transport.request({ method: 'GET', path: '/' });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    await transport.close();
  }
}

describe('httpTransport over TLS', () => {
  it('trusts the authority it was given, for the name it was given, and no other', async () => {
    expect(await ask({ ca: server.cert, serverName: 'api.test' })).toBe('nobody');
    await expect(ask({ ca: server.cert })).rejects.toThrow(/127\.0\.0\.1/);
    await expect(ask({ serverName: 'api.test' })).rejects.toThrow(/self-signed/);
    expect(await ask({ insecure: true })).toBe('nobody');
  });

  it('shows its client certificate, which another transport to the same server does not', async () => {
    const both = [
      ask({ ca: server.cert, serverName: 'api.test', ...client }),
      ask({ ca: server.cert, serverName: 'api.test' }),
    ];
    expect(await Promise.all(both)).toEqual(['alice', 'nobody']);
  });
});
