import { type Clock, createRecorder, type EventRecorder, type Plane, type Random } from '../kube/index.ts';

/** Event recorders by plane and controller, made when first asked for and gone with the plane. */
export class Recorders {
  readonly #made = new WeakMap<Plane, Map<string, EventRecorder>>();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onError: (error: unknown) => void;

  constructor(clock: Clock, random: Random, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#onError = onError;
  }

  /** Events in `plane`, written with the plane's client: under the identity of the controller that asks. */
  of(plane: Plane, controller: string): EventRecorder {
    const ofPlane = this.#made.get(plane) ?? new Map<string, EventRecorder>();
    this.#made.set(plane, ofPlane);
    const held = ofPlane.get(controller);
    if (held !== undefined) return held;
    const recorder = createRecorder({
      client: plane.client,
      clock: this.#clock,
      random: this.#random,
      reportingController: `berth.datumapis.com/${controller}`,
      reportingInstance: `${controller}-${process.pid}`,
      onError: this.#onError,
    });
    ofPlane.set(controller, recorder);
    plane.signal.addEventListener('abort', () => recorder.stop(), { once: true });
    return recorder;
  }
}
