import type { ObjectKey, Plane } from '../kube/index.ts';
import type { KubeObject, ResourceType } from '../meta/index.ts';
import { cellLost } from './keys.ts';
import type { NameTaken, TakenDeps } from './taken.ts';

/** What a cell's agent is given. */
export interface CarryOptions extends AgentOptions, TakenDeps {
  nameTaken: NameTaken;
}

export interface AgentOptions {
  /** Id of the hub's plane. */
  hub: string;
  /**
   * Cluster-scoped kind of the hub that stands for a location, for an agent in a process of its own: what clears the hub of a
   * cell that an operator says is lost cannot see that the cell is reached, and the agent publishes nothing meanwhile.
   */
  record?: ResourceType;
}

/** Id of the plane of the cell that serves a location. */
export function cellOf(location: string): string {
  return `cell/${location}`;
}

export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

/** Whether an operator says on the hub's record of a location that its cell is gone for good. */
export function isLost(hub: Plane, record: ResourceType, location: string): boolean {
  return saysLost(hub.informer(record).get('', location));
}

export function saysLost(location: KubeObject | undefined): boolean {
  return location?.metadata.annotations?.[cellLost] === 'true';
}
