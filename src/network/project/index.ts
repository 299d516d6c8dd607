import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { contextController } from './context/controller.ts';
import { networkController } from './network/controller.ts';

export function networkProjectControllers(deps: NetworkDeps): Controller[] {
  return [networkController(deps), contextController(deps)];
}
