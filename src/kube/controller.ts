import type { KubeObject, PolicyRule, ResourceType, Stored } from '../meta/index.ts';
import type { Client, ObjectKey } from './client.ts';
import type { Informer, InformerEvent } from './informer.ts';

export type PlaneRole = 'root' | 'project' | 'hub' | 'cell';

/** A Kubernetes API that controllers work against, as the manager hands it to one controller. */
export interface Plane {
  /** `root`, `hub`, `cell/<location>` or `project/<project id>`. */
  readonly id: string;
  readonly role: PlaneRole;
  /** Location of a cell, id of a project, else the role. */
  readonly name: string;
  /** Under the controller's own identity. What it writes is remembered by `informer` (see `Informer` freshness below). */
  readonly client: Client;
  /** The shared informer of a kind; started when first asked for. */
  informer<T extends KubeObject>(type: ResourceType<T>): Informer<T>;
  /** Aborted when the plane is disengaged or the process stops. */
  readonly signal: AbortSignal;
}

/** The planes engaged right now. */
export interface Planes {
  get(id: string): Plane | undefined;
  byRole(role: PlaneRole): Plane[];
}

/** What a reconciler is asked to look at. */
export interface Request extends ObjectKey {
  /** Id of the plane the key was seen in. */
  plane: string;
}

/** Nothing: done until something changes. */
export type Result = undefined | { requeueAfterMilliseconds: number };

export interface Watch {
  /**
   * Enqueues `keys(event)` (default: the object's own key) for every event of `type` in `plane`. `keys` may name objects
   * of other planes. `filter` drops events before mapping. The informer is synced before the first reconcile runs.
   */
  on<T extends KubeObject>(
    plane: Plane,
    type: ResourceType<T>,
    keys?: (object: Stored<T>, event: InformerEvent<T>) => readonly Request[],
  ): void;
  /** Enqueues a request from outside an informer (a timer, a waiting line). */
  enqueue(request: Request, afterMilliseconds?: number): void;
}

/**
 * A controller: what it is called, what it may do, what it watches, how it reconciles. `name` is also its identity
 * (`system:serviceaccount:berth-system:<name>`), with exactly `rules` on the planes of each role.
 */
export interface Controller {
  readonly name: string;
  /**
   * Rules its own client needs, by role of plane. Reads through informers must be in `rules` too (get, list, watch): the
   * shared informers run under one identity with the union of these.
   */
  readonly rules: Partial<Record<PlaneRole, readonly PolicyRule[]>>;
  /** Reconciles running at once; one key is never reconciled twice at once. Default 8. */
  readonly concurrency?: number;
  /** Called for every plane as it is engaged, once per plane, for roles in `rules`. */
  engage(plane: Plane, planes: Planes, watch: Watch): void;
  /** A rejection is retried with per-item backoff (5 ms doubling to 10 s, jittered); a `TerminalError` is not. */
  reconcile(request: Request, planes: Planes, signal: AbortSignal): Promise<Result>;
}

/** A failure that trying again cannot mend: logged and counted, not retried until something changes. */
export class TerminalError extends Error {}
