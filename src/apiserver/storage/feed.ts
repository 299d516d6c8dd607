import type { Clock } from '../../kube/index.ts';
import { Collection } from './collection.ts';
import { History, type HistoryLimits } from './history.ts';
import { collectionOf } from './key.ts';
import type { Packer } from './packing.ts';
import { RevisionCompacted, RevisionInFuture, type StorageEvent, type WatchQuery, type WatchSink } from './storage.ts';
import { Watcher } from './watcher.ts';

export interface FeedOptions {
  clock: Clock;
  log: (level: 'info' | 'warn' | 'error', message: string, data?: Record<string, unknown>) => void;
  history: HistoryLimits;
  /** What keeps the values of a resource small whose records are all in its collection; undefined where none are. */
  packerOf: (resource: string) => Packer | undefined;
}

/** What a store shows, whatever it keeps its rows in: the newest revision, the history before it, and those who are told of it. */
export class Feed {
  /** Revision of the newest visible commit; moved by the store, then told (`tell`). */
  visible: number;
  readonly history: History;
  readonly #options: FeedOptions;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(events: readonly StorageEvent[]) => void>();
  /** Planes dropped within the history: nothing before that revision is shown of them. */
  readonly #dropped = new Map<string, number>();
  #announced: number;
  #events: StorageEvent[] = [];
  #touched = new Set<Watcher>();

  constructor(options: FeedOptions, newest: number, horizon: number) {
    this.#options = options;
    this.visible = newest;
    this.#announced = newest;
    this.history = new History(options.history, horizon);
  }

  get collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  collection(key: { plane: string; resource: string }): Collection {
    const text = collectionOf(key);
    let collection = this.#collections.get(text);
    if (collection === undefined) {
      collection = new Collection(key.plane, key.resource, this.#options.packerOf(key.resource));
      this.#collections.set(text, collection);
    }
    return collection;
  }

  /** Forgets collections of `planes` that are no different from new ones. */
  forget(planes: ReadonlySet<string>): void {
    for (const [text, collection] of this.#collections) {
      if (planes.has(collection.plane) && collection.isForgettable) this.#collections.delete(text);
    }
  }

  watch(query: WatchQuery, sink: WatchSink): { close(): void } {
    this.checkReach(query.plane, query.from);
    const collection = this.collection(query);
    const backlog = query.from === this.visible ? [] : this.history.after(collection, query.from);
    const watcher = new Watcher(query, query.from, backlog, sink, (error) => this.#sinkFailed(error));
    collection.watchers.add(watcher);
    this.#options.clock.soon(() => watcher.start(this.visible));
    return {
      close: () => {
        watcher.stop();
        collection.watchers.delete(watcher);
      },
    };
  }

  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void {
    // A wrapper, so that one function subscribed twice is called twice and stopped one at a time.
    const own = (events: readonly StorageEvent[]) => listener(events);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Throws what `Storage.watch` throws where nothing is known of `revision`. */
  checkReach(plane: string, revision: number): void {
    if (revision > this.visible) {
      throw new RevisionInFuture(`revision ${revision} is ahead of the newest, ${this.visible}`);
    }
    const oldest = Math.max(this.history.horizon, this.#dropped.get(plane) ?? 0);
    if (revision < oldest) throw new RevisionCompacted(oldest);
  }

  /** An event becomes visible: those it concerns are told with the next `tell`. */
  show(collection: Collection, event: StorageEvent): void {
    this.history.add(collection, event);
    this.#events.push(event);
    for (const watcher of collection.watchers) if (watcher.offer(event)) this.#touched.add(watcher);
  }

  /** Tells what was shown since the last time. */
  tell(): void {
    const [events, touched] = [this.#events, this.#touched];
    this.#events = [];
    this.#touched = new Set();
    this.history.trim(this.visible);
    for (const listener of events.length === 0 ? [] : [...this.#listeners]) {
      try {
        listener(events);
      } catch (error) {
        this.#sinkFailed(error);
      }
    }
    for (const watcher of touched) watcher.flush(this.visible);
    this.#announce();
  }

  /** Nothing before `revision` is shown of a plane any more. */
  dropped(plane: string, revision: number): void {
    this.#dropped.set(plane, revision);
  }

  /** Ends the watches of a plane, or all. */
  end(revision: number, plane?: string): void {
    for (const collection of this.#collections.values()) {
      if (plane !== undefined && collection.plane !== plane) continue;
      for (const watcher of [...collection.watchers]) watcher.end(revision);
      collection.watchers.clear();
    }
  }

  /** Watches to which nothing happens hear how far they have come before the history leaves them behind. */
  #announce(): void {
    const distance = Math.max(1, Math.floor(this.history.revisions / 4));
    if (this.visible - this.#announced < distance) return;
    this.#announced = this.visible;
    for (const [plane, revision] of this.#dropped) {
      if (revision <= this.history.horizon) this.#dropped.delete(plane);
    }
    for (const collection of this.#collections.values()) {
      for (const watcher of collection.watchers) watcher.announce(this.visible, distance);
    }
  }

  #sinkFailed(error: unknown): void {
    this.#options.log('error', 'a watch or listener threw while it was told of a commit', { error: String(error) });
  }
}
