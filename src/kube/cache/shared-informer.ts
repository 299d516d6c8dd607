import type { KubeObject, ResourceType, Stored } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { Clock } from '../clock/clock.ts';
import type { Informer } from '../informer.ts';
import type { Random } from '../random.ts';
import { InformerCache } from './cache.ts';
import { reflect } from './reflector.ts';

export interface InformerOptions<T extends KubeObject> {
  client: Client;
  type: ResourceType<T>;
  clock: Clock;
  random: Random;
  /**
   * Hears of every failure: of lists and watches (which are repeated until they work) and of handlers and index
   * functions (which are gone on without).
   */
  onError?: (error: unknown, during: 'list' | 'watch' | 'handler') => void;
}

export interface RunningInformer<T extends KubeObject> extends Informer<T> {
  /**
   * Shows the answer to a write of our own before the watch brings it, unless something at least as new is there. Give it
   * to `createClient` as `onWrite`.
   */
  overlay(object: Stored<T>): void;
  /** Ends the watch. What is in memory stays readable and gets old. */
  stop(): Promise<void>;
}

/** Starts keeping a kind of one plane in memory. */
export function startInformer<T extends KubeObject>(options: InformerOptions<T>): RunningInformer<T> {
  const { client, type, clock, random, onError = () => undefined } = options;
  const cache = new InformerCache(type, (error) => onError(error, 'handler'));
  const ending = new AbortController();
  const running = reflect(cache, { client, clock, random, signal: ending.signal, onError });
  return Object.assign(cache, {
    async stop() {
      ending.abort(new Error(`the informer of ${type.plural} was stopped`));
      await running;
    },
  });
}
