import { hash } from 'node:crypto';
import type { Scope } from './objects.ts';

/** Roles every request fills by coming from a project: nobody writes them into `spec.scope`. */
export const impliedRoles: ReadonlySet<string> = new Set(['project', 'allProjects']);

/** 64 hex digits. The parts cannot run into each other: they are joined as JSON. */
export function digestOf(...parts: unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/**
 * Identity of a combination of roles: qualified with the project, so that equal names of two projects differ, and with
 * the UID where one is given, so that a re-created object does not inherit its predecessor's pools.
 */
export function scopeDigestOf(project: string, roles: readonly string[], scope: Scope | undefined): string {
  return digestOf(
    project,
    roles.map((role) => {
      const ref = impliedRoles.has(role) ? undefined : scope?.[role];
      return ref === undefined ? [role] : [role, ref.apiGroup ?? '', ref.kind, ref.name, ref.uid ?? ''];
    }),
  );
}

/** Digest of the address space that blocks unique within these roles lie in; '' where there are no roles: the pool's own. */
export function spaceDigestOf(project: string, roles: readonly string[], scope: Scope | undefined): string {
  return roles.length === 0 ? '' : scopeDigestOf(project, [...roles].sort(), scope);
}

/** Digest of a whole scope, whatever the order its roles were written in. */
export function wholeScopeDigest(project: string, scope: Scope | undefined): string {
  return scopeDigestOf(project, Object.keys(scope ?? {}).sort(), scope);
}

export function missingRoles(roles: Iterable<string>, scope: Scope | undefined): string[] {
  const missing = new Set<string>();
  for (const role of roles) {
    if (!impliedRoles.has(role) && (scope === undefined || !Object.hasOwn(scope, role))) missing.add(role);
  }
  return [...missing];
}

/** The part of `scope` that `roles` name; undefined where that is nothing. */
export function reduceScope(scope: Scope | undefined, roles: readonly string[]): Scope | undefined {
  const kept: Scope = {};
  for (const role of roles) {
    if (scope !== undefined && Object.hasOwn(scope, role)) kept[role] = scope[role]!;
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** `<class>[-<project>]-<scope names in role order>-<8 hex>`: lower-case, other characters as "-", at most 253. */
export function cascadePoolName(
  className: string,
  project: string,
  roles: readonly string[],
  scope: Scope | undefined,
  digest: string,
): string {
  const parts = [className];
  if (roles.includes('project')) parts.push(project);
  for (const role of roles) if (!impliedRoles.has(role)) parts.push(scope?.[role]?.name ?? '');
  const readable = parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, 253 - 9)
    .replaceAll(/^-+|-+$/g, '');
  return `${readable}-${digest.slice(0, 8)}`;
}

/** `alloc-` and 16 hex digits of who it is for: `<namespace>/<name>` of a claim. */
export function allocationName(holder: string): string {
  return `alloc-${hash('sha256', holder, 'hex').slice(0, 16)}`;
}

/** A UUID (RFC 9562 version 8) that is a function of its parts: the same request makes the same objects. */
export function uuidOf(...parts: string[]): string {
  const hex = digestOf(...parts);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
