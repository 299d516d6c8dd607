import type { Registry } from 'prom-client';
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
import type { Client, Clock, Controller, EventRecorder, Log, Plane, Random } from '../kube/index.ts';
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
import type { PlatformConfig } from './config.ts';
import { hubPlane } from './planes.ts';

export interface ControllerDeps {
  compute: ComputeDeps;
  network: NetworkDeps;
  /** Absent: nothing of the fabric is read or written on the hub. */
  fabric?: FabricHubDeps;
  /** Absent: somebody else runs instances. */
  provider?: SimulatedProviderDeps;
}

export interface ControllerParts {
  clock: Clock;
  random: Random;
  log: Log;
  metrics?: Registry;
  config: PlatformConfig;
  /** Events in `plane`, under the name and identity of `controller`. */
  recorder(plane: Plane, controller: string): EventRecorder;
  /** A project’s API under the identity of `controller`. */
  projectClient(controller: string, project: string): Client;
  /** Whether instances are marked running without anything being started. */
  simulate: boolean;
}

/** What controllers are given, by the configuration. */
export function controllerDeps(parts: ControllerParts): ControllerDeps {
  const { clock, random, log, metrics, config, recorder, projectClient, simulate } = parts;
  const { featureGates, dataPlane, leases } = config;
  const hub = hubPlane.id;
  return {
    compute: {
      clock,
      log,
      hub,
      recorder,
      networkingIntegration: featureGates.NetworkingIntegration,
      referencedData: featureGates.ReferencedData,
      dataPlane,
    },
    network: {
      clock,
      random,
      log,
      hub,
      recorder,
      projectClient,
      ipamClasses: config.ipam.classes,
      quietPeriodMilliseconds: config.quietPeriodSeconds * 1000,
      dataPlane,
      auditSeconds: config.auditSeconds,
      orphanSeconds: config.orphanSeconds,
      ...(leases.retentionSeconds === undefined ? {} : { retentionSeconds: leases.retentionSeconds }),
      ...(metrics === undefined ? {} : { metrics }),
    },
    ...(dataPlane === 'none' ? {} : { fabric: { clock, recorder, hub, projectClient } }),
    ...(simulate ? { provider: { clock, recorder: (plane: Plane) => recorder(plane, 'simulated-provider') } } : {}),
  };
}

/** What a cell's agent carries. Order is of no consequence: every kind waits for what it needs. */
function agentControllers({ compute, network: { dataPlane } }: ControllerDeps, apart: boolean): Controller[] {
  const { hub, log, recorder, networkingIntegration: networking, referencedData } = compute;
  const options = { hub, log, recorder, nameTaken: copyNameTaken, ...(apart ? { record: Location } : {}) };
  const companionOf = { label: computeLabels.location };
  const networkByLocation = { label: networkingLabels.location };
  const always = [
    carryNamespaces(options),
    carryDown({ type: ServingLocation, selectedBy: 'name', drains: false }, options),
    carryDown({ type: WorkloadDeployment, selectedBy: { label: topologyKeys.location }, drains: true }, options),
    carryUp(instancePublication, options),
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
  ];
}

/** What clears the hub of a cell that is gone for good: it runs where the cell does not. */
function lostCellControllers({ compute: { hub, networkingIntegration } }: ControllerDeps): Controller[] {
  const options = { hub, record: Location };
  return [
    clearLost({ type: WorkloadDeployment, drainedBy: topologyKeys.location }, options),
    clearLost({ type: instancePublication.type }, options),
    ...(networkingIntegration ? [clearLost({ type: interfacePublication.type }, options)] : []),
  ];
}

/**
 * Every controller of a cell: its agent, and what compute, network and fabric have in it. `apart` from those of the hub, in a
 * process of their own, they cannot be seen from there.
 */
export function cellControllersOf(deps: ControllerDeps, { apart }: { apart: boolean }): Controller[] {
  const { compute, network, provider } = deps;
  return [
    ...agentControllers(deps, apart),
    ...computeCellControllers({ ...compute, admitClaim }),
    ...networkCellControllers(network),
    // Somebody else’s data plane takes the place of the fabric in the cells; networks have their numbers all the same.
    ...(network.dataPlane === 'fabric' ? fabricCellControllers(network) : []),
    ...(provider === undefined ? [] : [simulatedProvider(provider)]),
  ];
}

/** Every controller of the embedded platform. */
export function controllersOf(deps: ControllerDeps): Controller[] {
  const { compute, network, fabric } = deps;
  return [
    ...cellControllersOf(deps, { apart: false }),
    ...lostCellControllers(deps),
    ...computeProjectControllers(compute),
    ...computeHubControllers(compute),
    ...networkProjectControllers(network),
    ...networkHubControllers(network),
    ...(fabric === undefined ? [] : fabricHubControllers(fabric)),
  ];
}
