import { isApiError, type KubeObject, type ResourceType, type Stored } from '../../meta/index.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import { type Controller, type Plane, type Planes, type Request, TerminalError, type Watch } from '../controller.ts';
import type { Informer, InformerEvent } from '../informer.ts';
import { WorkQueue } from '../queue/queue.ts';
import type { Random } from '../random.ts';
import type { Log } from './log.ts';
import type { ManagerMetrics, ReconcileOutcome } from './metrics.ts';
import type { SharedPlane } from './plane.ts';

export interface RunnerOptions {
  clock: Clock;
  random: Random;
  log: Log;
  metrics: ManagerMetrics;
}

interface EngagedPlane {
  readonly plane: Plane;
  /** The informers watched there; the first reconcile of the plane waits for them. */
  readonly informers: Set<Informer<KubeObject>>;
  readonly stopWatching: (() => void)[];
  /** Requests that came before the informers were synced; undefined from then on. */
  early: Map<string, Request> | undefined;
}

const defaultConcurrency = 8;
const syncWarningMilliseconds = 30_000;

/** One controller at work: its planes, its queue, its workers. */
export class ControllerRunner implements Planes, Watch {
  readonly controller: Controller;
  readonly #options: RunnerOptions;
  readonly #queue: WorkQueue;
  readonly #planes = new Map<string, EngagedPlane>();
  readonly #running = new Map<Promise<ReconcileOutcome>, string>();
  #started = false;

  constructor(controller: Controller, options: RunnerOptions) {
    this.controller = controller;
    this.#options = options;
    const metrics = options.metrics.queue(controller.name);
    const { clock, random } = options;
    this.#queue = new WorkQueue({ clock, random, ...(metrics === undefined ? {} : { metrics }) });
  }

  // Planes

  get(id: string): Plane | undefined {
    return this.#planes.get(id)?.plane;
  }

