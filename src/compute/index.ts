import type { DataPlane, NetworkInterfaceClaim } from '../api/index.ts';
import type { Clock, Controller, EventRecorder, Log, Plane } from '../kube/index.ts';
import { deploymentController } from './cell/deployment/controller.ts';
import { instanceController, type Quota } from './cell/instance/controller.ts';
import { alwaysGranted } from './cell/instance/quota.ts';
import { federatorController } from './hub/federator/controller.ts';
import { hubNamespaceController } from './hub/namespaces.ts';
import { instanceProjector } from './hub/projector/controller.ts';
import { workloadController } from './project/workload.ts';

export type { QuotaAnswer } from './cell/instance/decide.ts';
export { instancePublication } from './cell/publication.ts';
export { companionKinds } from './shared/data.ts';
export type { Quota };

export interface ComputeDeps {
  clock: Clock;
  log: Log;
  /** Id of the hub's plane. */
  hub: string;
  /** Events in `plane`, under the name and identity of `controller`. */
  recorder(plane: Plane, controller: string): EventRecorder;
  /** Feature gate: without it no networking object is read, watched or written. */
  networkingIntegration: boolean;
  /** Feature gate: without it no ConfigMap and no Secret is read or written. */
  referencedData: boolean;
  /** Whether an instance may run at all; always where absent. */
  quota?: Quota;
  /** Whether something in the cells prepares attachments, which instances then wait for. */
  dataPlane: DataPlane;
  /** What network services make of a claim that is about to be created in a cell, as an admission would; nothing where absent. */
  admitClaim?(plane: Plane, claim: NetworkInterfaceClaim): NetworkInterfaceClaim;
}

export function computeProjectControllers(deps: ComputeDeps): Controller[] {
  return [workloadController(deps)];
}

export function computeHubControllers(deps: ComputeDeps): Controller[] {
  return [federatorController(deps), hubNamespaceController(deps), instanceProjector(deps)];
}

export function computeCellControllers(deps: ComputeDeps): Controller[] {
  return [deploymentController(deps), instanceController({ quota: alwaysGranted, ...deps })];
}
