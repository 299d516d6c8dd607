import type { Collection } from './collection.ts';
import { nameOf } from './key.ts';
import type { StorageEvent, StoredRecord } from './storage.ts';

export interface HistoryLimits {
  /** How many revisions back a watch may resume and a list may look. Default 20,000. */
  revisions?: number;
  /** How many bytes of values the events may hold on to. Default 32 MiB. */
  bytes?: number;
}

interface Entry {
  collection: Collection;
  event: StorageEvent;
}

/** What a key was at an older revision, and whether it is there now. */
export interface Past {
  before: StoredRecord | undefined;
  existsNow: boolean;
}

/** Bookkeeping per event, beside its value. */
const entryBytes = 200;

/** The last events of all planes, in order. */
export class History {
  readonly #revisions: number;
  readonly #bytesLimit: number;
  #entries: Entry[] = [];
  #head = 0;
  #bytes = 0;
  /** Every event after this revision is here. */
  #horizon: number;

  constructor(limits: HistoryLimits, horizon: number) {
    this.#revisions = limits.revisions ?? 20_000;
    this.#bytesLimit = limits.bytes ?? 32 * 2 ** 20;
    this.#horizon = horizon;
  }

  get horizon(): number {
    return this.#horizon;
  }

  get revisions(): number {
    return this.#revisions;
  }

  add(collection: Collection, event: StorageEvent): void {
    this.#entries.push({ collection, event });
    this.#bytes += event.value.byteLength + entryBytes;
  }

  /** Lets go of what is beyond the limits, whole revisions at a time, `newest` being the newest visible one. */
  trim(newest: number): void {
    const entries = this.#entries;
    this.#horizon = Math.max(this.#horizon, newest - this.#revisions);
    for (; this.#head < entries.length; this.#head += 1) {
      const { event } = entries[this.#head]!;
      if (event.revision > this.#horizon) {
        if (this.#bytes <= this.#bytesLimit) break;
        this.#horizon = event.revision;
      }
      this.#bytes -= event.value.byteLength + entryBytes;
    }
    if (this.#head > 1024 && this.#head * 2 > entries.length) {
      this.#entries = entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Events of a collection after `revision`, which is not before the horizon. */
  after(collection: Collection, revision: number): StorageEvent[] {
    const events: StorageEvent[] = [];
    for (let index = this.#indexAfter(revision); index < this.#entries.length; index += 1) {
      const entry = this.#entries[index]!;
      if (isSame(entry.collection, collection)) events.push(entry.event);
    }
    return events;
  }

  /** What has changed since `revision`, by `nameOf`: laid over today's records it gives those of then. */
  since(collection: Collection, revision: number): Map<string, Past> {
    const changed = new Map<string, Past>();
    for (let index = this.#indexAfter(revision); index < this.#entries.length; index += 1) {
      const { collection: where, event } = this.#entries[index]!;
      if (!isSame(where, collection)) continue;
      const name = nameOf(event.key);
      const past = changed.get(name);
      const existsNow = event.type === 'put';
      if (past !== undefined) past.existsNow = existsNow;
      else changed.set(name, { before: event.previous, existsNow });
    }
    return changed;
  }

  #indexAfter(revision: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#entries[middle]!.event.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** By name: a collection that was forgotten and made again has the history it had. */
function isSame(a: Collection, b: Collection): boolean {
  return a === b || (a.resource === b.resource && a.plane === b.plane);
}
