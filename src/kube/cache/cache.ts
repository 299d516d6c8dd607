import type { KubeObject, ResourceType, Stored } from '../../meta/index.ts';
import type { Informer, InformerEvent } from '../informer.ts';
import { freezeOwn, frozenCopy } from './frozen.ts';
import { keyOf, ObjectStore } from './store.ts';
import { compareVersions } from './version.ts';

interface Handler<T extends KubeObject> {
  call: (event: InformerEvent<T>) => void;
  /** Number of the last event its first `added` calls already cover. */
  since: number;
}

/**
 * What a reflector fills and controllers read. Three sources meet here: lists, watch events, and the answers to our own
 * writes ("overlays"), which come on other connections and so in any order. One number settles it: `version`, up to which
 * the watch has told everything.
 *
 * - An answer older than `version` brings nothing: what it says was already seen, and perhaps the object's deletion too.
 *   This is the tombstone of every deleted object at once. (Two objects written in one commit share a version, so an answer
 *   of exactly `version` may still be news.)
 * - An answer newer than `version` is shown until the watch reaches it: watch events and lists that are older than it
 *   leave it alone.
 *
 * Versions that cannot be compared make no overlays: such a server's own watch is waited for.
 */
export class InformerCache<T extends KubeObject> implements Informer<T> {
  readonly type: ResourceType<T>;
  readonly #objects: ObjectStore<T>;
  readonly #onError: (error: unknown) => void;
  /** Objects known only from the answer to a write, newer than `version`. */
  readonly #overlays = new Map<string, Stored<T>>();
  /** Answers to writes made before the first list, which may be older than they are. */
  readonly #early = new Map<string, Stored<T>>();
  #version: string | undefined;
  #handlers: Handler<T>[] = [];
  #events: InformerEvent<T>[] = [];
  /** Number of the last event put into `#events`. */
  #eventNumber = 0;
  #delivering = false;
  readonly #whenSynced: PromiseWithResolvers<void> = Promise.withResolvers();

  /** `onError` hears what handlers and index functions throw. */
  constructor(type: ResourceType<T>, onError: (error: unknown) => void) {
    this.type = type;
    this.#onError = onError;
    this.#objects = new ObjectStore(onError);
  }

