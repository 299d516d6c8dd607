import type { KubeObject, LabelSelector, RoleRef, Subject } from '../../meta/index.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import type { Served } from '../served.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { refuse } from '../validation/metadata.ts';
import { dnsSubdomain, pathSegment } from '../validation/names.ts';
import { ageColumn, builtin, list, object, string, stringMap, strings } from './define.ts';

const group = 'rbac.authorization.k8s.io';

const rule = object({
  verbs: strings,
  apiGroups: strings,
  resources: strings,
  resourceNames: strings,
  nonResourceURLs: strings,
});

const labelSelector = {
  ...object({
    matchLabels: stringMap,
    matchExpressions: list(object({ key: string, operator: string, values: strings })),
  }),
  'x-kubernetes-map-type': 'atomic',
};

interface Role extends KubeObject {
  rules?: Partial<Record<'verbs' | 'apiGroups' | 'resources' | 'resourceNames' | 'nonResourceURLs', string[]>>[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

function validateAggregation({ clusterRoleSelectors = [] }: NonNullable<Role['aggregationRule']>): FieldError[] {
  const field = 'aggregationRule.clusterRoleSelectors';
  if (clusterRoleSelectors.length === 0) {
    return [fieldRequired(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return clusterRoleSelectors.flatMap((selector, index) => {
    const place = `${field}[${index}]`;
    const errors = validateLabelSelector(selector, place);
    return errors.length === 0 ? [] : [...errors, fieldInvalid(place, null, 'invalid label selector.')];
  });
}

/** kubernetes `pkg/apis/rbac/validation`. */
function validateRole({ rules, aggregationRule }: Role, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }] of (
    rules ?? []
  ).entries()) {
    const field = `rules[${index}]`;
    if (verbs.length === 0) errors.push(fieldRequired(`${field}.verbs`, ''));
    if (nonResourceURLs.length > 0) {
      const refuse = (why: string) => errors.push(fieldInvalid(`${field}.nonResourceURLs`, nonResourceURLs, why));
      if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs');
      if (apiGroups.length + resources.length + resourceNames.length > 0) {
        refuse('rules cannot apply to both regular resources and non-resource URLs');
      }
      continue;
    }
    if (apiGroups.length === 0) {
      errors.push(fieldRequired(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (resources.length === 0) {
      errors.push(fieldRequired(`${field}.resources`, 'resource rules must supply at least one resource'));
    }
  }
  if (aggregationRule !== undefined) errors.push(...validateAggregation(aggregationRule));
  return errors;
}

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
      ...(namespaced ? {} : { aggregationRule: object({ clusterRoleSelectors: list(labelSelector) }) }),
    },
    columns: [{ name: 'Created At', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
    strategy: {
      nameRule: pathSegment,
      createOnUpdate: true,
      zero: { rules: null },
      prepareCreate: fillRules,
      prepareUpdate: fillRules,
      validate: (object) => validateRole(object as Role, namespaced),
    },
  });
}

/** No rules are null, said or not. */
function fillRules(object: KubeObject): void {
  const role = object as Role;
  if ((role.rules ?? []).length === 0) role.rules = null;
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
    subject.kind !== 'User' && subject.kind !== 'Group' ? subject : { ...subject, apiGroup: subject.apiGroup || group },
  );
}

function validateBinding(binding: Binding, old: Binding | undefined, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const roleRef = { apiGroup: '', kind: '', name: '', ...binding.roleRef };
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (roleRef.apiGroup !== group) errors.push(fieldNotSupported('roleRef.apiGroup', roleRef.apiGroup, [group]));
  if (!kinds.includes(roleRef.kind)) errors.push(fieldNotSupported('roleRef.kind', roleRef.kind, kinds));
  if (roleRef.name === '') errors.push(fieldRequired('roleRef.name', ''));
  else refuse('roleRef.name', roleRef.name, pathSegment(roleRef.name), errors);
  if (old !== undefined && JSON.stringify(sorted(binding.roleRef)) !== JSON.stringify(sorted(old.roleRef))) {
    const { apiGroup, kind, name } = roleRef;
    errors.push(fieldInvalid('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'field is immutable'));
  }
  for (const [index, subject] of (binding.subjects ?? []).entries()) {
    const field = `subjects[${index}]`;
    if ((subject.name ?? '') === '') errors.push(fieldRequired(`${field}.name`, ''));
    const { kind = '', name = '', namespace = '', apiGroup = '' } = subject as Partial<Subject>;
    if (!['ServiceAccount', 'User', 'Group'].includes(kind)) {
      errors.push(fieldNotSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
    } else if (kind !== 'ServiceAccount') {
      if (apiGroup !== group) errors.push(fieldNotSupported(`${field}.apiGroup`, apiGroup, [group]));
    } else {
      if (name !== '') refuse(`${field}.name`, name, dnsSubdomain(name), errors);
      if (apiGroup !== '') errors.push(fieldNotSupported(`${field}.apiGroup`, apiGroup, ['']));
      if (!namespaced && namespace === '') errors.push(fieldRequired(`${field}.namespace`, ''));
    }
  }
  return errors;
}

function sorted(roleRef: Partial<RoleRef> | undefined): unknown {
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
      roleRef: { ...object({ apiGroup: string, kind: string, name: string }), 'x-kubernetes-map-type': 'atomic' },
      subjects: list(object({ kind: string, apiGroup: string, name: string, namespace: string })),
    },
    columns: [{ name: 'Role', type: 'string', jsonPath: '.roleRef.name' }, ageColumn],
    strategy: {
      nameRule: pathSegment,
      createOnUpdate: true,
      zero: { roleRef: {} },
      omitEmpty: ['subjects[]'],
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
