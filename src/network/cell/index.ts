import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { claimController } from './claim/controller.ts';
import { holdController } from './hold/controller.ts';
import { interfaceController } from './interface/controller.ts';

export { interfacePublication } from './publication.ts';

/** Network services of the cells: claims, interfaces, and the hold on presences while interfaces are there. */
export function networkCellControllers(deps: NetworkDeps): Controller[] {
  return [claimController(deps), interfaceController(deps), holdController(deps)];
}
