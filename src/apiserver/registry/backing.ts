import type { BackingRequest } from '../resource.ts';
import type { Call } from './call.ts';

export function backingRequest(call: Call, dryRun: boolean): BackingRequest {
  return {
    plane: call.plane.id,
    project: call.plane.project,
    resource: call.served.resource,
    subresource: call.subresource === 'status' ? 'status' : '',
    identity: call.identity,
    dryRun,
    storage: call.server.storage,
    now: call.now,
  };
}
