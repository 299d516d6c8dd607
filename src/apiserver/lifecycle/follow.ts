import type { Storage, StorageEvent, StoredRecord } from '../storage/storage.ts';

/** What follows one plane: told everything that is there once, then every change, none missed and none out of order. */
export interface Follower {
  /** Something that was there when following began. */
  loaded(record: StoredRecord): void;
  /** Everything that was there has been told. */
  listed?(): void;
  /** A commit since. */
  changed(event: StorageEvent): void;
}

const pageSize = 500;

/**
 * Follows many planes with one subscription to the store. Each plane is listed once, resource by resource; what is
 * committed meanwhile is kept back and told after.
 */
export class PlaneFeed {
  readonly #storage: Pick<Storage, 'list' | 'onCommit'>;
  readonly #followers = new Map<string, Follower>();
  readonly #loading = new Map<string, StorageEvent[]>();
  readonly #stop: () => void;

  constructor(storage: Pick<Storage, 'list' | 'onCommit'>) {
    this.#storage = storage;
    this.#stop = storage.onCommit((events) => {
      for (const event of events) {
        this.#loading.get(event.key.plane)?.push(event);
        this.#followers.get(event.key.plane)?.changed(event);
      }
    });
  }

  /** Resolves when everything of `resources` (`<group>/<plural>`) in `plane` was told. */
  async open(plane: string, resources: Iterable<string>, follower: Follower): Promise<void> {
    const late: StorageEvent[] = [];
    this.#followers.delete(plane);
    this.#loading.set(plane, late);
    const listedAt = new Map<string, number>();
    for (const resource of resources) {
      let after: { namespace: string; name: string } | undefined;
      let revision: number | undefined;
      do {
        const page = await this.#storage.list({
          plane,
          resource,
          limit: pageSize,
          ...(after === undefined ? {} : { after, revision: revision! }),
        });
        // Closed, or opened anew, while the page was read.
        if (this.#loading.get(plane) !== late) return;
        revision ??= page.revision;
        for (const record of page.records) follower.loaded(record);
        after = page.remaining > 0 ? page.records.at(-1)?.key : undefined;
      } while (after !== undefined);
      listedAt.set(resource, revision);
    }
    this.#loading.delete(plane);
    this.#followers.set(plane, follower);
    follower.listed?.();
    for (const event of late) {
      if (event.revision > (listedAt.get(event.key.resource) ?? -1)) follower.changed(event);
    }
  }

  close(plane: string): void {
    this.#loading.delete(plane);
    this.#followers.delete(plane);
  }

  stop(): void {
    this.#stop();
    this.#loading.clear();
    this.#followers.clear();
  }
}
