import {
  clusterLabel,
  computeLabelPrefix,
  type DataPlane,
  labelValue,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  upstreamLabels,
} from '../../api/index.ts';
import type { UpKind } from '../../federation/index.ts';
import { Crowd } from '../../kube/index.ts';
import { apiVersionOf, findCondition, isTerminating, type Stored } from '../../meta/index.ts';
import { recordOf } from './routing.ts';

/** A new interface is allocated and prepared in one go: its copies are written once for all of it. */
const settleMilliseconds = 200;
/** How long the fabric may take to say what it makes of an interface; longer where many come up at once. */
const unpreparedMilliseconds = 2_000;
const crowdMilliseconds = 10;

/** How long after a change of an interface the hub is told of it, where it is asked at each. */
export function interfaceSettling(dataPlane: DataPlane): (networkInterface: Stored<NetworkInterface>) => number {
  /** Those the fabric has yet to speak of, by UID. */
  const awaited = new Crowd();
  return (networkInterface) => {
    const { metadata, spec, status } = networkInterface;
    const prepared = findCondition(status?.conditions, 'Prepared')?.status ?? 'Unknown';
    const isAwaited = dataPlane === 'fabric' && spec.claimRef !== undefined && prepared === 'Unknown';
    if (!isAwaited || isTerminating(networkInterface)) {
      awaited.leave(metadata.uid);
      return isReleased(networkInterface) ? 0 : settleMilliseconds;
    }
    awaited.enter(metadata.uid);
    return unpreparedMilliseconds + awaited.others(metadata.uid) * crowdMilliseconds;
  };
}

/** Nothing more is on its way: who deleted a workload sees at once what that gave back. */
function isReleased(networkInterface: Stored<NetworkInterface>): boolean {
  const { spec, status } = networkInterface;
  return isTerminating(networkInterface) || (spec.claimRef === undefined && status?.phase === 'Available');
}

/**
 * What the hub shows of an interface, and by way of it the project: without the names that mean something only in the cell
 * (C.10), from the first Allocated on. Labels are made anew each time, so that none outlives what it says (held-by).
 */
export const interfacePublication: UpKind<NetworkInterface> = {
  type: NetworkInterface,
  publish(networkInterface) {
    const { metadata, spec, status } = networkInterface;
    const routing = recordOf(networkInterface);
    const allocated = findCondition(status?.conditions, 'Allocated');
    // An interface nobody recorded a project for is nobody's to see.
    if (routing === undefined || allocated === undefined || allocated.status === 'Unknown') return undefined;
    const { claimRef, ...shown } = spec;
    const { networkContextRef: _, attachmentRef: __, vpc: ___, ...said } = status ?? {};
    const namespace = metadata.namespace ?? '';
    // How long it has been nobody's is its tenant's to see, who may give it back.
    const since = claimRef === undefined ? metadata.annotations?.[networkingAnnotations.unheldSince] : undefined;
    const carried = Object.entries(metadata.labels ?? {}).filter(
      ([key]) =>
        key.startsWith(computeLabelPrefix) || key === networkingLabels.network || key === networkingLabels.networkUID,
    );
    return {
      apiVersion: apiVersionOf(NetworkInterface),
      kind: NetworkInterface.kind,
      metadata: {
        name: metadata.name,
        namespace,
        ...(since === undefined ? {} : { annotations: { [networkingAnnotations.unheldSince]: since } }),
        labels: {
          ...Object.fromEntries(carried),
          [networkingLabels.interfaceProjection]: 'true',
          [networkingLabels.location]: labelValue(routing.location),
          [networkingLabels.sourceNamespace]: namespace,
          ...(claimRef === undefined ? {} : { [networkingLabels.heldBy]: labelValue(claimRef.name) }),
          [upstreamLabels.clusterName]: clusterLabel(routing.project),
          [upstreamLabels.namespace]: routing.namespace,
        },
      },
      spec: shown,
      status: said,
    };
  },
};
