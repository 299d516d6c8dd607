import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Identity } from '../../../kube/index.ts';
import type { KubeObject, PolicyRule } from '../../../meta/index.ts';
import type { Storage } from '../../storage/storage.ts';
import { openTestStorage } from '../../testing/storage.ts';
import { defaultRoles } from '../default-roles.ts';
import { adminIdentity, projectIdentity, serviceAccountIdentity } from '../identities.ts';
import type { AccessAttributes } from '../interfaces.ts';
import { reviewKinds } from '../reviews.ts';
import { RbacAuthorizer } from './authorizer.ts';
import { refuseEscalation } from './escalation.ts';

const group = 'rbac.authorization.k8s.io';
const plurals: Record<string, string> = {
  Role: 'roles',
  ClusterRole: 'clusterroles',
  RoleBinding: 'rolebindings',
  ClusterRoleBinding: 'clusterrolebindings',
};
const ada: Identity = { user: 'ada', groups: ['builders', 'system:authenticated'] };

let storage: Storage;
let authorizer: RbacAuthorizer;

beforeEach(async () => {
  storage = await openTestStorage();
  authorizer = new RbacAuthorizer(storage);
  await authorizer.openPlane('hub');
});
afterEach(async () => {
  authorizer.close();
  await storage.close();
});

function keyOf(object: KubeObject, plane: string) {
  const { name, namespace = '' } = object.metadata;
  return { plane, resource: `${group}/${plurals[object.kind]}`, namespace, name };
}

async function put(object: unknown, plane = 'hub') {
  const bytes = Buffer.from(JSON.stringify(object));
  await storage.commit({ puts: [{ key: keyOf(object as KubeObject, plane), encode: () => bytes }] });
}

async function remove(object: unknown) {
  const bytes = Buffer.from(JSON.stringify(object));
  await storage.commit({ deletes: [{ key: keyOf(object as KubeObject, 'hub'), encode: () => bytes }] });
}

const role = (name: string, rules: PolicyRule[], namespace?: string) => ({
  apiVersion: `${group}/v1`,
  kind: namespace === undefined ? 'ClusterRole' : 'Role',
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  rules,
});
const bind = (name: string, roleName: string, subject: object, namespace?: string, roleKind = 'ClusterRole') => ({
  apiVersion: `${group}/v1`,
  kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  roleRef: { apiGroup: group, kind: roleKind, name: roleName },
  subjects: [subject],
});
const user = (name: string) => ({ kind: 'User', apiGroup: group, name });

function attributes(verb: string, what: Partial<AccessAttributes> = {}): AccessAttributes {
  return {
    plane: 'hub',
    identity: ada,
    verb,
    group: 'example.com',
    resource: 'widgets',
    subresource: '',
    namespace: '',
    name: '',
    path: '',
    ...what,
  };
}
const may = (verb: string, what: Partial<AccessAttributes> = {}) =>
  authorizer.authorize(attributes(verb, what)).allowed;

const widgets = { apiGroups: ['example.com'], resources: ['widgets'] };

test('nobody may do anything until a binding says so; from its commit on it does, until it goes', async () => {
  expect(may('list')).toBe(false);
  await put(role('reader', [{ verbs: ['get', 'list'], ...widgets }]));
  expect(may('list')).toBe(false);
  const binding = bind('ada-reads', 'reader', user('ada'));
  await put(binding);
  expect(authorizer.authorize(attributes('list'))).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "ada-reads" of ClusterRole "reader" to User "ada"',
  });
  expect(may('list', { namespace: 'a' })).toBe(true);
  expect(may('delete')).toBe(false);
  expect(may('list', { plane: 'cell/x' })).toBe(false);
  await put(role('reader', [{ verbs: ['delete'], ...widgets }]));
  expect([may('list'), may('delete')]).toEqual([false, true]);
  await remove(binding);
  expect(may('delete')).toBe(false);
});

test('a binding whose subject changes leaves the one before with nothing', async () => {
  await put(role('reader', [{ verbs: ['*'], ...widgets }]));
  await put(bind('b', 'reader', user('ada')));
  await put(bind('b', 'reader', user('bob')));
  expect(may('get')).toBe(false);
  expect(may('get', { identity: { user: 'bob', groups: [] } })).toBe(true);
});

