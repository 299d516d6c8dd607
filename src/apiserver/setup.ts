import { ApiError, type CustomResourceDefinition, jsonEqual, type KubeObject } from '../meta/index.ts';
import { customResourceDefinitions, namespaces } from './builtin/index.ts';
import { decode } from './codec.ts';
import type { ApiRequest } from './http/message.ts';
import type { Plane } from './plane.ts';
import type { Call, ServerContext } from './registry/call.ts';
import { createObject } from './registry/create.ts';
import { trackManager } from './registry/managed-fields.ts';
import { prepareCreate } from './registry/prepare.ts';
import { modify } from './registry/update.ts';
import type { Served } from './served.ts';

const manager = 'berth';
const identity = { user: 'system:apiserver', groups: ['system:masters'] };
const startingNamespaces = ['default', 'kube-system'];

/** Gives a plane what every plane has, in its store. Goes through the registry like any write. */
export class Setup {
  readonly #context: ServerContext;

  constructor(context: ServerContext) {
    this.#context = context;
  }

  async run(plane: Plane, crds: readonly CustomResourceDefinition[]): Promise<void> {
    const call = this.#call(plane, customResourceDefinitions, '');
    const stored = await this.#context.storage.list({ plane: plane.id, resource: customResourceDefinitions.storage });
    for (const record of stored.records) {
      const definition = decode(customResourceDefinitions, record.value, record.revision) as CustomResourceDefinition;
      plane.define(definition, record.revision);
      if (definition.metadata.deletionTimestamp !== undefined) this.#context.definitionDeleted(call, definition);
    }
    const known = new Set(stored.records.map((record) => record.key.name));
    await Promise.all([
      ...startingNamespaces.map((name) => this.#ensureNamespace(plane, name)),
      ...crds.map((crd) => this.#ensureDefinition(plane, crd, known.has(crd.metadata.name))),
    ]);
  }

  async #ensureNamespace(plane: Plane, name: string): Promise<void> {
    const key = { plane: plane.id, resource: namespaces.storage, namespace: '', name };
    if ((await this.#context.storage.get(key, { newest: true })) !== undefined) return;
    await this.#create(this.#call(plane, namespaces, ''), { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  async #ensureDefinition(plane: Plane, crd: CustomResourceDefinition, exists: boolean): Promise<void> {
    const { name } = crd.metadata;
    const complete = structuredClone(crd);
    customResourceDefinitions.resource.schema.prune(complete as unknown as Record<string, unknown>);
    try {
      if (!exists) {
        await this.#create(this.#call(plane, customResourceDefinitions, ''), complete);
        return;
      }
      const call = this.#call(plane, customResourceDefinitions, name);
      prepareCreate(call, complete);
      await modify(call, {
        dryRun: false,
        change: (current) => merged(current as CustomResourceDefinition, complete),
        track: (next, old) => trackManager(call, next, old, manager),
      });
    } catch (error) {
      if (error instanceof ApiError)
        throw new Error(`the definition ${name} cannot be installed in ${plane.id}: ${error.message}`, {
          cause: error,
        });
      throw error;
    }
  }

  async #create(call: Call, object: KubeObject): Promise<void> {
    object.metadata = { ...object.metadata };
    await createObject(call, object, false, (made) => trackManager(call, made, undefined, manager));
  }

  #call(plane: Plane, served: Served, name: string): Call {
    const request: ApiRequest = {
      method: 'POST',
      path: '',
      query: new URLSearchParams(),
      headers: {},
      body: undefined,
      identity,
    };
    return {
      server: this.#context,
      plane,
      served,
      request,
      identity,
      namespace: '',
      name,
      subresource: '',
      output: { as: 'object', version: 'v1', format: 'json' },
      now: this.#context.clock.now(),
      warnings: [],
      authorize: () => {},
    };
  }
}

/** Today's spec, labels and annotations over what is stored; what others added beside them stays. */
function merged(current: CustomResourceDefinition, wanted: CustomResourceDefinition): KubeObject {
  const { labels, annotations } = wanted.metadata;
  if (!jsonEqual(current.spec, wanted.spec)) current.spec = wanted.spec!;
  if (labels !== undefined) current.metadata.labels = { ...current.metadata.labels, ...labels };
  if (annotations !== undefined) current.metadata.annotations = { ...current.metadata.annotations, ...annotations };
  return current;
}
