import {
  type Client,
  createClient,
  type Identity,
  systemClock,
  systemRandom,
  type Transport,
} from '../../kube/index.ts';
import type { KubeObject, ResourceType, Stored } from '../../meta/index.ts';
import { serviceAccountIdentity } from '../access/identities.ts';
import { builtinKinds } from '../builtin/index.ts';
import { SchemaCache } from '../custom-resources.ts';
import { Handler } from '../handler.ts';
import { type ApiResponse, isStream } from '../http/message.ts';
import { Plane } from '../plane.ts';
import { defaultLimits } from '../registry/call.ts';
import { openStorage } from '../storage/index.ts';
import type { Storage } from '../storage/storage.ts';
import { Lifecycle, type LifecycleSettings } from './lifecycle.ts';
import type { LifecyclePlane } from './plane.ts';

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

export const admin: Identity = { user: 'admin', groups: ['system:masters'] };

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
  const served = new Plane({
    id: 'hub',
    path: '/planes/hub',
    project: undefined,
    builtins: builtinKinds,
    aggregated: [],
    reviews: [],
    schemas: new SchemaCache(),
  });
  const handler = new Handler({
    context: { storage, clock, random: systemRandom, limits: defaultLimits },
    authorizer: { authorize: () => ({ allowed: true }) },
    findPlane: (base: string) => (base === '/planes/hub' ? served : undefined),
    projectExists: async () => false,
    // Not asked for here: discovery documents, and the log of failures of the server itself.
    documents: undefined,
    log: { error: (fields: unknown) => errors.push(fields) },
  } as never);
  const errors: unknown[] = [];
  const clientFor = (identity: Identity) =>
    createClient({ transport: directTransport(handler, identity), basePath: '/planes/hub', clock });
  const plane: LifecyclePlane = {
    id: 'hub',
    resources: () => [...served.served()].map(({ resource }) => resource),
    client: (name) => clientFor(serviceAccountIdentity(name, 'kube-system')),
  };
  const lifecycle = new Lifecycle({
    storage,
    random: systemRandom,
    onError: (error) => errors.push(error),
    ...settings,
    clock,
  });
  const client = clientFor(admin);
  await client.create({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default' },
  } as KubeObject);
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
      await storage.close();
    },
  };
}

function directTransport(handler: Handler, identity: Identity): Transport {
  return {
    async request({ method, path, headers = {}, body }) {
      const [where = '', query = ''] = path.split('?');
      const response: ApiResponse = await handler.handle({
        method,
        path: where,
        query: new URLSearchParams(query),
        headers,
        body,
        identity,
      });
      const answer = response.body;
      return {
        status: response.status,
        headers: response.headers,
        body: isStream(answer)
          ? answer
          : (async function* () {
              yield typeof answer === 'string' ? Buffer.from(answer) : answer;
            })(),
      };
    },
    close: async () => {},
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
