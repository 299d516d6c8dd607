import type { Clock, Timer } from './clock.ts';

/** Node fires a timer at once when asked for more; longer waits are made of several. */
const longestTimeoutMilliseconds = 2 ** 31 - 1;

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),

  sleep(milliseconds, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = startTimeout(milliseconds, true, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },

  after(milliseconds, callback): Timer {
    return { cancel: startTimeout(milliseconds, false, callback) };
  },

  soon(callback) {
    setImmediate(callback);
  },
};

function startTimeout(milliseconds: number, keepsProcess: boolean, callback: () => void): () => void {
  const until = performance.now() + milliseconds;
  let timeout: NodeJS.Timeout;
  const arm = (wait: number) => {
    timeout = setTimeout(
      () => {
        const left = until - performance.now();
        if (wait > longestTimeoutMilliseconds && left > 0) arm(left);
        else callback();
      },
      Math.max(0, Math.min(wait, longestTimeoutMilliseconds)),
    );
    if (!keepsProcess) timeout.unref();
  };
  arm(milliseconds);
  return () => clearTimeout(timeout);
}
