import type { EventRecorder, Log, Plane } from '../kube/index.ts';
import { Event, type KubeObject, type PolicyRule, type Stored } from '../meta/index.ts';

/**
 * An object that has the name of a copy and is another's, or nobody's. It is never overwritten: the copy waits until it is
 * gone, and who looks for the copy has to be told so.
 */
export interface Taken {
  holder: Stored<KubeObject>;
  /** The plane it is in. */
  plane: Plane;
  /** Where it is the copy of what another cell publishes. */
  locations?: Locations | undefined;
  /** What people look at besides: the source, or what owns the copy. */
  about?: { object: KubeObject; plane: Plane } | undefined;
}

/** Of the cell whose object is not shown, and of the one whose is. */
export interface Locations {
  own: string;
  other: string;
}

/** Why there is no copy, in the words of the one table of reasons. */
export type NameTaken = (
  holder: KubeObject,
  plane: Plane,
  locations?: Locations,
) => { reason: string; message: string };

export interface TakenDeps {
  log: Log;
  /** Events in `plane`, under the name and identity of `controller`. */
  recorder(plane: Plane, controller: string): EventRecorder;
}

/** What `tellTaken` needs, in the plane of the object and in that of what it is about. */
export const takenRule: PolicyRule = { apiGroups: [Event.group], resources: ['events'], verbs: ['create', 'patch'] };

/** Whether it is known for no copy and will stay: one that is going makes room by itself. */
export function isInTheWay(of: string | undefined, { metadata }: Stored<KubeObject>): boolean {
  return of === undefined && metadata.deletionTimestamp === undefined;
}

/** As an Event of the object, of what it is about, and in the log of the platform. */
export function tellTaken(taken: Taken, controller: string, nameTaken: NameTaken, deps: TakenDeps): void {
  const { holder, plane, about, locations } = taken;
  const { reason, message } = nameTaken(holder, plane, locations);
  const said = { type: 'Warning', reason, action: 'Copy', note: message } as const;
  deps.recorder(plane, controller).event(holder, said);
  if (about !== undefined) deps.recorder(about.plane, controller).event(about.object, said);
  const { namespace, name } = holder.metadata;
  deps.log.warn({ plane: plane.id, kind: holder.kind, namespace, name, controller, reason }, message);
}
