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

/** An iterator of its own, since a generator that waits can not be left. */
function late(
  events: AsyncIterable<readonly WireEvent[]>,
  clock: Clock,
  random: Random,
  versions: number,
): AsyncIterable<readonly WireEvent[]> {
  return {
    [Symbol.asyncIterator]() {
      const inner = events[Symbol.asyncIterator]();
      const held: Held[] = [];
      const left = Promise.withResolvers<undefined>();
      let reading: Promise<IteratorResult<readonly WireEvent[]>> | undefined;
      let ended = false;

      /** The events that have waited long enough. One that waits holds back those behind it. */
      const due = (): WireEvent[] => {
        const now = clock.monotonic();
        const told: WireEvent[] = [];
        while (held[0] !== undefined && (ended || held[0].behind <= 0 || held[0].due <= now)) {
          told.push(held.shift()!.event);
        }
        return told;
      };

      /** Until something arrives, the first of those held is due, or nobody listens any more. */
      const wait = async (): Promise<void> => {
        reading ??= inner.next();
        const overdue = Promise.withResolvers<undefined>();
        const [first] = held;
        const timer =
          first && clock.after(Math.max(0, first.due - clock.monotonic()), () => overdue.resolve(undefined));
        const answer = await Promise.race([reading, overdue.promise, left.promise]);
        timer?.cancel();
        if (answer === undefined) return;
        reading = undefined;
        ended = answer.done === true;
        if (answer.done === true) return;
        for (const event of answer.value) {
          for (const each of held) each.behind--;
          const behind = Math.floor(random.next() * (versions + 1));
          held.push({ event, behind, due: clock.monotonic() + Math.floor(random.next() * longestMilliseconds) });
        }
      };

      let gone = false;
      return {
        async next() {
          while (!gone) {
            const value = due();
            if (value.length > 0) return { done: false, value };
            if (ended) break;
            await wait();
          }
          return { done: true, value: undefined };
        },
        async return() {
          gone = true;
          left.resolve(undefined);
          reading?.catch(() => undefined);
          void inner.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
