import type { KubeObject, ResourceType } from '../meta/index.ts';

export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  /** 1 = wide only. */
  priority?: number;
  description?: string;
  /** What the cell shows, where no JSONPath can say it. Only kinds with a server of their own have such columns. */
  cell?: (object: KubeObject) => string;
}

/** apiextensions.k8s.io/v1 JSONSchemaProps with the `x-kubernetes-*` keywords, as plain JSON. */
export type JsonSchema = Record<string, unknown>;

/**
 * A kind, defined once: CRD manifests, API reference, the embedded server's validation and the TypeScript type all
 * come from it. The constant and the type share a name: `Network` is both.
 */
export interface Kind<T extends KubeObject = KubeObject> extends ResourceType<T> {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Of the whole object; `metadata` is left to the server. */
  readonly schema: JsonSchema;
  readonly columns: readonly PrinterColumn[];
  readonly subresources: {
    status: boolean;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  readonly selectableFields: readonly string[];
  /** `crd`: installed as a CustomResourceDefinition. `aggregated`: served by IPAM, which validates by itself. */
  readonly servedBy: 'crd' | 'aggregated';
  readonly annotations: Readonly<Record<string, string>>;
  readonly description: string;
}
