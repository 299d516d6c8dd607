import type { KubeObject } from '../../meta/index.ts';
import { Backoff } from '../backoff.ts';
import type { Client } from '../client.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../random.ts';
import { isExpired } from '../rest/errors.ts';
import type { InformerCache } from './cache.ts';

export interface ReflectorOptions {
  client: Client;
  clock: Clock;
  random: Random;
  /** Ends it; nothing else does. */
  signal: AbortSignal;
  /** Hears of every failure it recovers from. */
  onError: (error: unknown, during: 'list' | 'watch') => void;
}

/** client-go's figures (tools/cache/reflector.go). */
const firstBackoffMilliseconds = 800;
const longestBackoffMilliseconds = 30_000;
const healthyMilliseconds = 120_000;
const shortestWatchSeconds = 300;

/** What a server may be late in ending a watch before it counts as lost. */
const overdueMilliseconds = 30_000;
const listDeadlineMilliseconds = 300_000;
/** A watch that ended sooner and empty did not work, however politely it ended. */
const tooShortMilliseconds = 1_000;

/** Keeps `cache` equal to the server by list and watch until the signal is aborted, whatever goes wrong meanwhile. */
export async function reflect<T extends KubeObject>(cache: InformerCache<T>, options: ReflectorOptions): Promise<void> {
  const { client, clock, random, signal, onError } = options;
  const backoff = new Backoff({
    firstMilliseconds: firstBackoffMilliseconds,
    longestMilliseconds: longestBackoffMilliseconds,
    random,
  });
  const position = new Position();
  let lastFailure = clock.monotonic();

  while (!signal.aborted) {
    let started = clock.monotonic();
    let during: 'list' | 'watch' = position.version === undefined ? 'list' : 'watch';
    let progressed = false;
    try {
      if (position.version === undefined) {
        const { items, resourceVersion } = await withDeadline(options, listDeadlineMilliseconds, 'list', (signal) =>
          client.list(cache.type, { signal }),
        );
        if (signal.aborted) return;
        cache.replace(items, resourceVersion);
        position.restart(resourceVersion);
        during = 'watch';
        started = clock.monotonic();
      }
      const from = position.version;
      if (from === undefined) continue;
      const timeoutSeconds = Math.ceil(shortestWatchSeconds * (1 + random.next()));
      const deadline = timeoutSeconds * 1000 + overdueMilliseconds;
      await withDeadline(options, deadline, 'watch', async (signal) => {
        const events = client.watch(cache.type, { resourceVersion: from, timeoutSeconds, signal });
        for await (const event of events) {
          if (signal.aborted) return;
          if (event.type === 'BOOKMARK') {
            cache.advance(event.resourceVersion);
            progressed ||= event.resourceVersion !== position.version;
            position.restart(event.resourceVersion);
          } else {
            const version = event.object.metadata.resourceVersion;
            cache.apply(event.type, event.object);
            if (position.seen(version)) progressed = true;
          }
        }
      });
      if (progressed || clock.monotonic() - started >= tooShortMilliseconds) continue;
      throw new Error(`the server ended a watch of ${cache.type.plural} at once, ${timeoutSeconds} s were asked for`);
    } catch (error) {
      if (signal.aborted) return;
      if (isExpired(error)) position.forget();
      onError(error, during);
      const now = clock.monotonic();
      if (now - lastFailure > healthyMilliseconds) backoff.reset();
      lastFailure = now;
      // A watch that worked until now is resumed at once; a server that is down is not hammered.
      if (progressed) continue;
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }
}

/**
 * Where to resume. Objects written in one commit share a version, and a connection may break between their events:
 * so it resumes before the version it saw last, until a later one proves that one complete.
 */
class Position {
  version: string | undefined;
  #latest: string | undefined;

  /** Everything up to `version` is known. */
  restart(version: string): void {
    this.version = version;
    this.#latest = version;
  }

  /** Answers whether it is news: a watch that only replays gets nowhere. */
  seen(version: string): boolean {
    if (version === this.#latest) return false;
    this.version = this.#latest;
    this.#latest = version;
    return true;
  }

  forget(): void {
    this.version = undefined;
    this.#latest = undefined;
  }
}

/** Runs `action` with a signal that is aborted with the outer one, and when `milliseconds` have passed. */
async function withDeadline<R>(
  { clock, signal }: ReflectorOptions,
  milliseconds: number,
  what: string,
  action: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  const ending = new AbortController();
  const onAbort = () => ending.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = clock.after(milliseconds, () =>
    ending.abort(new Error(`a ${what} gave no sign of life for ${Math.round(milliseconds / 1000)} s`)),
  );
  try {
    const result = await action(ending.signal);
    if (ending.signal.aborted && !signal.aborted) throw ending.signal.reason;
    return result;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}
