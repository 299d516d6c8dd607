import type { Clock } from '../clock/clock.ts';
import type { Plane } from '../controller.ts';
import type { Random } from '../random.ts';
import { createRecorder, type EventRecorder } from './recorder.ts';

export interface RecordersOptions {
  clock: Clock;
  random: Random;
  /** What the names of reporting controllers begin with: `berth.datumapis.com`. */
  domain: string;
  /** Tells this process from others that run the same controllers. */
  instance: string;
  onError?: (error: unknown) => void;
}

/** Event recorders by plane and controller, made when first asked for and gone with the plane. */
export class Recorders {
  readonly #made = new WeakMap<Plane, Map<string, EventRecorder>>();
  readonly #options: RecordersOptions;

  constructor(options: RecordersOptions) {
    this.#options = options;
  }

  /** Events in `plane`, written with the plane's client: under the identity of the controller that asks. */
  of(plane: Plane, controller: string): EventRecorder {
    const ofPlane = this.#made.get(plane) ?? new Map<string, EventRecorder>();
    this.#made.set(plane, ofPlane);
    const held = ofPlane.get(controller);
    if (held !== undefined) return held;
    const { clock, random, domain, instance, onError } = this.#options;
    const recorder = createRecorder({
      client: plane.client,
      clock,
      random,
      reportingController: `${domain}/${controller}`,
      reportingInstance: `${controller}-${instance}`,
      ...(onError === undefined ? {} : { onError }),
    });
    ofPlane.set(controller, recorder);
    plane.signal.addEventListener('abort', () => recorder.stop(), { once: true });
    return recorder;
  }
}
