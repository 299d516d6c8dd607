import { type NetworkInterface, type NetworkInterfaceClaim, type Reason, reasonMessage } from '../../../api/index.ts';
import { type Condition, findCondition, formatTime, type Stored, withCondition } from '../../../meta/index.ts';
import type { MissingAddress } from '../allocation/verify.ts';
import { type EgressSaid, egressReady } from '../attachment.ts';
import type { LeaseState } from '../interface/lease.ts';
import type { Refused } from '../routing.ts';
import type { ClaimStatus, InterfaceStatus } from './snapshot.ts';

type Said = Omit<Condition, 'lastTransitionTime' | 'type' | 'observedGeneration'>;

/** What the data plane says on the interface, which the claim repeats so that a data plane writes one object (F40). */
const mirrored = ['Prepared', 'Programmed'] as const;

const order = ['Bound', 'Allocated', 'Prepared', 'Programmed'] as const;

function said(status: Condition['status'], reason: Reason, message: string): Said {
  return { status, reason, message };
}

/** Whether every address is held where it should be; as it was where that could not be looked up. */
export function allocatedCondition(
  networkInterface: Stored<NetworkInterface>,
  missing: readonly MissingAddress[] | 'unreachable' | undefined,
  project: string,
): Said {
  const { addresses = [], externalAddresses = [] } = networkInterface.spec;
  const before = findCondition(networkInterface.status?.conditions, 'Allocated');
  if (missing === 'unreachable' && before !== undefined && before.status !== 'Unknown') return before;
  if (!Array.isArray(missing) || missing.length === 0) {
    // Not looked up in this pass: what the last look found stands.
    if (missing === undefined && before?.status === 'False') return before;
    const all = [...addresses, ...externalAddresses].map((each) => each.address).join(', ');
    return said('True', 'Allocated', reasonMessage('Allocated', { addresses: all }));
  }
  return said(
    'False',
    'AddressAllocationMissing',
    reasonMessage('AddressAllocationMissing', {
      address: missing.map((each: MissingAddress) => each.address).join(', '),
      interface: networkInterface.metadata.name,
      detail: missing
        .map(({ address, ipClaim, held }: MissingAddress) => {
          const found = held === undefined ? 'is gone' : `holds ${held}`;
          return `${address} is published, but allocation ${ipClaim} in project ${project} ${found}`;
        })
        .join('; '),
    }),
  );
}

/**
 * network/cell's part of an interface's status, all of it: it is applied as one (seams, Writes). `expiring` is said only of
 * one that nobody holds.
 */
export function interfaceStatus(
  networkInterface: Stored<NetworkInterface>,
  phase: 'Bound' | 'Available',
  context: string | undefined,
  allocated: Said,
  { egress, ready }: EgressSaid,
  now: number,
  expiring?: Said,
): InterfaceStatus {
  const { status, metadata } = networkInterface;
  const observedGeneration = metadata.generation ?? 1;
  const networkContextRef = context === undefined ? status?.networkContextRef : { name: context };
  const before = (type: string) => status?.conditions?.filter((condition) => condition.type === type);
  const of = (type: string, entry: Said) =>
    withCondition(before(type), { type, ...pick(entry), observedGeneration }, now);
  return {
    phase,
    ...(networkContextRef === undefined ? {} : { networkContextRef }),
    ...(egress === undefined ? {} : { egress }),
    conditions: [
      ...of('Allocated', allocated),
      ...(expiring === undefined ? [] : of('Expiring', expiring)),
      ...(ready === undefined ? [] : of(egressReady, ready as Said)),
    ],
  };
}

/** Ahead of the end of a retention lease; as it was where the lease can not be read. */
export function expiringCondition(
  { metadata, status }: Stored<NetworkInterface>,
  { state, expires = 0 }: LeaseState,
): Said | undefined {
  if (state === 'unknown') return findCondition(status?.conditions, 'Expiring');
  if (state === 'kept') return undefined;
  const message = reasonMessage('Expiring', { interface: metadata.name, expires: formatTime(expires) });
  return said('True', 'Expiring', message);
}

/** The status of a claim that has its interface, whatever may be wrong since. */
export function boundStatus(
  claim: Stored<NetworkInterfaceClaim>,
  networkInterface: Stored<NetworkInterface>,
  allocated: Said,
  refused: Refused | undefined,
  { egress }: EgressSaid,
  now: number,
): ClaimStatus {
  const { name } = networkInterface.metadata;
  const { addresses, externalAddresses } = networkInterface.spec;
  const shown = networkInterface.status?.conditions;
  const conditions = new Map<string, Said>([
    ['Bound', said('True', 'Bound', reasonMessage('Bound', { interface: name }))],
    ['Allocated', pick(allocated)],
  ]);
  for (const type of mirrored) {
    const condition = findCondition(shown, type);
    conditions.set(type, condition === undefined ? pending : pick(condition));
  }
  conditions.set('Ready', refused === undefined ? readyOf(conditions, name) : pick({ status: 'False', ...refused }));
  return {
    networkInterfaceRef: { name },
    ...(addresses === undefined ? {} : { addresses }),
    ...(externalAddresses === undefined ? {} : { externalAddresses }),
    ...(egress === undefined ? {} : { egress }),
    conditions: write(claim, conditions, now),
  };
}

/**
 * The status of a claim that is refused while it has no interface. One that was bound before stays what it was but for
 * Ready (F77).
 */
export function refusedStatus(claim: Stored<NetworkInterfaceClaim>, refused: Refused, now: number): ClaimStatus {
  const entry = pick({ status: 'False', ...refused });
  const bound = claim.status?.networkInterfaceRef !== undefined;
  const types = bound ? ['Ready'] : ['Bound', 'Allocated', 'Ready'];
  const conditions = new Map(types.map((type) => [type, entry]));
  return { ...claim.status, conditions: write(claim, conditions, now) };
}

/** As conditions are created. */
const pending = said('Unknown', 'Pending', 'Waiting for controller');

/** Ready is the first of the others that is not True, in their order (A.8). */
function readyOf(conditions: ReadonlyMap<string, Said>, name: string): Said {
  const unmet = order.find((type) => conditions.get(type)?.status !== 'True');
  if (unmet === undefined) {
    return said('True', 'Ready', reasonMessage('Ready', { kind: 'NetworkInterface', name }));
  }
  const { status = 'Unknown', message = '' } = conditions.get(unmet) ?? {};
  const now = status === 'Unknown' ? 'Unknown' : 'False';
  // Who says False says why: that is the message a person needs.
  const why = (own: string) => (now === 'False' && message !== '' ? message : own);
  switch (unmet) {
    case 'Bound':
      return said(now, 'NotBound', why(reasonMessage('NotBound')));
    case 'Allocated':
      return said(now, 'NotAllocated', why(reasonMessage('NotAllocated', { interface: name })));
    case 'Prepared':
      return said(now, 'NotPrepared', why(reasonMessage('NotPrepared', { interface: name })));
    case 'Programmed':
      return said(now, 'NotProgrammed', why(reasonMessage('NotProgrammed', { name: `interface ${name}` })));
  }
}

function write(claim: Stored<NetworkInterfaceClaim>, conditions: ReadonlyMap<string, Said>, now: number): Condition[] {
  const observedGeneration = claim.metadata.generation ?? 1;
  let list: readonly Condition[] = claim.status?.conditions ?? [];
  for (const [type, entry] of conditions) list = withCondition(list, { type, ...entry, observedGeneration }, now);
  return [...list];
}

function pick({ status, reason, message }: Said): Said {
  return { status, reason, message };
}
