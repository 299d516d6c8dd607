import { allocatedProjectPrefix } from '../../../api/index.ts';
import type { Log, Plane } from '../../../kube/index.ts';
import { isApiError, Namespace } from '../../../meta/index.ts';

const system = { namespace: '', name: 'kube-system' };

/** What a controller that remembers or forgets projects needs in a cell. */
export const projectsRule = {
  apiGroups: [''],
  resources: ['namespaces'],
  resourceNames: [system.name],
  verbs: ['patch'],
};

/** Every project this cell has ever allocated in and that is not known to be gone. */
export function rememberedProjects(plane: Plane): string[] {
  const { annotations = {} } = plane.informer(Namespace).get(system.namespace, system.name)?.metadata ?? {};
  return Object.keys(annotations).flatMap((key) =>
    key.startsWith(allocatedProjectPrefix) ? [key.slice(allocatedProjectPrefix.length)] : [],
  );
}

/** A project that is gone took its addresses along: there is nothing left to look for. */
export async function forgetProject(plane: Plane, project: string): Promise<void> {
  if (rememberedProjects(plane).includes(project)) await annotate(plane, project, null);
}

async function annotate(plane: Plane, project: string, value: '' | null): Promise<void> {
  const body = { metadata: { annotations: { [`${allocatedProjectPrefix}${project}`]: value } } };
  await plane.client.patch(Namespace, system, { type: 'merge', body });
}

/**
 * Writes down each project before the first allocation in it, on the cell's `kube-system`, which outlives every label,
 * claim and interface: one annotation a project, so that writers never undo each other.
 */
export class Projects {
  readonly #log: Log;
  readonly #writing = new Map<string, Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  async remember(plane: Plane, project: string): Promise<void> {
    const { annotations = {} } = plane.informer(Namespace).get(system.namespace, system.name)?.metadata ?? {};
    if (Object.hasOwn(annotations, `${allocatedProjectPrefix}${project}`)) return;
    const key = `${plane.id}\0${project}`;
    const writing = this.#writing.get(key) ?? annotate(plane, project, '').finally(() => this.#writing.delete(key));
    this.#writing.set(key, writing);
    try {
      await writing;
    } catch (error) {
      // A book that is full keeps nobody from an address: the auditor still sees the projects that interfaces name.
      if (!isApiError(error, 'Invalid')) throw error;
      this.#log.warn({ err: error, plane: plane.id, project }, 'a project is not written down for the auditor');
    }
  }
}