  get synced(): boolean {
    return this.#version !== undefined;
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    if (signal === undefined || this.synced) return this.#whenSynced.promise;
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      void this.#whenSynced.promise.then(() => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
    });
  }

  get(namespace: string, name: string): Stored<T> | undefined {
    return this.#objects.get(namespace, name);
  }

  list(namespace?: string): Stored<T>[] {
    return this.#objects.list(namespace);
  }

  byIndex(index: string, value: string): Stored<T>[] {
    return this.#objects.byIndex(index, value);
  }

  addIndex(name: string, values: (object: Stored<T>) => readonly string[]): void {
    this.#objects.addIndex(name, values);
  }

  onEvent(call: (event: InformerEvent<T>) => void): () => void {
    const handler: Handler<T> = { call, since: this.#eventNumber };
    for (const object of this.#objects.list()) this.#call(handler, { type: 'added', object });
    this.#handlers = [...this.#handlers, handler];
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== handler);
    };
  }

  /** The complete state at `version`. */
  replace(items: readonly Stored<T>[], version: string): void {
    const order = this.#version === undefined ? undefined : compareVersions(version, this.#version);
    // A server whose versions went back was restored from a backup: what it held since then never happened.
    const restored = order !== undefined && order < 0;
    if (restored) this.#overlays.clear();
    const listed = new Set<string>();
    for (const item of items) listed.add(keyOf(item.metadata.namespace ?? '', item.metadata.name));
    for (const object of this.#objects.list()) {
      const key = keyOf(object.metadata.namespace ?? '', object.metadata.name);
      if (!listed.has(key) && !this.#isNewer(this.#overlays.get(key), version)) this.#remove(object);
    }
    for (const item of items) {
      const held = this.#held(item);
      if (!restored && held?.metadata.resourceVersion === item.metadata.resourceVersion) continue;
      if (restored || !this.#isNewer(held, item.metadata.resourceVersion)) this.#put(freezeOwn(item));
    }
    for (const [key, object] of this.#overlays) {
      if (!this.#isNewer(object, version)) this.#overlays.delete(key);
    }
    this.#version = version;
    for (const object of this.#early.values()) this.overlay(object);
    this.#early.clear();
    this.#whenSynced.resolve();
    this.#deliver();
  }

  /** One event of the watch. */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Stored<T>): void {
    const version = object.metadata.resourceVersion;
    // A replayed event: everything up to `#version` has been seen.
    if (this.#version !== undefined && (compareVersions(version, this.#version) ?? 0) < 0) return;
    const held = this.#held(object);
    if (type === 'DELETED') {
      const another = held !== undefined && held.metadata.uid !== object.metadata.uid;
      if (held !== undefined && !(another && this.#isNewer(held, version))) this.#remove(held);
    } else if (held?.metadata.resourceVersion !== version && !this.#isNewer(held, version)) {
      this.#put(freezeOwn(object));
    }
    const key = keyOf(object.metadata.namespace ?? '', object.metadata.name);
    if (!this.#isNewer(this.#overlays.get(key), version)) this.#overlays.delete(key);
    this.#version = version;
    this.#deliver();
  }

  /** A bookmark of the watch: everything up to `version` has been told. */
  advance(version: string): void {
    this.#version = version;
  }

  /** What the server answered to a write of our own. */
  overlay(object: Stored<T>): void {
    const version = object.metadata.resourceVersion;
    if (this.#version === undefined) {
      this.#early.set(keyOf(object.metadata.namespace ?? '', object.metadata.name), frozenCopy(object));
      return;
    }
    const order = compareVersions(version, this.#version);
    if (order === undefined || order < 0) return;
    // Terminating with nothing to wait for: the write removed it, and the watch will say so.
    const { deletionTimestamp, finalizers } = object.metadata;
    if (deletionTimestamp !== undefined && (finalizers ?? []).length === 0) return;
    const held = this.#held(object);
    if (held !== undefined && (compareVersions(version, held.metadata.resourceVersion) ?? 0) <= 0) return;
    const shown = frozenCopy(object);
    this.#put(shown);
    if (order > 0) this.#overlays.set(keyOf(shown.metadata.namespace ?? '', shown.metadata.name), shown);
    this.#deliver();
  }

  #held(object: Stored<T>): Stored<T> | undefined {
    return this.#objects.get(object.metadata.namespace ?? '', object.metadata.name);
  }

  #isNewer(held: Stored<T> | undefined, version: string): boolean {
    return held !== undefined && (compareVersions(held.metadata.resourceVersion, version) ?? 0) > 0;
  }

  #put(object: Stored<T>): void {
    const old = this.#held(object);
    if (old !== undefined && old.metadata.uid !== object.metadata.uid) {
      this.#remove(old);
      this.#objects.set(object);
      this.#push({ type: 'added', object });
      return;
    }
    this.#objects.set(object);
    this.#push(old === undefined ? { type: 'added', object } : { type: 'updated', object, old });
  }

  #remove(object: Stored<T>): void {
    const { namespace = '', name } = object.metadata;
    this.#objects.delete(namespace, name);
    this.#overlays.delete(keyOf(namespace, name));
    this.#push({ type: 'deleted', object });
  }

  #push(event: InformerEvent<T>): void {
    this.#eventNumber++;
    this.#events.push(event);
  }

  /** A handler may cause further events; they wait until every handler has had those before them. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (this.#events.length > 0) {
      const events = this.#events;
      this.#events = [];
      let number = this.#eventNumber - events.length;
      for (const event of events) {
        number++;
        for (const handler of this.#handlers) if (handler.since < number) this.#call(handler, event);
      }
    }
    this.#delivering = false;
  }

  #call(handler: Handler<T>, event: InformerEvent<T>): void {
    try {
      handler.call(event);
    } catch (error) {
      this.#onError(error);
    }
  }
}
