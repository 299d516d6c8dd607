/** Time, injected. Rooms never call `Date`, `setTimeout`, `setImmediate` or `performance` themselves (lint refuses). */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from some fixed point, never going back. For durations. */
  monotonic(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `milliseconds`. A timer never keeps the process alive. */
  after(milliseconds: number, callback: () => void): Timer;
  /** Calls `callback` in the next turn of the event loop, after everything already queued in this one. */
  soon(callback: () => void): void;
}

export interface Timer {
  cancel(): void;
}
