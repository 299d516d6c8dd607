import type { PlaneRole } from '../../kube/index.ts';
import type { ClusterRole, PolicyRule, Subject } from '../../meta/index.ts';
import { authenticated, masters, unauthenticated } from './identities.ts';
import { rbacGroup } from './rbac/policy.ts';
import { addRole, bindingOf, groupSubject, kubeSystemSubject, normaliseRules, type Roles } from './roles.ts';

const reads = ['get', 'list', 'watch'];
const writes = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const all = [...reads, ...writes];

const healthPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discoveryPaths = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...healthPaths];

/** What people are given in one namespace or in all: each takes in every role labelled for it. */
export type UserFacingRole = 'admin' | 'edit' | 'view';

/**
 * What every plane has from the start, as on Kubernetes: cluster-admin; admin, edit and view, for people; what everybody
 * who proved who they are may do (discovery, asking about themselves), and what nobody need prove anything for (health,
 * version); the server's own controllers. A project's plane also lets `project-<id>` do everything in it.
 */
export function defaultRoles(role: PlaneRole, name: string): Roles {
  const roles: Roles = { clusterRoles: [], clusterRoleBindings: [] };
  const everything = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ];
  addRole(roles, 'cluster-admin', everything, [groupSubject(masters)]);
  everybody(roles);
  for (const facing of ['admin', 'edit', 'view'] as const) roles.clusterRoles.push(collecting(facing));
  for (const facing of ['admin', 'edit', 'view'] as const) {
    roles.clusterRoles.push(aggregatedInto(facing, `system:aggregate-to-${facing}`, builtinRules[facing]));
  }
  ownControllers(roles);
  if (role === 'project') {
    const subject: Subject = { kind: 'User', apiGroup: rbacGroup, name: `project-${name}` };
    roles.clusterRoleBindings.push(bindingOf('berth:project-owner', 'cluster-admin', [subject]));
  }
  return roles;
}

/** A role whose rules become part of what `facing` grants. */
export function aggregatedInto(facing: UserFacingRole, name: string, rules: readonly PolicyRule[]): ClusterRole {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels: { [labelOf(facing)]: 'true' } },
    rules: normaliseRules(rules),
  };
}

function labelOf(facing: UserFacingRole): string {
  return `${rbacGroup}/aggregate-to-${facing}`;
}

/** Who may administer may edit, and who may edit may view: a role says what it takes in and what it is taken into. */
function collecting(facing: UserFacingRole): ClusterRole {
  const wider: Record<UserFacingRole, UserFacingRole | undefined> = { view: 'edit', edit: 'admin', admin: undefined };
  const into = wider[facing];
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRole',
    metadata: { name: facing, ...(into === undefined ? {} : { labels: { [labelOf(into)]: 'true' } }) },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [labelOf(facing)]: 'true' } }] },
    rules: [],
  };
}

/** Of the kinds the server has built in. Who views sees no secrets: a token in one is its account's rights. */
const builtinRules: Readonly<Record<UserFacingRole, PolicyRule[]>> = {
  view: [
    { verbs: reads, apiGroups: [''], resources: ['configmaps', 'events', 'namespaces', 'serviceaccounts'] },
    { verbs: reads, apiGroups: ['events.k8s.io'], resources: ['events'] },
  ],
  edit: [
    { verbs: reads, apiGroups: [''], resources: ['secrets'] },
    { verbs: writes, apiGroups: [''], resources: ['configmaps', 'events', 'secrets', 'serviceaccounts'] },
    { verbs: writes, apiGroups: ['events.k8s.io'], resources: ['events'] },
    { verbs: ['create'], apiGroups: [''], resources: ['serviceaccounts/token'] },
    { verbs: all, apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
  ],
  admin: [
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'] },
    { verbs: all, apiGroups: [rbacGroup], resources: ['rolebindings', 'roles'] },
  ],
};

function everybody(roles: Roles): void {
  const known = [groupSubject(authenticated)];
  const self = [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ];
  addRole(roles, 'system:discovery', [{ verbs: ['get'], nonResourceURLs: discoveryPaths }], known);
  addRole(roles, 'system:basic-user', self, known);
  const anybody = [...known, groupSubject(unauthenticated)];
  addRole(roles, 'system:public-info-viewer', [{ verbs: ['get'], nonResourceURLs: healthPaths }], anybody);
}

function ownControllers(roles: Roles): void {
  const events = { verbs: ['create', 'patch', 'update'], apiGroups: ['events.k8s.io', ''], resources: ['events'] };
  const any = { apiGroups: ['*'], resources: ['*'] };
  const controller = (account: string, rules: readonly PolicyRule[]): void =>
    addRole(roles, `system:controller:${account}`, rules, [kubeSystemSubject(account)]);
  controller('generic-garbage-collector', [
    { ...any, verbs: ['delete', 'get', 'list', 'patch', 'update', 'watch'] },
    events,
  ]);
  controller('namespace-controller', [
    { ...any, verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'] },
    { verbs: ['update'], apiGroups: [''], resources: ['namespaces/finalize', 'namespaces/status'] },
  ]);
  controller('clusterrole-aggregation-controller', [
    { verbs: ['escalate', 'list', 'patch'], apiGroups: [rbacGroup], resources: ['clusterroles'] },
  ]);
}
