import type { KubeObject, ManagedFieldsEntry } from '../../meta/index.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { serverSideApply } from './apply.ts';
import { trackUpdate } from './track.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

/** One kind with every merge strategy. */
export const widgetSchema: JsonSchema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        text,
        number: integer,
        mode: { 'x-kubernetes-int-or-string': true },
        atomicList: { type: 'array', items: text },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        numbers: { type: 'array', items: integer, 'x-kubernetes-list-type': 'set' },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            properties: {
              name: text,
              value: text,
              other: text,
              labels: { type: 'object', additionalProperties: text },
              parts: {
                type: 'array',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['id'],
                items: { type: 'object', properties: { id: integer, note: text } },
              },
            },
          },
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: { port: integer, protocol: { ...text, default: 'TCP' }, name: text },
          },
        },
        map: { type: 'object', additionalProperties: text },
        structs: { type: 'object', additionalProperties: { type: 'object', properties: { a: text, b: text } } },
        nested: {
          type: 'object',
          properties: { a: text, b: text, deeper: { type: 'object', properties: { c: text, d: text } } },
        },
        selector: {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          properties: { matchLabels: { type: 'object', additionalProperties: text } },
        },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: text } },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: text,
        conditions: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: { type: 'object', properties: { type: text, status: text, reason: text } },
        },
      },
    },
  },
};

export interface WriteOptions {
  subresource?: 'status';
  force?: boolean;
  apiVersion?: string;
}

type Part = Record<string, unknown>;

/** An object and the writes to it, one after another, with a clock that moves a second with each. */
export class Scenario {
  object: KubeObject | undefined;
  schema: JsonSchema | undefined;
  servedVersions: readonly string[] | undefined;
  #second = 0;

  constructor(schema: JsonSchema | undefined = widgetSchema) {
    this.schema = schema;
  }

  /** Applies `{metadata, spec, status}` as `manager`; answers whether anything changed. */
  apply(manager: string, parts: Part, options: WriteOptions = {}): boolean {
    const apiVersion = options.apiVersion ?? 'example.com/v1';
    const result = serverSideApply({
      ...this.#common(manager, options, apiVersion),
      live: this.object,
      applied: widget(parts, apiVersion),
      force: options.force ?? false,
      ...(this.servedVersions === undefined ? {} : { servedVersions: this.servedVersions }),
    });
    this.object = result.object;
    return result.changed;
  }

  /** Replaces the whole object, as a PUT by `manager` would; managedFields are sent only where `parts` has them. */
  update(manager: string, parts: Part, options: WriteOptions = {}): void {
    const apiVersion = options.apiVersion ?? 'example.com/v1';
    const after = widget(parts, apiVersion);
    const entries = trackUpdate({
      ...this.#common(manager, options, apiVersion),
      before: this.object,
      after,
      operation: 'Update',
    });
    const { managedFields: _, ...metadata } = after.metadata;
    this.object = { ...after, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } };
  }

  #common(manager: string, options: WriteOptions, apiVersion: string) {
    this.#second++;
    return {
      manager,
      subresource: options.subresource ?? ('' as const),
      statusSubresource: true,
      schema: this.schema,
      apiVersion,
      time: `2026-01-01T00:00:${String(this.#second).padStart(2, '0')}Z`,
    };
  }

  get spec(): unknown {
    return this.object?.spec;
  }

  get status(): unknown {
    return this.object?.status;
  }

  get entries(): ManagedFieldsEntry[] {
    return this.object?.metadata.managedFields ?? [];
  }

  /** fieldsV1 of a manager's entry; undefined where it owns nothing. */
  owned(manager: string, operation?: 'Apply' | 'Update'): unknown {
    return this.#entry(manager, operation)?.fieldsV1;
  }

  time(manager: string): string | undefined {
    return this.#entry(manager)?.time;
  }

  #entry(manager: string, operation?: 'Apply' | 'Update'): ManagedFieldsEntry | undefined {
    return this.entries.find(
      (entry) => entry.manager === manager && (operation ?? entry.operation) === entry.operation,
    );
  }
}

export function widget(parts: Part, apiVersion = 'example.com/v1'): KubeObject {
  const metadata = { name: 'w', namespace: 'default', ...(parts.metadata as object | undefined) };
  return { apiVersion, kind: 'Widget', ...parts, metadata };
}
