import { ApiError, jsonEqual, type KubeObject, type RoleRef } from '../../../meta/index.ts';
import type { AdmissionWrite } from '../../registry/call.ts';
import { isMaster } from '../authenticators.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { rbacGroup } from './policy.ts';
import { type CompiledRule, compileRules, uncovered } from './rules.ts';

type RbacObject = KubeObject & { rules?: unknown; roleRef?: RoleRef; aggregationRule?: unknown };

/** What somebody must hold to collect rules nobody has written yet. */
const everything = compileRules([
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]);

/**
 * Refuses (ApiError Forbidden) a role that grants, or a binding that hands out, what the writer does not hold: nobody
 * raises their own rights. As kube-apiserver, the verbs `escalate` (on roles) and `bind` (on the role bound) lift it, and
 * a write of a role that leaves its rules as they were is not judged again. Who writes a rule that collects others' rules
 * must hold everything. Every other kind passes. For the server's
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
    const same = (field: 'rules' | 'aggregationRule'): boolean => jsonEqual(old?.[field], object[field]);
    if (old !== undefined && same('rules') && same('aggregationRule')) return;
    if (may('escalate', resource, object.metadata.name)) return;
    wanted = compileRules(object.rules);
    if (object.aggregationRule !== undefined || old?.aggregationRule !== undefined) {
      const held = authorizer.grants(plane, identity, '').map((grant) => grant.rule);
      if (uncovered(held, everything).length > 0) {
        throw refusal(resource, object, 'must have cluster-admin privileges to use the aggregationRule');
      }
    }
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
  const who = `user ${JSON.stringify(identity.user)} (groups=${JSON.stringify(identity.groups)})`;
  throw refusal(resource, object, `${who} is attempting to grant RBAC permissions not currently held:${rules}`);
}

function refusal(resource: string, { metadata: { name } }: KubeObject, why: string): ApiError {
  const message = `${resource}.${rbacGroup} ${JSON.stringify(name)} is forbidden: ${why}`;
  return ApiError.of('Forbidden', message, { name, group: rbacGroup, kind: resource });
}
