import type { Clock, Timer } from '../../kube/index.ts';
import { type KubeObject, parseTime } from '../../meta/index.ts';
import { wholeKey } from '../storage/key.ts';
import {
  PreconditionFailed,
  type Storage,
  type StorageEvent,
  type StorageKey,
  type StoredRecord,
} from '../storage/storage.ts';
import type { Follower } from './follow.ts';

/** Where events may be stored: core/v1 and events.k8s.io/v1 show the same objects, kept under one of the two. */
export const eventResources: readonly string[] = ['/events', 'events.k8s.io/events'];

export interface EventRetentionOptions {
  storage: Pick<Storage, 'get' | 'commit'>;
  clock: Clock;
  /** Since an event was last written; kube-apiserver's `--event-ttl`. */
  retentionMilliseconds: number;
  onError: (error: unknown, what: string) => void;
}

const sweepMilliseconds = 30_000;
const deletesPerCommit = 500;

interface Entry {
  readonly key: StorageKey;
  readonly expires: number;
}

/**
 * Deletes events an hour after they were last written, as etcd's leases do for kube-apiserver: straight from the store,
 * in a few large commits, guarded by the version so that one written again meanwhile stays.
 */
export class EventRetention {
  readonly #options: EventRetentionOptions;
  /** In order of expiry: an event that is written again moves to the end. */
  readonly #entries = new Map<string, Entry>();
  #timer: Timer | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: EventRetentionOptions) {
    this.#options = options;
  }

  open(): Follower {
    const found: { record: StoredRecord; written: number }[] = [];
    return {
      loaded: (record) => {
        found.push({ record, written: lastWritten(record.value) ?? this.#options.clock.now() });
      },
      listed: () => {
        // They come in order of name, and expire in order of age.
        for (const { record, written } of found.sort((a, b) => a.written - b.written)) this.#put(record.key, written);
        found.length = 0;
      },
      changed: (event: StorageEvent) => {
        if (!eventResources.includes(event.key.resource)) return;
        if (event.type === 'delete') this.#entries.delete(wholeKey(event.key));
        else this.#put(event.key, this.#options.clock.now());
      },
    };
  }

  close(plane: string): void {
    for (const [id, { key }] of this.#entries) if (key.plane === plane) this.#entries.delete(id);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  #put(key: StorageKey, written: number): void {
    const id = wholeKey(key);
    this.#entries.delete(id);
    this.#entries.set(id, { key, expires: written + this.#options.retentionMilliseconds });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = this.#options.clock.after(sweepMilliseconds, () => {
      this.#sweeping = this.#sweep()
        .catch((error) => this.#options.onError(error, 'deletion of expired events'))
        .then(() => {
          this.#timer = undefined;
          if (this.#entries.size > 0) this.#schedule();
        });
    });
  }

  async #sweep(): Promise<void> {
    const now = this.#options.clock.now();
    let due: Entry[] = [];
    for (const entry of this.#entries.values()) {
      // Of several planes opened one after the other the order is only nearly by age: late by as much, never early.
      if (entry.expires > now) break;
      due.push(entry);
    }
    while (due.length > 0) {
      await this.#delete(due.slice(0, deletesPerCommit));
      due = due.slice(deletesPerCommit);
    }
  }

  async #delete(entries: readonly Entry[]): Promise<void> {
    const { storage } = this.#options;
    const records: StoredRecord[] = [];
    for (const entry of entries) {
      const id = wholeKey(entry.key);
      const record = await storage.get(entry.key, { newest: true });
      // Written again, or forgotten with its plane, since the sweep began.
      if (this.#entries.get(id) !== entry) continue;
      if (record === undefined) this.#entries.delete(id);
      else records.push(record);
    }
    if (records.length === 0) return;
    try {
      await storage.commit({
        preconditions: records.map(({ key, revision }) => ({ key, revision })),
        deletes: records.map(({ key, value }) => ({ key, encode: (revision) => lastState(value, revision) })),
      });
    } catch (error) {
      // One of them was written in between: all of them are judged again at the next sweep.
      if (!(error instanceof PreconditionFailed)) throw error;
    }
  }
}

function lastState(value: Uint8Array, revision: number): Uint8Array {
  const object = decode(value);
  object.metadata.resourceVersion = String(revision);
  return Buffer.from(JSON.stringify(object));
}

function decode(value: Uint8Array): KubeObject {
  return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')) as KubeObject;
}

/** Milliseconds since the Unix epoch at which an event was last seen, by whichever of its fields says so. */
function lastWritten(value: Uint8Array): number | undefined {
  const event = decode(value) as KubeObject & {
    lastTimestamp?: string;
    deprecatedLastTimestamp?: string;
    eventTime?: string;
    series?: { lastObservedTime?: string };
  };
  const times = [
    event.series?.lastObservedTime,
    event.lastTimestamp,
    event.deprecatedLastTimestamp,
    event.eventTime,
    event.metadata.creationTimestamp,
  ]
    .map((text) => (typeof text === 'string' ? parseTime(text) : undefined))
    .filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}
