import type { Logger } from 'pino';
import type { CustomResourceDefinition, KubeObject } from '../meta/index.ts';
import { cleanupFinalizer } from './builtin/custom-resource-definitions.ts';
import type { Plane } from './plane.ts';
import type { Call } from './registry/call.ts';
import { deleteObject } from './registry/delete.ts';
import { trackManager } from './registry/managed-fields.ts';
import { modify } from './registry/update.ts';
import type { Served } from './served.ts';

/** Takes a deleted CRD's objects away, and then the CRD: kube-apiserver's finalizing controller. */
export class DefinitionCleaner {
  readonly #log: Logger;
  readonly #going = new Map<Plane, Set<string>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Starts once per CRD and plane; does nothing where the CRD has no objects to wait for any more. */
  start(call: Call, definition: CustomResourceDefinition): void {
    const { name } = definition.metadata;
    if (definition.metadata.finalizers?.includes(cleanupFinalizer) !== true) return;
    const going = this.#going.get(call.plane) ?? new Set();
    this.#going.set(call.plane, going);
    if (going.has(name)) return;
    going.add(name);
    void this.#clean(call, definition)
      .catch((error: unknown) => {
        this.#log.error({ err: error, plane: call.plane.id, definition: name }, 'removing the objects of a CRD failed');
      })
      .finally(() => going.delete(name));
  }

  async #clean(call: Call, definition: CustomResourceDefinition): Promise<void> {
    const { name } = definition.metadata;
    const resource = `${definition.spec!.group}/${definition.spec!.names.plural}`;
    const served = [...call.plane.served()].find((candidate) => candidate.storage === resource);
    // Never established: nothing can have been stored.
    if (served !== undefined) {
      await this.#deleteObjects(call, served);
      if (!(await emptied(call, resource))) return;
    }
    await modify(
      { ...call, name, namespace: '', subresource: '' },
      {
        dryRun: false,
        change: (current) => {
          const left = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
          if (left.length === 0) delete current.metadata.finalizers;
          else current.metadata.finalizers = left;
          return current;
        },
        track: (next: KubeObject, old: KubeObject) => trackManager(call, next, old, 'berth'),
      },
    );
  }

  async #deleteObjects(call: Call, served: Served): Promise<void> {
    const { records } = await call.server.storage.list({ plane: call.plane.id, resource: served.storage });
    await Promise.all(
      records.map(async ({ key }) => {
        const target = { ...call, served, namespace: key.namespace, name: key.name, subresource: '' };
        try {
          await deleteObject(target, {}, false);
        } catch (error) {
          // Somebody else took it: what counts is that it goes.
          this.#log.debug({ err: error, name: key.name }, 'an object of a deleted CRD was not deleted');
        }
      }),
    );
  }
}

/** Resolves with true once the resource has no objects, with false where the plane is closed first. */
async function emptied(call: Call, resource: string): Promise<boolean> {
  const { storage } = call.server;
  const first = await storage.list({ plane: call.plane.id, resource });
  const left = new Set(first.records.map((record) => `${record.key.namespace}/${record.key.name}`));
  if (left.size === 0) return true;
  return new Promise((resolve) => {
    const ongoing = { resource, end: () => finish(false) };
    const finish = (empty: boolean): void => {
      call.plane.ongoing.delete(ongoing);
      subscription.close();
      resolve(empty);
    };
    const subscription = storage.watch(
      { plane: call.plane.id, resource, from: first.revision },
      {
        events: (events) => {
          for (const event of events) {
            const key = `${event.key.namespace}/${event.key.name}`;
            if (event.type === 'delete') left.delete(key);
            else left.add(key);
          }
          if (left.size === 0) finish(true);
        },
        closed: () => finish(false),
      },
    );
    call.plane.ongoing.add(ongoing);
  });
}
