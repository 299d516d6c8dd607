import { createHash } from 'node:crypto';
import type { CompiledSchema, JsonSchema } from '../schema/schema.ts';
import type { Described } from './names.ts';

/** A finished document: the same bytes for every plane that serves the same resources. */
export interface OpenApiDocument {
  readonly bytes: Uint8Array;
  /** Of the content: changes exactly when the bytes do. Serves as the ETag, quoted. */
  readonly hash: string;
}

const ids = new WeakMap<CompiledSchema, number>();
let nextId = 1;

function idOf(schema: CompiledSchema): number {
  let id = ids.get(schema);
  if (id === undefined) {
    id = nextId++;
    ids.set(schema, id);
  }
  return id;
}

const documents = new Map<string, OpenApiDocument>();

/** The document `build` makes for `resources`, built when first asked for and kept while it is in use. */
export function cached(form: string, resources: readonly Described[], build: () => Uint8Array): OpenApiDocument {
  const parts = resources.map((resource) =>
    [
      resource.group,
      resource.version,
      resource.plural,
      resource.kind,
      resource.listKind,
      resource.namespaced,
      resource.verbs?.join('+'),
      resource.subresources.status,
      idOf(resource.schema),
    ].join(),
  );
  const key = `${form}|${parts.join('|')}`;
  let document = documents.get(key);
  if (document === undefined) {
    const bytes = build();
    document = { bytes, hash: createHash('sha256').update(bytes).digest('hex').toUpperCase() };
  } else documents.delete(key);
  documents.set(key, document); // the most recently asked for is last
  for (const oldest of documents.keys()) {
    if (documents.size <= 200) break;
    documents.delete(oldest);
  }
  return document;
}

export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** An object's schema with the fields every object has, which a CRD need not declare. */
export function withTypeMeta(source: JsonSchema, metadata: JsonSchema): JsonSchema {
  const properties = (source.properties ?? {}) as Record<string, unknown>;
  return {
    ...source,
    type: 'object',
    properties: {
      ...properties,
      apiVersion: { type: 'string', description: 'Group and version of this object, as in apps/v1.' },
      kind: { type: 'string', description: 'What sort of object this is, in CamelCase.' },
      metadata: {
        ...metadata,
        description: 'What every object has: name, namespace, labels and what the server records.',
      },
    },
  };
}

export function listSchema(resource: Described, item: JsonSchema, metadata: JsonSchema): JsonSchema {
  return {
    type: 'object',
    description: `${resource.listKind} is a list of ${resource.kind}.`,
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of this list.' },
      items: { type: 'array', description: `The objects of kind ${resource.kind}.`, items: item },
      kind: { type: 'string', description: `${resource.listKind}.` },
      metadata: { ...metadata, description: 'The state the list shows.' },
    },
    'x-kubernetes-group-version-kind': [{ group: resource.group, kind: resource.listKind, version: resource.version }],
  };
}
