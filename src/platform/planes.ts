import { planePath } from '../apiserver/index.ts';
import { type PlaneRef as ManagedPlane, planeRef } from '../kube/index.ts';

/** A plane, and where it is served. */
export interface PlaneRef extends ManagedPlane {
  /** Base path of its API on the embedded server. */
  readonly path: string;
}

function served(plane: ManagedPlane): PlaneRef {
  return { ...plane, path: planePath(plane) };
}

export const rootPlane = served(planeRef('root'));
export const hubPlane = served(planeRef('hub'));

export function cellPlane(location: string): PlaneRef {
  return served(planeRef('cell', location));
}

export function projectPlane(project: string): PlaneRef {
  return served(planeRef('project', project));
}

/** Name of a plane's context in the kubeconfig: `hub`, `cell-us-central-1`, `project-alpha`. */
export function contextName(plane: PlaneRef): string {
  return plane.role === 'root' || plane.role === 'hub' ? plane.role : `${plane.role}-${plane.name}`;
}
