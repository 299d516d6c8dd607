import { pino } from 'pino';
import {
  AccountAuthenticator,
  AccountTokens,
  ApiServer,
  type Authenticator,
  inMemoryAuthority,
  Lifecycle,
  lifecyclePlane,
  RbacAuthorizer,
  refuseEscalation,
  reviewKinds,
  tokenReview,
  unionAuthenticator,
} from '../../../src/apiserver/index.ts';
import { openTestStorage } from '../../../src/apiserver/testing/index.ts';
import { type Identity, systemClock, systemRandom } from '../../../src/kube/index.ts';
import { type Target, tokens } from './target.ts';

const identities: Readonly<Record<string, Identity>> = {
  [`Bearer ${tokens.admin}`]: { user: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] },
  [`Bearer ${tokens.alice}`]: { user: 'alice', uid: 'alice-uid', groups: ['dev', 'system:authenticated'] },
};

/** The embedded server over HTTPS on loopback, with memory storage, RBAC and nothing else of the platform. */
export async function startEmbedded(): Promise<Target> {
  const storage = await openTestStorage();
  const byToken: Authenticator = {
    authenticate: (headers) => identities[String(headers.authorization)],
  };
  const accountTokens = AccountTokens.inMemory(systemClock);
  const accounts = new AccountAuthenticator(accountTokens, storage);
  const authorizer = new RbacAuthorizer(storage);
  const server = new ApiServer({
    storage,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: 'warn' }, pino.destination(2)),
    authenticator: unionAuthenticator([byToken, accounts], { anonymous: true }),
    authorizer,
    accountTokens,
    reviews: [
      ...reviewKinds(authorizer),
      tokenReview({ identify: (token) => identities[`Bearer ${token}`] }, accounts),
    ],
    admission: (write) => refuseEscalation(authorizer, write),
  });
  await server.openPlane({ id: 'root', path: '/', crds: [] });
  await authorizer.openPlane('root');
  await makeEveryonesRoles(server);
  const lifecycle = new Lifecycle({ storage, clock: systemClock, random: systemRandom });
  const authority = await inMemoryAuthority({ clock: systemClock });
  const tls = { key: authority.serving.key, cert: authority.serving.certificate, clientCa: authority.caCertificate };
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, tls });
  return {
    name: 'berth',
    port,
    ca: authority.caCertificate,
    async startControllers() {
      const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
      await grant(server, 'controllers', [everything], ['system:serviceaccounts:kube-system']);
      await lifecycle.openPlane(lifecyclePlane(server, { id: 'root', path: '/' }, systemClock));
      return true;
    },
    async stop() {
      await lifecycle.stop();
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** What a kube-apiserver lets everybody do, made as it makes it: which roles a plane starts with is the platform's choice. */
async function makeEveryonesRoles(server: ApiServer): Promise<void> {
  const get = [
    '/api',
    '/api/*',
    '/apis',
    '/apis/*',
    '/healthz',
    '/livez',
    '/openapi',
    '/openapi/*',
    '/readyz',
    '/version',
    '/version/',
  ];
  const health = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
  const reviews = {
    apiGroups: ['authorization.k8s.io'],
    verbs: ['create'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  };
  const self = { apiGroups: ['authentication.k8s.io'], verbs: ['create'], resources: ['selfsubjectreviews'] };
  const authenticated = ['system:authenticated'];
  await grant(server, 'system:discovery', [{ nonResourceURLs: get, verbs: ['get'] }], authenticated);
  await grant(server, 'system:basic-user', [reviews, self], authenticated);
  await grant(
    server,
    'system:public-info-viewer',
    [{ nonResourceURLs: health, verbs: ['get'] }],
    [...authenticated, 'system:unauthenticated'],
  );
}

async function grant(
  server: ApiServer,
  name: string,
  rules: readonly object[],
  groups: readonly string[],
): Promise<void> {
  const transport = server.transport({ user: 'admin', groups: ['system:masters', 'system:authenticated'] });
  const apiGroup = 'rbac.authorization.k8s.io';
  const head = { apiVersion: `${apiGroup}/v1`, metadata: { name } };
  const subjects = groups.map((group) => ({ kind: 'Group', apiGroup, name: group }));
  const roleRef = { kind: 'ClusterRole', apiGroup, name };
  for (const [path, object] of [
    [`${rbac}/clusterroles`, { ...head, kind: 'ClusterRole', rules }],
    [`${rbac}/clusterrolebindings`, { ...head, kind: 'ClusterRoleBinding', roleRef, subjects }],
  ] as const) {
    const headers = { 'content-type': 'application/json' };
    const { status } = await transport.request({ method: 'POST', path, headers, body: JSON.stringify(object) });
    if (status !== 201) throw new Error(`${path} ${name} was answered with ${status}`);
  }
}
