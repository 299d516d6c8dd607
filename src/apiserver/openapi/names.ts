import type { ServedResource } from '../resource.ts';

/** What a document needs to know of a resource. */
export type Described = Pick<
  ServedResource,
  'group' | 'version' | 'kind' | 'plural' | 'listKind' | 'namespaced' | 'verbs' | 'subresources' | 'schema'
>;

const builtin: Record<string, string> = {
  '': 'io.k8s.api.core',
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  'rbac.authorization.k8s.io': 'io.k8s.api.rbac',
};

/** The name of a kind's schema, as Kubernetes derives it: `com.example.v1.Thing`, `io.k8s.api.core.v1.Namespace`. */
export function schemaName(group: string, version: string, kind: string): string {
  const known = Object.hasOwn(builtin, group) ? builtin[group]! : undefined;
  if (known !== undefined) return `${known}.${version}.${kind}`;
  const short = /^([a-z]+)\.k8s\.io$/.exec(group);
  if (short !== null) return `io.k8s.api.${short[1]}.${version}.${kind}`;
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

/** `api/v1` or `apis/<group>/<version>`. */
export function groupVersionPath(type: { group: string; version: string }): string {
  return type.group === '' ? `api/${type.version}` : `apis/${type.group}/${type.version}`;
}

export function gvkOf(type: { group: string; version: string; kind: string }) {
  return { group: type.group, kind: type.kind, version: type.version };
}
