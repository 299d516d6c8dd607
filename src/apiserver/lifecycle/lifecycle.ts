import type { Clock, Random } from '../../kube/index.ts';
import type { Storage, StorageEvent, StoredRecord } from '../storage/storage.ts';
import { EventRetention, eventResources } from './event-retention.ts';
import { type Follower, PlaneFeed } from './follow.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { NamespaceController } from './namespaces.ts';
import { distinctResources, type LifecyclePlane, storageResourceOf } from './plane.ts';
import { RoleAggregator } from './role-aggregation.ts';
import type { PlaneWorkers } from './workers.ts';

export interface LifecycleSettings {
  storage: Pick<Storage, 'list' | 'onCommit' | 'get' | 'commit'>;
  clock: Clock;
  random: Random;
  /** How long an event is kept after it was last written. Default an hour; 0 keeps them for ever. */
  eventRetentionMilliseconds?: number;
  /** Told of everything that failed and is tried again: for the log. */
  onError?: (error: unknown, what: string) => void;
}

/**
 * What happens to objects by itself, in every plane of the server: garbage collection, the emptying of namespaces being
 * deleted, the filling of aggregated roles, the end of old events. One subscription to the store serves all planes.
 */
export class Lifecycle {
  readonly #feed: PlaneFeed;
  readonly #collector: GarbageCollector;
  readonly #namespaces: NamespaceController;
  readonly #roles: RoleAggregator;
  readonly #workers: readonly Pick<PlaneWorkers<unknown>, 'close' | 'idle' | 'stop'>[];
  readonly #events: EventRetention | undefined;

  constructor(settings: LifecycleSettings) {
    const { storage, clock, random, onError = () => {} } = settings;
    const retentionMilliseconds = settings.eventRetentionMilliseconds ?? 3_600_000;
    this.#feed = new PlaneFeed(storage);
    this.#collector = new GarbageCollector({ clock, random, onError });
    this.#namespaces = new NamespaceController({ clock, random, onError });
    this.#roles = new RoleAggregator({ clock, random, onError });
    this.#workers = [this.#collector.workers, this.#namespaces.workers, this.#roles.workers];
    this.#events =
      retentionMilliseconds === 0 ? undefined : new EventRetention({ storage, clock, retentionMilliseconds, onError });
  }

  /**
   * Begins with a plane that is being served: requests to it are answered from now on. Resolves when everything in it has
   * been looked at once.
   */
  async openPlane(plane: LifecyclePlane): Promise<void> {
    const collector = this.#collector.open(plane);
    const namespaces = this.#namespaces.open(plane);
    const roles = this.#roles.open(plane);
    const events = this.#events?.open();
    const resources = new Set([...distinctResources(plane).map(storageResourceOf), '/namespaces', ...eventResources]);
    await this.#feed.open(plane.id, resources, followers(collector, namespaces, roles, events));
  }

  /** Forgets a plane (its deletion, or the server's end). */
  closePlane(plane: string): void {
    this.#feed.close(plane);
    for (const workers of this.#workers) workers.close(plane);
    this.#events?.close(plane);
  }

  /** Whether everything committed so far has been dealt with, as far as it can be now. */
  get idle(): boolean {
    return this.#workers.every((workers) => workers.idle);
  }

  /** Resolves when nothing is going on any more. */
  async stop(): Promise<void> {
    this.#feed.stop();
    await Promise.all([...this.#workers.map((workers) => workers.stop()), this.#events?.stop()]);
  }
}

function followers(collector: Follower, namespaces: Follower, roles: Follower, events: Follower | undefined): Follower {
  return {
    loaded(record: StoredRecord) {
      if (eventResources.includes(record.key.resource)) {
        events?.loaded(record);
        return;
      }
      collector.loaded(record);
      if (record.key.resource === '/namespaces') namespaces.loaded(record);
    },
    listed() {
      roles.listed?.();
      events?.listed?.();
    },
    changed(event: StorageEvent) {
      if (eventResources.includes(event.key.resource)) events?.changed(event);
      else collector.changed(event);
      namespaces.changed(event);
      roles.changed(event);
    },
  };
}
