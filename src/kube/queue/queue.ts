import { backoffMilliseconds } from '../backoff.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import type { Request } from '../controller.ts';
import type { Random } from '../random.ts';

/** What a queue tells about itself. */
export interface QueueMetrics {
  /** Requests waiting for a worker, after each change. */
  depth(count: number): void;
  added(): void;
  /** How long a request waited for a worker, when it gets one. */
  waited(seconds: number): void;
}

export interface QueueOptions {
  clock: Clock;
  random: Random;
  metrics?: QueueMetrics;
}

const firstBackoffMilliseconds = 5;
const longestBackoffMilliseconds = 10_000;

interface Item {
  readonly key: string;
  readonly request: Request;
  /** Asked for since a worker last took it. */
  dirty: boolean;
  processing: boolean;
  /** `monotonic` when it became dirty. */
  since: number;
  failures: number;
  delayed: { due: number; timer: Timer } | undefined;
}

/**
 * Requests waiting to be reconciled, by client-go's rules (util/workqueue): a request is in it once however often it is
 * added; one that is added while a worker has it runs again after; two workers never have the same one.
 */
export class WorkQueue {
  readonly #options: QueueOptions;
  /** Everything known of a request, kept only while there is something to know. */
  readonly #items = new Map<string, Item>();
  readonly #ready = new Fifo<Item>();
  #depth = 0;
  readonly #workers = new Fifo<(request: Request | undefined) => void>();
  #shutDown = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Requests waiting for a worker. */
  get depth(): number {
    return this.#depth;
  }

  add(request: Request): void {
    if (this.#shutDown) return;
    this.#makeDirty(this.#item(request));
  }

  /** Adds it later. Of several times to come, the earliest counts. */
  addAfter(request: Request, milliseconds: number): void {
    if (this.#shutDown) return;
    if (!(milliseconds > 0)) {
      this.add(request);
      return;
    }
    const item = this.#item(request);
    const due = this.#options.clock.monotonic() + milliseconds;
    if (item.delayed !== undefined) {
      if (item.delayed.due <= due) return;
      item.delayed.timer.cancel();
    }
    const timer = this.#options.clock.after(milliseconds, () => {
      item.delayed = undefined;
      this.#makeDirty(item);
    });
    item.delayed = { due, timer };
  }

  /** Adds it after its own backoff, 5 ms doubling to 10 s with jitter, until `forget`. Answers the wait in milliseconds. */
  addRateLimited(request: Request): number {
    const item = this.#item(request);
    const wait = backoffMilliseconds(item.failures++, {
      firstMilliseconds: firstBackoffMilliseconds,
      longestMilliseconds: longestBackoffMilliseconds,
      random: this.#options.random,
    });
    this.addAfter(request, wait);
    return wait;
  }

  /** How often it was added by `addRateLimited` since it was last forgotten. */
  failures(request: Request): number {
    return this.#items.get(requestKey(request))?.failures ?? 0;
  }

  /** It worked: its backoff starts over. */
  forget(request: Request): void {
    const item = this.#items.get(requestKey(request));
    if (item === undefined) return;
    item.failures = 0;
    this.#release(item);
  }

  /** The next request for a worker, which must call `done` with it; undefined once the queue is shut down. */
  get(): Promise<Request | undefined> {
    if (this.#shutDown) return Promise.resolve(undefined);
    const item = this.#takeReady();
    if (item !== undefined) return Promise.resolve(this.#hand(item));
    return new Promise((resolve) => this.#workers.push(resolve));
  }

  /** The worker is finished with it. */
  done(request: Request): void {
    const item = this.#items.get(requestKey(request));
    if (item === undefined) return;
    item.processing = false;
    if (item.dirty) this.#enqueue(item);
    else this.#release(item);
  }

  /** Drops everything that waits or is delayed and matches, and its backoff. What a worker has is left to it. */
  drop(matches: (request: Request) => boolean): void {
    for (const item of this.#items.values()) {
      if (!matches(item.request)) continue;
      item.delayed?.timer.cancel();
      item.delayed = undefined;
      item.failures = 0;
      if (item.dirty && !item.processing) this.#changeDepth(-1);
      item.dirty = false;
      this.#release(item);
    }
  }

  /** Nothing is added or handed out any more. */
  shutDown(): void {
    this.#shutDown = true;
    this.drop(() => true);
    for (let worker = this.#workers.shift(); worker !== undefined; worker = this.#workers.shift()) worker(undefined);
  }

  #item(request: Request): Item {
    const key = requestKey(request);
    let item = this.#items.get(key);
    if (item === undefined) {
      item = { key, request, dirty: false, processing: false, since: 0, failures: 0, delayed: undefined };
      this.#items.set(key, item);
    }
    return item;
  }

  /** Lets go of an item that has nothing left to remember. */
  #release(item: Item): void {
    if (item.dirty || item.processing || item.failures > 0 || item.delayed !== undefined) return;
    if (this.#items.get(item.key) === item) this.#items.delete(item.key);
  }

  #makeDirty(item: Item): void {
    if (item.dirty) return;
    item.dirty = true;
    item.since = this.#options.clock.monotonic();
    this.#options.metrics?.added();
    if (!item.processing) this.#enqueue(item);
  }

  #enqueue(item: Item): void {
    const worker = this.#workers.shift();
    if (worker !== undefined) {
      worker(this.#hand(item));
      return;
    }
    this.#ready.push(item);
    this.#changeDepth(1);
  }

  #takeReady(): Item | undefined {
    for (let item = this.#ready.shift(); item !== undefined; item = this.#ready.shift()) {
      // Dropped while it waited, and perhaps added anew behind others.
      if (!item.dirty || item.processing) continue;
      this.#changeDepth(-1);
      return item;
    }
    return undefined;
  }

  #hand(item: Item): Request {
    item.dirty = false;
    item.processing = true;
    this.#options.metrics?.waited((this.#options.clock.monotonic() - item.since) / 1000);
    return item.request;
  }

  #changeDepth(by: number): void {
    this.#depth += by;
    this.#options.metrics?.depth(this.#depth);
  }
}

/** Plane ids contain slashes, namespaces and names do not: read from the end it is unambiguous. */
function requestKey(request: Request): string {
  return `${request.plane}/${request.namespace}/${request.name}`;
}

/** First in, first out, without moving what is behind. */
class Fifo<V> {
  #values: (V | undefined)[] = [];
  #head = 0;

  push(value: V): void {
    this.#values.push(value);
  }

  shift(): V | undefined {
    if (this.#head === this.#values.length) return undefined;
    const value = this.#values[this.#head];
    this.#values[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return value;
  }
}
