import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base, bearer, type Listening, startListening, widget, widgets } from './testing/fixture.ts';

let api: Listening;
let folder: string;

beforeAll(async () => {
  api = await startListening({ limits: { gzipBytes: 10_000 } });
  await api.server.openPlane({ id: 'root', path: '/', crds: [] });
  folder = mkdtempSync(join(tmpdir(), 'berth-listen-'));
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig()));
});

afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

function kubeconfig(): object {
  const server = `https://127.0.0.1:${api.port}${base}`;
  const ca = Buffer.from(api.authority.caCertificate).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'hub',
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'admin' } }],
    clusters: [{ name: 'hub', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'admin', user: { token: bearer.slice('Bearer '.length) } }],
  };
}

interface Raw {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

function raw(
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer; cert?: string; key?: string } = {},
): Promise<Raw> {
  const { headers = { authorization: bearer }, body, ...tls } = options;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: api.port,
        method,
        path,
        headers,
        ca: api.authority.caCertificate,
        ...tls,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const parse = (answer: Raw) => JSON.parse(answer.body.toString('utf8'));

describe('HTTPS', () => {
  it('answers 401 without credentials and with wrong ones', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const answer = await raw('GET', widgets, { headers: headers as Record<string, string> });
      expect([answer.status, parse(answer).reason]).toEqual([401, 'Unauthorized']);
    }
  });

  it('knows a client by its certificate', async () => {
    const client = await api.authority.issueClient('alice', []);
    const answer = await raw('GET', widgets, { headers: {}, cert: client.certificate, key: client.key });
    expect(answer.status).toBe(200);
  });

  it('creates, and gives warnings each a header', async () => {
    const body = JSON.stringify({ ...widget('over-https', { colour: 1 }), bogus: 1 });
    const answer = await raw('POST', widgets, {
      headers: { authorization: bearer, 'content-type': 'application/json' },
      body,
    });
    expect([answer.status, answer.headers.warning]).toEqual([
      201,
      '299 - "unknown field \\"bogus\\"", 299 - "unknown field \\"spec.colour\\""',
    ]);
  });

  it('compresses large answers for who accepts it', async () => {
    const headers = { authorization: bearer, 'accept-encoding': 'gzip' };
    const answer = await raw('GET', `${base}/openapi/v2`, { headers });
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(answer.body).toString('utf8')).swagger).toBe('2.0');
    const plain = await raw('GET', `${base}/openapi/v2`);
    expect(plain.headers['content-encoding']).toBeUndefined();
  });

  it('refuses a body over the limit with 413', async () => {
    const answer = await raw('POST', widgets, { body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) });
    expect([answer.status, parse(answer).reason]).toEqual([413, 'RequestEntityTooLarge']);
  });

  it('streams a watch line by line, and ends it with the client', async () => {
    const seen = await new Promise<string>((resolve, reject) => {
      const request = httpsRequest(
        {
          host: '127.0.0.1',
          port: api.port,
          path: `${widgets}?watch=true&fieldSelector=metadata.name%3Dstreamed`,
          headers: { authorization: bearer },
          ca: api.authority.caCertificate,
          agent: false,
        },
        (response) => {
          void api.send('POST', widgets, widget('streamed'));
          response.once('data', (chunk: Buffer) => {
            resolve(chunk.toString('utf8'));
            request.destroy();
          });
          response.on('error', () => {});
        },
      );
      request.on('error', reject);
      request.end();
    });
    expect(JSON.parse(seen)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'streamed' } } });
  });

  it('has health and metrics at the root', async () => {
    expect((await raw('GET', '/readyz')).body.toString()).toBe('ok');
  });
});

