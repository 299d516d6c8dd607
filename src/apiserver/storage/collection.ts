import { intern } from '../../meta/index.ts';
import { nameOf } from './key.ts';
import { OrderedKeys } from './ordered-keys.ts';
import type { LiveRecord, Packer } from './packing.ts';
import type { StorageKey } from './storage.ts';
import type { Watcher } from './watcher.ts';

/** State a commit gives a key, from the call of `commit` until it is durable. */
export interface Pending {
  revision: number;
  /** Undefined: deleted. */
  record: LiveRecord | undefined;
  /** What an earlier commit, not durable either, gives it. */
  older: Pending | undefined;
}

/** The records of one resource in one plane, as the serving thread holds them. */
export class Collection {
  readonly plane: string;
  readonly resource: string;
  /** What is visible, by `nameOf`. */
  readonly records = new Map<string, LiveRecord>();
  readonly keys = new OrderedKeys();
  readonly watchers = new Set<Watcher>();
  readonly #packer: Packer | undefined;
  readonly #pending = new Map<string, Pending>();
  /** Revision at which the plane was dropped, until that is durable: what is visible counts as absent to newer commits. */
  #droppedAt = 0;

  /** `packer`: of the values of its records; undefined where it does not keep any, and the database is asked. */
  constructor(plane: string, resource: string, packer: Packer | undefined) {
    this.plane = plane;
    this.resource = resource;
    this.#packer = packer;
  }

  /** Whether `records` has them all; otherwise it has none. */
  get cached(): boolean {
    return this.#packer !== undefined;
  }

  /** The state that the next commit builds on. */
  newest(key: StorageKey): LiveRecord | undefined {
    const name = nameOf(key);
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending.record;
    return this.#droppedAt > 0 ? undefined : this.records.get(name);
  }

  /** A key to be kept: the one there is, or one whose texts are not cut from longer ones (a request's path), nor kept twice. */
  keyFor(key: StorageKey): StorageKey {
    const known = this.newest(key)?.key;
    if (known !== undefined) return known;
    const { plane, resource } = this;
    return { plane, resource, namespace: intern(key.namespace), name: intern(key.name) };
  }

  /** A commit is on its way. */
  propose(key: StorageKey, revision: number, record: LiveRecord | undefined): void {
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
  apply(name: string, record: LiveRecord | undefined): LiveRecord | undefined {
    const previous = this.records.get(name);
    if (previous !== undefined) this.#packer?.remove(previous);
    if (record === undefined) {
      if (previous === undefined) return undefined;
      this.records.delete(name);
      this.keys.delete(name);
    } else {
      this.records.set(name, record);
      if (previous === undefined) this.keys.add(name);
      this.#packer?.add(record);
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
    for (const record of this.records.values()) this.#packer?.remove(record);
    this.records.clear();
    this.keys.clear();
  }

  /** Whether it is no different from one made anew, once nothing is on its way. */
  get isForgettable(): boolean {
    return this.records.size === 0 && this.watchers.size === 0 && this.#pending.size === 0;
  }
}
