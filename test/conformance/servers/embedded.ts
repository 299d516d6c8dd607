import { pino } from 'pino';
import {
  ApiServer,
  type Authenticator,
  inMemoryAuthority,
  openStorage,
  RbacAuthorizer,
  refuseEscalation,
  reviewKinds,
  unionAuthenticator,
} from '../../../src/apiserver/index.ts';
import { type Identity, systemClock, systemRandom } from '../../../src/kube/index.ts';
import { type Target, tokens } from './target.ts';

const identities: Readonly<Record<string, Identity>> = {
  [`Bearer ${tokens.admin}`]: { user: 'admin', groups: ['system:masters', 'system:authenticated'] },
  [`Bearer ${tokens.alice}`]: { user: 'alice', groups: ['dev', 'system:authenticated'] },
};

/** The embedded server over HTTPS on loopback, with memory storage, RBAC and nothing else of the platform. */
export async function startEmbedded(): Promise<Target> {
  const storage = await openStorage({
    file: ':memory:',
    clock: systemClock,
    log: () => {},
    procedures: [],
    onFatal: (error) => {
      throw error;
    },
  });
  const byToken: Authenticator = {
    authenticate: (headers) => identities[String(headers.authorization)],
  };
  const authorizer = new RbacAuthorizer(storage);
  const server = new ApiServer({
    storage,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: 'warn' }, pino.destination(2)),
    authenticator: unionAuthenticator([byToken], { anonymous: true }),
    authorizer,
    reviews: reviewKinds(authorizer),
    admission: (write) => refuseEscalation(authorizer, write),
  });
  await server.openPlane({ id: 'root', path: '/', crds: [] });
  await authorizer.openPlane('root');
  const authority = await inMemoryAuthority({ clock: systemClock });
  const tls = { key: authority.serving.key, cert: authority.serving.certificate, clientCa: authority.caCertificate };
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, tls });
  return {
    name: 'berth',
    port,
    ca: authority.caCertificate,
    async stop() {
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}
