import { nameOf } from './key.ts';
import { OrderedKeys } from './ordered-keys.ts';
import type { StorageKey, StoredRecord } from './storage.ts';
import type { Watcher } from './watcher.ts';

/** State a commit gives a key, from the call of `commit` until it is durable. */
export interface Pending {
  revision: number;
  /** Undefined: deleted. */
  record: StoredRecord | undefined;
  /** What an earlier commit, not durable either, gives it. */
  older: Pending | undefined;
}

/** The records of one resource in one plane, as the serving thread holds them. */
export class Collection {
  readonly plane: string;
  readonly resource: string;
  /** Whether `records` has them all; otherwise it has none, and the database is asked. */
  readonly cached: boolean;
  /** What is visible, by `nameOf`. */
  readonly records = new Map<string, StoredRecord>();
  readonly keys = new OrderedKeys();
  readonly watchers = new Set<Watcher>();
  readonly #pending = new Map<string, Pending>();
  /** Revision at which the plane was dropped, until that is durable: what is visible counts as absent to newer commits. */
  #droppedAt = 0;

  constructor(plane: string, resource: string, cached: boolean) {
    this.plane = plane;
    this.resource = resource;
    this.cached = cached;
  }

  /** The state that the next commit builds on. */
  newest(key: StorageKey): StoredRecord | undefined {
    const name = nameOf(key);
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending.record;
    return this.#droppedAt > 0 ? undefined : this.records.get(name);
  }

  /** A commit is on its way. */
  propose(key: StorageKey, revision: number, record: StoredRecord | undefined): void {
    const name = nameOf(key);
    this.#pending.set(name, { revision, record, older: this.#pending.get(name) });
  }

  /** The commit of `revision` has become visible, or has come to nothing. */
  settle(name: string, revision: number): void {
    let pending = this.#pending.get(name);
    if (pending?.revision === revision) {
      if (pending.older === undefined) this.#pending.delete(name);
      else this.#pending.set(name, pending.older);
      return;
    }
    for (; pending?.older !== undefined; pending = pending.older) {
      if (pending.older.revision !== revision) continue;
      pending.older = pending.older.older;
      return;
    }
  }

  /** Makes a state visible; answers the one before. */
  apply(name: string, record: StoredRecord | undefined): StoredRecord | undefined {
    const previous = this.records.get(name);
    if (record === undefined) {
      if (previous === undefined) return undefined;
      this.records.delete(name);
      this.keys.delete(name);
    } else {
      this.records.set(name, record);
      if (previous === undefined) this.keys.add(name);
    }
    return previous;
  }

  /** The plane is being dropped by the commit of `revision`. */
  proposeDrop(revision: number): void {
    this.#droppedAt = revision;
    this.#pending.clear();
  }

  /** The plane has been dropped. */
  drop(revision: number): void {
    if (this.#droppedAt === revision) this.#droppedAt = 0;
    this.records.clear();
    this.keys.clear();
  }

  /** Whether it is no different from one made anew, once nothing is on its way. */
  get isForgettable(): boolean {
    return this.records.size === 0 && this.watchers.size === 0 && this.#pending.size === 0;
  }
}
