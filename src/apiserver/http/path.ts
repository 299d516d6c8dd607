import type { PlaneRef } from '../../kube/index.ts';

/** The URL grammar: where a plane is served, and what is below its base path. */

export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** '' for cluster scope and for all namespaces. */
  readonly namespace: string;
  /** '' for the collection. */
  readonly name: string;
  /** '' for the resource itself. */
  readonly subresource: string;
}

/**
 * Reads `/api/v1/…` and `/apis/G/V/…` that name a resource; undefined for every other path (discovery documents
 * included). `namespaces` themselves are addressed as `/api/v1/namespaces/<name>[/status|/finalize]`.
 */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path.split('/');
  // ['', 'api', 'v1', …] or ['', 'apis', G, V, …]
  let index: number;
  let group: string;
  if (parts[1] === 'api') {
    group = '';
    index = 2;
  } else if (parts[1] === 'apis') {
    group = parts[2] ?? '';
    index = 3;
    if (group === '') return undefined;
  } else {
    return undefined;
  }
  const version = parts[index++];
  if (version === undefined || version === '') return undefined;
  if (parts.at(-1) === '') parts.pop();
  const rest = parts.slice(index);
  if (rest.length === 0 || rest.length > 5 || rest.includes('')) return undefined;
  const decoded = path.includes('%') ? decodeAll(rest) : rest;
  if (decoded === undefined) return undefined;
  if (decoded[0] === 'namespaces' && decoded.length >= 3) {
    const [, name, third, fourth, fifth] = decoded as [string, string, string, string?, string?];
    if (group === '' && decoded.length === 3 && (third === 'status' || third === 'finalize')) {
      return { group, version, plural: 'namespaces', namespace: '', name, subresource: third };
    }
    return { group, version, plural: third, namespace: name, name: fourth ?? '', subresource: fifth ?? '' };
  }
  if (decoded.length > 3) return undefined;
  const [plural, name, subresource] = decoded as [string, string?, string?];
  return { group, version, plural, namespace: '', name: name ?? '', subresource: subresource ?? '' };
}

function decodeAll(parts: readonly string[]): string[] | undefined {
  try {
    return parts.map((part) => decodeURIComponent(part));
  } catch {
    return undefined;
  }
}

const projectPrefix = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/';
const projectSuffix = 'control-plane';

/** Base path of a plane's API; empty for the root plane. `splitPlanePath` is its inverse. */
export function planePath({ role, name }: Pick<PlaneRef, 'role' | 'name'>): string {
  switch (role) {
    case 'root':
      return '';
    case 'hub':
      return '/planes/hub';
    case 'cell':
      return `/planes/cells/${name}`;
    case 'project':
      return `${projectPrefix}${name}/${projectSuffix}`;
  }
}

export type PlanePath =
  | { kind: 'root'; base: ''; rest: string }
  | { kind: 'plane'; base: string; rest: string }
  | { kind: 'project'; base: string; project: string; rest: string };

/** Which plane a path is about, by its form alone, and what remains below the plane's base path. */
export function splitPlanePath(path: string): PlanePath {
  if (path.startsWith('/planes/')) {
    const parts = path.split('/', 4);
    const length = parts[2] === 'cells' ? 4 : 3;
    const base = parts.slice(0, length).join('/');
    return { kind: 'plane', base, rest: path.slice(base.length) || '/' };
  }
  if (path.startsWith(projectPrefix)) {
    const end = path.indexOf('/', projectPrefix.length);
    if (end > 0 && path.startsWith(projectSuffix, end + 1)) {
      const after = end + 1 + projectSuffix.length;
      if (after === path.length || path[after] === '/') {
        const project = path.slice(projectPrefix.length, end);
        return { kind: 'project', base: path.slice(0, after), project, rest: path.slice(after) || '/' };
      }
    }
  }
  return { kind: 'root', base: '', rest: path };
}
