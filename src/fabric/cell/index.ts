import type { Controller } from '../../kube/index.ts';
import type { FabricDeps } from '../shared/deps.ts';
import { attachmentController } from './attachment/controller.ts';
import { egressController } from './egress/controller.ts';

/** The fabric in the cells: attachments, and what operators are told of egress. */
export function fabricCellControllers(deps: FabricDeps): Controller[] {
  return [attachmentController(deps), egressController(deps)];
}
