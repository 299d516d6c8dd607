import { IpPrefix } from '../../../address/index.ts';
import {
  fabricFinalizers,
  NetworkContext,
  networkingLabels,
  reasonMessage,
  type Subnet,
  VPC,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  controllerReference,
  isControlledBy,
  isTerminating,
  jsonEqual,
  type Stored,
  withCondition,
} from '../../../meta/index.ts';
import { formatIdentifier, isIdentifier, vpcIdentifier } from '../../codec/index.ts';

export interface Snapshot {
  /** The cell's copy of the network's context; undefined once a live read says so, where there is a VPC. */
  context: Stored<NetworkContext> | undefined;
  /** The VPC of the context's name. */
  vpc: Stored<VPC> | undefined;
  /** Subnets of the context's name. */
  subnets: readonly Stored<Subnet>[];
  /** Name of another VPC of the cell that has the context's number. */
  heldBy: string | undefined;
  now: number;
}

export type Step =
  | { do: 'nothing' }
  | { do: 'create'; object: VPC }
  | { do: 'publish'; vpc: Stored<VPC>; status: NonNullable<VPC['status']> }
  /** Two VPCs of one number would be one network on the wire: the second is never given it. */
  | { do: 'refuse'; vpc: Stored<VPC>; message: string }
  | { do: 'delete'; vpc: Stored<VPC> }
  /** Somebody took its finalizer off. */
  | { do: 'hold'; vpc: Stored<VPC> }
  /** Once nothing is attached to it any more. */
  | { do: 'let-go'; vpc: Stored<VPC> };

/** Pure. A network as the data plane of the cell knows it: there while its context is, and while something is attached. */
export function decide({ context, vpc, subnets, heldBy, now }: Snapshot): Step {
  if (vpc === undefined) {
    if (context === undefined || isTerminating(context)) return { do: 'nothing' };
    const networks = rangesOf(context, subnets);
    return networks.length === 0 ? { do: 'nothing' } : { do: 'create', object: vpcOf(context, networks) };
  }
  if (isTerminating(vpc)) {
    return vpc.metadata.finalizers?.includes(fabricFinalizers.vpc) === true ? { do: 'let-go', vpc } : { do: 'nothing' };
  }
  if (!isOurs(vpc)) return { do: 'nothing' };
  // Of a context that is gone, or of an earlier one of this name.
  if (context === undefined || !isControlledBy(vpc, context)) return { do: 'delete', vpc };
  if (vpc.metadata.finalizers?.includes(fabricFinalizers.vpc) !== true) return { do: 'hold', vpc };
  const identity = context.spec?.fabricIdentity;
  if (vpc.status?.vpc === undefined) {
    if (identity === undefined || !isIdentifier(vpcIdentifier, identity)) return { do: 'nothing' };
    if (heldBy !== undefined) {
      const params = { vpc: vpc.metadata.name, identifier: formatIdentifier(vpcIdentifier, identity), holder: heldBy };
      return { do: 'refuse', vpc, message: reasonMessage('VPCIdentifierHeld', params) };
    }
  }
  // Kept for life, whatever the context says later: devices and attachments are named by it.
  const identifier = vpc.status?.vpc ?? formatIdentifier(vpcIdentifier, identity as number);
  const status = statusOf(vpc, identifier, now);
  return jsonEqual(status, vpc.status) ? { do: 'nothing' } : { do: 'publish', vpc, status };
}

/** Made here: whoever makes a VPC by hand keeps it. */
function isOurs({ metadata }: VPC): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ kind, controller }) => controller === true && kind === NetworkContext.kind,
  );
}

/** Ranges of the context's Subnets, in order. Propagation carries spec and never status; where both are there, status counts. */
function rangesOf(context: Stored<NetworkContext>, subnets: readonly Stored<Subnet>[]): string[] {
  const networkUid = context.metadata.labels?.[networkingLabels.networkUID];
  const ranges = subnets.flatMap((subnet) => {
    // Of an earlier network of the same name, not collected yet.
    const uid = subnet.metadata.labels?.[networkingLabels.networkUID];
    if (isTerminating(subnet) || (uid !== undefined && networkUid !== undefined && uid !== networkUid)) return [];
    const { startAddress = subnet.spec?.startAddress, prefixLength = subnet.spec?.prefixLength } = subnet.status ?? {};
    const range = IpPrefix.tryParse(`${startAddress}/${prefixLength}`);
    return range === undefined ? [] : [range.toString()];
  });
  return [...new Set(ranges)].sort();
}

function vpcOf(context: Stored<NetworkContext>, networks: string[]): VPC {
  const { name, namespace = '' } = context.metadata;
  return {
    apiVersion: apiVersionOf(VPC),
    kind: VPC.kind,
    metadata: {
      name,
      namespace,
      finalizers: [fabricFinalizers.vpc],
      ownerReferences: [controllerReference(context)],
    },
    spec: { networks },
  };
}

function statusOf(vpc: Stored<VPC>, identifier: string, now: number): NonNullable<VPC['status']> {
  const observedGeneration = vpc.metadata.generation ?? 1;
  const reason = 'IdentifierAllocated';
  const message = reasonMessage(reason, { vpc: identifier });
  const ready = { type: 'Ready', status: 'True', reason, message, observedGeneration } as const;
  return { observedGeneration, vpc: identifier, conditions: withCondition(vpc.status?.conditions, ready, now) };
}
