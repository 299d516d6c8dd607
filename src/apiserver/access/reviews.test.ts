import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Identity } from '../../kube/index.ts';
import type { KubeObject, PolicyRule } from '../../meta/index.ts';
import type { Storage } from '../storage/storage.ts';
import { openTestStorage } from '../testing/storage.ts';
import { defaultRoles } from './default-roles.ts';
import { adminIdentity } from './identities.ts';
import { RbacAuthorizer } from './rbac/authorizer.ts';
import { reviewKinds } from './reviews.ts';

const ada: Identity = { user: 'ada', groups: ['system:authenticated'] };
let reviews: Map<string, (spec: unknown, identity?: Identity, namespace?: string) => unknown>;

let storage: Storage;
afterEach(() => storage.close());

beforeEach(async () => {
  const reader = { verbs: ['get', 'list'], apiGroups: ['example.com'], resources: ['widgets'] };
  const objects: [string, KubeObject[]][] = [
    ['clusterroles', [...defaultRoles('hub', 'hub').clusterRoles, role('reader', [reader])]],
    ['clusterrolebindings', [...defaultRoles('hub', 'hub').clusterRoleBindings, binding()]],
  ];
  storage = await openTestStorage();
  const puts = objects.flatMap(([plural, list]) =>
    list.map((object) => ({
      key: {
        plane: 'hub',
        resource: `rbac.authorization.k8s.io/${plural}`,
        namespace: '',
        name: object.metadata.name,
      },
      encode: () => Buffer.from(JSON.stringify(object)),
    })),
  );
  await storage.commit({ puts });
  const authorizer = new RbacAuthorizer(storage);
  await authorizer.openPlane('hub');
  reviews = new Map(
    reviewKinds(authorizer).map((kind) => [
      kind.kind,
      async (spec, identity = ada, namespace = '') => {
        const object = { apiVersion: `${kind.group}/v1`, kind: kind.kind, metadata: { name: '' }, spec };
        return (
          await kind.review({ plane: 'hub', base: '/planes/hub', identity, namespace, now: 0 }, object as KubeObject)
        ).status;
      },
    ]),
  );
});

function role(name: string, rules: unknown): KubeObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules } as KubeObject;
}

function binding(): KubeObject {
  const subjects = [{ kind: 'User', name: 'ada' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' };
  return { ...role('ada-reads', undefined), kind: 'ClusterRoleBinding', roleRef, subjects } as KubeObject;
}

const list = { verb: 'list', group: 'example.com', resource: 'widgets', namespace: 'a' };

test('can-i answers for oneself, with the reason of a yes', async () => {
  const ask = reviews.get('SelfSubjectAccessReview')!;
  expect(await ask({ resourceAttributes: list })).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "ada-reads" of ClusterRole "reader" to User "ada"',
  });
  expect(await ask({ resourceAttributes: { ...list, verb: 'delete' } })).toEqual({ allowed: false });
  expect(await ask({ nonResourceAttributes: { verb: 'get', path: '/apis' } })).toMatchObject({ allowed: true });
  expect(await ask({ resourceAttributes: { ...list, verb: 'delete' } }, adminIdentity)).toEqual({ allowed: true });
});

test('and for others', async () => {
  const ask = reviews.get('SubjectAccessReview')!;
  expect(await ask({ user: 'ada', resourceAttributes: list }, adminIdentity)).toMatchObject({ allowed: true });
  expect(await ask({ user: 'bob', resourceAttributes: list }, adminIdentity)).toEqual({ allowed: false });
  expect(await ask({ user: 'bob', groups: ['system:masters'], resourceAttributes: list })).toEqual({ allowed: true });
  const local = reviews.get('LocalSubjectAccessReview')!;
  expect(await local({ user: 'ada', resourceAttributes: list }, adminIdentity, 'a')).toMatchObject({ allowed: true });
  await expect(local({ user: 'ada', resourceAttributes: list }, adminIdentity, 'b')).rejects.toThrow(
    'spec.resourceAttributes.namespace must be the namespace of the request, b',
  );
});

test.each([
  [{}, 'exactly one of'],
  [{ resourceAttributes: list, nonResourceAttributes: { verb: 'get', path: '/' } }, 'exactly one of'],
  [{ resourceAttributes: [] }, 'spec.resourceAttributes must be an object'],
  [{ resourceAttributes: { ...list, verb: 7 } }, 'spec.resourceAttributes.verb must be a string'],
])('%j is refused', async (spec, message) => {
  await expect(reviews.get('SelfSubjectAccessReview')!(spec)).rejects.toThrow(message);
});

test('can-i --list tells the rules', async () => {
  const ask = reviews.get('SelfSubjectRulesReview')!;
  const status = (await ask({ namespace: 'a' })) as { resourceRules: unknown[]; nonResourceRules: PolicyRule[] };
  expect(status.resourceRules).toContainEqual({
    verbs: ['get', 'list'],
    apiGroups: ['example.com'],
    resources: ['widgets'],
  });
  expect(status.nonResourceRules.map(({ nonResourceURLs }) => nonResourceURLs?.includes('/api'))).toEqual([
    true,
    false,
  ]);
  expect(await ask({ namespace: 'a' }, adminIdentity)).toEqual({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  });
  await expect(ask({})).rejects.toThrow('no namespace on request');
});

test('whoami tells user and groups', async () => {
  expect(await reviews.get('SelfSubjectReview')!(undefined)).toEqual({
    userInfo: { username: 'ada', groups: ['system:authenticated'] },
  });
});
