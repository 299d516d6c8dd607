import type { Registry } from 'prom-client';
import type { Kind } from '../api/index.ts';
import type { AggregatedResource, ResourceBacking, Storage, StorageOptions } from '../apiserver/index.ts';
import type { Clock, Timer } from '../kube/index.ts';
import { backingOf, type ObservedWrite } from './backing.ts';
import type { Figures } from './figures.ts';
import { createMetrics } from './metrics.ts';
import { group, kindOf, type Plural } from './objects.ts';
import type { UpkeepAnswer } from './procedures.ts';

export interface IpamOptions {
  /** Opened with the procedures of `proceduresUrl`. */
  storage: Storage;
  clock: Clock;
  log: { error(context: object, message: string): void };
  metrics?: Registry;
  /** How long a freed block rests where its pool does not say, in seconds; may be 0. */
  defaultRestSeconds: number;
  /** Whether other servers write to the same store: what one of them leaves undone, another finds. */
  shared?: boolean;
}

export interface Ipam {
  /** One per kind, for `ServedResource.backing`. */
  backings: readonly { kind: string; plural: Plural; backing: ResourceBacking }[];
  /** Those of `kinds` that IPAM serves, each with its backing. Throws for one it should serve and does not know. */
  aggregated(kinds: readonly Kind[]): AggregatedResource[];
  /** Starts freeing rested blocks and keeping pools' status. */
  start(): void;
  /** Stops, once what is under way is done. */
  stop(): Promise<void>;
  /** Forgets the address space of a project's plane: to be called beside `Storage.dropPlane`. */
  dropProject(plane: string): Promise<void>;
  /** IPClaims (namespace and name) of one interface, by its identity labels, through their index. */
  claimsOf(identity: {
    plane: string;
    cellUid: string;
    namespace: string;
    name: string;
  }): Promise<{ namespace: string; name: string }[]>;
}

/** The module to name to the store when it is opened. */
export const proceduresUrl = new URL('./procedures.ts', import.meta.url).href;

/**
 * What a store in one file is opened with: IPAM's objects are as many as addresses, so they are read from the database and
 * memory does not grow with them.
 */
export const ipamStorage = {
  procedures: [proceduresUrl],
  uncached: (resource) => resource.startsWith(`${group}/`),
} as const satisfies Partial<StorageOptions>;

/** A pool's status follows its allocations by at most this. */
const flushMilliseconds = 1000;
/** A pool from which something was freed is shown sooner: somebody may be waiting for it. */
const freedMilliseconds = 50;
/** Rested blocks are freed in groups. */
const sweepMilliseconds = 250;
/** How often a server looks for what another one has left undone. */
const sharedMilliseconds = 5000;

export function createIpam(options: IpamOptions): Ipam {
  const { storage, clock, log, defaultRestSeconds } = options;
  const figures = async () => (await storage.call<Figures>('ipam.figures', undefined)).result;
  const metrics = options.metrics === undefined ? undefined : createMetrics(options.metrics, figures);
  let running = false;
  let timer: { at: number; timer: Timer } | undefined;
  let busy: Promise<void> | undefined;

  /** Has upkeep run within `milliseconds`: an earlier appointment stands. */
  const within = (milliseconds: number) => {
    if (!running) return;
    const at = clock.now() + milliseconds;
    if (timer !== undefined && timer.at <= at) return;
    timer?.timer.cancel();
    timer = { at, timer: clock.after(milliseconds, tick) };
  };
  const tick = () => {
    timer = undefined;
    if (busy !== undefined) return within(freedMilliseconds);
    busy = upkeep().finally(() => {
      busy = undefined;
    });
  };
  const upkeep = async () => {
    try {
      const { result } = await storage.call<UpkeepAnswer>('ipam.upkeep', { defaultRestSeconds });
      if (result.more) within(0);
      else if (result.dueIn !== undefined) within(Math.max(sweepMilliseconds, result.dueIn));
      if (options.shared) within(sharedMilliseconds);
    } catch (error) {
      log.error({ err: error }, 'IPAM could not bring its pools up to date; it tries again in a second');
      within(flushMilliseconds);
    }
  };
  const observer = {
    monotonic: () => clock.monotonic(),
    wrote(write: ObservedWrite, failure: unknown, took: number) {
      metrics?.wrote(write, failure, took);
      if (failure !== undefined || write.dryRun) return;
      // A deletion may have freed or rested a block: the answer of the next upkeep says when that one is due.
      within(write.verb === 'delete' ? freedMilliseconds : flushMilliseconds);
    },
  };
  const plurals = Object.keys(kindOf) as Plural[];
  const backings = plurals.map((plural) => ({
    kind: kindOf[plural],
    plural,
    backing: backingOf(plural, storage, defaultRestSeconds, observer),
  }));
  return {
    backings,
    aggregated: (kinds) =>
      kinds
        .filter((kind) => kind.servedBy === 'aggregated')
        .map((kind) => {
          const backing = backings.find((each) => each.kind === kind.kind)?.backing;
          if (backing === undefined) throw new Error(`IPAM has no backing for ${kind.kind}`);
          return { kind, backing };
        }),
    start() {
      running = true;
      within(0);
    },
    async stop() {
      running = false;
      timer?.timer.cancel();
      timer = undefined;
      await busy;
    },
    async dropProject(plane) {
      while ((await storage.call<boolean>('ipam.drop', { plane })).result);
    },
    async claimsOf(identity) {
      return (await storage.call<{ namespace: string; name: string }[]>('ipam.claimsOf', identity)).result;
    },
  };
}
