import { makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';
import type { Json, Session } from '../harness/session.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';

interface Asked {
  audiences?: unknown;
  expirationSeconds?: unknown;
  boundObjectRef?: unknown;
}

const tokenRequest = (spec: Asked = {}, metadata: object = {}): object => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  metadata,
  spec,
});

/** A token by what it says, without what it is signed with and what no two tokens share. */
function claims(token: string): Json {
  const { iat, exp, nbf, jti, ...rest } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { plane: _, ...bound } = rest['kubernetes.io'];
  return { ...rest, 'kubernetes.io': bound, lives: exp - iat, waits: nbf - iat, id: typeof jti };
}

const readToken = (body: Json): Json =>
  body.status?.token === undefined ? body : { ...body, status: { ...body.status, token: claims(body.status.token) } };

async function tokenOf(api: Session, path: string, spec: Asked = {}): Promise<string> {
  return (await api.quiet('POST', path, { body: tokenRequest(spec) })).body.status?.token ?? '';
}

const bearer = (token: string): { as: 'nobody'; headers: Record<string, string> } => ({
  as: 'nobody',
  headers: { authorization: `Bearer ${token}` },
});

scenario('tokens of service accounts', async (api) => {
  const namespace = await makeNamespace(api, 'accounts');
  const accounts = `${namespace}/serviceaccounts`;
  const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bound' } };
  await api.quiet('POST', accounts, { body: account('robot') });
  const token = `${accounts}/robot/token`;
  const ask = (body: object, note: string, path = token) => api.send('POST', path, { body, note, view: readToken });
  await ask(tokenRequest(), 'as it comes');
  await ask({ spec: {} }, 'no kind');
  await ask(tokenRequest({ expirationSeconds: 600, audiences: ['vault', 'other'] }), 'audiences');
  await ask(tokenRequest({ expirationSeconds: 599 }), 'too short');
  await ask(tokenRequest({ expirationSeconds: 4294967297 }), 'too long');
  await ask(tokenRequest({}, { name: 'other' }), 'another name');
  await ask(tokenRequest({}, { namespace: 'other' }), 'another namespace');
  await ask(tokenRequest(), 'no such account', `${accounts}/none/token`);
  await ask(tokenRequest({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'bound' } }), 'no such secret');
  const { body: made } = await api.quiet('POST', `${namespace}/secrets`, { body: secret });
  const bound = { kind: 'Secret', apiVersion: 'v1', name: 'bound', uid: made.metadata?.uid };
  await ask(tokenRequest({ boundObjectRef: bound }), 'bound to a secret');
  await ask(tokenRequest({ boundObjectRef: { ...bound, uid: 'other' } }), 'bound to another secret');
  await ask(tokenRequest({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }), 'bound to a pod');
  await ask(tokenRequest({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'p' } }), 'bound to a map');
  await api.get(token);
  await api.delete(token);
  await api.post(token, tokenRequest(), { as: 'alice' });

  const own = await tokenOf(api, token);
  const boundToken = await tokenOf(api, token, { boundObjectRef: bound });
  const foreign = await tokenOf(api, token, { audiences: ['vault'] });
  const self = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const withoutId = (body: Json): Json => {
    const extra = body.status?.userInfo?.extra ?? body.status?.user?.extra;
    for (const key of Object.keys(extra ?? {})) extra[key] = extra[key].length;
    return body;
  };
  const whoami = (value: string, note: string) =>
    api.send('POST', `${authentication}/selfsubjectreviews`, { body: self, note, view: withoutId, ...bearer(value) });
  await whoami(own, 'with a token');
  await whoami(foreign, 'meant for another');
  await whoami(boundToken, 'bound');
  await api.get(accounts, { ...bearer(own), note: 'no rights' });
  await api.quiet('DELETE', `${namespace}/secrets/bound`);
  await whoami(boundToken, 'what it was bound to is gone');

  const review = (value: unknown, audiences: unknown, note: string) =>
    api.send('POST', `${authentication}/tokenreviews`, {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: value, audiences } },
      note,
      view: (body) => withoutId({ ...body, spec: { ...body.spec, token: '' } }),
    });
  await review(own, undefined, 'for the server');
  await review(foreign, ['vault', 'third'], 'for another');
  await review(foreign, undefined, 'not for the server');
  await review('alice-token', undefined, 'a token of a file');
  await review('nonsense', undefined, 'no token');
  await review('', undefined, 'an empty one');
  await api.quiet('DELETE', `${accounts}/robot`);
  await whoami(own, 'its account is gone');
  await api.quiet('POST', accounts, { body: account('robot') });
  await whoami(own, 'its account is another');
});

scenario('anonymous requests', async (api) => {
  for (const path of ['/livez', '/readyz', '/healthz', '/version']) {
    await api.get(path, { as: 'nobody', view: (body) => (path === '/version' ? typeof body : body) });
  }
  for (const path of ['/', '/api', '/apis', '/metrics', '/openapi/v2', '/api/v1/namespaces', '/api/v1/namespaces/x']) {
    await api.get(path, { as: 'nobody' });
  }
  await api.get('/livez', { as: 'wrong' });
  await api.post(
    '/api/v1/namespaces',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
    { as: 'nobody' },
  );
});

scenario('aggregated roles', async (api) => {
  const role = (name: string, more: object = {}) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    ...more,
  });
  const selectors = [{ matchLabels: { part: 'yes' } }, { matchExpressions: [{ key: 'k', operator: 'Exists' }] }];
  const roles = `${rbac}/clusterroles`;
  await api.post(roles, role('collects', { aggregationRule: { clusterRoleSelectors: selectors } }));
  await api.get(`${roles}/collects`);
  await api.post(roles, role('empty', { aggregationRule: {} }));
  await api.post(
    roles,
    role('odd', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'bad key': 'x' } }] } }),
  );
  await api.patch('merge', `${roles}/collects`, { aggregationRule: null });
  await api.patch('merge', `${roles}/collects`, {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }],
  });
  for (const name of ['roleMaker', 'everything']) {
    const rule =
      name === 'everything'
        ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
        : [
            {
              verbs: ['create', 'update', 'patch', 'get'],
              apiGroups: ['rbac.authorization.k8s.io'],
              resources: ['clusterroles'],
            },
          ];
    await api.quiet('POST', roles, { body: role(name, { rules: rule }) });
  }
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'alice-makes-roles' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'roleMaker' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
  };
  await api.quiet('POST', `${rbac}/clusterrolebindings`, { body: binding });
  await api.until(`${roles}/roleMaker`, ({ status }) => status === 200);
  const collecting = role('alices', { aggregationRule: { clusterRoleSelectors: selectors } });
  await api.post(roles, collecting, { as: 'alice', note: 'without the rights of all' });
  await api.post(roles, role('alices', {}), { as: 'alice' });
  await api.patch(
    'merge',
    `${roles}/alices`,
    { aggregationRule: { clusterRoleSelectors: selectors } },
    { as: 'alice' },
  );
  for (const name of ['collects', 'alices', 'roleMaker', 'everything']) await api.quiet('DELETE', `${roles}/${name}`);
  await api.quiet('DELETE', `${rbac}/clusterrolebindings/alice-makes-roles`);
});
