import type { KubeObject, RoleRef, Subject } from '../../meta/index.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import type { Served } from '../served.ts';
import { pathSegment } from '../validation/names.ts';
import { ageColumn, builtin, list, object, string, strings } from './define.ts';

const group = 'rbac.authorization.k8s.io';

const rule = object(
  { verbs: strings, apiGroups: strings, resources: strings, resourceNames: strings, nonResourceURLs: strings },
  ['verbs'],
);

function role(kind: string, plural: string, namespaced: boolean): Served {
  return builtin({
    group,
    version: 'v1',
    kind,
    plural,
    namespaced,
    description: `${kind} is a set of rules that a binding grants.`,
    properties: {
      rules: { ...list(rule), nullable: true },
      ...(namespaced ? {} : { aggregationRule: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }),
    },
    columns: [{ name: 'Created At', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
    strategy: { nameRule: pathSegment, createOnUpdate: true },
  });
}

interface Binding extends KubeObject {
  roleRef?: RoleRef;
  subjects?: Subject[];
}

function prepareBinding(object: KubeObject): void {
  const binding = object as Binding;
  if (binding.roleRef !== undefined) {
    binding.roleRef = { ...binding.roleRef, apiGroup: binding.roleRef.apiGroup || group };
  }
  if (binding.subjects === undefined) return;
  binding.subjects = binding.subjects.map((subject) =>
    subject.kind === 'ServiceAccount' ? subject : { ...subject, apiGroup: subject.apiGroup || group },
  );
}

function validateBinding(binding: Binding, old: Binding | undefined, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { roleRef } = binding;
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (roleRef === undefined) return [fieldRequired('roleRef', '')];
  if (roleRef.apiGroup !== group) errors.push(fieldNotSupported('roleRef.apiGroup', roleRef.apiGroup, [group]));
  if (!kinds.includes(roleRef.kind)) errors.push(fieldNotSupported('roleRef.kind', roleRef.kind, kinds));
  if ((roleRef.name ?? '') === '') errors.push(fieldRequired('roleRef.name', ''));
  if (old !== undefined && JSON.stringify(sorted(roleRef)) !== JSON.stringify(sorted(old.roleRef))) {
    errors.push(fieldInvalid('roleRef', roleRef, 'cannot change roleRef'));
  }
  for (const [index, subject] of (binding.subjects ?? []).entries()) {
    const field = `subjects[${index}]`;
    if ((subject.name ?? '') === '') errors.push(fieldRequired(`${field}.name`, ''));
    if (!['ServiceAccount', 'User', 'Group'].includes(subject.kind)) {
      errors.push(fieldNotSupported(`${field}.kind`, subject.kind, ['ServiceAccount', 'User', 'Group']));
    }
    if (subject.kind === 'ServiceAccount' && !namespaced && (subject.namespace ?? '') === '') {
      errors.push(fieldRequired(`${field}.namespace`, ''));
    }
  }
  return errors;
}

function sorted(roleRef: RoleRef | undefined): unknown {
  return [roleRef?.apiGroup, roleRef?.kind, roleRef?.name];
}

function binding(kind: string, plural: string, namespaced: boolean): Served {
  return builtin({
    group,
    version: 'v1',
    kind,
    plural,
    namespaced,
    description: `${kind} grants a role to subjects.`,
    properties: {
      roleRef: object({ apiGroup: string, kind: string, name: string }, ['kind', 'name']),
      subjects: list(object({ kind: string, apiGroup: string, name: string, namespace: string }, ['kind', 'name'])),
    },
    required: ['roleRef'],
    columns: [{ name: 'Role', type: 'string', jsonPath: '.roleRef.name' }, ageColumn],
    strategy: {
      nameRule: pathSegment,
      createOnUpdate: true,
      prepareCreate: prepareBinding,
      prepareUpdate: prepareBinding,
      cells: { Role: (object) => `${(object as Binding).roleRef?.kind}/${(object as Binding).roleRef?.name}` },
      validate: (object, old) => validateBinding(object, old, namespaced),
    },
  });
}

export const rbacKinds: readonly Served[] = [
  role('Role', 'roles', true),
  role('ClusterRole', 'clusterroles', false),
  binding('RoleBinding', 'rolebindings', true),
  binding('ClusterRoleBinding', 'clusterrolebindings', false),
];
