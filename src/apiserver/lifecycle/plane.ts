import { type Client, type Clock, createClient } from '../../kube/index.ts';
import { serviceAccountIdentity } from '../access/identities.ts';
import type { ServedResource } from '../resource.ts';
import type { ApiServer } from '../server.ts';

/** A plane as garbage collection and namespace termination see it. */
export interface LifecyclePlane {
  readonly id: string;
  /** What it serves right now, CRDs added at run time included. Of several versions of a resource, any. */
  resources(): Iterable<ServedResource>;
  /** A client under the identity `system:serviceaccount:kube-system:<serviceAccount>`. Asked for once per name. */
  client(serviceAccount: string): Client;
}

/** Plane `id` of a server, below `path` (`/` for the root plane), reached by direct calls. */
export function lifecyclePlane(
  server: Pick<ApiServer, 'resources' | 'transport'>,
  { id, path }: { id: string; path: string },
  clock: Clock,
): LifecyclePlane {
  return {
    id,
    resources: () => server.resources(id),
    client: (serviceAccount) =>
      createClient({
        transport: server.transport(serviceAccountIdentity(serviceAccount, 'kube-system')),
        basePath: path === '/' ? '' : path,
        userAgent: serviceAccount,
        clock,
      }),
  };
}

/** `<group>/<plural>`, as storage keys have it. */
export function storageResourceOf(resource: { group: string; plural: string }): string {
  return `${resource.group}/${resource.plural}`;
}

/** The resource stored under `key` (`<group>/<plural>`) in a plane, in whichever version comes first. */
export function findResource(plane: LifecyclePlane, key: string): ServedResource | undefined {
  for (const resource of plane.resources()) if (storageResourceOf(resource) === key) return resource;
  return undefined;
}

/** Each stored resource once, however many versions of it are served. */
export function distinctResources(plane: LifecyclePlane): ServedResource[] {
  const byKey = new Map<string, ServedResource>();
  for (const resource of plane.resources()) {
    const key = storageResourceOf(resource);
    if (!byKey.has(key)) byKey.set(key, resource);
  }
  return [...byKey.values()];
}

/** The service accounts these controllers act as, in namespace kube-system, as on Kubernetes. */
export const garbageCollectorAccount = 'generic-garbage-collector';
export const namespaceControllerAccount = 'namespace-controller';
