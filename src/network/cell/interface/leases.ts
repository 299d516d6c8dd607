import { IPAllocation, type IPClaim, IPClass, IPPool, type NetworkInterface } from '../../../api/index.ts';
import type { Client, Clock } from '../../../kube/index.ts';
import { parseDuration, type Stored } from '../../../meta/index.ts';
import type { Place } from '../allocation/identity.ts';
import { listAllocations } from '../allocation/ledger.ts';
import type { Lease } from './lease.ts';

/** A change to a class or a pool is seen about this much later. */
const believedMilliseconds = 30_000;

export interface LeasesDeps {
  clock: Clock;
  /** IPAM of a project. */
  client(project: string): Client;
  /** Where no class says; absent: for ever. */
  retentionSeconds: number | undefined;
}

/** What the addresses of an interface were taken from: this never changes while nobody holds it. */
interface Sources {
  classes: string[];
  pools: string[];
}

interface Read {
  until: number;
  lease: Promise<number | undefined>;
}

/**
 * How long interfaces nobody holds are kept: the shortest of what the classes of their addresses say, the platform's
 * default where none does, and no longer than their pools allow (B.3). A failure to read is `unknown`, never a lease.
 */
export class Leases {
  readonly #deps: LeasesDeps;
  /** By UID of the interface. */
  readonly #sources = new Map<string, Promise<Sources>>();
  /** By project and object, so that a thousand interfaces of one class ask once. */
  readonly #reads = new Map<string, Read>();

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  async of({ metadata }: Stored<NetworkInterface>, place: Place): Promise<Lease> {
    const { project } = place.routing;
    try {
      const { classes, pools } = await this.#sourcesOf(metadata.uid, place);
      const said = await Promise.all(classes.map((name) => this.#read(project, IPClass.plural, name)));
      const limits = await Promise.all(pools.map((name) => this.#read(project, IPPool.plural, name)));
      return shortestLease(said, limits, this.#deps.retentionSeconds);
    } catch {
      return 'unknown';
    }
  }

  /** An interface is held, or gone: what was known of it may be otherwise the next time. */
  forget(uid: string): void {
    this.#sources.delete(uid);
  }

  #sourcesOf(uid: string, place: Place): Promise<Sources> {
    const known = this.#sources.get(uid);
    if (known !== undefined) return known;
    const reading = this.#look(place);
    this.#sources.set(uid, reading);
    reading.catch(() => this.#sources.delete(uid));
    return reading;
  }

  async #look(place: Place): Promise<Sources> {
    const client = this.#deps.client(place.routing.project);
    const claims = await listAllocations(client, place);
    const classes = await Promise.all(claims.map((claim) => classOf(client, claim)));
    const pools = claims.flatMap((claim) => claim.status?.poolRef?.name ?? []);
    return { classes: [...new Set(classes.filter((name) => name !== undefined))], pools: [...new Set(pools)] };
  }

  #read(project: string, plural: string, name: string): Promise<number | undefined> {
    const now = this.#deps.clock.monotonic();
    const key = [project, plural, name].join('\0');
    const known = this.#reads.get(key);
    if (known !== undefined && now < known.until) return known.lease;
    if (this.#reads.size > 10_000) this.#reads.clear();
    const client = this.#deps.client(project);
    const lease =
      plural === IPClass.plural
        ? client.get(IPClass, { namespace: '', name }).then((found) => parseDuration(found?.spec?.retentionLease))
        : client.get(IPPool, { namespace: '', name }).then((found) => parseDuration(found?.spec?.maxRetentionLease));
    this.#reads.set(key, { until: now + believedMilliseconds, lease });
    lease.catch(() => this.#reads.delete(key));
    return lease;
  }
}

/** A claim by family does not say which class was the default then: its allocation does. */
async function classOf(client: Client, { metadata, spec, status }: Stored<IPClaim>): Promise<string | undefined> {
  if (spec?.className) return spec.className;
  const name = status?.boundAllocationRef?.name;
  if (name === undefined) return undefined;
  const allocation = await client.get(IPAllocation, { namespace: metadata.namespace ?? '', name });
  return allocation?.spec?.className;
}

/** Pure. `said`: of classes, `limits`: of pools; both in milliseconds, undefined where nothing is said. */
export function shortestLease(
  said: readonly (number | undefined)[],
  limits: readonly (number | undefined)[],
  defaultSeconds: number | undefined,
): Lease {
  const classes = said.filter((each) => each !== undefined);
  const pools = limits.filter((each) => each !== undefined);
  const fallback = classes.length > 0 || defaultSeconds === undefined ? [] : [defaultSeconds * 1000];
  const all = [...classes, ...pools, ...fallback];
  return all.length === 0 ? 'forever' : Math.min(...all);
}
