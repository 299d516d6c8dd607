import type { Random } from './random.ts';

export interface BackoffOptions {
  firstMilliseconds: number;
  /** Where doubling stops. */
  longestMilliseconds: number;
  random: Random;
}

/** Growing waits: doubled each time up to a bound, the second half of each at random so that peers spread out. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Milliseconds to wait after one more failure. */
  next(): number {
    return backoffMilliseconds(this.#failures++, this.#options);
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** The wait after `failures` earlier ones: between half and all of `first * 2^failures`, at most `longest`. */
export function backoffMilliseconds(failures: number, options: BackoffOptions): number {
  const whole = Math.min(options.firstMilliseconds * 2 ** failures, options.longestMilliseconds);
  return whole * (0.5 + options.random.next() / 2);
}
