import { type Clock, type Random, type Request, WorkQueue } from '../../kube/index.ts';
import { isApiError } from '../../meta/index.ts';

export interface LifecycleOptions {
  clock: Clock;
  random: Random;
  /** Told of every attempt that failed and is going to be made again. */
  onError: (error: unknown, what: string) => void;
}

export interface Work<State> {
  /** How many work at once, in all planes together. */
  concurrency: number;
  /** What a request is about, for who hears that it failed. */
  about(request: Request): string;
  /** Does what a request asks for. Rejects to be asked again later. */
  do(state: State, request: Request): Promise<void>;
}

/**
 * A work queue with those who work on it, for all planes: one request is never worked on twice at once, failures come back
 * later, what is asked of a plane that was closed is dropped. `State` is what a worker needs to know of a plane.
 */
export class PlaneWorkers<State> {
  readonly queue: WorkQueue;
  readonly #states = new Map<string, State>();
  readonly #options: LifecycleOptions;
  readonly #work: Work<State>;
  readonly #running: Promise<void>[];
  #busy = 0;

  constructor(options: LifecycleOptions, work: Work<State>) {
    this.#options = options;
    this.#work = work;
    this.queue = new WorkQueue({ clock: options.clock, random: options.random });
    this.#running = Array.from({ length: work.concurrency }, () => this.#run());
  }

  /** Requests of the plane are worked on from now on. */
  open(plane: string, state: State): void {
    this.#states.set(plane, state);
  }

  /** Forgets a plane; whoever works on it finishes. */
  close(plane: string): void {
    this.#states.delete(plane);
    this.queue.drop((request) => request.plane === plane);
  }

  /** Nothing is being worked on or waits for a worker. What is to come later does not count. */
  get idle(): boolean {
    return this.#busy === 0 && this.queue.depth === 0;
  }

  /** Resolves when nobody works any more; what waited is dropped. */
  async stop(): Promise<void> {
    this.queue.shutDown();
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    for (;;) {
      const request = await this.queue.get();
      if (request === undefined) return;
      this.#busy++;
      try {
        const state = this.#states.get(request.plane);
        if (state !== undefined) await this.#work.do(state, request);
        this.queue.forget(request);
      } catch (error) {
        // A conflict is somebody else's write in between: what to do is decided anew.
        if (!isApiError(error, 'Conflict')) this.#options.onError(error, this.#work.about(request));
        this.queue.addRateLimited(request);
      } finally {
        this.queue.done(request);
        this.#busy--;
      }
    }
  }
}
