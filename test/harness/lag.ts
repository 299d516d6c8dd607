import type { Clock, Random, Transport, TransportRequest, TransportResponse, WireEvent } from '../../src/kube/index.ts';

/** A late event comes at the latest after this time: a cache that is behind catches up once nothing happens any more. */
const longestMilliseconds = 3_000;

/**
 * A transport whose watches are late: each tells an event only once so many later ones have happened (0 to `versions`,
 * drawn anew for each event of each watch), or some seconds have passed. Their order stays. Lists and reads are not late.
 */
export function lagging(inner: Transport, clock: Clock, random: Random, versions: number): Transport {
  return {
    async request(request: TransportRequest): Promise<TransportResponse> {
      const response = await inner.request(request);
      const { events } = response;
      return events === undefined ? response : { ...response, events: late(events, clock, random, versions) };
    },
    close: () => inner.close(),
  };
}

interface Held {
  event: WireEvent;
  /** How many later events it waits for. */
  behind: number;
  /** `clock.monotonic()` at which it comes in any case. */
  due: number;
}

async function* late(
  events: AsyncIterable<readonly WireEvent[]>,
  clock: Clock,
  random: Random,
  versions: number,
): AsyncGenerator<readonly WireEvent[]> {
  const held: Held[] = [];
  const iterator = events[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<readonly WireEvent[]>> | undefined;
  try {
    for (;;) {
      next ??= iterator.next();
      const [first] = held;
      const waited = new AbortController();
      const overdue =
        first === undefined
          ? new Promise<never>(() => {})
          : clock.sleep(Math.max(0, first.due - clock.monotonic()), waited.signal).catch(() => undefined);
      const answer = await Promise.race([next, overdue]);
      waited.abort();
      if (answer !== undefined) {
        next = undefined;
        if (answer.done === true) break;
        for (const event of answer.value) {
          for (const each of held) each.behind--;
          const behind = Math.floor(random.next() * (versions + 1));
          held.push({ event, behind, due: clock.monotonic() + random.next() * longestMilliseconds });
        }
      }
      const now = clock.monotonic();
      const told: WireEvent[] = [];
      // One that waits holds back those behind it.
      while (held[0] !== undefined && (held[0].behind <= 0 || held[0].due <= now)) told.push(held.shift()!.event);
      if (told.length > 0) yield told;
    }
    if (held.length > 0) yield held.map((each) => each.event);
  } finally {
    await iterator.return?.();
  }
}
