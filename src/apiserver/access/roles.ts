import type { Controller, PlaneRole } from '../../kube/index.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Subject } from '../../meta/index.ts';
import { informersName, systemNamespace } from './identities.ts';
import { rbacGroup } from './rbac/policy.ts';

export interface Roles {
  clusterRoles: ClusterRole[];
  clusterRoleBindings: ClusterRoleBinding[];
}

const apiVersion = `${rbacGroup}/v1`;
const reads = ['get', 'list', 'watch'];

/**
 * The ClusterRoles and their bindings that controllers need on planes of `role`: one pair per controller that has rules
 * there (`berth:<name>`, for its service account), and one for the shared informers, who may read what any of them may.
 */
export function controllerRoles(controllers: readonly Pick<Controller, 'name' | 'rules'>[], role: PlaneRole): Roles {
  const roles: Roles = { clusterRoles: [], clusterRoleBindings: [] };
  const here = controllers
    .filter((controller) => (controller.rules[role]?.length ?? 0) > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, rules } of here) addRole(roles, `berth:${name}`, rules[role]!, [serviceAccount(name)]);
  const readable = here.flatMap(({ rules }) => rules[role]!.flatMap(readsOf));
  if (readable.length > 0) addRole(roles, `berth:${informersName}`, readable, [serviceAccount(informersName)]);
  return roles;
}

/**
 * The same rules, written one way: each list sorted and without doubles, rules over the same resources merged, verbs
 * that `*` covers left out. Two sets of rules that say the same in the same grouping are the same text.
 */
export function normaliseRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const byTarget = new Map<string, PolicyRule>();
  for (const rule of rules) {
    for (const single of splitByTarget(rule)) {
      const { verbs, ...target } = single;
      const key = JSON.stringify([target.apiGroups, target.resources, target.resourceNames, target.nonResourceURLs]);
      byTarget.set(key, { ...target, verbs: sorted([...(byTarget.get(key)?.verbs ?? []), ...verbs]) });
    }
  }
  // One resource each by now: those of a group with the same verbs (and names) go into one rule again.
  const merged = new Map<string, PolicyRule>();
  for (const rule of byTarget.values()) {
    const verbs = rule.verbs.includes('*') ? ['*'] : rule.verbs;
    const key = JSON.stringify([verbs, rule.apiGroups, rule.resourceNames, rule.nonResourceURLs === undefined]);
    const before = merged.get(key);
    merged.set(key, {
      ...(rule.apiGroups === undefined ? {} : { apiGroups: rule.apiGroups }),
      ...(rule.resources === undefined ? {} : { resources: sorted([...(before?.resources ?? []), ...rule.resources]) }),
      ...(rule.resourceNames === undefined ? {} : { resourceNames: rule.resourceNames }),
      ...(rule.nonResourceURLs === undefined
        ? {}
        : { nonResourceURLs: sorted([...(before?.nonResourceURLs ?? []), ...rule.nonResourceURLs]) }),
      verbs,
    });
  }
  return [...merged.entries()].sort(([, a], [, b]) => (sortKey(a) < sortKey(b) ? -1 : 1)).map(([, rule]) => rule);
}

function sortKey(rule: PolicyRule): string {
  return JSON.stringify([
    rule.apiGroups ?? ['~'],
    rule.resources,
    rule.nonResourceURLs,
    rule.resourceNames,
    rule.verbs,
  ]);
}

/** One rule per group and resource (or path). */
function splitByTarget(rule: PolicyRule): PolicyRule[] {
  const names = rule.resourceNames?.length ? { resourceNames: sorted(rule.resourceNames) } : {};
  const { verbs } = rule;
  const onResources = (rule.apiGroups ?? []).flatMap((apiGroup) =>
    (rule.resources ?? []).map((resource) => ({ verbs, apiGroups: [apiGroup], resources: [resource], ...names })),
  );
  return [...onResources, ...(rule.nonResourceURLs ?? []).map((path) => ({ verbs, nonResourceURLs: [path] }))];
}

function readsOf(rule: PolicyRule): PolicyRule[] {
  if (rule.resources === undefined) return [];
  const verbs = reads.filter((verb) => rule.verbs.includes(verb) || rule.verbs.includes('*'));
  // Who may only get needs no informer.
  return verbs.includes('list') || verbs.includes('watch') ? [{ ...rule, verbs }] : [];
}

function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort();
}

/** Adds a role and a binding of the same name. */
export function addRole(roles: Roles, name: string, rules: readonly PolicyRule[], subjects: Subject[]): void {
  roles.clusterRoles.push({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules: normaliseRules(rules) });
  roles.clusterRoleBindings.push(bindingOf(name, name, subjects));
}

export function bindingOf(name: string, clusterRole: string, subjects: Subject[]): ClusterRoleBinding {
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: clusterRole },
    subjects,
  };
}

function serviceAccount(name: string): Subject {
  return { kind: 'ServiceAccount', name, namespace: systemNamespace };
}

export function kubeSystemSubject(name: string): Subject {
  return { kind: 'ServiceAccount', name, namespace: 'kube-system' };
}

export function groupSubject(name: string): Subject {
  return { kind: 'Group', apiGroup: rbacGroup, name };
}
