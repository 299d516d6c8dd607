import { ApiError, type KubeObject, type RoleRef } from '../../../meta/index.ts';
import type { AdmissionWrite } from '../../registry/call.ts';
import { isMaster } from '../authenticators.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { rbacGroup } from './policy.ts';
import { type CompiledRule, compileRules, uncovered } from './rules.ts';

type RbacObject = KubeObject & { rules?: unknown; roleRef?: RoleRef };

/**
 * Refuses (ApiError Forbidden) a role that grants, or a binding that hands out, what the writer does not hold: nobody
 * raises their own rights. As kube-apiserver, the verbs `escalate` (on roles) and `bind` (on the role bound) lift it, and
 * a write of a role that leaves its rules as they were is not judged again. Every other kind passes. For the server's
 * `admission`.
 */
export function refuseEscalation(authorizer: RbacAuthorizer, write: AdmissionWrite): void {
  const { identity, resource, plane } = write;
  if (write.group !== rbacGroup || isMaster(identity)) return;
  const object = write.object as RbacObject;
  const old = write.old as RbacObject | undefined;
  const namespace = object.metadata.namespace ?? '';
  const may = (verb: string, of: string, name: string) =>
    authorizer.authorize({
      plane,
      identity,
      verb,
      group: rbacGroup,
      resource: of,
      subresource: '',
      namespace: of === 'clusterroles' && resource !== 'rolebindings' ? '' : namespace,
      name,
      path: '',
    }).allowed;

  let wanted: readonly CompiledRule[];
  if (resource === 'roles' || resource === 'clusterroles') {
    if (old !== undefined && JSON.stringify(old.rules) === JSON.stringify(object.rules)) return;
    if (may('escalate', resource, object.metadata.name)) return;
    wanted = compileRules(object.rules);
  } else if (resource === 'rolebindings' || resource === 'clusterrolebindings') {
    const { roleRef } = object;
    if (roleRef === undefined) return;
    if (may('bind', roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles', roleRef.name)) return;
    const rules = authorizer.policy(plane)?.rulesOf(roleRef, namespace);
    if (rules === undefined) {
      throw ApiError.of('NotFound', `${roleRef.kind.toLowerCase()}s.${rbacGroup} "${roleRef.name}" not found`, {
        name: roleRef.name,
        group: rbacGroup,
        kind: `${roleRef.kind.toLowerCase()}s`,
      });
    }
    wanted = rules;
  } else return;

  const held = authorizer.grants(plane, identity, namespace).map((grant) => grant.rule);
  const missing = uncovered(held, wanted);
  if (missing.length === 0) return;
  const rules = missing.map((rule) => `\n${JSON.stringify(rule)}`).join('');
  const { name } = object.metadata;
  throw ApiError.of(
    'Forbidden',
    `${resource}.${rbacGroup} ${JSON.stringify(name)} is forbidden: user ${JSON.stringify(identity.user)} (groups=${JSON.stringify(identity.groups)}) is attempting to grant RBAC permissions not currently held:${rules}`,
    { name, group: rbacGroup, kind: resource },
  );
}
