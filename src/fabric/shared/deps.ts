import type { Clock, EventRecorder, Plane } from '../../kube/index.ts';

/** What the fabric's controllers are given. Everything they touch of the world comes through it. */
export interface FabricDeps {
  clock: Clock;
  /** Events in `plane`, under the name and identity of `controller`. */
  recorder(plane: Plane, controller: string): EventRecorder;
}
