import type { WireEvent } from '../../kube/index.ts';
import type { EventStream } from './message.ts';

/** One line of a watch, written or parsed only where it is read so. */
export interface Frame {
  /** About how many bytes it has. */
  readonly size: number;
  bytes(): Uint8Array;
  event(): WireEvent;
}

/**
 * A body written by one side and read by another. What the reader has not taken is bounded: a reader that falls further
 * behind is cut off, and slows nobody. Frames pushed between two reads are handed over as one.
 */
export class FrameQueue implements EventStream {
  readonly #limitBytes: number;
  readonly #onEnd: () => void;
  #frames: Frame[] = [];
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

  push(frame: Frame): void {
    if (this.#ended) return;
    this.#frames.push(frame);
    this.#bytes += frame.size;
    if (this.#bytes > this.#limitBytes) {
      this.#frames = [];
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
    this.#frames = [];
    this.end();
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    return this.#read((frames) =>
      frames.length === 1 ? frames[0]!.bytes() : Buffer.concat(frames.map((frame) => frame.bytes())),
    );
  }

  events(): AsyncGenerator<WireEvent[]> {
    return this.#read((frames) => frames.map((frame) => frame.event()));
  }

  async *#read<T>(as: (frames: Frame[]) => T): AsyncGenerator<T> {
    try {
      for (;;) {
        if (this.#frames.length > 0) {
          const frames = this.#frames;
          this.#frames = [];
          this.#bytes = 0;
          yield as(frames);
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
