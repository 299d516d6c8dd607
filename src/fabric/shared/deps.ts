import type { Client, Clock, EventRecorder, Plane } from '../../kube/index.ts';

/** What the fabric's controllers are given. Everything they touch of the world comes through it. */
export interface FabricDeps {
  clock: Clock;
  /** Events in `plane`, under the name and identity of `controller`. */
  recorder(plane: Plane, controller: string): EventRecorder;
}

/** What those on the hub need beside it. */
export interface FabricHubDeps extends FabricDeps {
  /** Id of the hub's plane. */
  hub: string;
  /** A project's API under the identity of `controller`. Answers also for projects that are gone. */
  projectClient(controller: string, project: string): Client;
}
