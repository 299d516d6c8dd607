import type { ApiError, CustomResourceDefinition, KubeObject } from '../meta/index.ts';
import type { ServedResource } from './resource.ts';
import type { CompiledSchema, FieldError } from './schema/schema.ts';
import { defaultNameRule } from './validation/metadata.ts';
import type { NameRule } from './validation/names.ts';

export interface StrategyContext {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Why a CRD's names cannot be served in this plane, where they cannot. */
  nameConflict(definition: CustomResourceDefinition): NameConflict | undefined;
}

export interface NameConflict {
  /** `PluralConflict`, `KindConflict`, … */
  readonly reason: string;
  readonly message: string;
}

/** What is peculiar to a kind: kube-apiserver's registry strategies. Functions change the object they get, in place. */
export interface Strategy {
  readonly nameRule: NameRule;
  /** A custom resource: kube-apiserver decodes and routes these by rules of their own. */
  readonly custom: boolean;
  /** What the kind's Go struct has where a client says nothing: shown, and nobody's. */
  readonly zero?: Readonly<Record<string, unknown>>;
  /** What of a new object its creator can own, where that is not all. */
  owned?(object: KubeObject): KubeObject;
  /** Whether `metadata.generation` is kept. */
  readonly generation: boolean;
  /** PUT of an object that is not there makes it. */
  readonly createOnUpdate: boolean;
  /** PUT without a resourceVersion overwrites what is there. */
  readonly unconditionalUpdate: boolean;
  /** Further subresources, only PUT and PATCH on them (`finalize`, `approval`). */
  readonly extraSubresources?: readonly string[];
  /** A delete answers what was deleted, not a Status. */
  readonly answersDeleted?: boolean;
  /** Subresources that only answer a POST, and the kind that is sent and answered. */
  readonly asked?: Readonly<Record<string, { group: string; version: string; kind: string }>>;
  /** Paths of maps (`data`) and lists (`subjects[]`) that are not there when they are empty, as Go's `omitempty` has it. */
  readonly omitEmpty?: readonly string[];
  prepareCreate?(object: KubeObject, context: StrategyContext): void;
  prepareUpdate?(object: KubeObject, old: KubeObject, subresource: string, context: StrategyContext): void;
  validate?(object: KubeObject, old?: KubeObject): FieldError[];
  /** First look of a delete: may refuse. */
  refuseDelete?(object: KubeObject): ApiError | undefined;
  /** Called with an object that is about to get its deletionTimestamp. */
  prepareDelete?(object: KubeObject, context: StrategyContext): void;
  /** Whether something other than metadata.finalizers still holds a terminating object. */
  holdsDeletion?(object: KubeObject): boolean;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly fields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Cells of table output that are worked out, by column name. `now` in milliseconds since the Unix epoch. */
  readonly cells?: Readonly<Record<string, (object: KubeObject, now: number) => string | number>>;
  /** Where the stored form is not the served one (Events). */
  readonly convert?: { toStored(object: KubeObject): KubeObject; fromStored(object: KubeObject): KubeObject };
}

export const customResourceStrategy: Strategy = {
  nameRule: defaultNameRule,
  custom: true,
  generation: true,
  createOnUpdate: false,
  unconditionalUpdate: false,
};

/** One group, version and plural a plane serves. */
export interface Served {
  readonly resource: ServedResource;
  /** Storage's resource: `<group>/<plural>`. */
  readonly storage: string;
  /** `group/version`, or the version alone for core. */
  readonly apiVersion: string;
  /** The apiVersion objects are stored with. */
  readonly storedApiVersion: string;
  readonly strategy: Strategy;
  /** Schemas of all versions of the kind, by apiVersion; absent where it has one. */
  readonly siblings?: ReadonlyMap<string, CompiledSchema>;
  /** Objects written before this revision met another schema: they are pruned and defaulted when read. */
  readonly schemaRevision: number;
  /** The CRD is going away: nothing new is made. */
  readonly terminating: boolean;
  /** A `Warning` sent with every answer. */
  readonly deprecationWarning?: string;
}
