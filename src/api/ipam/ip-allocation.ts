import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, conditions, wide } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { object, oneOf, optional, text } from '../schema.ts';
import { cell, scopeText } from './cells.ts';
import { family, ipam, localRef, objectRef, reclaimPolicy, scope } from './shared.ts';

const spec = object('What is handed out, and to whom.', {
  ipFamily: optional(family()),
  className: optional(text('Class it was asked of.')),
  poolRef: optional(localRef('Pool it is part of.')),
  purpose: optional(
    oneOf('Claim: held by a claim. Reservation: kept back. PoolCarve: a pool of its own.', [
      'Claim',
      'Reservation',
      'PoolCarve',
    ]),
  ),
  claimRef: optional(
    object('The claim that holds it. Absent: it is retained.', {
      namespace: optional(text('Namespace of the claim.')),
      name: text('Name of the claim.'),
      uid: optional(text('UID of the claim.')),
    }),
  ),
  scope: optional(scope('Scope within which it is unique, by role.')),
  reclaimPolicy: optional(reclaimPolicy('What becomes of it when its claim goes.')),
  ownerRef: optional(objectRef('Who asked.')),
});

const status = object('What is handed out.', {
  phase: optional(oneOf('State of the allocation.', ['Pending', 'Ready', 'Exhausted', 'Error'])),
  allocatedCIDR: optional(text('The block, in CIDR form.')),
  address: optional(text('Reserved.')),
  scopeDigest: optional(text('Digest of the scope.')),
  conditions: optional(conditions('Expiring ahead of the end of a retention lease')),
});

export type IPAllocation = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const IPAllocation: Kind<IPAllocation> = defineKind<IPAllocation>({
  ...ipam,
  kind: 'IPAllocation',
  plural: 'ipallocations',
  namespaced: true,
  description: 'A block that is handed out. Made by IPAM; deleting a retained one gives the block back.',
  spec,
  status,
  selectableFields: ['.spec.ipFamily', '.spec.poolRef.name'],
  columns: [
    cell<IPAllocation>('Allocated', '.status.allocatedCIDR', ({ status }) => status?.allocatedCIDR),
    cell<IPAllocation>('Pool', '.spec.poolRef.name', ({ spec }) => spec?.poolRef?.name),
    cell<IPAllocation>('Class', '.spec.className', ({ spec }) => spec?.className),
    cell<IPAllocation>('Purpose', '.spec.purpose', ({ spec }) => spec?.purpose),
    cell<IPAllocation>('Phase', '.status.phase', ({ status }) => status?.phase),
    age,
    wide(cell<IPAllocation>('Claim', '.spec.claimRef.name', ({ spec }) => spec?.claimRef?.name)),
    wide(cell<IPAllocation>('Reclaim', '.spec.reclaimPolicy', ({ spec }) => spec?.reclaimPolicy)),
    wide(cell<IPAllocation>('Scope', '.spec.scope', ({ spec }) => scopeText(spec?.scope))),
  ],
});
