import type { EventStream } from './message.ts';

/**
 * A body written by one side and read by another. What the reader has not taken is bounded: a reader that falls further
 * behind is cut off, and slows nobody. Chunks pushed between two reads are handed over as one.
 */
export class ChunkQueue implements EventStream {
  readonly #limitBytes: number;
  readonly #onEnd: () => void;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(limitBytes: number, onEnd: () => void) {
    this.#limitBytes = limitBytes;
    this.#onEnd = onEnd;
  }

  get ended(): boolean {
    return this.#ended;
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limitBytes) {
      this.#chunks = [];
      this.end();
    } else {
      this.#signal();
    }
  }

  /** The reader gets what is there, then the end. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal();
    this.#onEnd();
  }

  cancel(): void {
    this.#chunks = [];
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (this.#chunks.length > 0) {
          const chunks = this.#chunks;
          this.#chunks = [];
          this.#bytes = 0;
          yield chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
        } else if (this.#ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.cancel();
    }
  }

  #signal(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
