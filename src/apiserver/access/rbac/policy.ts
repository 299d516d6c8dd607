import type { Identity } from '../../../kube/index.ts';
import type { KubeObject, RoleRef, Subject } from '../../../meta/index.ts';
import { type CompiledRule, sharedRules } from './rules.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** A rule and where it came from. */
export interface GrantedRule {
  readonly rule: CompiledRule;
  /** `ClusterRoleBinding "x" of ClusterRole "y"`, as kube-apiserver words it. */
  readonly origin: string;
  /** `User "x"` or `Group "y"`: as whom the identity is meant. */
  readonly to: string;
}

const account = /^system:serviceaccount:([^:]+):([^:]+)$/;

function userText({ user }: Identity): string {
  const [, namespace, name] = account.exec(user) ?? [];
  return name === undefined
    ? `User ${JSON.stringify(user)}`
    : `ServiceAccount ${JSON.stringify(`${name}/${namespace}`)}`;
}

interface Binding {
  /** '' for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly string[];
}

const noBindings: ReadonlyMap<string, Binding> = new Map();

/** The roles and bindings of one plane, indexed by who they are about. `version` rises with every change. */
export class Policy {
  version = 0;
  /** `<namespace>/<name>`; cluster roles have an empty namespace. */
  readonly #roles = new Map<string, readonly CompiledRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** `<namespace>` then `user:<name>` or `group:<name>` then binding key. */
  readonly #bySubject = new Map<string, Map<string, Map<string, Binding>>>();

  /** `resource` is the plural. Objects of other kinds are ignored. */
  put(resource: string, object: KubeObject & { rules?: unknown; roleRef?: RoleRef; subjects?: Subject[] }): void {
    const { name, namespace = '' } = object.metadata;
    if (resource === 'roles' || resource === 'clusterroles') {
      this.#roles.set(keyOf(resource, namespace, name), sharedRules(object.rules));
    } else if (resource === 'rolebindings' || resource === 'clusterrolebindings') {
      this.#unbind(keyOf(resource, namespace, name));
      this.#bind(keyOf(resource, namespace, name), bindingOf(object, namespace));
    } else return;
    this.version++;
  }

  delete(resource: string, namespace: string, name: string): void {
    const key = keyOf(resource, namespace, name);
    this.#roles.delete(key);
    this.#unbind(key);
    this.version++;
  }

  /** The rules of a role, or undefined where there is no such role. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly CompiledRule[] | undefined {
    return roleRef.kind === 'ClusterRole'
      ? this.#roles.get(keyOf('clusterroles', '', roleRef.name))
      : this.#roles.get(keyOf('roles', namespace, roleRef.name));
  }

  /** What `identity` is granted by the bindings of `namespace` ('': those of the whole plane). */
  grants(identity: Identity, namespace: string): GrantedRule[] {
    const bySubject = this.#bySubject.get(namespace);
    if (bySubject === undefined) return [];
    const granted: GrantedRule[] = [];
    for (const subject of [`user:${identity.user}`, ...identity.groups.map((group) => `group:${group}`)]) {
      for (const binding of (bySubject.get(subject) ?? noBindings).values()) {
        const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
        const where = namespace === '' ? binding.name : `${binding.name}/${namespace}`;
        const origin = `${kind} ${JSON.stringify(where)} of ${binding.roleRef.kind} ${JSON.stringify(binding.roleRef.name)}`;
        const to = subject.startsWith('group:') ? `Group ${JSON.stringify(subject.slice(6))}` : userText(identity);
        for (const rule of this.rulesOf(binding.roleRef, namespace) ?? []) granted.push({ rule, origin, to });
      }
    }
    return granted;
  }

  /** Roles that bindings of `namespace` would grant `identity` and that are not there, as errors of kube-apiserver's. */
  missingRoles(identity: Identity, namespace: string): string[] {
    const bySubject = this.#bySubject.get(namespace);
    if (bySubject === undefined) return [];
    const missing: string[] = [];
    for (const subject of [`user:${identity.user}`, ...identity.groups.map((group) => `group:${group}`)]) {
      for (const { roleRef } of (bySubject.get(subject) ?? noBindings).values()) {
        if (this.rulesOf(roleRef, namespace) !== undefined) continue;
        missing.push(`${roleRef.kind.toLowerCase()}.${rbacGroup} ${JSON.stringify(roleRef.name)} not found`);
      }
    }
    return [...new Set(missing)];
  }

  #bind(key: string, binding: Binding): void {
    this.#bindings.set(key, binding);
    const bySubject = this.#bySubject.get(binding.namespace) ?? new Map<string, Map<string, Binding>>();
    this.#bySubject.set(binding.namespace, bySubject);
    for (const subject of binding.subjects) {
      const bindings = bySubject.get(subject) ?? new Map<string, Binding>();
      bySubject.set(subject, bindings.set(key, binding));
    }
  }

  #unbind(key: string): void {
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    const bySubject = this.#bySubject.get(binding.namespace);
    for (const subject of binding.subjects) {
      const bindings = bySubject?.get(subject);
      bindings?.delete(key);
      if (bindings?.size === 0) bySubject?.delete(subject);
    }
    if (bySubject?.size === 0) this.#bySubject.delete(binding.namespace);
  }
}

function keyOf(resource: string, namespace: string, name: string): string {
  return `${resource}/${namespace}/${name}`;
}

function bindingOf(object: KubeObject & { roleRef?: RoleRef; subjects?: Subject[] }, namespace: string): Binding {
  const subjects = Array.isArray(object.subjects) ? object.subjects : [];
  return {
    namespace,
    name: object.metadata.name,
    roleRef: object.roleRef ?? { apiGroup: rbacGroup, kind: 'ClusterRole', name: '' },
    subjects: subjects.flatMap((subject) => {
      switch (subject?.kind) {
        case 'User':
          return [`user:${subject.name}`];
        case 'Group':
          return [`group:${subject.name}`];
        case 'ServiceAccount':
          // kube requires a namespace on a service account; without one the binding is about nobody.
          return subject.namespace ? [`user:system:serviceaccount:${subject.namespace}:${subject.name}`] : [];
        default:
          return [];
      }
    }),
  };
}
