import type { Timer } from '../../kube/index.ts';
import { ApiError } from '../../meta/index.ts';
import { fieldNotSupported, invalid, resourceVersionTooLarge } from '../errors.ts';
import { type Frame, FrameQueue } from '../http/frame-queue.ts';
import type { ApiResponse } from '../http/message.ts';
import { booleanParameter, integerParameter } from '../http/negotiate.ts';
import type { FieldError } from '../schema/schema.ts';
import { RevisionCompacted, RevisionInFuture, type StorageEvent, type StoredRecord } from '../storage/storage.ts';
import type { Call } from './call.ts';
import { bookmarkFrame, departed, EventFrame, type EventType, lineOf, TransformedFrames } from './frames.ts';
import { collect, parseRevision } from './read.ts';
import { tableOptions } from './respond.ts';
import { type Selection, selectionOf } from './selection.ts';

/** A watch without timeoutSeconds ends after this and up to twice as long, so that watchers spread over servers. */
const minimumWatchSeconds = 1800;

/** How long before its end a watch is told for the last time how far it has come. */
const lastBookmarkSeconds = 2;

interface Frames {
  event(type: EventType, value: Uint8Array, revision: number): Frame;
  bookmark(revision: number, initialEventsEnd: boolean): Frame;
}

/** GET of a collection with `watch=true`. Throws 400 and 422; what goes wrong later is an ERROR event. */
export async function watch(call: Call): Promise<ApiResponse> {
  const { query } = call.request;
  const asked = query.get('resourceVersion') ?? '';
  const bookmarks = booleanParameter(query, 'allowWatchBookmarks') ?? false;
  const initial = booleanParameter(query, 'sendInitialEvents');
  checkWatchParameters(query, initial);
  const selection = selectionOf(call.served, query);
  const seconds = integerParameter(query, 'timeoutSeconds') ?? 0;
  const session = new WatchSession(call, selection, bookmarks);
  try {
    if (initial === true) {
      await session.sendCurrent(asked);
      if (bookmarks) session.sendBookmark(true);
    } else if ((asked === '' || asked === '0') && initial === undefined) {
      await session.sendCurrent('');
      // Such a watch counts as one that asked for initial events.
      if (bookmarks) session.sendBookmark(true);
    } else {
      session.revision = asked === '' || asked === '0' ? call.server.storage.revision : parseRevision(asked);
    }
    session.follow();
  } catch (error) {
    if (!(error instanceof RevisionCompacted) && !(error instanceof RevisionInFuture)) {
      session.end();
      throw error;
    }
    session.fail(
      error instanceof RevisionCompacted
        ? ApiError.of('Expired', `too old resource version: ${asked} (${error.oldest})`)
        : resourceVersionTooLarge(asked, call.server.storage.revision),
    );
  }
  session.limitTo(seconds > 0 ? seconds : minimumWatchSeconds * (1 + call.server.random.next()));
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: session.stream,
  };
}

class WatchSession {
  readonly stream: FrameQueue;
  readonly resource: string;
  /** Everything up to it has been sent. */
  revision = 0;
  readonly #call: Call;
  readonly #matches: Selection['matches'];
  /** The one object that can be of interest. */
  readonly #only: string | undefined;
  readonly #frames: Frames;
  readonly #bookmarks: boolean;
  readonly #timers: Timer[] = [];
  #subscription: { close(): void } | undefined;

