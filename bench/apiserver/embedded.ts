/** Entry point: the embedded API server in a process of its own, on the folder of its one argument, until SIGTERM. */
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import {
  ApiServer,
  adminIdentity,
  defaultRoles,
  ensureAuthority,
  Lifecycle,
  lifecyclePlane,
  openStorage,
  RbacAuthorizer,
  refuseEscalation,
  reviewKinds,
  TokenAuthenticator,
  TokenStore,
} from '../../src/apiserver/index.ts';
import { createClient, systemClock, systemRandom } from '../../src/kube/index.ts';
import { ClusterRole, ClusterRoleBinding, isApiError } from '../../src/meta/index.ts';

const folder = process.argv[2]!;
const clock = systemClock;
const random = systemRandom;
const log = pino({ level: 'warn' }, pino.destination(2));
const storage = await openStorage({
  file: join(folder, 'berth.db'),
  clock,
  log: (level, message, data) => log[level](data ?? {}, message),
  procedures: [],
  onFatal: (error) => {
    throw error;
  },
});
const authority = await ensureAuthority(folder, { clock });
const tokens = await TokenStore.open(folder);
const token = await tokens.ensure('admin', adminIdentity);
const authorizer = new RbacAuthorizer(storage);
const server = new ApiServer({
  storage,
  clock,
  random,
  log,
  metrics: new Registry(),
  authorizer,
  authenticator: new TokenAuthenticator(tokens),
  reviews: reviewKinds(authorizer),
  admission: (write) => refuseEscalation(authorizer, write),
});
const lifecycle = new Lifecycle({ storage, clock, random, onError: (err, what) => log.warn({ err }, what) });
await server.openPlane({ id: 'root', path: '/', crds: [] });
await authorizer.openPlane('root');
const client = createClient({ transport: server.transport(adminIdentity), basePath: '', clock });
const roles = defaultRoles('root', 'root');
for (const role of roles.clusterRoles) await client.create(ClusterRole, role).catch(unlessThere);
for (const binding of roles.clusterRoleBindings) await client.create(ClusterRoleBinding, binding).catch(unlessThere);
await lifecycle.openPlane(lifecyclePlane(server, { id: 'root', path: '' }, clock));
const { key, certificate: cert } = authority.serving;
const { port } = await server.listen({
  host: '127.0.0.1',
  port: 0,
  tls: { key, cert, clientCa: authority.caCertificate },
});
process.once('SIGTERM', async () => {
  await lifecycle.stop();
  await server.close();
  authorizer.close();
  await storage.close();
});
process.stdout.write(`${JSON.stringify({ port, token, ca: authority.caCertificate })}\n`);

function unlessThere(error: unknown): void {
  if (!isApiError(error, 'AlreadyExists')) throw error;
}
