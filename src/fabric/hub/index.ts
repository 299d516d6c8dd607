import type { Controller } from '../../kube/index.ts';
import type { FabricHubDeps } from '../shared/deps.ts';
import { identityController } from './identity/controller.ts';

/** The hub's half of the fabric: which number a network has in all cells. */
export function fabricHubControllers(deps: FabricHubDeps): Controller[] {
  return [identityController(deps)];
}
