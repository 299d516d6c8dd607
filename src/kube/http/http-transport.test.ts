import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../rest/create-client.ts';
import { Thing, thing } from '../testing/scripted-server.ts';
import { httpTransport } from './http-transport.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const some of open.splice(0)) await some.close();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<{ url: string }> {
  const server: Server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function connect(options: Parameters<typeof httpTransport>[0]) {
  const transport = httpTransport(options);
  open.unshift(transport);
  return transport;
}

describe('httpTransport', () => {
  it('sends what the client says under the server’s path, as its own identity, over connections that stay', async () => {
    const seen: string[] = [];
    const ports = new Map<string, Set<number | undefined>>();
    const { url } = await serve((request, response) => {
      const { authorization = '' } = request.headers;
      ports.set(authorization, (ports.get(authorization) ?? new Set()).add(request.socket.remotePort));
      seen.push(`${request.method} ${request.url} ${authorization} ${request.headers['content-type']}`);
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end(body));
    });
    const alice = connect({ server: `${url}/planes/hub/`, token: 'alice' });
    const bob = connect({ server: `${url}/planes/hub`, token: () => 'bob' });
    for (const transport of [alice, bob, alice, bob]) {
      const client = createClient({ transport, basePath: '' });
      expect(await client.create(Thing, thing('ü'))).toEqual(thing('ü'));
    }
    const path = 'POST /planes/hub/apis/test.example/v1/namespaces/default/things';
    expect(seen.slice(0, 2)).toEqual([`${path} Bearer alice application/json`, `${path} Bearer bob application/json`]);
    expect([...ports.values()].map((some) => some.size)).toEqual([1, 1]);
    expect(new Set([...ports.values()].flatMap((some) => [...some])).size).toBe(2);
  });

  it('streams a watch as it comes, and ends the request when the loop is left', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((_, response) => {
      response.on('close', () => closed.resolve());
      response.write('{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}\n{"type":');
    });
    const client = createClient({ transport: connect({ server: url }), basePath: '' });
    for await (const event of client.watch(Thing, { resourceVersion: '0' })) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await closed.promise;
  });

  it('gives up a watch on which nothing comes any more, not even bookmarks', async () => {
    const { url } = await serve((_, response) => {
      response.write('{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}\n');
    });
    const client = createClient({ transport: connect({ server: url, watchSilenceMilliseconds: 500 }), basePath: '' });
    const seen: string[] = [];
    const watching = async () => {
      for await (const { type } of client.watch(Thing, { resourceVersion: '0' })) seen.push(type);
    };
    await expect(watching()).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
    expect(seen).toEqual(['ADDED']);
  });

  it('rejects when no answer comes: refused, broken off, aborted', async () => {
    const { url } = await serve((request) => {
      if (request.url?.includes('break')) request.socket.destroy();
    });
    const transport = connect({ server: url });
    await expect(transport.request({ method: 'GET', path: '/break' })).rejects.toThrow();
    const ending = new AbortController();
    const waiting = transport.request({ method: 'GET', path: '/hang', signal: ending.signal });
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const nobody = connect({ server: 'http://127.0.0.1:1' });
    await expect(nobody.request({ method: 'GET', path: '/' })).rejects.toThrow('ECONNREFUSED');
  });

  it('repeats a read whose connection was closed, and never a write', async () => {
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (seen.length % 2 === 1) request.socket.destroy();
      else response.end('{}');
    });
    const transport = connect({ server: url });
    expect((await transport.request({ method: 'GET', path: '/read' })).status).toBe(200);
    await expect(transport.request({ method: 'POST', path: '/write', body: '{}' })).rejects.toThrow();
    expect(seen).toEqual(['GET /read', 'GET /read', 'POST /write']);
  });

  it('refuses what is no server, and half a client certificate', () => {
    for (const server of ['localhost:6443', 'ftp://x', 'https://user@host', 'https://host?a']) {
      expect(() => httpTransport({ server })).toThrow('is not the URL of a server');
    }
    expect(() => httpTransport({ server: 'https://host', cert: 'x' })).toThrow('needs its key');
  });
});
