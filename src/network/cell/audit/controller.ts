import { IPClaim, isProjectGone, NetworkInterface, NetworkInterfaceClaim } from '../../../api/index.ts';
import type { Controller, Plane } from '../../../kube/index.ts';
import { Namespace } from '../../../meta/index.ts';
import type { NetworkDeps } from '../../shared/deps.ts';
import { indexClaims, reads } from '../cell.ts';
import type { CellMetrics } from '../metrics.ts';
import { recordOf } from '../routing.ts';
import { audit, type Findings, indexProjects } from './audit.ts';
import { isAudited, Suspects } from './decide.ts';
import { forgetProject, projectsRule, rememberedProjects } from './projects.ts';

const name = 'network-cell-audit';
const { group } = NetworkInterface;
const soonestMilliseconds = 100;

/** What was found in the projects of a cell, those that could not be reached this time as they were. */
interface Book {
  suspects: Suspects;
  byProject: Map<string, Findings>;
}

/** Compares IPAM with the cell's interfaces, both ways, on start and then at intervals (behaviour, *An auditor*). */
export function auditController(deps: NetworkDeps, metrics: CellMetrics): Controller {
  const { clock, log, auditSeconds = 600, orphanSeconds = 60 } = deps;
  const apartMilliseconds = Math.max(orphanSeconds * 1000, soonestMilliseconds);
  const books = new Map<string, Book>();

  /** Answers whether another look is due soon: somebody is under suspicion, or could not be asked. */
  async function auditProject(plane: Plane, project: string, book: Book): Promise<boolean> {
    const ipam = deps.projectClient(name, project);
    const recorder = deps.recorder(plane, name);
    const { suspects, byProject } = book;
    const times = { now: clock.now(), monotonic: clock.monotonic(), apartMilliseconds };
    try {
      const found = await audit({ plane, project, ipam, recorder, log, suspects, ...times });
      byProject.set(project, found);
      if (found.released > 0) metrics.orphansReleased(plane.name, found.released);
      return found.stranded > 0;
    } catch (error) {
      if (!isProjectGone(error)) {
        log.warn({ err: error, plane: plane.id, project }, 'a project could not be audited; tried again');
        return true;
      }
      byProject.delete(project);
      suspects.observe(project, [], times.monotonic, apartMilliseconds);
      await forgetProject(plane, project);
      return false;
    }
  }

  return {
    name,
    rules: {
      cell: [
        { apiGroups: [group], resources: ['networkinterfaces', 'networkinterfaceclaims'], verbs: reads },
        { apiGroups: [group], resources: ['networkinterfaces/status'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['namespaces'], verbs: reads },
        projectsRule,
        { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      ],
      project: [{ apiGroups: [IPClaim.group], resources: ['ipclaims'], verbs: ['get', 'list', 'delete'] }],
    },

    engage(plane, _planes, watch) {
      if (plane.role !== 'cell') return;
      indexClaims(plane);
      indexProjects(plane);
      // No event asks for an audit; it only waits for the caches.
      watch.on(plane, Namespace, () => []);
      watch.on(plane, NetworkInterface, () => []);
      watch.on(plane, NetworkInterfaceClaim, () => []);
      books.set(plane.id, { suspects: new Suspects(), byProject: new Map() });
      metrics.count(plane);
      plane.signal.addEventListener('abort', () => books.delete(plane.id));
      watch.enqueue({ plane: plane.id, namespace: '', name });
    },

    async reconcile(request, planes, signal) {
      const plane = planes.get(request.plane);
      const book = books.get(request.plane);
      if (plane === undefined || book === undefined) return undefined;
      const projects = new Set(rememberedProjects(plane));
      for (const networkInterface of plane.informer(NetworkInterface).list()) {
        const project = isAudited(networkInterface) ? recordOf(networkInterface)?.project : undefined;
        if (project !== undefined) projects.add(project);
      }
      for (const project of book.byProject.keys()) if (!projects.has(project)) book.byProject.delete(project);
      let soon = false;
      for (const project of projects) {
        if (signal.aborted) return undefined;
        soon = (await auditProject(plane, project, book)) || soon;
      }
      metrics.audited(plane.name, [...book.byProject.values()]);
      const every = auditSeconds * 1000 * (0.9 + 0.2 * deps.random.next());
      if (soon)
        return { requeueAfterMilliseconds: every === 0 ? apartMilliseconds : Math.min(apartMilliseconds, every) };
      return every === 0 ? undefined : { requeueAfterMilliseconds: every };
    },
  };
}
