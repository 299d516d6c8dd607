import { pino } from 'pino';
import { type Client, planeRef, systemClock } from '../../kube/index.ts';
import { ConfigMap, type KubeObject, type ResourceType, type Stored } from '../../meta/index.ts';
import type { Storage } from '../storage/storage.ts';
import { TestServer, type TestServerOptions } from '../testing/server.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LifecyclePlane } from './plane.ts';

/** One plane `hub` on the real store and handlers, with what happens by itself in it. */
export interface TestPlane {
  storage: Storage;
  client: Client;
  lifecycle: Lifecycle;
  plane: LifecyclePlane;
  /** What was logged of failures, a line of JSON each. */
  errors: string[];
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function openTestPlane(
  options: Pick<TestServerOptions, 'clock'> & { begin?: boolean } = {},
): Promise<TestPlane> {
  const { begin = true, ...rest } = options;
  const errors: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => errors.push(line) });
  const server = await TestServer.open({ ...rest, log });
  const hub = planeRef('hub');
  const client = await (begin ? server.openPlane(hub) : server.servePlane(hub));
  const { storage, lifecycle } = server;
  return {
    storage,
    client,
    lifecycle,
    plane: server.lifecyclePlane(hub),
    errors,
    async settled() {
      // A write of the last worker is shown to the next one in a later turn of the loop.
      for (let calm = 0; calm < 5; calm = lifecycle.idle ? calm + 1 : 0) await systemClock.sleep(2);
    },
    close: () => server.close(),
  };
}

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
  const { owners = [], finalizers = [], type = ConfigMap } = options;
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
