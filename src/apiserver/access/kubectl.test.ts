import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, systemClock, systemRandom } from '../../kube/index.ts';
import { ClusterRole, ClusterRoleBinding, type PolicyRule } from '../../meta/index.ts';
import { ApiServer } from '../server.ts';
import type { Storage } from '../storage/storage.ts';
import { openTestStorage } from '../testing/storage.ts';
import {
  AccountAuthenticator,
  AccountTokens,
  adminIdentity,
  CertificateAuthenticator,
  defaultRoles,
  ensureAuthority,
  projectIdentity,
  RbacAuthorizer,
  refuseEscalation,
  reviewKinds,
  TokenAuthenticator,
  TokenStore,
  tokenReview,
  unionAuthenticator,
  writeKubeconfig,
} from './index.ts';

const run = promisify(execFile);
const projectPath = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane';

function kubectlIsThere(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(kubectlIsThere())('kubectl against a server with authentication and RBAC', () => {
  let folder: string;
  let storage: Storage;
  let server: ApiServer;
  let authorizer: RbacAuthorizer;
  let tokens: TokenStore;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-kubectl-'));
    storage = await openTestStorage();
    tokens = await TokenStore.open(folder);
    const authority = await ensureAuthority(join(folder, 'pki'), { clock: systemClock });
    authorizer = new RbacAuthorizer(storage);
    const accountTokens = await AccountTokens.open(join(folder, 'pki'), systemClock);
    const accounts = new AccountAuthenticator(accountTokens, storage);
    server = new ApiServer({
      storage,
      clock: systemClock,
      random: systemRandom,
      log: pino({ level: 'silent' }),
      authenticator: unionAuthenticator([
        new TokenAuthenticator(tokens),
        accounts,
        new CertificateAuthenticator(() => systemClock.now()),
      ]),
      authorizer,
      accountTokens,
      reviews: [...reviewKinds(authorizer), tokenReview(tokens, accounts)],
      admission: (write) => refuseEscalation(authorizer, write),
    });
    for (const [id, path, role, name] of [
      ['hub', '/planes/hub', 'hub', 'hub'],
      ['project/alpha', projectPath, 'project', 'alpha'],
    ] as const) {
      await server.openPlane({ id, path, crds: [] });
      await authorizer.openPlane(id);
      const client = createClient({ transport: server.transport(adminIdentity), basePath: path });
      const { clusterRoles, clusterRoleBindings } = defaultRoles(role, name);
      for (const object of clusterRoles) await client.create(ClusterRole, object);
      for (const object of clusterRoleBindings) await client.create(ClusterRoleBinding, object);
    }
    const { port } = await server.listen({
      host: '127.0.0.1',
      port: 0,
      tls: { cert: authority.serving.certificate, key: authority.serving.key, clientCa: authority.caCertificate },
    });
    const alpha = { token: await tokens.ensure('project-alpha', projectIdentity('alpha')) };
    await writeKubeconfig({
      file: join(folder, 'kubeconfig'),
      server: `https://127.0.0.1:${port}`,
      caCertificate: authority.caCertificate,
      contexts: [
        { name: 'hub', path: '/planes/hub', credential: { token: await tokens.ensure('admin', adminIdentity) } },
        { name: 'project-alpha', path: projectPath, credential: alpha },
        { name: 'alpha-on-hub', path: '/planes/hub', credential: alpha },
        { name: 'nobody', path: '/planes/hub', credential: { token: '' } },
        { name: 'ada', path: '/planes/hub', credential: await authority.issueClient('ada', ['builders']) },
      ],
      current: 'hub',
    });
  });
  afterAll(async () => {
    await server.close();
    authorizer.close();
    await storage.close();
    await rm(folder, { recursive: true });
  });

  async function kubectl(context: string, ...args: string[]): Promise<string> {
    const base = ['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache')];
    try {
      const { stdout, stderr } = await run('kubectl', [...base, '--context', context, ...args]);
      return `${stdout}${stderr}`.trim();
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      return `${stdout}${stderr}`.trim();
    }
  }

  test('can-i says yes in the own project and no on the hub', async () => {
    expect(await kubectl('project-alpha', 'auth', 'can-i', 'create', 'configmaps')).toBe('yes');
    expect(await kubectl('alpha-on-hub', 'auth', 'can-i', 'create', 'configmaps')).toBe('no');
    expect(await kubectl('hub', 'auth', 'can-i', '*', '*')).toContain('yes');
  });

  test('a refusal is the text people know', async () => {
    expect(await kubectl('alpha-on-hub', 'get', 'configmaps')).toBe(
      'Error from server (Forbidden): configmaps is forbidden: User "project-alpha" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
  });

  test('a client certificate says who one is, and roles made with kubectl count at once', async () => {
    expect(await kubectl('ada', 'get', 'secrets')).toContain('User "ada" cannot list resource "secrets"');
    await kubectl('hub', 'create', 'clusterrole', 'reader', '--verb=get,list', '--resource=secrets');
    await kubectl('hub', 'create', 'rolebinding', 'builders', '--clusterrole=reader', '--group=builders');
    expect(await kubectl('ada', 'get', 'secrets')).toContain('No resources found');
    expect(await kubectl('ada', 'get', 'secrets', '-A')).toContain('at the cluster scope');
    const list = await kubectl('ada', 'auth', 'can-i', '--list');
    expect(list).toMatch(/secrets\s+\[\]\s+\[\]\s+\[get list\]/);
  });

  test('nobody gives away what they do not hold', async () => {
    const rules: PolicyRule[] = [
      { verbs: ['create', 'get'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'] },
    ];
    const client = createClient({ transport: server.transport(adminIdentity), basePath: '/planes/hub' });
    const head = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'delegate' } };
    await client.create(ClusterRole, { ...head, kind: 'ClusterRole', rules });
    await client.create(ClusterRoleBinding, {
      ...head,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'delegate' },
      subjects: [{ kind: 'User', name: 'ada' }],
    });
    const create = (verb: string) => kubectl('ada', 'create', 'role', verb, `--verb=${verb}`, '--resource=roles');
    expect(await create('get')).toContain('created');
    expect(await create('delete')).toContain('is attempting to grant RBAC permissions not currently held');
    expect(await kubectl('ada', 'create', 'rolebinding', 'up', '--clusterrole=cluster-admin', '--user=ada')).toContain(
      'not currently held',
    );
  });

  test('a service account has tokens, the rights it was given, and no others', async () => {
    await kubectl('hub', 'create', 'serviceaccount', 'ci');
    await kubectl('hub', 'create', 'rolebinding', 'ci', '--clusterrole=reader', '--serviceaccount=default:ci');
    const token = await kubectl('hub', 'create', 'token', 'ci', '--duration=1h');
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const ci = (...args: string[]) => kubectl('nobody', '--token', token, ...args);
    expect(await ci('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe(
      'system:serviceaccount:default:ci',
    );
    expect(await ci('get', 'secrets')).toContain('No resources found');
    expect(await ci('get', 'configmaps')).toContain('cannot list resource "configmaps"');
    await kubectl('hub', 'delete', 'serviceaccount', 'ci');
    expect(await ci('get', 'secrets')).toMatch(/must be logged in|Unauthorized/);
  });

  test('a revoked token no longer gets in', async () => {
    await tokens.revoke('project-alpha');
    expect(await kubectl('project-alpha', 'get', 'configmaps')).toMatch(/must be logged in|Unauthorized/);
  });
});
