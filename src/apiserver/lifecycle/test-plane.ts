import { pino } from 'pino';
import { type Client, createClient, systemClock, systemRandom } from '../../kube/index.ts';
import { ClusterRole, ClusterRoleBinding, type KubeObject, type ResourceType, type Stored } from '../../meta/index.ts';
import { defaultRoles } from '../access/default-roles.ts';
import { adminIdentity } from '../access/identities.ts';
import { RbacAuthorizer } from '../access/rbac/authorizer.ts';
import { ApiServer } from '../server.ts';
import { openStorage } from '../storage/index.ts';
import type { Storage } from '../storage/storage.ts';
import { Lifecycle, type LifecycleSettings } from './lifecycle.ts';
import { type LifecyclePlane, lifecyclePlane } from './plane.ts';

/** For tests: one plane `hub` on the real store and handlers, with what happens by itself in it. */
export interface TestPlane {
  storage: Storage;
  client: Client;
  lifecycle: Lifecycle;
  plane: LifecyclePlane;
  errors: unknown[];
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function openTestPlane(
  settings: Partial<LifecycleSettings> & { begin?: boolean } = {},
): Promise<TestPlane> {
  const clock = settings.clock ?? systemClock;
  const storage = await openStorage({
    file: ':memory:',
    clock,
    log: () => {},
    procedures: [],
    onFatal: (error) => {
      throw error;
    },
  });
  const errors: unknown[] = [];
  const authorizer = new RbacAuthorizer(storage);
  const server = new ApiServer({
    storage,
    clock,
    random: systemRandom,
    log: pino({ level: 'error' }, { write: (line: string) => errors.push(line) }),
    authenticator: { authenticate: () => undefined },
    authorizer,
  });
  await server.openPlane({ id: 'hub', path: '/planes/hub', crds: [] });
  await authorizer.openPlane('hub');
  const plane = lifecyclePlane(server, { id: 'hub', path: '/planes/hub' }, clock);
  const lifecycle = new Lifecycle({
    storage,
    random: systemRandom,
    onError: (error) => errors.push(error),
    ...settings,
    clock,
  });
  const client = createClient({ transport: server.transport(adminIdentity), basePath: '/planes/hub', clock });
  const { clusterRoles, clusterRoleBindings } = defaultRoles('hub', 'hub');
  for (const role of clusterRoles) await client.create(ClusterRole, role);
  for (const binding of clusterRoleBindings) await client.create(ClusterRoleBinding, binding);
  if (settings.begin !== false) await lifecycle.openPlane(plane);
  return {
    storage,
    client,
    lifecycle,
    plane,
    errors,
    async settled() {
      // A write of the last worker is shown to the next one in a later turn of the loop.
      for (let calm = 0; calm < 5; calm = lifecycle.idle ? calm + 1 : 0) await systemClock.sleep(2);
    },
    async close() {
      await lifecycle.stop();
      await server.close();
      authorizer.close();
      await storage.close();
    },
  };
}

export const configMaps: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

export interface OwnedBy {
  owner: Stored<KubeObject>;
  block?: boolean;
}

/** Creates an object of `type`, by default a ConfigMap in namespace default, with owners and finalizers. */
export function make(
  { client }: Pick<TestPlane, 'client'>,
  name: string,
  options: { owners?: OwnedBy[]; finalizers?: string[]; namespace?: string; type?: ResourceType } = {},
): Promise<Stored<KubeObject>> {
  const { owners = [], finalizers = [], type = configMaps } = options;
  return client.create(type, {
    apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: {
      name,
      ...(type.namespaced ? { namespace: options.namespace ?? 'default' } : {}),
      finalizers,
      ownerReferences: owners.map(({ owner, block }) => ({
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        name: owner.metadata.name,
        uid: owner.metadata.uid,
        ...(block === undefined ? {} : { blockOwnerDeletion: block }),
      })),
    },
  });
}
