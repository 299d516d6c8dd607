import { Engine } from './engine.ts';
import type { Batch, BatchOutcome, EngineHost, EngineOptions, Opening, Range, RangeQuery } from './protocol.ts';
import type { StorageKey, StoredRecord } from './storage.ts';

/** The engine in the serving thread: for a database in memory, and for measuring what the worker is worth. */
export async function openInline(
  options: EngineOptions,
  uncached: (resource: string) => boolean,
  onFatal: (error: Error) => void,
): Promise<Opening & { engine: Engine }> {
  const engine = await Engine.open(options);
  try {
    const opened = engine.opened();
    const parts = engine.load(new Set(opened.resources.filter(uncached)));
    return { host: new InlineHost(engine, onFatal), opened, parts, engine };
  } catch (error) {
    engine.close();
    throw error;
  }
}

class InlineHost implements EngineHost {
  readonly batchesInFlight = 1;
  readonly #engine: Engine;
  readonly #onFatal: (error: Error) => void;
  #failed = false;

  constructor(engine: Engine, onFatal: (error: Error) => void) {
    this.#engine = engine;
    this.#onFatal = onFatal;
  }

  run(batch: Batch, done: (outcome: BatchOutcome) => void): void {
    this.#answer(() => this.#engine.run(batch), done);
  }

  get(key: StorageKey, done: (record: StoredRecord | undefined) => void): void {
    this.#answer(() => this.#engine.get(key), done);
  }

  range(query: RangeQuery, done: (range: Range) => void): void {
    this.#answer(() => this.#engine.range(query), done);
  }

  count(query: RangeQuery, done: (count: number) => void): void {
    this.#answer(() => this.#engine.count(query), done);
  }

  async close(): Promise<void> {
    this.#engine.close();
  }

  #answer<T>(work: () => T, done: (result: T) => void): void {
    if (this.#failed) return;
    let result: T;
    try {
      result = work();
    } catch (error) {
      this.#failed = true;
      this.#onFatal(error as Error);
      return;
    }
    done(result);
  }
}
