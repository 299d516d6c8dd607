import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ApiServer, ensureAuthority } from '../../../src/apiserver/index.ts';
import { openTestStorage } from '../../../src/apiserver/testing/index.ts';
import {
  type Client,
  createClient,
  httpTransport,
  type Identity,
  systemClock,
  systemRandom,
  type Transport,
} from '../../../src/kube/index.ts';
import type { ConfigMap } from '../../../src/meta/index.ts';

/** The embedded API server and nothing else of the platform: one plane on one file, over TLS on loopback. */

/** A ConfigMap of namespace `default` that says who wrote it, and is as long as an object usually is. */
export function configMap(name: string, by: string, resourceVersion?: string): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    data: { by, padding: 'x'.repeat(600) },
  };
}

export const keyOf = (name: string) => ({ namespace: 'default', name });

const admin: Identity = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };
const token = 'of-the-test';
export const bearer = `Bearer ${token}`;

export interface Served {
  port: number;
  /** PEM. */
  ca: string;
}

export interface Api extends Served {
  /** As administrator, without sockets. */
  direct(): Transport;
  close(): Promise<void>;
}

export interface ApiOptions {
  /** Holds certificates and, where `inMemory` is not asked for, the database. */
  folder: string;
  inMemory?: boolean;
  /** How far back a watch may resume, in revisions. */
  historyRevisions?: number;
}

export async function startApi({ folder, inMemory, historyRevisions }: ApiOptions): Promise<Api> {
  const storage = await openTestStorage({
    file: inMemory ? ':memory:' : join(folder, 'berth.db'),
    ...(historyRevisions === undefined ? {} : { history: { revisions: historyRevisions, bytes: 2 ** 30 } }),
  });
  const server = new ApiServer({
    storage,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: 'silent' }),
    authenticator: { authenticate: (headers) => (headers.authorization === bearer ? admin : undefined) },
    authorizer: { authorize: () => ({ allowed: true }) },
  });
  await server.openPlane({ id: 'root', path: '/', crds: [] });
  const { caCertificate, serving } = await ensureAuthority(join(folder, 'pki'), { clock: systemClock });
  const tls = { key: serving.key, cert: serving.certificate };
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, tls });
  return {
    port,
    ca: caCertificate,
    direct: () => server.transport(admin),
    async close() {
      await server.close();
      await storage.close();
    },
  };
}

/** A transport with connections of its own, by way of `port` (the server's, or a proxy's in front of it). */
export function connect({ ca }: Served, port: number): Transport {
  return httpTransport({ server: `https://127.0.0.1:${port}`, ca, token });
}

export function clientOver(transport: Transport): Client {
  return createClient({ transport, basePath: '', clock: systemClock });
}

/** A folder for one test, and how to take it away. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'berth-trust-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
