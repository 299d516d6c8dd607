import { Worker } from 'node:worker_threads';
import { StorageOpenError } from './errors.ts';
import type {
  Batch,
  BatchOutcome,
  EngineHost,
  EngineOptions,
  LoadedEntry,
  Opened,
  Opening,
  Range,
  RangeQuery,
} from './protocol.ts';
import type { StorageKey, StoredRecord } from './storage.ts';
import { type Answer, pack, type Request, unpackOutcomes } from './wire.ts';

/** Starts the storage worker and opens the database in it. Throws what `Engine.open` throws. */
export async function openInWorker(
  options: EngineOptions,
  uncached: (resource: string) => boolean,
  onFatal: (error: Error) => void,
): Promise<Opening> {
  const host = new WorkerHost(onFatal);
  try {
    const opened = await host.open(options);
    return { host, opened, parts: host.load(opened.resources.filter(uncached)) };
  } catch (error) {
    await host.close();
    throw error;
  }
}

class WorkerHost implements EngineHost {
  /** One is being written while the next is made ready: the disk never waits for the serving thread. */
  readonly batchesInFlight = 2;
  readonly #worker: Worker;
  readonly #onFatal: (error: Error) => void;
  /** Whoever waits for an answer, in the order of the requests. */
  readonly #waiting: ((answer: Answer) => void)[] = [];
  /** Until all is loaded a failure belongs to the request on its way, and is then the caller's to report. */
  #opening: ((error: Error) => void) | undefined;
  #state: 'running' | 'failed' | 'closing' | 'gone' = 'running';

  constructor(onFatal: (error: Error) => void) {
    this.#onFatal = onFatal;
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'storage', execArgv: [] });
    this.#worker.on('message', (answer: Answer) => this.#receive(answer));
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => {
      if (this.#state !== 'closing') this.#fail(new Error('the storage worker ended by itself'));
      this.#state = 'gone';
    });
  }

  open(options: EngineOptions): Promise<Opened> {
    return new Promise((resolve, reject) => {
      this.#opening = reject;
      this.#ask<'opened'>({ kind: 'open', options }, ({ opened }) => resolve(opened));
    });
  }

  /** One part is read while the one before it is taken. */
  async *load(uncached: readonly string[]): AsyncGenerator<LoadedEntry[], void> {
    let next = this.#part({ kind: 'load', uncached });
    for (let part = await next; part !== undefined; part = await next) {
      next = this.#part({ kind: 'more' });
      yield part;
    }
    this.#opening = undefined;
  }

  #part(request: Request): Promise<LoadedEntry[] | undefined> {
    return new Promise((resolve, reject) => {
      this.#opening = reject;
      this.#ask<'part'>(request, ({ part }) => resolve(part));
    });
  }

  run(batch: Batch, done: (outcome: BatchOutcome) => void): void {
    const packed = pack(batch);
    this.#ask<'ran'>({ kind: 'run', batch: packed }, (answer) => done(unpackOutcomes(answer)), [packed.bytes.buffer]);
  }

  get(key: StorageKey, done: (record: StoredRecord | undefined) => void): void {
    this.#ask<'got'>({ kind: 'get', key }, ({ record }) => done(record));
  }

  range(query: RangeQuery, done: (range: Range) => void): void {
    this.#ask<'range'>({ kind: 'range', query }, ({ range }) => done(range));
  }

  count(query: RangeQuery, done: (count: number) => void): void {
    this.#ask<'count'>({ kind: 'count', query }, ({ count }) => done(count));
  }

  async close(): Promise<void> {
    if (this.#state === 'gone') return;
    this.#state = 'closing';
    const gone = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.postMessage({ kind: 'close' } satisfies Request);
    await gone;
  }

  #ask<K extends Answer['kind']>(
    request: Request,
    done: (answer: Extract<Answer, { kind: K }>) => void,
    transfer: ArrayBuffer[] = [],
  ): void {
    if (this.#state !== 'running') return;
    this.#waiting.push(done as (answer: Answer) => void);
    this.#worker.postMessage(request, transfer);
  }

  #receive(answer: Answer): void {
    if (answer.kind === 'closed') return;
    if (answer.kind === 'failed') {
      this.#fail(errorOf(answer));
      return;
    }
    this.#waiting.shift()?.(answer);
  }

  #fail(error: Error): void {
    if (this.#state !== 'running') return;
    this.#state = 'failed';
    if (this.#opening !== undefined) {
      this.#opening(error);
      this.#opening = undefined;
    } else this.#onFatal(error);
  }
}

function errorOf({ message, openError, stack }: Extract<Answer, { kind: 'failed' }>): Error {
  const error = openError ? new StorageOpenError(message) : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