/** Every kubectl of this machine: the one on PATH, and the versions the Cloud SDK brings. */
function kubectls(): string[] {
  const found = new Set<string>();
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of entries(directory)) if (name === 'kubectl') found.add(join(directory, name));
    if (found.size > 0) break;
  }
  const sdk = '/usr/lib/google-cloud-sdk/bin';
  for (const name of entries(sdk)) if (/^kubectl\.1\.\d+$/.test(name)) found.add(join(sdk, name));
  return [...found];
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function kubectl(program: string, args: string[], input = ''): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), HOME: folder };
    const child = execFile(program, args, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` });
    });
    child.stdin!.end(input);
  });
}

const manifest = (color: string): string =>
  JSON.stringify({ ...widget('by-kubectl', { color, replicas: 2 }, { namespace: 'default' }) });

describe.each(kubectls())('%s', (program) => {
  const run = (args: string[], input?: string) => kubectl(program, args, input);

  it('applies, reads, explains, changes, and deletes a custom resource', { timeout: 120_000 }, async () => {
    expect(await run(['apply', '-f', '-'], manifest('blue'))).toEqual({
      code: 0,
      output: 'widget.example.com/by-kubectl created\n',
    });
    expect((await run(['apply', '-f', '-'], manifest('green'))).output).toBe(
      'widget.example.com/by-kubectl configured\n',
    );
    expect((await run(['get', 'wd', 'by-kubectl'])).output).toBe('NAME         COLOR   PHASE\nby-kubectl   green   \n');
    const replicas = await run(['get', 'widget', 'by-kubectl', '-o', 'jsonpath={.spec.replicas}']);
    expect(replicas.output).toBe('2');
    expect((await run(['explain', 'widgets.spec.color'])).output).toContain('color <string>');
    const typo = await run(['apply', '-f', '-'], manifest('green').replace('"color"', '"colour"'));
    expect([typo.code, typo.output.includes('unknown field "spec.colour"')]).toEqual([1, true]);
    expect((await run(['scale', 'wd', 'by-kubectl', '--replicas=5'])).output).toContain('scaled');
    expect((await run(['label', 'wd', 'by-kubectl', 'x=y'])).output).toContain('labeled');
    expect((await run(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifest('red'))).output).toContain(
      'serverside-applied',
    );
    expect((await run(['describe', 'wd', 'by-kubectl'])).output).toContain('Color:     red');
    expect((await run(['delete', 'wd', 'by-kubectl', '--timeout=30s'])).output).toContain('deleted');
    expect((await run(['get', 'wd', 'by-kubectl'])).output).toContain(
      'Error from server (NotFound): widgets.example.com "by-kubectl" not found',
    );
  });
});

describe.runIf(kubectls().length > 0)('kubectl', () => {
  const run = (args: string[], input?: string) => kubectl(kubectls()[0]!, args, input);

  it('shows events of an object, recorded through either API, and follows a watch', { timeout: 120_000 }, async () => {
    const made = (await api.send('POST', widgets, widget('eventful'))).body;
    const regarding = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      name: 'eventful',
      namespace: 'default',
      uid: made.metadata.uid,
    };
    await api.send('POST', `${base}/apis/events.k8s.io/v1/namespaces/default/events`, {
      metadata: { name: 'eventful.1' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'berth',
      reportingInstance: 'berth-0',
      action: 'Binding',
      reason: 'NewShape',
      type: 'Normal',
      note: 'told through events.k8s.io',
      regarding,
    });
    await api.send('POST', `${base}/api/v1/namespaces/default/events`, {
      metadata: { name: 'eventful.2' },
      involvedObject: regarding,
      reason: 'OldShape',
      message: 'told through core',
      type: 'Warning',
      source: { component: 'berth' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    });
    const described = (await run(['describe', 'wd', 'eventful'])).output;
    expect(described).toMatch(/Normal +NewShape .* told through events.k8s.io/);
    expect(described).toMatch(/Warning +OldShape .* told through core/);
    const events = (await run(['events', '--for', 'widget/eventful'])).output;
    expect(events).toMatch(/Warning +OldShape +Widget\/eventful +told through core/);
    const waited = run(['wait', 'wd/eventful', '--for=jsonpath={.status.phase}=Up', '--timeout=30s']);
    await api.send('PATCH', `${widgets}/eventful/status`, { status: { phase: 'Up' } }, 'application/merge-patch+json');
    expect((await waited).output).toBe('widget.example.com/eventful condition met\n');
  });

  it('creates, patches and deletes built-in kinds', { timeout: 120_000 }, async () => {
    expect((await run(['create', 'namespace', 'made'])).output).toBe('namespace/made created\n');
    expect((await run(['create', 'configmap', 'c', '--from-literal=a=b', '-n', 'made'])).output).toBe(
      'configmap/c created\n',
    );
    expect((await run(['create', 'secret', 'generic', 's', '--from-literal=a=b'])).output).toBe('secret/s created\n');
    const patch = '{"data":{"a":null,"c":"d"}}';
    expect((await run(['patch', 'configmap', 'c', '-n', 'made', '-p', patch])).output).toBe('configmap/c patched\n');
    expect((await run(['get', 'configmap', 'c', '-n', 'made', '-o', 'jsonpath={.data}'])).output).toBe('{"c":"d"}');
    expect((await run(['get', 'secret', 's', '-o', 'jsonpath={.data.a}'])).output).toBe('Yg==');
    expect((await run(['get', 'namespaces'])).output).toMatch(/^NAME +STATUS +AGE\n.*made +Active/s);
    expect((await run(['delete', 'secret', 's'])).output).toContain('deleted');
  });
});
