import type { Identity } from '../../kube/index.ts';

/** Names and groups with a meaning of their own, as Kubernetes has them. */
export const authenticated = 'system:authenticated';
export const unauthenticated = 'system:unauthenticated';
export const masters = 'system:masters';
export const systemNamespace = 'berth-system';
/** The user the shared informers of controllers read as (`kube/`'s `Controller.rules`). */
export const informersName = 'berth-informers';

/** The administrator of the whole platform: every plane, everything. */
export const adminIdentity: Identity = Object.freeze({ user: 'admin', groups: [masters, authenticated] });

/** The people of one project; its plane binds `project-<id>` to cluster-admin, no other plane knows the name. */
export function projectIdentity(project: string): Identity {
  return { user: `project-${project}`, groups: [authenticated] };
}

export function serviceAccountIdentity(name: string, namespace = systemNamespace): Identity {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticated],
  };
}

/** `identity` with the group everybody who proved who they are is in. */
export function withAuthenticated(identity: Identity): Identity {
  if (identity.groups.includes(authenticated) || identity.groups.includes(unauthenticated)) return identity;
  return { ...identity, groups: [...identity.groups, authenticated] };
}
