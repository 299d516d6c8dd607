/** What a project needs next: its plane opened and seeded, or everything in it released, then the plane dropped. Pure. */

/** Set on a Project once the operators' objects of a fresh project (IPAM classes and pools) were written: never again. */
export const seededAnnotation = 'resourcemanager.miloapis.com/seeded';

/** On a Project: number of the ranges its root pools were given, so that no other project is given them. */
export const rangesAnnotation = 'resourcemanager.miloapis.com/address-ranges';

/** Projects whose ranges are documented. */
const wellKnown: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/** Number of the ranges for a project: the well-known one of its name, else the lowest nobody has. */
export function chooseRanges(project: string, taken: ReadonlySet<number>): number {
  const known = Object.hasOwn(wellKnown, project) ? wellKnown[project] : undefined;
  if (known !== undefined && !taken.has(known)) return known;
  let index = Object.keys(wellKnown).length;
  while (taken.has(index)) index++;
  return index;
}

/** Keeps a Project until everything in it is released. */
export const projectFinalizer = 'resourcemanager.miloapis.com/control-plane';

export interface ProjectSnapshot {
  terminating: boolean;
  finalizer: boolean;
  seeded: boolean;
  /** Whether the plane is open in this process. */
  open: boolean;
  /** Locations of cells the project has no binding for. */
  missingLocations: readonly string[];
  /** What is left in the project, by what has to go first. Counted live, and only while it is being deleted. */
  left: { stage: Stage; count: number }[];
}

/**
 * In this order: workloads drain their instances while everything they stand on is there; the hub's namespaces take the
 * retained interfaces with them, which give their addresses back; networks give back their ranges; what is still claimed
 * by hand goes last.
 */
export const stages = [
  'workloads',
  'network bindings',
  'hub namespaces',
  'cell namespaces',
  'networks',
  'claims',
] as const;
export type Stage = (typeof stages)[number];

export type ProjectStep =
  | { do: 'add-finalizer' }
  | { do: 'open' }
  | { do: 'seed' }
  | { do: 'bind-locations'; locations: readonly string[] }
  | { do: 'report-ready' }
  | { do: 'delete'; stage: Stage; count: number }
  | { do: 'drop' }
  | { do: 'remove-finalizer' };

export function decide(snapshot: ProjectSnapshot): ProjectStep[] {
  if (snapshot.terminating) {
    if (!snapshot.finalizer) return [];
    if (!snapshot.open) return [{ do: 'open' }];
    for (const stage of stages) {
      const count = snapshot.left.find((entry) => entry.stage === stage)?.count ?? 0;
      if (count > 0) return [{ do: 'delete', stage, count }];
    }
    return [{ do: 'drop' }, { do: 'remove-finalizer' }];
  }
  const steps: ProjectStep[] = [];
  if (!snapshot.finalizer) steps.push({ do: 'add-finalizer' });
  if (!snapshot.open) steps.push({ do: 'open' });
  if (!snapshot.seeded) steps.push({ do: 'seed' });
  if (snapshot.missingLocations.length > 0) steps.push({ do: 'bind-locations', locations: snapshot.missingLocations });
  return [...steps, { do: 'report-ready' }];
}
