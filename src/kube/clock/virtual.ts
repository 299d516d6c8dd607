import type { Clock, Timer } from './clock.ts';

interface PendingTimer {
  due: number;
  /** Order of creation: timers due at the same time run in it. */
  order: number;
  callback: (() => void) | undefined;
}

/**
 * Time that moves only when told to. Turns of the event loop (`soon`) happen by themselves, as they take no time, so a
 * promise that waits on no timer settles without `advance`. One thread and no I/O make every run the same.
 */
export class VirtualClock implements Clock {
  #now: number;
  readonly #start: number;
  #order = 0;
  #soonPending = 0;
  /** Binary heap by (due, order). */
  readonly #timers: PendingTimer[] = [];

  /** `startMilliseconds` is what `now` says at first; default 2026-01-01T00:00:00Z. */
  constructor(startMilliseconds = 1_767_225_600_000) {
    this.#now = startMilliseconds;
    this.#start = startMilliseconds;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.after(milliseconds, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  after(milliseconds: number, callback: () => void): Timer {
    const timer: PendingTimer = { due: this.#now + Math.max(0, milliseconds), order: this.#order++, callback };
    push(this.#timers, timer);
    return {
      cancel: () => {
        timer.callback = undefined;
      },
    };
  }

  soon(callback: () => void): void {
    this.#soonPending++;
    setImmediate(() => {
      this.#soonPending--;
      callback();
    });
  }

  /** Moves time on, running each timer at its time, in order, and settling everything it set off before the next. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds;
    await this.settle();
    while (await this.#runNext(until));
    this.#now = until;
  }

  /**
   * Moves time on from timer to timer until `promise` settles, and answers what it settles to. Throws when it would take
   * more than `limitMilliseconds` (default one hour), or nothing is left that could settle it.
   */
  async advanceUntil<T>(promise: Promise<T>, limitMilliseconds = 3_600_000): Promise<T> {
    const until = this.#now + limitMilliseconds;
    let settled = false;
    const watched = promise.finally(() => {
      settled = true;
    });
    watched.catch(() => undefined);
    await this.settle();
    while (!settled) {
      if (!(await this.#runNext(until))) throw new Error(`not settled within ${limitMilliseconds} ms of virtual time`);
    }
    return watched;
  }

  /** Waits until all promises and `soon` callbacks that need no time have run. */
  async settle(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#soonPending > 0);
  }

  async #runNext(until: number): Promise<boolean> {
    for (;;) {
      const first = this.#timers[0];
      if (first === undefined || first.due > until) return false;
      pop(this.#timers);
      if (first.callback === undefined) continue;
      this.#now = Math.max(this.#now, first.due);
      first.callback();
      await this.settle();
      return true;
    }
  }
}

function before(a: PendingTimer, b: PendingTimer): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}

function push(heap: PendingTimer[], timer: PendingTimer): void {
  let index = heap.length;
  heap.push(timer);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!before(timer, heap[parent]!)) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = timer;
}

function pop(heap: PendingTimer[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
    if (!before(heap[child]!, last)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
}
