import { NetworkContext, Subnet } from '../../api/index.ts';
import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { egressController } from './egress/controller.ts';
import { hasFabric } from './fabric.ts';
import { locationPublisher } from './location/controller.ts';
import { presenceController } from './presence/controller.ts';
import { interfaceProjector } from './projector/controller.ts';
import { contextGuard } from './replicator/contexts.ts';
import { replicator } from './replicator/controller.ts';

/** The hub's half of network services: where networks are, and what cells and projects get to see of each other. */
export function networkHubControllers(deps: NetworkDeps): Controller[] {
  return [
    locationPublisher(deps),
    presenceController(deps),
    replicator(NetworkContext, deps, contextGuard(deps)),
    replicator(Subnet, deps),
    interfaceProjector(deps),
    ...(hasFabric(deps) ? [egressController(deps)] : []),
  ];
}
