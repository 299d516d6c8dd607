import type { KubeObject, ResourceType, Stored } from '../meta/index.ts';

export type InformerEvent<T extends KubeObject> =
  | { type: 'added'; object: Stored<T> }
  | { type: 'updated'; object: Stored<T>; old: Stored<T> }
  /** `object` is the last state seen, which may be older than the one deleted. */
  | { type: 'deleted'; object: Stored<T> };

/**
 * A kind of one plane, kept in memory by list and watch. Shared: one per (plane, kind) in a process. Objects are
 * deep-frozen and have no managedFields.
 */
export interface Informer<T extends KubeObject> {
  readonly type: ResourceType<T>;
  /** Whether the first list is complete. Before that, absence means nothing. */
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** `namespace` is '' for cluster-scoped kinds. */
  get(namespace: string, name: string): Stored<T> | undefined;
  list(namespace?: string): Stored<T>[];
  byIndex(index: string, value: string): Stored<T>[];
  /** Adds an index, also over what is already there. Adding one of the same name again is ignored. */
  addIndex(name: string, values: (object: Stored<T>) => readonly string[]): void;
  /** The handler gets `added` for everything already there, then events in order. Returns how to stop. */
  onEvent(handler: (event: InformerEvent<T>) => void): () => void;
}
