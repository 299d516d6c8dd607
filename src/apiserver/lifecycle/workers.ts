import { type Clock, type Random, type Request, WorkQueue } from '../../kube/index.ts';

export interface WorkersOptions {
  clock: Clock;
  random: Random;
  concurrency: number;
  /** Told of every attempt that failed and is going to be made again. */
  onError: (error: unknown, request: Request) => void;
}

/** A work queue with those who work on it: one request is never worked on twice at once, failures come back later. */
export class Workers {
  readonly queue: WorkQueue;
  readonly #running: Promise<void>[];
  #busy = 0;

  constructor(options: WorkersOptions, work: (request: Request) => Promise<void>) {
    this.queue = new WorkQueue({ clock: options.clock, random: options.random });
    this.#running = Array.from({ length: options.concurrency }, async () => {
      for (;;) {
        const request = await this.queue.get();
        if (request === undefined) return;
        this.#busy++;
        try {
          await work(request);
          this.queue.forget(request);
        } catch (error) {
          options.onError(error, request);
          this.queue.addRateLimited(request);
        } finally {
          this.queue.done(request);
          this.#busy--;
        }
      }
    });
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
}
