/** Which planes there are and under which path each is served. */

export interface PlaneRef {
  id: string;
  role: 'root' | 'project' | 'hub' | 'cell';
  /** Location of a cell, id of a project, else the role. */
  name: string;
  /** Base path of its API on the embedded server. */
  path: string;
}

export const rootPlane: PlaneRef = { id: 'root', role: 'root', name: 'root', path: '' };
export const hubPlane: PlaneRef = { id: 'hub', role: 'hub', name: 'hub', path: '/planes/hub' };

export function cellPlane(location: string): PlaneRef {
  return { id: `cell/${location}`, role: 'cell', name: location, path: `/planes/cells/${location}` };
}

export function projectPlane(project: string): PlaneRef {
  return {
    id: `project/${project}`,
    role: 'project',
    name: project,
    path: `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${project}/control-plane`,
  };
}

/** Name of a plane's context in the kubeconfig: `hub`, `cell-us-central-1`, `project-alpha`. */
export function contextName(plane: PlaneRef): string {
  return plane.role === 'root' || plane.role === 'hub' ? plane.role : `${plane.role}-${plane.name}`;
}
