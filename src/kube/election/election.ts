import { apiVersionOf, formatMicroTime, isApiError, Lease, type Stored } from '../../meta/index.ts';
import type { Client, ObjectKey } from '../client.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../random.ts';

export interface ElectionOptions {
  client: Client;
  clock: Clock;
  random: Random;
  /** The Lease that is competed for. */
  lease: ObjectKey;
  /** Who we are; no other candidate may say the same. */
  identity: string;
  /** How long a leader that says nothing is believed. Default 15. */
  leaseSeconds?: number;
  /** When a leader that could not renew stops by itself; shorter than `leaseSeconds`. Default 10. */
  renewSeconds?: number;
  /** Between attempts. Default 2. */
  retrySeconds?: number;
  /** Ends the candidacy; a lease that is held is given up. */
  signal: AbortSignal;
  /** Hears of attempts that failed. */
  onError?: (error: unknown) => void;
}

/** What another candidate last wrote, and when we first saw it, by our own clock: clocks of machines are not compared. */
interface Observed {
  record: string;
  at: number;
}

/**
 * Competes for a Lease with client-go's rules (tools/leaderelection) and runs `lead` while it is held, with a signal that
 * is aborted when leadership is lost; then competes again. Resolves when `signal` is aborted and `lead` has ended. What
 * `lead` throws ends the candidacy and is thrown.
 *
 * A leader may go on for a moment after another took over (a stopped process, a jump of its clock): what must not happen
 * twice needs a precondition of its own.
 */
export async function runElection(
  options: ElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { signal } = options;
  const { leaseSeconds, renewSeconds, retrySeconds } = secondsOf(options);
  if (!(leaseSeconds > renewSeconds && renewSeconds > retrySeconds && retrySeconds > 0)) {
    throw new RangeError('leaseSeconds must be more than renewSeconds, and that more than retrySeconds');
  }
  const candidate = new Candidate(options);
  while (!signal.aborted) {
    if (!(await candidate.tryHold())) {
      await candidate.pause();
      continue;
    }
    const leading = new AbortController();
    const stop = () => leading.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const renewing = candidate.renewUntilLost(leading);
    try {
      await lead(leading.signal);
    } finally {
      leading.abort(new Error('no longer leading'));
      signal.removeEventListener('abort', stop);
      await renewing;
      await candidate.release();
    }
    await candidate.pause();
  }
}

function secondsOf({ leaseSeconds = 15, renewSeconds = 10, retrySeconds = 2 }: ElectionOptions) {
  return { leaseSeconds, renewSeconds, retrySeconds };
}

class Candidate {
  readonly #options: ElectionOptions;
  #observed: Observed | undefined;
  #held: Stored<Lease> | undefined;
  /** When the last successful attempt began: others count from no earlier than that. */
  #renewedAt = 0;

  constructor(options: ElectionOptions) {
    this.#options = options;
  }

  /** Waits between attempts, up to 1.2 times longer at random. */
  pause(signal = this.#options.signal): Promise<void> {
    const { clock, random } = this.#options;
    const milliseconds = secondsOf(this.#options).retrySeconds * 1000 * (1 + 1.2 * random.next());
    return clock.sleep(milliseconds, signal).catch(() => undefined);
  }

  /** Takes or renews the lease if it is ours, free, or of someone who has been silent for too long. Answers whether it is ours. */
  async tryHold(): Promise<boolean> {
    const began = this.#options.clock.monotonic();
    try {
      const isOurs = await this.#inTime((signal) => this.#tryHold(signal));
      if (isOurs) this.#renewedAt = began;
      return isOurs;
    } catch (error) {
      if (!isApiError(error, 'Conflict', 'AlreadyExists')) this.#options.onError?.(error);
      return false;
    }
  }

  /** Keeps the lease until `leading` is aborted; aborts it when the lease is lost or could not be renewed in time. */
  async renewUntilLost(leading: AbortController): Promise<void> {
    const { clock } = this.#options;
    const renewMilliseconds = secondsOf(this.#options).renewSeconds * 1000;
    // A timer, because a request that hangs must not keep a leader leading.
    const arm = () =>
      clock.after(this.#renewedAt + renewMilliseconds - clock.monotonic(), () =>
        leading.abort(new Error('the lease was not renewed in time')),
      );
    let deadline = arm();
    for (;;) {
      await this.pause(leading.signal);
      if (leading.signal.aborted) break;
      if (await this.tryHold()) {
        deadline.cancel();
        deadline = arm();
      } else if (this.#held === undefined) leading.abort(new Error('the lease was lost to another'));
    }
    deadline.cancel();
  }

  /** Gives the lease up so that another need not wait until it ends. */
  async release(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    const { client, clock } = this.#options;
    const now = formatMicroTime(clock.now());
    const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    await this.#inTime((signal) => client.update(Lease, { ...held, spec }, { signal })).catch((error) =>
      this.#options.onError?.(error),
    );
  }

  async #tryHold(signal: AbortSignal): Promise<boolean> {
    const { client, clock, lease: key, identity } = this.#options;
    const now = formatMicroTime(clock.now());
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: secondsOf(this.#options).leaseSeconds,
      renewTime: now,
    };
    const current = await client.get(Lease, key, signal);
    if (current === undefined) {
      const metadata = { name: key.name, namespace: key.namespace };
      const fresh = { ...spec, acquireTime: now, leaseTransitions: 0 };
      const lease: Lease = { apiVersion: apiVersionOf(Lease), kind: Lease.kind, metadata, spec: fresh };
      this.#held = await client.create(Lease, lease, { signal });
      return true;
    }
    const { holderIdentity = '', acquireTime = now, leaseTransitions = 0 } = current.spec ?? {};
    const isOurs = holderIdentity === identity;
    if (!isOurs && holderIdentity !== '') {
      this.#held = undefined;
      if (!this.#isSilent(current)) return false;
    }
    const taken = isOurs
      ? { ...spec, acquireTime, leaseTransitions }
      : { ...spec, acquireTime: now, leaseTransitions: leaseTransitions + 1 };
    this.#held = await client.update(Lease, { ...current, spec: taken }, { signal });
    return true;
  }

  async #inTime<R>(action: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const ending = new AbortController();
    const milliseconds = secondsOf(this.#options).renewSeconds * 1000;
    const timer = this.#options.clock.after(milliseconds, () => ending.abort(new Error('no answer about the lease')));
    try {
      return await action(ending.signal);
    } finally {
      timer.cancel();
    }
  }

  /** Whether the holder's record has not changed for as long as it asked to be believed. */
  #isSilent(current: Stored<Lease>): boolean {
    const { clock } = this.#options;
    const { leaseDurationSeconds = 0 } = current.spec ?? {};
    const record = JSON.stringify(current.spec);
    if (this.#observed?.record !== record) this.#observed = { record, at: clock.monotonic() };
    return clock.monotonic() - this.#observed.at >= leaseDurationSeconds * 1000;
  }
}
