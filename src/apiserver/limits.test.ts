import { request as httpsRequest } from 'node:https';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../kube/index.ts';
import type { KubeObject, Status } from '../meta/index.ts';
import { type Authority, inMemoryAuthority } from './access/index.ts';
import { admin, base, type Fixture, startServer, widget, widgets } from './testing/fixture.ts';

/** A kind whose creates wait until they are let go, so that requests can be counted while they go on. */
const waiting: ((object: KubeObject) => void)[] = [];
const slow = `${base}/apis/test.io/v1/namespaces/default/slows`;
let api: Fixture;
let authority: Authority;
let port: number;
const metrics = new Registry();

beforeAll(async () => {
  authority = await inMemoryAuthority({ clock: systemClock });
  const backing = {
    create: () => new Promise<KubeObject>((resolve) => waiting.push(resolve)),
    update: async (_: unknown, object: KubeObject) => object,
    delete: async (_: unknown, old: KubeObject) => old,
  };
  const kind = {
    group: 'test.io',
    version: 'v1',
    kind: 'Slow',
    plural: 'slows',
    namespaced: true,
    singular: 'slow',
    listKind: 'SlowList',
    shortNames: [],
    categories: [],
    schema: { type: 'object' },
    columns: [],
    subresources: { status: false },
    selectableFields: [],
  };
  api = await startServer({
    authenticator: { authenticate: () => admin },
    limits: { writesInFlight: 2, requestTimeoutMilliseconds: 1500 },
    metrics,
    plane: { aggregated: [{ kind, backing }] },
  });
  await api.server.openPlane({ id: 'root', path: '/', crds: [] });
  const tls = { key: authority.serving.key, cert: authority.serving.certificate };
  ({ port } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
});
afterAll(() => api.close());

function send(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; retryAfter?: string; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = httpsRequest(
      { host: '127.0.0.1', port, method, path, headers, ca: authority.caCertificate, agent: false },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const retryAfter = response.headers['retry-after'];
          resolve({ status: response.statusCode!, text, ...(retryAfter === undefined ? {} : { retryAfter }) });
        });
      },
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const reasonOf = (text: string) => (JSON.parse(text) as Status).reason;

it('answers 429 with Retry-After to writes over the limit, while reads go on', async () => {
  const object = (name: string) => ({ apiVersion: 'test.io/v1', kind: 'Slow', metadata: { name } });
  const first = [send('POST', slow, object('a')), send('POST', slow, object('b'))];
  await expect.poll(() => waiting.length).toBe(2);
  const third = await send('POST', widgets, widget('third'));
  expect([third.status, third.retryAfter, reasonOf(third.text)]).toEqual([429, '1', 'TooManyRequests']);
  expect((await send('GET', widgets)).status).toBe(200);
  for (const finish of waiting.splice(0)) finish({ ...object('x'), metadata: { name: 'x' } });
  expect((await Promise.all(first)).map((answer) => answer.status)).toEqual([201, 201]);
  expect((await send('POST', widgets, widget('third'))).status).toBe(201);
});

it('answers 504 to a request that takes too long', async () => {
  const answer = await send('POST', slow, { apiVersion: 'test.io/v1', kind: 'Slow', metadata: { name: 'late' } });
  expect([answer.status, reasonOf(answer.text)]).toEqual([504, 'Timeout']);
  for (const finish of waiting.splice(0)) finish(widget('late'));
});

it('counts requests at /metrics of the root, under the names Kubernetes gives them', async () => {
  await send('GET', `${widgets}/none`);
  const { text } = await send('GET', '/metrics');
  expect(text).toMatch(
    /apiserver_request_total\{plane="hub",verb="get",group="example.com",resource="widgets",subresource="",code="404"\} 1\n/,
  );
  expect((await send('GET', `${base}/metrics`)).status).toBe(404);
});

it('serves with a replaced certificate', async () => {
  const other = await inMemoryAuthority({ clock: systemClock });
  api.server.replaceCertificate({ key: other.serving.key, cert: other.serving.certificate });
  await expect(send('GET', widgets)).rejects.toThrow();
  authority = other;
  expect((await send('GET', widgets)).status).toBe(200);
});
