import {
  computeLabels,
  copyNameTaken,
  Location,
  NetworkContext,
  networkingAnnotations,
  networkingLabels,
  ServingLocation,
  Subnet,
  topologyKeys,
  WorkloadDeployment,
} from '../api/index.ts';
import {
  type ComputeDeps,
  companionKinds,
  computeCellControllers,
  computeHubControllers,
  computeProjectControllers,
  instancePublication,
} from '../compute/index.ts';
import { type FabricHubDeps, fabricCellControllers, fabricHubControllers } from '../fabric/index.ts';
import { carryDown, carryNamespaces, carryUp, clearLost } from '../federation/index.ts';
import type { Controller } from '../kube/index.ts';
import {
  admitClaim,
  interfacePublication,
  interfaceSettling,
  type NetworkDeps,
  networkCellControllers,
  networkHubControllers,
  networkProjectControllers,
} from '../network/index.ts';
import { type SimulatedProviderDeps, simulatedProvider } from '../node/index.ts';

export interface ControllerDeps {
  compute: ComputeDeps;
  network: NetworkDeps;
  /** Absent: nothing of the fabric is read or written. */
  fabric?: FabricHubDeps;
  provider: SimulatedProviderDeps;
}

/** What a cell's agent carries. Order is of no consequence: every kind waits for what it needs. */
function federationControllers({ compute, network: { dataPlane } }: ControllerDeps): Controller[] {
  const { hub, log, recorder, networkingIntegration: networking, referencedData } = compute;
  const options = { hub, log, recorder, nameTaken: copyNameTaken };
  const byLocation = { label: topologyKeys.location };
  const companionOf = { label: computeLabels.location };
  const networkByLocation = { label: networkingLabels.location };
  const always = [
    carryNamespaces(options),
    carryDown({ type: ServingLocation, selectedBy: 'name', drains: false }, options),
    carryDown({ type: WorkloadDeployment, selectedBy: byLocation, drains: true }, options),
    carryUp(instancePublication, options),
    clearLost({ type: WorkloadDeployment, drainedBy: topologyKeys.location }, { ...options, record: Location }),
    clearLost({ type: instancePublication.type }, { ...options, record: Location }),
    ...(referencedData
      ? companionKinds.map((type) => carryDown({ type, selectedBy: companionOf, drains: false }, options))
      : []),
  ];
  if (!networking) return always;
  return [
    ...always,
    carryDown({ type: NetworkContext, selectedBy: networkByLocation, drains: false }, options),
    carryDown({ type: Subnet, selectedBy: networkByLocation, drains: false }, options),
    carryUp(
      {
        ...interfacePublication,
        settleMilliseconds: interfaceSettling(dataPlane),
        requests: [networkingAnnotations.returnRequested],
      },
      options,
    ),
    clearLost({ type: interfacePublication.type }, { ...options, record: Location }),
  ];
}

/** Every controller of the embedded platform. */
export function controllersOf(deps: ControllerDeps): Controller[] {
  const { compute, network, fabric, provider } = deps;
  return [
    ...federationControllers(deps),
    ...computeProjectControllers(compute),
    ...computeHubControllers(compute),
    ...computeCellControllers({ ...compute, admitClaim }),
    ...networkProjectControllers(network),
    ...networkHubControllers(network),
    ...networkCellControllers(network),
    ...(fabric === undefined ? [] : fabricHubControllers(fabric)),
    // Somebody else’s data plane takes the place of the fabric in the cells; networks have their numbers all the same.
    ...(fabric === undefined || network.dataPlane === 'external' ? [] : fabricCellControllers(fabric)),
    simulatedProvider(provider),
  ];
}