test('groups and service accounts are bound as on Kubernetes', async () => {
  await put(role('reader', [{ verbs: ['get'], ...widgets }]));
  await put(bind('g', 'reader', { kind: 'Group', apiGroup: group, name: 'builders' }, 'a'));
  await put(bind('s', 'reader', { kind: 'ServiceAccount', name: 'claims', namespace: 'berth-system' }, 'a'));
  await put(bind('all', 'reader', { kind: 'Group', apiGroup: group, name: 'system:serviceaccounts:other' }, 'b'));
  expect(may('get', { namespace: 'a' })).toBe(true);
  expect(may('get', { namespace: 'b' })).toBe(false);
  expect(may('get')).toBe(false);
  expect(may('get', { namespace: 'a', identity: serviceAccountIdentity('claims') })).toBe(true);
  expect(may('get', { namespace: 'b', identity: serviceAccountIdentity('any', 'other') })).toBe(true);
});

test('a Role counts in its own namespace only, under its own name only', async () => {
  await put(role('r', [{ verbs: ['get'], ...widgets }], 'a'));
  await put(bind('b', 'r', user('ada'), 'a', 'Role'));
  await put(bind('b', 'r', user('ada'), 'b', 'Role'));
  expect([may('get', { namespace: 'a' }), may('get', { namespace: 'b' })]).toEqual([true, false]);
});

