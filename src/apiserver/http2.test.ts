import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KeyPair } from './access/index.ts';
import { admin, base, bearer, type Listening, startListening, widget, widgets } from './testing/fixture.ts';

let api: Listening;
let session: ClientHttp2Session;

beforeAll(async () => {
  api = await startListening({ limits: { gzipBytes: 10_000, watchBacklogBytes: 200_000 } });
});
afterAll(() => api.close());

async function open(pair?: KeyPair): Promise<ClientHttp2Session> {
  const own = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
  const opened = connect(`https://127.0.0.1:${api.port}`, { ca: api.authority.caCertificate, ...own });
  await new Promise((resolve, reject) => {
    opened.once('connect', resolve);
    opened.once('error', reject);
  });
  return opened;
}

beforeEach(async () => {
  session = await open();
  return () => session.destroy();
});

interface Answer {
  headers: IncomingHttpHeaders;
  body: string;
}

async function ask(method: string, path: string, body?: object, over = session, more: object = {}): Promise<Answer> {
  const stream = over.request({
    ':method': method,
    ':path': path,
    ...(over === session ? { authorization: bearer } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...more,
  });
  const head = new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve));
  stream.end(body === undefined ? undefined : JSON.stringify(body));
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return { headers: await head, body: Buffer.concat(chunks).toString('utf8') };
}

/** Opens a watch on the session; `lines` grows with what arrives. */
async function watch(path: string): Promise<{ lines: string[]; until(count: number): Promise<void>; end(): void }> {
  const stream = session.request({ ':path': path, authorization: bearer });
  const lines: string[] = [];
  let rest = '';
  let wake = (): void => {};
  stream.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('utf8')).split('\n');
    rest = parts.pop()!;
    lines.push(...parts);
    wake();
  });
  await new Promise((resolve) => stream.once('response', resolve));
  return {
    lines,
    async until(count) {
      while (lines.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
    end: () => stream.close(),
  };
}

describe('over HTTP/2', () => {
  it('is chosen by who offers it, and HTTP/1.1 by who does not', async () => {
    expect(session.alpnProtocol).toBe('h2');
    const { headers } = await ask('GET', '/planes/hub/version');
    expect(headers[':status']).toBe(200);
  });

  it('creates, reads and refuses as over HTTP/1.1', async () => {
    const made = await ask('POST', widgets, widget('h2', { color: 'blue' }));
    expect([made.headers[':status'], made.headers['content-type']]).toEqual([201, 'application/json']);
    expect(JSON.parse((await ask('GET', `${widgets}/h2`)).body).spec.color).toBe('blue');
    expect((await ask('POST', widgets, widget('h2'))).headers[':status']).toBe(409);
    const unknown = await ask('POST', `${widgets}?fieldValidation=Warn`, widget('warned', { shape: 'round' }));
    expect(unknown.headers.warning).toBe('299 - "unknown field \\"spec.shape\\""');
    const large = widget('large', { color: 'x'.repeat(4 * 1024 * 1024) });
    expect((await ask('POST', widgets, large)).headers[':status']).toBe(413);
    expect((await ask('GET', `${widgets}/h2`)).headers[':status']).toBe(200);
  });

  it('knows a client by its certificate, and refuses who has none', async () => {
    const ada = await open(await api.authority.issueClient('ada', ['system:masters']));
    expect((await ask('GET', `${base}/api/v1/namespaces`, undefined, ada)).headers[':status']).toBe(200);
    ada.destroy();
    const nobody = await open();
    expect((await ask('GET', `${base}/api/v1/namespaces`, undefined, nobody)).headers[':status']).toBe(401);
    nobody.destroy();
  });

  it('carries many watches on one connection, and ends each by itself', async () => {
    const path = `${widgets}?watch=true&resourceVersion=0&labelSelector=many`;
    const watches = await Promise.all(Array.from({ length: 50 }, () => watch(path)));
    watches[0]!.end();
    for (const name of ['many-1', 'many-2']) await ask('POST', widgets, widget(name, {}, { labels: { many: '' } }));
    await Promise.all(watches.slice(1).map((each) => each.until(2)));
    for (const { lines } of watches.slice(1)) {
      expect(lines.map((line) => JSON.parse(line).object.metadata.name)).toEqual(['many-1', 'many-2']);
    }
    expect(watches[0]!.lines).toEqual([]);
  });

  it('cuts off a watch that is not read, and no other of its connection', async () => {
    const path = `${widgets}?watch=true&resourceVersion=0&labelSelector=flood`;
    const slow = session.request({ ':path': path, authorization: bearer });
    await new Promise((resolve) => slow.once('response', resolve));
    const quick = await watch(path);
    const labels = { flood: '' };
    const annotations = { text: 'x'.repeat(20_000) };
    for (let n = 0; n < 100; n++) await ask('POST', widgets, widget(`flood-${n}`, {}, { labels, annotations }));
    await quick.until(100);
    let seen = 0;
    for await (const chunk of slow) seen += String(chunk).split('\n').length - 1;
    expect(seen).toBeLessThan(100);
    expect((await ask('GET', `${widgets}/flood-99`)).headers[':status']).toBe(200);
  });

  it('ends what is going on when the server closes', async () => {
    const other = await startListening({ authenticator: { authenticate: () => admin } });
    const client = connect(`https://127.0.0.1:${other.port}`, { ca: other.authority.caCertificate });
    client.on('error', () => {});
    const stream = client.request({ ':path': `${widgets}?watch=true` });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('response', resolve));
    const gone = new Promise((resolve) => client.once('close', resolve));
    await other.close();
    await gone;
  });
});
