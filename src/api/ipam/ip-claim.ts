import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, conditions, wide } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int32, object, oneOf, optional, text } from '../schema.ts';
import { cell, scopeText } from './cells.ts';
import { family, ipam, localRef, objectRef, reclaimPolicy, scope } from './shared.ts';

const spec = object('What is asked for: give one of className and ipFamily.', {
  className: optional(text('Class to ask of.')),
  ipFamily: optional(family('Family to ask for, of its default class.')),
  address: optional(text('The one address to ask for.')),
  prefixLength: optional(int32('Prefix length; that of the class where absent.')),
  scope: optional(scope('Scope of the address, by role.')),
  target: optional(
    oneOf('Block: a block of a pool. ScopeRange: the whole pool of this scope.', ['', 'Block', 'ScopeRange']),
  ),
  reclaimPolicy: optional(
    reclaimPolicy('What becomes of the address when the claim goes; as the class says where absent.'),
  ),
  ownerRef: optional(objectRef('Who asked. Set by the server.')),
});

const status = object('What the claim got.', {
  phase: optional(oneOf('State of the claim.', ['Pending', 'Bound', 'Releasing', 'Error'])),
  allocatedCIDR: optional(text('The block, or the range of the pool, in CIDR form.')),
  address: optional(text('Reserved.')),
  poolRef: optional(localRef('The pool.')),
  boundAllocationRef: optional(localRef('The allocation. Absent for a ScopeRange.')),
  conditions: optional(conditions('none for now')),
});

export type IPClaim = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const IPClaim: Kind<IPClaim> = defineKind<IPClaim>({
  ...ipam,
  kind: 'IPClaim',
  plural: 'ipclaims',
  namespaced: true,
  description: 'Asks for an address or a range. The answer to its creation carries it, or says why there is none.',
  spec,
  status,
  selectableFields: ['.spec.className', '.status.poolRef.name'],
  columns: [
    cell<IPClaim>('Class', '.spec.className', ({ spec }) => spec?.className),
    cell<IPClaim>('Family', '.spec.ipFamily', ({ spec }) => spec?.ipFamily),
    cell<IPClaim>('Allocated', '.status.allocatedCIDR', ({ status }) => status?.allocatedCIDR),
    cell<IPClaim>('Pool', '.status.poolRef.name', ({ status }) => status?.poolRef?.name),
    cell<IPClaim>('Phase', '.status.phase', ({ status }) => status?.phase),
    age,
    wide(cell<IPClaim>('Scope', '.spec.scope', ({ spec }) => scopeText(spec?.scope))),
    wide(
      cell<IPClaim>('Allocation', '.status.boundAllocationRef.name', ({ status }) => status?.boundAllocationRef?.name),
    ),
  ],
});
