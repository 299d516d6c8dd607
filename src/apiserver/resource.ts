import type { Identity } from '../kube/index.ts';
import type { KubeObject, ResourceType } from '../meta/index.ts';
import type { CompiledSchema } from './schema/schema.ts';
import type { Storage } from './storage/storage.ts';

/** A resource one plane serves: a built-in, a CRD's version, or one with a backing of its own (IPAM). */
export interface ServedResource extends ResourceType {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Verbs offered; all the usual ones where absent. */
  readonly verbs?: readonly string[];
  readonly subresources: {
    readonly status: boolean;
    readonly scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  readonly columns: readonly {
    name: string;
    type: string;
    format?: string;
    jsonPath: string;
    priority?: number;
    description?: string;
    /** Shown in place of what the path finds, for cells no JSONPath can say. */
    cell?: (object: KubeObject) => string;
  }[];
  readonly selectableFields: readonly string[];
  /** Shared by every plane that serves the same schema. */
  readonly schema: CompiledSchema;
  readonly backing?: ResourceBacking;
}

/**
 * Who decides about writes in place of the generic registry. The generic handlers still do everything else: decoding,
 * patches, pruning, authorization, Table output, get, list and watch from storage.
 */
export interface ResourceBacking {
  /** `object` has passed the schema and carries uid, creationTimestamp, managedFields. Answers the stored object. */
  create(request: BackingRequest, object: KubeObject): Promise<KubeObject>;
  /**
   * `object` is what would be stored; `old` what it was built from. Must refuse with Conflict when `old` has moved on, and
   * remove a terminating object whose last finalizer went.
   */
  update(request: BackingRequest, object: KubeObject, old: KubeObject): Promise<KubeObject>;
  /** Answers the last state, or, when finalizers hold it, the object still there with its deletionTimestamp set. */
  delete(request: BackingRequest, old: KubeObject): Promise<KubeObject>;
  /**
   * An index, where there is one: keys of every object that can have these labels, so that a list need not read all the
   * others. What it names is still matched. Undefined where no index fits.
   */
  candidates?(
    plane: string,
    labels: ReadonlyMap<string, string>,
  ): Promise<readonly { namespace: string; name: string }[]> | undefined;
}

export interface BackingRequest {
  plane: string;
  /** Project id when the plane is a project's. */
  project: string | undefined;
  resource: ServedResource;
  subresource: '' | 'status';
  identity: Identity;
  dryRun: boolean;
  storage: Storage;
  /** Milliseconds since the Unix epoch. */
  now: number;
}
