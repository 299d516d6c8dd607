import type { Controller } from '../../kube/index.ts';
import type { FabricDeps } from '../shared/deps.ts';
import { attachmentController } from './attachment/controller.ts';
import { egressController } from './egress/controller.ts';
import { vpcController } from './vpc/controller.ts';

export { decidePod, instanceRefOf, type PodAnswer, type PodSnapshot } from './pod/decide.ts';

/** The fabric in the cells: networks and attachments as nodes know them, and what operators are told of egress. */
export function fabricCellControllers(deps: FabricDeps): Controller[] {
  return [vpcController(deps), attachmentController(deps), egressController(deps)];
}
