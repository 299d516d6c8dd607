import type { Identity } from '../../kube/index.ts';
import { ApiError, formatTime, type KubeObject, type PolicyRule } from '../../meta/index.ts';
import { badRequest, fieldInvalid, invalid as refusedFields } from '../errors.ts';
import type { FieldError } from '../schema/schema.ts';
import { isMaster } from './authenticators.ts';
import type { AccessAttributes, Authorizer, ReviewKind } from './interfaces.ts';
import type { RbacAuthorizer } from './rbac/authorizer.ts';

type Fields = Record<string, unknown>;

/**
 * The kinds `kubectl auth can-i`, `auth can-i --list` and `auth whoami` ask with: authorization.k8s.io/v1
 * SelfSubjectAccessReview, SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectRulesReview and
 * authentication.k8s.io/v1 SelfSubjectReview. Answers are the authorizer's own: a question is not a use.
 */
export function reviewKinds(authorizer: Pick<RbacAuthorizer, 'grants' | 'missingRoles' | 'wouldAllow'>): ReviewKind[] {
  const access = (kind: string, plural: string, namespaced: boolean, review: ReviewKind['review']): ReviewKind => ({
    group: 'authorization.k8s.io',
    version: 'v1',
    kind,
    plural,
    namespaced,
    review,
  });
  const judge = (plane: string, identity: Identity, spec: Fields) => {
    const { allowed, reason } = authorizer.wouldAllow(attributesOf(plane, identity, spec));
    return { allowed, ...(reason !== undefined && reason !== '' ? { reason } : {}) };
  };
  return [
    access('SelfSubjectAccessReview', 'selfsubjectaccessreviews', false, ({ plane, identity }, object) =>
      withStatus(object, judge(plane, identity, specOf(object))),
    ),
    access('SubjectAccessReview', 'subjectaccessreviews', false, ({ plane }, object) =>
      withStatus(object, judge(plane, subjectOf(specOf(object)), specOf(object))),
    ),
    access('LocalSubjectAccessReview', 'localsubjectaccessreviews', true, ({ plane, namespace }, object) => {
      const spec = specOf(object);
      const asked = fieldsOf(spec.resourceAttributes, 'spec.resourceAttributes');
      if (asked === undefined) throw invalid('spec.resourceAttributes is required');
      if (asked.namespace !== namespace) {
        throw invalid(`spec.resourceAttributes.namespace must be the namespace of the request, ${namespace}`);
      }
      return withStatus(object, judge(plane, subjectOf(spec), spec));
    }),
    access('SelfSubjectRulesReview', 'selfsubjectrulesreviews', false, ({ plane, identity }, object) => {
      const { namespace } = specOf(object);
      if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request');
      return { ...object, spec: {}, status: rulesStatus(authorizer, plane, identity, namespace) } as KubeObject;
    }),
    {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'SelfSubjectReview',
      plural: 'selfsubjectreviews',
      namespaced: false,
      review: ({ identity, now }, object) =>
        withStatus(
          { ...object, metadata: { creationTimestamp: formatTime(now) } as KubeObject['metadata'] },
          {
            userInfo: {
              username: identity.user,
              ...(identity.uid === undefined ? {} : { uid: identity.uid }),
              groups: identity.groups,
              ...(identity.extra === undefined ? {} : { extra: identity.extra }),
            },
          },
        ),
    },
  ];
}

function rulesStatus(
  authorizer: Pick<RbacAuthorizer, 'grants' | 'missingRoles'>,
  plane: string,
  identity: Identity,
  namespace: string,
) {
  const missing = authorizer.missingRoles(plane, identity, namespace);
  const rules: PolicyRule[] = isMaster(identity)
    ? [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ]
    : authorizer.grants(plane, identity, namespace).map(({ rule }) => rule.source);
  return {
    resourceRules: rules
      .filter((rule) => (rule.resources?.length ?? 0) > 0)
      .map(({ verbs, apiGroups = [], resources = [], resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames === undefined ? {} : { resourceNames }),
      })),
    nonResourceRules: rules
      .filter((rule) => (rule.nonResourceURLs?.length ?? 0) > 0)
      .map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(missing.length === 0 ? {} : { evaluationError: missing.length === 1 ? missing[0] : `[${missing.join(', ')}]` }),
  };
}

function attributesOf(plane: string, identity: Identity, spec: Fields): Parameters<Authorizer['authorize']>[0] {
  const resource = fieldsOf(spec.resourceAttributes, 'spec.resourceAttributes');
  const path = fieldsOf(spec.nonResourceAttributes, 'spec.nonResourceAttributes');
  if ((resource === undefined) === (path === undefined)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const { path: its, verb } = path ?? {};
    throw refused([fieldInvalid('spec', path === undefined ? null : { Path: its, Verb: verb }, why)]);
  }
  const none = { group: '', resource: '', subresource: '', namespace: '', name: '', path: '' };
  if (path !== undefined) {
    const where = 'spec.nonResourceAttributes';
    return { plane, identity, ...none, verb: text(path, 'verb', where), path: text(path, 'path', where) };
  }
  const where = 'spec.resourceAttributes';
  const asked = resource!;
  return {
    plane,
    identity,
    verb: text(asked, 'verb', where),
    group: text(asked, 'group', where),
    resource: text(asked, 'resource', where),
    subresource: text(asked, 'subresource', where),
    namespace: text(asked, 'namespace', where),
    name: text(asked, 'name', where),
    path: '',
  } satisfies AccessAttributes;
}

function subjectOf(spec: Fields): Identity {
  const user = text(spec, 'user', 'spec');
  const groups = spec.groups ?? [];
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== 'string')) {
    throw invalid('spec.groups must be a list of strings');
  }
  if (user === '' && groups.length === 0) {
    throw refused([fieldInvalid('spec.user', '', 'at least one of user or group must be specified')]);
  }
  return { user, groups: groups as string[] };
}

function specOf(object: KubeObject): Fields {
  return fieldsOf(object.spec, 'spec') ?? {};
}

function fieldsOf(value: unknown, where: string): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(`${where} must be an object`);
  return value as Fields;
}

function text(fields: Fields, name: string, where: string): string {
  const value = fields[name] ?? '';
  if (typeof value !== 'string') throw invalid(`${where}.${name} must be a string`);
  return value;
}

function refused(errors: readonly FieldError[]): ApiError {
  return refusedFields({ group: 'authorization.k8s.io', kind: '' }, '', errors);
}

function invalid(message: string): ApiError {
  return ApiError.of('Invalid', message);
}

function withStatus(object: KubeObject, status: unknown): KubeObject {
  return { ...object, status };
}