test.each<[string, PolicyRule, Partial<AccessAttributes> & { verb?: string }, boolean]>([
  ['every verb', { verbs: ['*'], ...widgets }, { verb: 'deletecollection' }, true],
  ['every group', { verbs: ['get'], apiGroups: ['*'], resources: ['widgets'] }, {}, true],
  ['every resource', { verbs: ['get'], apiGroups: ['example.com'], resources: ['*'] }, { subresource: 'status' }, true],
  ['a resource is not its subresource', { verbs: ['get'], ...widgets }, { subresource: 'status' }, false],
  ['a subresource', { verbs: ['get'], ...widgets, resources: ['widgets/status'] }, { subresource: 'status' }, true],
  ['a subresource is not its resource', { verbs: ['get'], ...widgets, resources: ['widgets/status'] }, {}, false],
  ['a subresource of all', { verbs: ['get'], ...widgets, resources: ['*/scale'] }, { subresource: 'scale' }, true],
  ['a name', { verbs: ['get'], ...widgets, resourceNames: ['one'] }, { name: 'one' }, true],
  ['another name', { verbs: ['get'], ...widgets, resourceNames: ['one'] }, { name: 'two' }, false],
  ['no name', { verbs: ['list'], ...widgets, resourceNames: ['one'] }, { verb: 'list' }, false],
  ['another group', { verbs: ['get'], ...widgets }, { group: '' }, false],
  ['a path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, { resource: '', path: '/metrics' }, true],
  ['below a path', { verbs: ['get'], nonResourceURLs: ['/apis/*'] }, { resource: '', path: '/apis/x/v1' }, true],
  ['beside a path', { verbs: ['get'], nonResourceURLs: ['/apis/*'] }, { resource: '', path: '/apis' }, false],
  ['a path is no resource', { verbs: ['get'], nonResourceURLs: ['*'] }, {}, false],
])('rule: %s', async (_title, rule, { verb = 'get', ...what }, expected) => {
  await put(role('r', [rule]));
  await put(bind('b', 'r', user('ada')));
  // Twice: the second answer comes from what was remembered.
  expect([may(verb, what), may(verb, what)]).toEqual([expected, expected]);
});

test('the administrator may do everything everywhere, also in a plane nobody opened', () => {
  expect(may('delete', { identity: adminIdentity, plane: 'project/zeta' })).toBe(true);
});

test('a project’s user reaches only that project', async () => {
  for (const [plane, kind, name] of [
    ['project/alpha', 'project', 'alpha'],
    ['project/beta', 'project', 'beta'],
    ['hub', 'hub', 'hub'],
  ] as const) {
    const roles = defaultRoles(kind, name);
    for (const object of [...roles.clusterRoles, ...roles.clusterRoleBindings]) await put(object, plane);
    await authorizer.openPlane(plane);
  }
  const identity = projectIdentity('alpha');
  const reaches = (plane: string) => may('create', { identity, plane, namespace: 'default' });
  expect([reaches('project/alpha'), reaches('project/beta'), reaches('hub'), reaches('root')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(may('get', { identity, plane: 'hub', resource: '', path: '/apis' })).toBe(true);
  authorizer.closePlane('project/alpha');
  expect(reaches('project/alpha')).toBe(false);
});

test('bindings that were there before the plane was opened, or come while it opens, count', async () => {
  await put(role('r', [{ verbs: ['get'], ...widgets }]), 'cell/x');
  const opening = authorizer.openPlane('cell/x');
  const writing = put(bind('b', 'r', user('ada')), 'cell/x');
  await Promise.all([opening, writing]);
  expect(may('get', { plane: 'cell/x' })).toBe(true);
});

test('what was used is told apart from what was only granted; asking is no use', async () => {
  await put(role('r', [{ verbs: ['get', 'list'], ...widgets, resources: ['widgets', 'gadgets'] }]));
  await put(bind('b', 'r', user('ada')));
  const review = reviewKinds(authorizer).find((kind) => kind.kind === 'SelfSubjectAccessReview')!;
  await review.review(
    { plane: 'hub', base: '/planes/hub', identity: ada, namespace: '', now: 0 },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: { name: '' },
      spec: { resourceAttributes: { verb: 'list', group: 'example.com', resource: 'gadgets' } },
    },
  );
  may('get', { name: 'one', namespace: 'a' });
  may('get', { name: 'two' });
  may('list', { resource: 'gadgets' });
  may('delete');
  expect(authorizer.usage()).toEqual([
    { plane: 'hub', user: 'ada', verb: 'get', group: 'example.com', resource: 'widgets', path: '' },
    { plane: 'hub', user: 'ada', verb: 'list', group: 'example.com', resource: 'gadgets', path: '' },
  ]);
  expect(authorizer.refused()).toEqual([
    { plane: 'hub', user: 'ada', verb: 'delete', group: 'example.com', resource: 'widgets', path: '' },
  ]);
  expect(authorizer.unused('hub', ada)).toEqual([
    { verbs: ['get'], apiGroups: ['example.com'], resources: ['gadgets'] },
    { verbs: ['list'], apiGroups: ['example.com'], resources: ['widgets'] },
  ]);
});

test('nobody grants what they do not hold', async () => {
  await put(role('editor', [{ verbs: ['get', 'update'], ...widgets }]));
  await put(bind('b', 'editor', user('ada')));
  const write = (resource: string, object: unknown, old?: unknown) => () =>
    refuseEscalation(authorizer, {
      plane: 'hub',
      identity: ada,
      group,
      resource,
      object,
      ...(old ? { old } : {}),
    } as never);
  const held = role('less', [{ verbs: ['get'], ...widgets, resourceNames: ['one'] }]);
  const more = role('more', [{ verbs: ['get', 'delete'], ...widgets }]);
  expect(write('clusterroles', held)).not.toThrow();
  expect(write('clusterroles', more)).toThrow(
    'clusterroles.rbac.authorization.k8s.io "more" is forbidden: user "ada" (groups=["builders","system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{"verbs":["delete"],"apiGroups":["example.com"],"resources":["widgets"]}',
  );
  expect(write('clusterroles', more, more)).not.toThrow();
  expect(write('widgets', more)).not.toThrow();

  await put(more);
  expect(write('rolebindings', bind('x', 'editor', user('bob'), 'a'))).not.toThrow();
  expect(write('rolebindings', bind('x', 'more', user('bob'), 'a'))).toThrow('not currently held');
  expect(write('clusterrolebindings', bind('x', 'nothing', user('bob')))).toThrow('"nothing" not found');

  await put(
    role('binder', [{ verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['more'] }]),
  );
  await put(bind('b2', 'binder', user('ada')));
  expect(write('rolebindings', bind('x', 'more', user('bob'), 'a'))).not.toThrow();
  await put(role('escalator', [{ verbs: ['escalate'], apiGroups: [group], resources: ['clusterroles'] }]));
  await put(bind('b3', 'escalator', user('ada')));
  expect(write('clusterroles', more)).not.toThrow();
});

test('only who holds everything collects the rules of others', async () => {
  await put(role('editor', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]));
  await put(bind('b', 'editor', user('ada')));
  const write = (object: unknown, old?: unknown) => () =>
    refuseEscalation(authorizer, {
      plane: 'hub',
      identity: { user: 'ada', groups: [] },
      group,
      resource: 'clusterroles',
      object,
      ...(old ? { old } : {}),
    } as never);
  const collecting = { ...role('c', []), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } };
  // Every verb on every resource: escalate is among them.
  expect(write(collecting)).not.toThrow();
  await put(role('editor', [{ verbs: ['get', 'create'], apiGroups: ['*'], resources: ['*'] }]));
  expect(write(collecting)).toThrow(
    'clusterroles.rbac.authorization.k8s.io "c" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  );
  expect(write(role('c', []), collecting)).toThrow('must have cluster-admin privileges');
  expect(write(collecting, collecting)).not.toThrow();
  expect(write(role('c', []))).not.toThrow();
});