  constructor(call: Call, selection: Selection, bookmarks: boolean) {
    this.#call = call;
    this.resource = call.served.storage;
    this.#only = selection.name;
    this.#matches = selection.matches;
    this.#bookmarks = bookmarks;
    this.#frames = framesFor(call);
    this.stream = new FrameQueue(call.server.limits.watchBacklogBytes, () => this.#close());
    call.plane.ongoing.add(this);
    call.request.signal?.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => this.stream.cancel();

  /** Sends what there is now as ADDED events. */
  async sendCurrent(notOlderThan: string): Promise<void> {
    const { server, request } = this.#call;
    if (notOlderThan !== '' && parseRevision(notOlderThan) > server.storage.revision) throw new RevisionInFuture();
    const query = new URLSearchParams();
    for (const name of ['labelSelector', 'fieldSelector']) {
      const value = request.query.get(name);
      if (value !== null) query.set(name, value);
    }
    const page = await collect({ ...this.#call, request: { ...request, query } });
    for (const record of page.records) this.#sendAdded(record);
    this.revision = page.revision;
  }

  #sendAdded(record: StoredRecord): void {
    this.stream.push(this.#frames.event('ADDED', record.value, record.revision));
  }

  sendBookmark(initialEventsEnd = false): void {
    this.stream.push(this.#frames.bookmark(this.revision, initialEventsEnd));
  }

  /** Throws RevisionCompacted and RevisionInFuture. */
  follow(): void {
    const { server, plane, served, namespace } = this.#call;
    if (this.stream.ended) return;
    this.#subscription = server.storage.watch(
      {
        plane: plane.id,
        resource: served.storage,
        ...(namespace === '' ? {} : { namespace }),
        ...(this.#only === undefined ? {} : { name: this.#only }),
        from: this.revision,
      },
      {
        events: (events, revision) => {
          for (const event of events) this.#send(event);
          this.revision = Math.max(this.revision, revision);
        },
        closed: () => this.stream.end(),
      },
    );
    if (this.#bookmarks) this.#scheduleBookmark();
  }

  #send(event: StorageEvent): void {
    const matches = this.#matches;
    const before = event.previous !== undefined && (matches === undefined || matches(event.previous));
    if (event.type === 'delete') {
      // Without the state before, the last state is what tells whether it was selected.
      const selected = event.previous === undefined ? matches === undefined || matches(event) : before;
      if (selected) this.stream.push(this.#frames.event('DELETED', event.value, event.revision));
      return;
    }
    const now = matches === undefined || matches(event);
    if (now) this.stream.push(this.#frames.event(before ? 'MODIFIED' : 'ADDED', event.value, event.revision));
    else if (before) this.stream.push(this.#frames.event('DELETED', departed(event), event.revision));
  }

  #scheduleBookmark(): void {
    const { clock, limits, random } = this.#call.server;
    const timer = clock.after(limits.bookmarkMilliseconds * (0.8 + 0.4 * random.next()), () => {
      if (this.stream.ended) return;
      this.sendBookmark();
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      this.#scheduleBookmark();
    });
    this.#timers.push(timer);
  }

  limitTo(seconds: number): void {
    if (this.stream.ended) return;
    const { clock } = this.#call.server;
    this.#timers.push(clock.after(seconds * 1000, () => this.stream.end()));
    if (!this.#bookmarks || seconds <= lastBookmarkSeconds) return;
    // So that a client that begins again knows how far it has come.
    this.#timers.push(clock.after((seconds - lastBookmarkSeconds) * 1000, () => this.sendBookmark()));
  }

  /** An ERROR event, then the end. */
  fail(error: ApiError): void {
    this.stream.push(lineOf('ERROR', error.status));
    this.stream.end();
  }

  end(): void {
    this.stream.end();
  }

  #close(): void {
    this.#subscription?.close();
    for (const timer of this.#timers) timer.cancel();
    this.#call.plane.ongoing.delete(this);
    this.#call.request.signal?.removeEventListener('abort', this.#onAbort);
  }
}

function framesFor(call: Call): Frames {
  const { served, output } = call;
  if (output.as === 'object') {
    return {
      event: (type, value, revision) => new EventFrame(served, type, value, revision),
      bookmark: (revision, initialEventsEnd) => bookmarkFrame(served, revision, initialEventsEnd),
    };
  }
  const as = output.as === 'Table' ? 'Table' : 'PartialObjectMetadata';
  const options = tableOptions(call);
  return new TransformedFrames(served, as, () => ({ ...options, now: call.server.clock.now() }));
}

function checkWatchParameters(query: URLSearchParams, initial: boolean | undefined): void {
  const errors: FieldError[] = [];
  const forbid = (field: string, why: string): void => {
    errors.push({ reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` });
  };
  const match = query.get('resourceVersionMatch') ?? '';
  if (initial !== undefined && match !== 'NotOlderThan') {
    forbid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match !== '') {
    if (initial === undefined) {
      forbid(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    }
    if (match !== 'NotOlderThan') errors.push(fieldNotSupported('resourceVersionMatch', match, ['NotOlderThan']));
    if ((query.get('continue') ?? '') !== '') {
      forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
    }
  }
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
