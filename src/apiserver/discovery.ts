import { createHash } from 'node:crypto';
import type { ReviewKind } from './access/interfaces.ts';
import type { Plane } from './plane.ts';
import type { Served } from './served.ts';

/** The discovery documents of a plane: plain ones, and the aggregated form (KEP 3352). */

const usualVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
/** The same, in the order kube-apiserver has them in for what a CRD defines. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];

interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  storageVersionHash?: string;
}

export interface GroupVersions {
  name: string;
  /** The most preferred first. */
  versions: string[];
}

/** Every group of a plane but core, in the order they came. */
export function groupsOf(plane: Plane): GroupVersions[] {
  const groups = new Map<string, Set<string>>();
  for (const { group, version } of everything(plane)) {
    if (group === '') continue;
    const versions = groups.get(group) ?? new Set();
    groups.set(group, versions.add(version));
  }
  return [...groups].map(([name, versions]) => ({ name, versions: [...versions].sort(compareVersions) }));
}

function* everything(plane: Plane): Generator<{ group: string; version: string }> {
  for (const { resource } of plane.served()) yield resource;
  yield* plane.reviews;
}

/** Kubernetes' order of versions: stable before beta before alpha, higher numbers first, odd names last. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return right[index]! - left[index]!;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function rank(version: string): [number, number, number] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}

function apiGroup({ name, versions }: GroupVersions): object {
  const list = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] };
}

export function apiVersions(): object {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

export function apiGroupList(plane: Plane): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(plane).map(apiGroup) };
}

/** Undefined where the group is not served. */
export function apiGroupDocument(plane: Plane, name: string): object | undefined {
  const group = groupsOf(plane).find((candidate) => candidate.name === name);
  return group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) };
}

/** Undefined where the version is not served. */
export function apiResourceList(plane: Plane, group: string, version: string): object | undefined {
  const resources: ApiResource[] = [];
  for (const served of plane.served()) {
    if (served.resource.group === group && served.resource.version === version) resources.push(...entries(served));
  }
  for (const review of plane.reviews) {
    if (review.group === group && review.version === version) resources.push(reviewEntry(review));
  }
  if (resources.length === 0) return undefined;
  const groupVersion = group === '' ? version : `${group}/${version}`;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** Which form its objects are stored in, for clients that migrate them: the same where the form is. */
function storageVersionHash({ storage, storedApiVersion, resource: { kind } }: Served): string {
  const [group] = storage.split('/') as [string];
  const version = storedApiVersion.slice(storedApiVersion.indexOf('/') + 1);
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}

function entries(served: Served): ApiResource[] {
  const { resource, strategy } = served;
  const { plural, singular, namespaced, kind, shortNames, categories, subresources } = resource;
  const list: ApiResource[] = [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs: verbsOf(served),
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
      storageVersionHash: storageVersionHash(served),
    },
  ];
  const sub = (name: string, verbs: readonly string[], extra: Partial<ApiResource> = {}): void => {
    list.push({ name: `${plural}/${name}`, singularName: '', namespaced, kind, verbs, ...extra });
  };
  if (subresources.status) sub('status', statusVerbs);
  if (subresources.scale !== undefined)
    sub('scale', statusVerbs, { group: 'autoscaling', version: 'v1', kind: 'Scale' });
  for (const name of strategy.extraSubresources ?? []) sub(name, ['update']);
  for (const [name, asked] of Object.entries(strategy.asked ?? {})) sub(name, ['create'], asked);
  return list;
}

function verbsOf({ resource, strategy }: Served): readonly string[] {
  return resource.verbs ?? (strategy.custom ? customVerbs : usualVerbs);
}

function reviewEntry({ plural, kind, namespaced }: ReviewKind): ApiResource {
  return { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs: ['create'] };
}

/** apidiscovery.k8s.io APIGroupDiscoveryList: of core for `/api`, of all others for `/apis`. */
export function aggregatedDiscovery(plane: Plane, core: boolean, documentVersion: 'v2' | 'v2beta1'): object {
  const groups = core ? [{ name: '', versions: ['v1'] }] : groupsOf(plane);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${documentVersion}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => ({
        version,
        resources: discoveryResources(plane, name, version),
        freshness: 'Current',
      })),
    })),
  };
}

function discoveryResources(plane: Plane, group: string, version: string): object[] {
  const resources: object[] = [];
  for (const served of plane.served()) {
    if (served.resource.group !== group || served.resource.version !== version) continue;
    const [main, ...subs] = entries(served);
    const inOrder = served.strategy.custom ? subs : subs.sort((a, b) => (a.name < b.name ? -1 : 1));
    resources.push(discoveryResource(group, version, main!, inOrder));
  }
  for (const review of plane.reviews) {
    if (review.group === group && review.version === version) {
      resources.push(discoveryResource(group, version, reviewEntry(review), []));
    }
  }
  return resources;
}

function discoveryResource(group: string, version: string, main: ApiResource, subs: readonly ApiResource[]): object {
  const kindOf = (entry: ApiResource) => ({
    group: entry.group ?? group,
    version: entry.version ?? version,
    kind: entry.kind,
  });
  return {
    resource: main.name,
    responseKind: kindOf(main),
    scope: main.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: main.singularName,
    verbs: main.verbs,
    ...(main.shortNames === undefined ? {} : { shortNames: main.shortNames }),
    ...(main.categories === undefined ? {} : { categories: main.categories }),
    ...(subs.length === 0
      ? {}
      : {
          subresources: subs.map((entry) => ({
            subresource: entry.name.slice(main.name.length + 1),
            responseKind: kindOf(entry),
            verbs: entry.verbs,
          })),
        }),
  };
}
