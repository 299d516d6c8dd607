import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { healthOf, type ReadyCheck } from '../../apiserver/index.ts';
import { ApiError } from '../../meta/index.ts';
import { cannotListen } from '../start.ts';

export interface HealthServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  readyChecks: readonly ReadyCheck[];
  metrics(): Promise<{ contentType: string; text: string }>;
}

export interface HealthServer {
  url: string;
  close(): Promise<void>;
}

/**
 * Serves `/livez`, `/readyz` and `/metrics` over HTTP, to anybody who reaches it: nothing else is there, and nothing in it is secret.
 * @throws {StartError} where the port cannot be had.
 */
export async function serveHealth(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port } = options;
  const server = createServer((request, response) => {
    answer(request.url ?? '/', options, response).catch((error: Error) => {
      const code = error instanceof ApiError ? error.status.code : 500;
      send(response, code, 'text/plain; charset=utf-8', `${error.message}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(target: string, options: HealthServerOptions, response: ServerResponse): Promise<void> {
  const [path = '/', query = ''] = target.split('?');
  if (path === '/metrics') {
    const { contentType, text } = await options.metrics();
    send(response, 200, contentType, text);
    return;
  }
  const health = healthOf(path, new URLSearchParams(query), options.readyChecks);
  if (health === undefined) send(response, 404, 'text/plain; charset=utf-8', '/livez, /readyz and /metrics are here\n');
  else send(response, health.status, health.headers['content-type']!, health.body as string);
}

function send(response: ServerResponse, code: number, contentType: string, text: string): void {
  response.writeHead(code, { 'content-type': contentType }).end(text);
}
