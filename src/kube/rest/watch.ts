import { ApiError, type KubeObject, type Status, type Stored } from '../../meta/index.ts';
import type { WatchEvent } from '../client.ts';
import type { TransportResponse, WireEvent } from '../transport.ts';
import { linesOf } from './lines.ts';

/**
 * The events of the watch that `open` begins. The request is made when the first event is asked for, and ended when the
 * loop is left in any way, also while it waits for an event.
 */
export function watchEvents(
  open: (signal: AbortSignal) => Promise<TransportResponse>,
  signal: AbortSignal | undefined,
): AsyncIterable<WatchEvent<KubeObject>> {
  return {
    [Symbol.asyncIterator]() {
      const ending = new AbortController();
      const events = decode(open, signal, ending);
      return {
        next: () => events.next(),
        return: () => {
          // A generator that is waiting would not see `return` before the next chunk, which may never come.
          ending.abort();
          return events.return();
        },
      };
    },
  };
}

async function* decode(
  open: (signal: AbortSignal) => Promise<TransportResponse>,
  outer: AbortSignal | undefined,
  ending: AbortController,
): AsyncGenerator<WatchEvent<KubeObject>, void, undefined> {
  const abort = () => ending.abort(outer?.reason);
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  try {
    const { events, body } = await open(ending.signal);
    if (events !== undefined) {
      for await (const together of events) for (const event of together) yield checked(event);
    } else {
      for await (const lines of linesOf(body)) for (const line of lines) yield checked(parsed(line));
    }
  } finally {
    outer?.removeEventListener('abort', abort);
  }
}

function parsed(line: string): WireEvent {
  try {
    return JSON.parse(line) as WireEvent;
  } catch {
    throw new Error(`a watch broke off or was garbled: ${JSON.stringify(line.slice(0, 80))} is not a watch event`);
  }
}

function checked(event: WireEvent): WatchEvent<KubeObject> {
  if (event.type === 'ERROR') throw new ApiError(event.object as Status);
  const object = event.object as Stored<KubeObject>;
  if (typeof object?.metadata?.resourceVersion !== 'string') {
    throw new Error(`a watch sent an event of type ${JSON.stringify(event.type)} without a resourceVersion`);
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object };
    case 'BOOKMARK':
      return { type: 'BOOKMARK', resourceVersion: object.metadata.resourceVersion };
    default:
      throw new Error(`a watch sent an event of unknown type ${JSON.stringify(event.type)}`);
  }
}
