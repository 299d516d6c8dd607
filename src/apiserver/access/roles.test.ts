import { expect, test } from 'vitest';
import { defaultRoles } from './default-roles.ts';
import { controllerRoles, normaliseRules } from './roles.ts';

const claims = {
  name: 'network-claims',
  rules: {
    cell: [
      { verbs: ['watch', 'list', 'get'], apiGroups: ['net.example'], resources: ['claims', 'interfaces'] },
      { verbs: ['patch'], apiGroups: ['net.example'], resources: ['claims/status'] },
      { verbs: ['create', 'get'], apiGroups: ['net.example'], resources: ['interfaces'] },
    ],
    project: [{ verbs: ['create'], apiGroups: ['ipam.example'], resources: ['ipclaims'] }],
  },
};
const instances = {
  name: 'compute-instances',
  rules: {
    cell: [
      { verbs: ['*'], apiGroups: ['compute.example'], resources: ['instances'] },
      { verbs: ['get'], apiGroups: [''], resources: ['namespaces'] },
    ],
  },
};

test('a controller gets a role of its own with exactly its rules, bound to its service account', () => {
  const roles = controllerRoles([claims, instances], 'cell');
  expect(roles.clusterRoles.map((role) => role.metadata.name)).toEqual([
    'berth:compute-instances',
    'berth:network-claims',
    'berth:berth-informers',
  ]);
  expect(roles.clusterRoles[1]?.rules).toEqual([
    { verbs: ['get', 'list', 'watch'], apiGroups: ['net.example'], resources: ['claims'] },
    { verbs: ['patch'], apiGroups: ['net.example'], resources: ['claims/status'] },
    { verbs: ['create', 'get', 'list', 'watch'], apiGroups: ['net.example'], resources: ['interfaces'] },
  ]);
  expect(roles.clusterRoleBindings[1]).toEqual({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'berth:network-claims' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'berth:network-claims' },
    subjects: [{ kind: 'ServiceAccount', name: 'network-claims', namespace: 'berth-system' }],
  });
});

test('the informers read what any controller lists or watches, and write nothing', () => {
  const roles = controllerRoles([claims, instances], 'cell');
  expect(roles.clusterRoles.find((role) => role.metadata.name === 'berth:berth-informers')?.rules).toEqual([
    { verbs: ['get', 'list', 'watch'], apiGroups: ['compute.example'], resources: ['instances'] },
    { verbs: ['get', 'list', 'watch'], apiGroups: ['net.example'], resources: ['claims', 'interfaces'] },
  ]);
});

test('planes of another role get other rules, and none where there are none', () => {
  expect(controllerRoles([claims, instances], 'project').clusterRoles.map((role) => role.metadata.name)).toEqual([
    'berth:network-claims',
  ]);
  expect(controllerRoles([claims, instances], 'hub')).toEqual({ clusterRoles: [], clusterRoleBindings: [] });
});

test('rules that say the same are written the same', () => {
  const one = [
    { verbs: ['list', 'get'], apiGroups: ['b', 'a'], resources: ['x'] },
    { verbs: ['get'], apiGroups: ['a'], resources: ['x'], resourceNames: ['n'] },
    { verbs: ['get'], nonResourceURLs: ['/metrics'] },
    { verbs: ['get'], nonResourceURLs: ['/livez'] },
  ];
  const other = [
    { verbs: ['get'], nonResourceURLs: ['/livez', '/metrics'] },
    { verbs: ['get'], apiGroups: ['a'], resources: ['x'], resourceNames: ['n'] },
    { verbs: ['get'], apiGroups: ['a'], resources: ['x'] },
    { verbs: ['get', 'list'], apiGroups: ['b'], resources: ['x'] },
    { verbs: ['list'], apiGroups: ['a'], resources: ['x'] },
  ];
  expect(normaliseRules(one)).toEqual(normaliseRules(other));
  expect(normaliseRules(one)).toHaveLength(4);
});

test('a project plane knows its own people and no other', () => {
  const bound = defaultRoles('project', 'alpha').clusterRoleBindings.flatMap((binding) => binding.subjects ?? []);
  expect(bound.map((subject) => subject.name)).toContain('project-alpha');
  const hub = defaultRoles('hub', 'hub').clusterRoleBindings.flatMap((binding) => binding.subjects ?? []);
  expect(hub.filter((subject) => subject.kind === 'User')).toEqual([]);
});
