import type { Client, Request } from '../../kube/index.ts';
import { isApiError, isTerminating, type KubeObject, Namespace, type Stored } from '../../meta/index.ts';
import type { ServedResource } from '../resource.ts';
import type { StorageEvent, StoredRecord } from '../storage/storage.ts';
import type { Follower } from './follow.ts';
import { type ContentState, namespaceConditions } from './namespace-conditions.ts';
import { distinctResources, type LifecyclePlane, namespaceControllerAccount } from './plane.ts';
import { type LifecycleOptions, PlaneWorkers } from './workers.ts';

const concurrency = 4;
const deletesAtOnce = 16;
/** A look without being told: what may free a namespace without deleting anything in it (a CRD that goes). */
const againMilliseconds = 15_000;
const kubernetesFinalizer = 'kubernetes';
const deletionNeedle = Buffer.from('"deletionTimestamp"');

interface PlaneState extends Follower {
  readonly plane: LifecyclePlane;
  readonly client: Client;
  /** Namespaces being deleted. */
  readonly terminating: Set<string>;
}

/**
 * Empties namespaces that are being deleted, resource by resource, waits for what finalizers hold, says on the namespace
 * what is left, and then takes the `kubernetes` finalizer off: as kube-controller-manager's namespace controller.
 */
export class NamespaceController {
  readonly #options: LifecycleOptions;
  readonly workers: PlaneWorkers<PlaneState>;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.workers = new PlaneWorkers(options, {
      concurrency,
      about: (request) => `deletion of namespace ${request.name} in ${request.plane}`,
      do: (state, request) => this.#empty(state, request),
    });
  }

  open(plane: LifecyclePlane): Follower {
    const state: PlaneState = {
      plane,
      client: plane.client(namespaceControllerAccount),
      terminating: new Set(),
      loaded: ({ key, value }: StoredRecord) => this.#take(state, { type: 'put', key, value }),
      changed: (event: StorageEvent) => this.#take(state, event),
    };
    this.workers.open(plane.id, state);
    return state;
  }

  #take(state: PlaneState, { type, key, value }: Pick<StorageEvent, 'type' | 'key' | 'value'>): void {
    const plane = state.plane.id;
    if (key.resource === '/namespaces') {
      const deleting =
        type === 'put' && Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(deletionNeedle);
      if (!deleting) state.terminating.delete(key.name);
      else if (!state.terminating.has(key.name)) {
        state.terminating.add(key.name);
        this.workers.queue.add({ plane, namespace: '', name: key.name });
      }
    } else if (type === 'delete' && state.terminating.has(key.namespace)) {
      this.workers.queue.add({ plane, namespace: '', name: key.namespace });
    }
  }

  async #empty(state: PlaneState, request: Request): Promise<void> {
    const { client } = state;
    const namespace = await client.get(Namespace, { namespace: '', name: request.name });
    if (namespace === undefined || !isTerminating(namespace)) return;
    const finalizers = namespace.spec?.finalizers ?? [];
    if (!finalizers.includes(kubernetesFinalizer)) return;

    const content = await this.#deleteContent(state, request.name);
    const emptied = content.failures.length === 0 && content.remaining.size === 0;
    // A namespace that goes at once needs no report; one that other finalizers keep shows that its content is gone.
    const report = !emptied || (namespace.metadata.finalizers?.length ?? 0) > 0;
    const current = report ? await writeConditions(client, namespace, content, this.#options.clock.now()) : namespace;
    if (!emptied) {
      if (content.failures.length > 0) throw new AggregateError(content.failures, String(content.failures[0]));
      this.workers.queue.addAfter(request, againMilliseconds);
      return;
    }
    const rest = finalizers.filter((finalizer) => finalizer !== kubernetesFinalizer);
    await client.update(Namespace, { ...current, spec: { finalizers: rest } }, { subresource: 'finalize' });
  }

  async #deleteContent(state: PlaneState, namespace: string): Promise<ContentState> {
    const content: ContentState = { failures: [], remaining: new Map(), finalizers: new Map() };
    for (const resource of distinctResources(state.plane)) {
      if (!resource.namespaced || !(resource.verbs?.includes('delete') ?? true)) continue;
      try {
        for (const object of await deleteAll(state.client, resource, namespace)) {
          count(content.remaining, `${resource.plural}.${resource.group}`);
          for (const finalizer of object.metadata.finalizers ?? []) count(content.finalizers, finalizer);
        }
      } catch (error) {
        content.failures.push(error);
      }
    }
    return content;
  }
}

/** Deletes everything of a resource in a namespace; answers what is still there after. */
async function deleteAll(client: Client, resource: ServedResource, namespace: string): Promise<Stored<KubeObject>[]> {
  const { items } = await client.list(resource, { namespace });
  if (items.length === 0) return [];
  const pending = items.filter((item) => !isTerminating(item));
  for (let start = 0; start < pending.length; start += deletesAtOnce) {
    await Promise.all(
      pending.slice(start, start + deletesAtOnce).map(async ({ metadata: { name, uid } }) => {
        const options = { preconditions: { uid }, propagationPolicy: 'Background' as const };
        try {
          await client.delete(resource, { namespace, name }, options);
        } catch (error) {
          // Another object of that name by now: the list below shows it.
          if (!isApiError(error, 'Conflict', 'NotFound')) throw error;
        }
      }),
    );
  }
  return (await client.list(resource, { namespace })).items;
}

async function writeConditions(
  client: Client,
  namespace: Stored<Namespace>,
  content: ContentState,
  now: number,
): Promise<Stored<Namespace>> {
  const before = namespace.status?.conditions;
  const conditions = namespaceConditions(before, content, now);
  if (JSON.stringify(before) === JSON.stringify(conditions)) return namespace;
  return client.update(
    Namespace,
    { ...namespace, status: { ...namespace.status, conditions } },
    { subresource: 'status' },
  );
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
