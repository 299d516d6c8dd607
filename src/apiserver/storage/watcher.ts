import type { StorageEvent, WatchQuery, WatchSink } from './storage.ts';

/** One watch: events gather in it while a batch becomes visible, and are handed over together. */
export class Watcher {
  readonly #range: Pick<WatchQuery, 'namespace' | 'name'>;
  readonly #sink: WatchSink;
  readonly #onFailure: (error: unknown) => void;
  #queue: StorageEvent[] = [];
  #started = false;
  #over = false;
  /** Revision the sink was last told. */
  #told: number;

  constructor(
    range: Pick<WatchQuery, 'namespace' | 'name'>,
    from: number,
    backlog: StorageEvent[],
    sink: WatchSink,
    onFailure: (error: unknown) => void,
  ) {
    this.#range = range;
    this.#told = from;
    this.#queue = backlog.filter((event) => this.#covers(event));
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  /** Takes an event if it is in the range. */
  offer(event: StorageEvent): boolean {
    if (this.#over || !this.#covers(event)) return false;
    this.#queue.push(event);
    return true;
  }

  /** Hands over the backlog, be it empty: from here on the watch is up to date. */
  start(revision: number): void {
    if (this.#over) return;
    this.#started = true;
    this.#deliver(revision);
  }

  /** Hands over what has gathered. Everything up to `revision` has been offered. */
  flush(revision: number): void {
    if (this.#started && !this.#over && this.#queue.length > 0) this.#deliver(revision);
  }

  /** Tells a watch to which nothing happens how far it has come, once it lags `distance` revisions behind. */
  announce(revision: number, distance: number): void {
    if (this.#started && !this.#over && revision - this.#told >= distance) this.#deliver(revision);
  }

  #covers({ key }: StorageEvent): boolean {
    const { namespace, name } = this.#range;
    return (namespace === undefined || key.namespace === namespace) && (name === undefined || key.name === name);
  }

  stop(): void {
    this.#over = true;
    this.#queue = [];
  }

  /** The plane is gone or the store closes. */
  end(revision: number): void {
    if (this.#over) return;
    if (this.#queue.length > 0) this.#deliver(revision);
    if (this.#over) return;
    this.stop();
    try {
      this.#sink.closed();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #deliver(revision: number): void {
    const events = this.#queue;
    this.#queue = [];
    this.#told = revision;
    try {
      this.#sink.events(events, revision);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
