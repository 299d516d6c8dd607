import { isApiError, type KubeObject, type ResourceType } from '../../meta/index.ts';
import { type RunningInformer, startInformer } from '../cache/shared-informer.ts';
import type { Client } from '../client.ts';
import type { Clock } from '../clock/clock.ts';
import type { Plane, PlaneRole } from '../controller.ts';
import type { Informer } from '../informer.ts';
import type { Random } from '../random.ts';
import { createClient } from '../rest/create-client.ts';
import type { Transport } from '../transport.ts';
import type { Log } from './log.ts';
import type { ManagerMetrics } from './metrics.ts';

/** Which plane; see `Plane` for the forms of `id` and `name`. */
export interface PlaneRef {
  readonly id: string;
  readonly role: PlaneRole;
  readonly name: string;
}

/** The plane of a role; `name` is the location of a cell, the id of a project. */
export function planeRef(role: 'root' | 'hub'): PlaneRef;
export function planeRef(role: 'cell' | 'project', name: string): PlaneRef;
export function planeRef(role: PlaneRole, name: string = role): PlaneRef {
  return { id: role === 'root' || role === 'hub' ? role : `${role}/${name}`, role, name };
}

/** A way to a plane's API under one identity. */
export interface Connection {
  transport: Transport;
  /** Path of the plane's API from the server's root, without a slash at its end. */
  basePath: string;
}

export interface PlaneOptions {
  clock: Clock;
  random: Random;
  log: Log;
  metrics: ManagerMetrics;
  open(identity: string): Connection;
}

/** Who the shared informers are to the API servers. */
export const informerIdentity = 'berth-informers';

/** What all controllers share of one engaged plane: its informers. */
export class SharedPlane {
  readonly ref: PlaneRef;
  readonly #options: PlaneOptions;
  readonly #informers = new Map<string, RunningInformer<KubeObject>>();
  readonly #ending = new AbortController();
  #informerClient: Client | undefined;

  constructor(ref: PlaneRef, options: PlaneOptions) {
    this.ref = ref;
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The plane as the controller of that name sees it. */
  as(identity: string): Plane {
    const client = createClient({
      ...this.#options.open(identity),
      clock: this.#options.clock,
      userAgent: `berth/${identity}`,
      defaultFieldManager: identity,
      onWrite: (type, object) => this.#informers.get(keyOfType(type))?.overlay(object),
    });
    const { id, role, name } = this.ref;
    return { id, role, name, client, signal: this.signal, informer: (type) => this.informer(type) };
  }

  informer<T extends KubeObject>(type: ResourceType<T>): Informer<T> {
    const key = keyOfType(type);
    const running = this.#informers.get(key);
    if (running !== undefined) return running as unknown as Informer<T>;
    if (this.signal.aborted) {
      throw new Error(`plane ${this.ref.id} is disengaged: it has no informer of ${type.plural} to start`);
    }
    const { clock, random, log, metrics, open } = this.#options;
    this.#informerClient ??= createClient({ ...open(informerIdentity), clock, userAgent: `berth/${informerIdentity}` });
    const informer = startInformer({
      client: this.#informerClient,
      type,
      clock,
      random,
      onError: (error, during) => {
        metrics.informerFailed(this.ref.role, type.kind, during);
        const fields = { plane: this.ref.id, kind: type.kind, during, err: error };
        if (during === 'handler') log.error(fields, 'a handler of informer events failed');
        // History that no longer reaches back is how servers work: a list mends it.
        else if (isApiError(error, 'Expired', 'Gone')) log.debug(fields, 'an informer lists again');
        else log.warn(fields, 'an informer lost its server and will try again');
      },
    });
    this.#informers.set(key, informer as unknown as RunningInformer<KubeObject>);
    return informer;
  }

  /** Aborts the signal and ends the informers. */
  async close(): Promise<void> {
    this.#ending.abort(new Error(`plane ${this.ref.id} was disengaged`));
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }
}

function keyOfType(type: ResourceType): string {
  return `${type.group}/${type.version}/${type.plural}`;
}
