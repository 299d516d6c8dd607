import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, conditions, wide } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int32, list, number, object, oneOf, optional, text } from '../schema.ts';
import { cell, percentText, scopeText } from './cells.ts';
import { duration, family, ipam, localRef, reservations, scope } from './shared.ts';

const digits = '^[0-9]+$';

const spec = object('The range, or what it is carved from.', {
  cidr: optional(
    text(
      'Range of a root pool, in CIDR form. It can grow to a range that contains it, and shrink to one inside it that holds all that is allocated.',
    ),
  ),
  ipFamily: optional(family()),
  parentPoolRef: optional(localRef('Pool a child is carved from.')),
  prefixLength: optional(
    int32(
      'Prefix length of a child. Shorter: it grows where its parent has room around it. Longer: it keeps its first part.',
    ),
  ),
  classNames: optional(list('Classes the pool offers.', text('A class.'), { 'x-kubernetes-list-type': 'set' })),
  classRef: optional(
    object('Class the pool was made for.', {
      project: optional(text('Project of the class, where it is another one.')),
      name: text('Name of the class.'),
    }),
  ),
  scope: optional(scope('Scope the pool was made for, by role.')),
  reservations: optional(reservations()),
  reservedRanges: optional(
    list(
      'Ranges that are kept back, each shown as an IPAllocation of purpose Reservation. They count as allocated.',
      text('A range, in CIDR form.'),
      { 'x-kubernetes-list-type': 'set' },
    ),
  ),
  excludedRanges: optional(
    list('Ranges somebody else uses: never handed out, and no part of the capacity.', text('A range, in CIDR form.'), {
      'x-kubernetes-list-type': 'set',
    }),
  ),
  maxRetentionLease: optional(duration('The longest a retained address is kept, whatever its class says.')),
  restPeriod: optional(
    duration('How long a freed address rests before anyone else gets it; that of the class where absent.'),
  ),
  allocation: optional(
    object('How blocks are handed out.', {
      minPrefixLength: optional(int32('Shortest prefix length handed out.')),
      maxPrefixLength: optional(int32('Longest prefix length handed out.')),
      strategy: optional(
        oneOf('Which free block is taken; FirstFit where absent.', ['FirstFit', 'BestFit', 'LeastUtilized']),
      ),
    }),
  ),
  visibility: optional(oneOf('Who sees the pool.', ['', 'platform', 'consumer', 'shared'])),
});

const status = object('What has become of the pool.', {
  phase: optional(oneOf('State of the pool.', ['Pending', 'Ready', 'Exhausted', 'Error'])),
  allocatedCIDR: optional(text('Range of the pool, in CIDR form.')),
  ipFamily: optional(text('Family of the pool.')),
  scopeDigest: optional(text('Digest of the scope.')),
  capacity: optional(
    object('Addresses, as decimal text.', {
      total: optional(text('In all.', { pattern: digits })),
      allocated: optional(text('Handed out.', { pattern: digits })),
      available: optional(text('Free.', { pattern: digits })),
    }),
  ),
  utilizationPercent: optional(number('Share that is handed out, 0 to 100.')),
  largestFreePrefixLength: optional(int32('Prefix length of the largest free block. Absent: nothing is free.')),
  conditions: optional(conditions('Allocated')),
});

export type IPPool = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const IPPool: Kind<IPPool> = defineKind<IPPool>({
  ...ipam,
  kind: 'IPPool',
  plural: 'ippools',
  namespaced: false,
  description: 'A range addresses are handed out from: written by an operator, or made for a class and scope.',
  spec,
  status,
  selectableFields: ['.spec.ipFamily', '.spec.parentPoolRef.name'],
  columns: [
    cell<IPPool>('CIDR', '.status.allocatedCIDR', ({ spec, status }) => status?.allocatedCIDR || spec?.cidr),
    cell<IPPool>('Family', '.status.ipFamily', ({ spec, status }) => status?.ipFamily || spec?.ipFamily),
    cell<IPPool>('Classes', '.spec.classNames', ({ spec }) => spec?.classNames?.join(',')),
    cell<IPPool>('Utilization', '.status.utilizationPercent', ({ status }) => percentText(status?.utilizationPercent)),
    age,
    wide(cell<IPPool>('Parent', '.spec.parentPoolRef.name', ({ spec }) => spec?.parentPoolRef?.name)),
    wide(cell<IPPool>('Class', '.spec.classRef.name', ({ spec }) => spec?.classRef?.name)),
    wide(cell<IPPool>('Scope', '.spec.scope', ({ spec }) => scopeText(spec?.scope))),
    wide(cell<IPPool>('Phase', '.status.phase', ({ status }) => status?.phase)),
  ],
});
