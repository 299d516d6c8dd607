import { connect } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../kube/index.ts';
import { inMemoryAuthority } from '../access/index.ts';
import { admin, type Fixture, startServer, widgets } from '../testing/fixture.ts';

let api: Fixture;
let port: number;
let ca: string;
let sent = 0;
beforeAll(async () => {
  const authority = await inMemoryAuthority({ clock: systemClock });
  api = await startServer({
    authenticator: {
      authenticate: (headers) => (headers.authorization === 'Bearer letmein' ? admin : undefined),
    },
  });
  ca = authority.caCertificate;
  const tls = { key: authority.serving.key, cert: authority.serving.certificate, clientCa: ca };
  ({ port } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
afterAll(async () => {
  console.log(`${sent} connections with malformed bytes`);
  await api.close();
});

/** Writes the bytes over TLS, then ends its side; answers all that comes back until the server closes, or nothing more comes. */
function exchange(bytes: string, protocol = 'http/1.1'): Promise<string> {
  sent++;
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: [protocol] });
    let answer = '';
    const quiet = systemClock.after(20_000, () => {
      answer = 'nothing within 20 s';
      socket.destroy();
    });
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      quiet.cancel();
      resolve(answer);
    });
    socket.end(Buffer.from(bytes, 'latin1'));
  });
}

const good = [
  `POST ${widgets} HTTP/1.1`,
  'Host: 127.0.0.1',
  'Authorization: Bearer letmein',
  'Content-Type: application/json',
  'Content-Length: 2',
  'Connection: close',
  '',
  '{}',
].join('\r\n');
/** What comes before an answer, or in its place where the client breaks off. */
const interim = /^HTTP\/1\.1 1\d\d .*\r\n\r\n/;
const odd = fc.constantFrom(
  '',
  '\r\n',
  '\n\n',
  '\0',
  ' ',
  ':',
  '%',
  '\xff\xfe',
  'HTTP/9.9',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 999999999999\r\n',
  'Content-Length: -1\r\n',
  'Authorization: Bearer \r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade\r\n',
  'zz\r\n{}\r\n',
  '/../../',
  '?watch=1&limit=%zz',
  'x'.repeat(70_000),
);

it('malformed bytes get an answer that is none of 5xx but of HTTP itself, or a closed connection', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length), fc.nat(40), odd, async (at, removed, text) => {
      const answer = await exchange(good.slice(0, at) + text + good.slice(at + removed));
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer.replace(interim, ''))?.[1];
      // 505: the version of HTTP is the client's; 501: its method or encoding.
      expect(['4', '2', undefined, '501', '505']).toContain(status?.startsWith('5') ? status : status?.[0]);
      expect(answer).not.toContain('nothing within');
    }),
    { numRuns: 400 },
  );
  expect((await exchange(good)).split('\r\n')[0]).toMatch(/^HTTP\/1\.1 (400|422)/);
});

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** A frame as RFC 9113 has it, or nearly: its length need not be that of its payload. */
const frame = fc
  .tuple(
    fc.nat(40),
    fc.nat(12),
    fc.nat(255),
    fc.constantFrom(0, 1, 2, 3, 0x7fff_ffff),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([length, type, flags, stream, payload]) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]).toString('latin1');
  });

it('malformed frames of HTTP/2 end the connection, and no other', { timeout: 300_000 }, async () => {
  const before = sent;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(preface, preface.slice(3), ''),
      fc.array(frame, { maxLength: 8 }),
      async (begin, frames) => {
        expect(await exchange(begin + frames.join(''), 'h2')).not.toContain('nothing within');
      },
    ),
    { numRuns: 300 },
  );
  expect(sent - before).toBe(300);
  expect((await exchange(good)).split('\r\n')[0]).toMatch(/^HTTP\/1\.1 (400|422)/);
});
