import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { auditController } from './audit/controller.ts';
import { claimController } from './claim/controller.ts';
import { holdController } from './hold/controller.ts';
import { interfaceController } from './interface/controller.ts';
import { cellMetrics } from './metrics.ts';

export { admitClaim } from './claim/admission.ts';
export { interfacePublication, interfaceSettling } from './publication.ts';

/** Network services of the cells: claims, interfaces, the hold on presences while interfaces are there, and the auditor. */
export function networkCellControllers(deps: NetworkDeps): Controller[] {
  const metrics = cellMetrics(deps.metrics);
  return [
    claimController(deps, metrics),
    interfaceController(deps),
    holdController(deps),
    auditController(deps, metrics),
  ];
}