  byRole(role: Plane['role']): Plane[] {
    const planes: Plane[] = [];
    for (const { plane } of this.#planes.values()) if (plane.role === role) planes.push(plane);
    return planes;
  }

  // Watch

  on<T extends KubeObject>(
    plane: Plane,
    type: ResourceType<T>,
    keys?: (object: Stored<T>, event: InformerEvent<T>) => readonly Request[],
  ): void {
    const engaged = this.#planes.get(plane.id);
    if (engaged === undefined) return;
    const informer = plane.informer(type);
    if (engaged.early !== undefined) engaged.informers.add(informer as unknown as Informer<KubeObject>);
    const stop = informer.onEvent((event) => {
      if (keys === undefined) {
        const { namespace = '', name } = event.object.metadata;
        this.enqueue({ plane: plane.id, namespace, name });
      } else {
        for (const request of keys(event.object, event)) this.enqueue(request);
      }
    });
    engaged.stopWatching.push(stop);
  }

  enqueue(request: Request, afterMilliseconds = 0): void {
    const engaged = this.#planes.get(request.plane);
    if (engaged === undefined) return;
    if (afterMilliseconds > 0) this.#queue.addAfter(request, afterMilliseconds);
    else if (engaged.early !== undefined) engaged.early.set(`${request.namespace}/${request.name}`, request);
    else this.#queue.add(request);
  }

  // Life

  engage(shared: SharedPlane): void {
    if (!(shared.ref.role in this.controller.rules)) return;
    const plane = shared.as(this.controller.name);
    const engaged: EngagedPlane = { plane, informers: new Set(), stopWatching: [], early: new Map() };
    this.#planes.set(plane.id, engaged);
    this.controller.engage(plane, this, this);
    void this.#beginWhenSynced(engaged);
  }

  /** Forgets the plane and what waits for it; resolves when no reconcile of it runs any more. */
  async disengage(id: string): Promise<void> {
    const engaged = this.#planes.get(id);
    if (engaged === undefined) return;
    this.#planes.delete(id);
    for (const stop of engaged.stopWatching) stop();
    this.#queue.drop((request) => request.plane === id);
    await Promise.all([...this.#running].filter(([, plane]) => plane === id).map(([running]) => running));
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    for (let worker = 0; worker < (this.controller.concurrency ?? defaultConcurrency); worker++) void this.#work();
  }

  /** Hands out nothing more; resolves when the reconciles that run are done. */
  async drain(): Promise<void> {
    this.#queue.shutDown();
    await Promise.all(this.#running.keys());
  }

  async #beginWhenSynced(engaged: EngagedPlane): Promise<void> {
    const { plane, informers } = engaged;
    const { clock, log } = this.#options;
    let timer: Timer | undefined;
    const warnLater = () => {
      timer = clock.after(syncWarningMilliseconds, () => {
        const kinds = [...informers].filter((informer) => !informer.synced).map((informer) => informer.type.kind);
        log.warn({ controller: this.controller.name, plane: plane.id, kinds }, 'still waiting for the first list');
        warnLater();
      });
    };
    warnLater();
    try {
      await Promise.all([...informers].map((informer) => informer.whenSynced(plane.signal)));
    } catch {
      return; // Disengaged before it began.
    } finally {
      timer?.cancel();
    }
    const early = engaged.early ?? new Map<string, Request>();
    engaged.early = undefined;
    if (this.#planes.get(plane.id) === engaged) for (const request of early.values()) this.#queue.add(request);
  }

  async #work(): Promise<void> {
    for (let request = await this.#queue.get(); request !== undefined; request = await this.#queue.get()) {
      const engaged = this.#planes.get(request.plane);
      if (engaged === undefined) {
        this.#queue.forget(request);
        this.#queue.done(request);
        continue;
      }
      if (engaged.early !== undefined) {
        // A delayed request of a plane that is not ready yet.
        engaged.early.set(`${request.namespace}/${request.name}`, request);
        this.#queue.done(request);
        continue;
      }
      const running = this.#reconcile(request, engaged.plane);
      this.#running.set(running, request.plane);
      const outcome = await running;
      this.#running.delete(running);
      if (outcome !== 'success') await this.#turn();
    }
  }

  /**
   * The next turn of the event loop. Calls to a server in this process never wait for one: reconciles that come back, one
   * after the other, would leave none to connections, timers and the store.
   */
  #turn(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.soon(resolve));
  }

  async #reconcile(request: Request, plane: Plane): Promise<ReconcileOutcome> {
    const { clock, metrics } = this.#options;
    const started = clock.monotonic();
    let outcome: ReconcileOutcome;
    try {
      const result = await this.controller.reconcile(request, this, plane.signal);
      this.#queue.forget(request);
      outcome = result === undefined ? 'success' : 'requeue';
      if (result !== undefined) this.enqueue(request, result.requeueAfterMilliseconds);
    } catch (error) {
      outcome = this.#failed(request, plane, error);
    }
    metrics.reconciled(this.controller.name, outcome, (clock.monotonic() - started) / 1000);
    this.#queue.done(request);
    return outcome;
  }

  #failed(request: Request, plane: Plane, error: unknown): ReconcileOutcome {
    const { log } = this.#options;
    if (plane.signal.aborted) {
      this.#queue.forget(request);
      return 'aborted';
    }
    const fields = { controller: this.controller.name, ...request, err: error };
    if (error instanceof TerminalError) {
      this.#queue.forget(request);
      log.error(fields, 'reconcile failed for good, until something changes');
      return 'terminal';
    }
    const retryMilliseconds = Math.round(this.#queue.addRateLimited(request));
    if (isApiError(error, 'Conflict')) {
      log.debug({ ...fields, retryMilliseconds }, 'the object has moved on, looking again');
      return 'conflict';
    }
    log.warn({ ...fields, retryMilliseconds }, 'reconcile failed, trying again');
    return 'error';
  }
}
