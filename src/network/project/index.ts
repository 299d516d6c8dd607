import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
import { contextController } from './context/controller.ts';
import { legacyBindingController } from './legacy/binding.ts';
import { legacySubnetController } from './legacy/subnet.ts';
import { legacySubnetClaimController } from './legacy/subnet-claim.ts';
import { networkController } from './network/controller.ts';

/** Networks and their ranges, and what people wrote before the platform planned presence and subnets by itself. */
export function networkProjectControllers(deps: NetworkDeps): Controller[] {
  return [
    networkController(deps),
    contextController(deps),
    legacyBindingController(deps),
    legacySubnetController(deps),
    legacySubnetClaimController(deps),
  ];
}
