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

const schemaCacheLimit = 500;

/** Compiled schemas by their source, so that planes that serve the same CRD share one. The least recently used goes. */
export class SchemaCache {
  readonly #compiled = new Map<string, CompiledSchema>();

  get(source: JsonSchema): CompiledSchema {
    const key = createHash('sha256').update(JSON.stringify(source)).digest('base64');
    const compiled = this.#compiled.get(key) ?? compileSchema(source);
    this.#compiled.delete(key);
    this.#compiled.set(key, compiled);
    if (this.#compiled.size > schemaCacheLimit) this.#compiled.delete(this.#compiled.keys().next().value!);
    return compiled;
  }
}

/** Everything a CRD makes a plane serve, one entry per served version; nothing until it is established. */
export function servedByDefinition(
  definition: CustomResourceDefinition,
  schemaRevision: number,
  schemas: SchemaCache,
): Served[] {
  const conditions = (definition.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
  if (!conditions.some((condition) => condition.type === 'Established' && condition.status === 'True')) return [];
  const { group, names, scope, versions } = definition.spec!;
  const storage = versions.find((version) => version.storage)?.name ?? versions[0]!.name;
  return versions
    .filter((version) => version.served)
    .map((version) => {
      const scale = version.subresources?.scale;
      const selectable = (version.selectableFields ?? []).map((field) => field.jsonPath.replace(/^\./, ''));
      const deprecated = version as { deprecated?: boolean; deprecationWarning?: string };
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
          columns: version.additionalPrinterColumns ?? [
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          selectableFields: selectable,
          schema: schemas.get(version.schema?.openAPIV3Schema ?? { type: 'object' }),
        },
        storage: `${group}/${names.plural}`,
        apiVersion,
        storedApiVersion: `${group}/${storage}`,
        strategy: strategyFor(selectable),
        schemaRevision,
        terminating: definition.metadata.deletionTimestamp !== undefined,
        ...(deprecated.deprecated === true
          ? { deprecationWarning: deprecated.deprecationWarning ?? `${apiVersion} ${names.kind} is deprecated` }
          : {}),
      };
    });
}

export function servedByAggregation(aggregated: AggregatedResource, schemas: SchemaCache): Served {
  const { kind, backing } = aggregated;
  const { schema, ...rest } = kind;
  const apiVersion = `${kind.group}/${kind.version}`;
  return {
    resource: { ...rest, schema: schemas.get(schema), ...(backing === undefined ? {} : { backing }) },
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
