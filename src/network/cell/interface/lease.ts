import { type NetworkInterface, networkingAnnotations } from '../../../api/index.ts';
import { formatTime, parseTime } from '../../../meta/index.ts';

/**
 * How long an interface nobody holds is kept, in milliseconds. `unknown`: it could not be read just now, so nothing is
 * decided by it.
 */
export type Lease = number | 'forever' | 'unknown';

export interface LeaseState {
  /** When its addresses go back; absent where that is not (known to be) ahead. Milliseconds since the Unix epoch. */
  expires?: number;
  /** It is told ahead of time, a tenth of the lease (behaviour, *Retained means returnable*). */
  state: 'kept' | 'expiring' | 'expired' | 'unknown';
  /** Milliseconds after which there may be something else to say. */
  again: number;
}

/** A class may be given a lease at any time: no interface is left unasked for longer. */
const longestMilliseconds = 600_000;
const unknownMilliseconds = 60_000;
/** A stamp is rounded up to the second. */
const aheadMilliseconds = 1_000;

const { unheldSince } = networkingAnnotations;

/** The annotations of an interface nobody holds from `now` on. Rounded up, so that no lease is cut short. */
export function unheldStamp(now: number): Record<string, string> {
  return { [unheldSince]: formatTime(Math.ceil(now / 1000) * 1000) };
}

/** Since when nobody holds it, by its stamp; undefined where there is none that can be believed. */
export function unheldAt({ metadata }: NetworkInterface, now: number): number | undefined {
  const since = parseTime(metadata.annotations?.[unheldSince]);
  return since === undefined || since > now + aheadMilliseconds ? undefined : since;
}

/** Pure. What a lease means for an interface nobody holds since `since`. */
export function leaseState(since: number, lease: Lease, now: number): LeaseState {
  if (lease === 'unknown') return { state: 'unknown', again: unknownMilliseconds };
  if (lease === 'forever') return { state: 'kept', again: longestMilliseconds };
  const expires = since + lease;
  if (now >= expires) return { state: 'expired', expires, again: 0 };
  const tells = expires - Math.ceil(lease / 10);
  if (now >= tells) return { state: 'expiring', expires, again: Math.min(expires - now, longestMilliseconds) };
  return { state: 'kept', expires, again: Math.min(tells - now, longestMilliseconds) };
}
