import type { Random } from '../../../kube/index.ts';
import { findCondition } from '../../../meta/index.ts';
import { isHeldBy, type Snapshot } from './snapshot.ts';

/** What was looked up is believed for about this long, where nothing about the claim or its interface changes. */
const longestMilliseconds = 600_000;

interface Verification {
  /** What was compared, and what of the claim could have asked for the comparison. */
  of: string;
  until: number;
}

/**
 * When a claim's published addresses were last compared with IPAM's. Asking on every event would cost IPAM a read per
 * address each time the data plane says something; a change a person makes to the claim always asks.
 */
export class Verifications {
  readonly #random: Random;
  readonly #done = new Map<string, Verification>();

  constructor(random: Random) {
    this.#random = random;
  }

  isDue(snapshot: Omit<Snapshot, 'verificationDue'>, now: number): boolean {
    const { claim, networkInterface } = snapshot;
    if (!isHeldBy(networkInterface, claim)) return true;
    const done = this.#done.get(claim.metadata.uid);
    if (done === undefined || done.of !== fingerprint(snapshot) || now > done.until) return true;
    // An address that was missing is looked for until it is there.
    return findCondition(networkInterface?.status?.conditions, 'Allocated')?.status === 'False';
  }

  /** Remembers the comparison made in a pass, if one was. */
  note(snapshot: Snapshot, now: number): void {
    const { claim, missing } = snapshot;
    if (missing === undefined || missing === 'unreachable') return;
    const until = now + longestMilliseconds * (0.9 + 0.2 * this.#random.next());
    this.#done.set(claim.metadata.uid, { of: fingerprint(snapshot), until });
  }

  forget(claimUid: string): void {
    this.#done.delete(claimUid);
  }
}

function fingerprint({ claim, networkInterface }: Omit<Snapshot, 'verificationDue'>): string {
  const { labels, annotations, generation } = claim.metadata;
  const { metadata, spec } = networkInterface ?? {};
  const addresses = [spec?.addresses, spec?.externalAddresses].map((list) => list?.map(({ address }) => address));
  return JSON.stringify([metadata?.uid, addresses, labels, annotations, generation]);
}
