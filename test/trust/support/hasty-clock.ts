import { type Clock, systemClock } from '../../../src/kube/index.ts';

/** The machine's time going `factor` times as fast, so that back-offs and deadlines of minutes pass within a test. */
export function hastyClock(factor: number): Clock {
  return {
    now: () => systemClock.now() * factor,
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
    after: (milliseconds, callback) => systemClock.after(milliseconds / factor, callback),
    soon: (callback) => systemClock.soon(callback),
  };
}
