/** The body of a response that goes on: what is pushed is read, until it is ended, failed, aborted or left. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #over: { error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  readonly #onOver: () => void;

  constructor(onOver: () => void, signal: AbortSignal | undefined) {
    this.#onOver = onOver;
    signal?.addEventListener('abort', () => this.fail(signal.reason), { once: true });
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#finish({});
  }

  fail(error: unknown): void {
    this.#finish({ error });
  }

  #finish(how: { error?: unknown }): void {
    if (this.#over !== undefined) return;
    this.#over = how;
    this.#onOver();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunks = this.#chunks;
        this.#chunks = [];
        yield* chunks;
        if (this.#chunks.length > 0) continue;
        if (this.#over !== undefined) {
          if ('error' in this.#over) throw this.#over.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      this.end();
    }
  }
}
