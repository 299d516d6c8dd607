import type { ObjectKey } from '../kube/index.ts';
import type { KubeObject } from '../meta/index.ts';
import type { NameTaken, TakenDeps } from './taken.ts';

/** What a cell's agent is given. */
export interface CarryOptions extends AgentOptions, TakenDeps {
  nameTaken: NameTaken;
}

export interface AgentOptions {
  /** Id of the hub's plane. */
  hub: string;
}

/** Id of the plane of the cell that serves a location. */
export function cellOf(location: string): string {
  return `cell/${location}`;
}

export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
