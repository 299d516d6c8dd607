import { createHash } from 'node:crypto';
import type { Condition, CustomResourceDefinition, KubeObject } from '../meta/index.ts';
import type { ResourceBacking, ServedResource } from './resource.ts';
import { compileSchema } from './schema/index.ts';
import type { CompiledSchema, JsonSchema } from './schema/schema.ts';
import { customResourceStrategy, type Served, type Strategy } from './served.ts';

/** A kind with a backing of its own, as its room describes it. */
export interface AggregatedResource {
  readonly kind: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly plural: string;
    readonly namespaced: boolean;
    readonly singular: string;
    readonly listKind: string;
    readonly shortNames: readonly string[];
    readonly categories: readonly string[];
    readonly schema: JsonSchema;
    readonly columns: ServedResource['columns'];
    readonly subresources: ServedResource['subresources'];
    readonly selectableFields: readonly string[];
  };
  readonly backing?: ResourceBacking;
}

const cacheLimit = 500;

/** What a version of a CRD serves, whichever plane it is in. */
type ServedVersion = Omit<Served, 'schemaRevision' | 'terminating'>;

interface Compiled {
  /** Of the spec: equal for equal specs. */
  readonly hash: string;
  readonly versions: readonly ServedVersion[];
}

/**
 * CRDs compiled, by their specs, so that planes that serve the same CRD share schemas and everything made of them. The
 * least recently used go.
 */
export class DefinitionCache {
  readonly #compiled = new Map<string, Compiled>();

  get(spec: Spec): Compiled {
    const hash = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const compiled = this.#compiled.get(hash) ?? { hash, versions: versionsOf(spec) };
    this.#compiled.delete(hash);
    this.#compiled.set(hash, compiled);
    if (this.#compiled.size > cacheLimit) this.#compiled.delete(this.#compiled.keys().next().value!);
    return compiled;
  }
}

type Spec = NonNullable<CustomResourceDefinition['spec']>;

/** A CRD as a plane keeps it: what it serves, and no more of it than that. */
export interface Definition {
  readonly resource: string;
  readonly hash: string;
  readonly schemaRevision: number;
  /** One entry per served version; nothing until it is established. */
  readonly served: readonly Served[];
}

/**
 * @param revision of the write of `object`: objects of the resource older than a change of the spec are pruned and
 *   defaulted again when they are read.
 */
export function defineResource(
  object: CustomResourceDefinition,
  revision: number,
  before: Definition | undefined,
  cache: DefinitionCache,
): Definition {
  const spec = object.spec!;
  const { hash, versions } = cache.get(spec);
  const conditions = (object.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
  const established = conditions.some((condition) => condition.type === 'Established' && condition.status === 'True');
  const schemaRevision = before?.hash === hash ? before.schemaRevision : revision;
  const terminating = object.metadata.deletionTimestamp !== undefined;
  return {
    resource: `${spec.group}/${spec.names.plural}`,
    hash,
    schemaRevision,
    served: established ? versions.map((version) => ({ ...version, schemaRevision, terminating })) : [],
  };
}

function versionsOf(spec: Spec): ServedVersion[] {
  const stored = spec.versions.find((version) => version.storage) ?? spec.versions[0]!;
  const schemas = new Map(spec.versions.map((version) => [`${spec.group}/${version.name}`, schemaOf(version)]));
  const siblings = schemas.size > 1 ? { siblings: schemas } : {};
  return spec.versions
    .filter((version) => version.served)
    .map((version) => ({ ...servedVersion(spec, version, stored.name), ...siblings }));
}

function schemaOf(version: Spec['versions'][number]): CompiledSchema {
  return compileSchema(version.schema?.openAPIV3Schema ?? { type: 'object' });
}

function servedVersion(spec: Spec, version: Spec['versions'][number], storedVersion: string): ServedVersion {
  const { group, names, scope } = spec;
  const scale = version.subresources?.scale;
  const selectable = (version.selectableFields ?? []).map((field) => field.jsonPath.replace(/^\./, ''));
  const { deprecated, deprecationWarning } = version as { deprecated?: boolean; deprecationWarning?: string };
  const apiVersion = `${group}/${version.name}`;
  return {
    resource: {
      group,
      version: version.name,
      kind: names.kind,
      plural: names.plural,
      namespaced: scope === 'Namespaced',
      singular: names.singular ?? names.kind.toLowerCase(),
      listKind: names.listKind ?? `${names.kind}List`,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      subresources: {
        status: version.subresources?.status !== undefined,
        ...(scale === undefined ? {} : { scale }),
      },
      columns: version.additionalPrinterColumns ?? [ageColumn],
      selectableFields: selectable,
      schema: schemaOf(version),
    },
    storage: `${group}/${names.plural}`,
    apiVersion,
    storedApiVersion: `${group}/${storedVersion}`,
    strategy: strategyFor(selectable),
    ...(deprecated === true
      ? { deprecationWarning: deprecationWarning ?? `${apiVersion} ${names.kind} is deprecated` }
      : {}),
  };
}

const ageColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const aggregatedSchemas = new WeakMap<JsonSchema, CompiledSchema>();

export function servedByAggregation(aggregated: AggregatedResource): Served {
  const { kind, backing } = aggregated;
  const { schema, ...rest } = kind;
  const apiVersion = `${kind.group}/${kind.version}`;
  const compiled = aggregatedSchemas.get(schema) ?? compileSchema(schema);
  aggregatedSchemas.set(schema, compiled);
  return {
    resource: { ...rest, schema: compiled, ...(backing === undefined ? {} : { backing }) },
    storage: `${kind.group}/${kind.plural}`,
    apiVersion,
    storedApiVersion: apiVersion,
    strategy: strategyFor(kind.selectableFields.map((field) => field.replace(/^\./, ''))),
    schemaRevision: 0,
    terminating: false,
  };
}

function strategyFor(selectableFields: readonly string[]): Strategy {
  if (selectableFields.length === 0) return customResourceStrategy;
  return {
    ...customResourceStrategy,
    fields: Object.fromEntries(selectableFields.map((field) => [field, fieldReader(field.split('.'))])),
  };
}

function fieldReader(path: readonly string[]): (object: KubeObject) => string {
  return (object) => {
    let value: unknown = object;
    for (const step of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return '';
      value = (value as Record<string, unknown>)[step];
    }
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  };
}
