import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, conditions, wide } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int32, list, map, object, oneOf, optional, text } from '../schema.ts';
import { cell } from './cells.ts';
import { duration, family, ipam, reclaimPolicy, reservations } from './shared.ts';

const spec = object('What the class hands out, and from where.', {
  source: optional(
    object('A class of another project that this one stands for. Excludes every other field.', {
      project: text('Project of the class.'),
      name: text('Name of the class.'),
    }),
  ),
  ipFamily: optional(family()),
  parentClassName: optional(text('Class whose pools this class\u2019s pools are carved from.')),
  poolPer: optional(list('Scope roles of which each combination has a pool of its own.', text('A role.'))),
  uniqueWithin: optional(
    list(
      'Scope roles within which an address is unique; the same address may be handed out twice where one differs.',
      text('A role.'),
    ),
  ),
  allowedPrefixLengths: optional(
    object('Sizes that may be asked for.', {
      min: optional(int32('Shortest prefix length.')),
      max: optional(int32('Longest prefix length.')),
    }),
  ),
  defaultPrefixLength: optional(int32('Prefix length where a claim states none.')),
  reservations: optional(reservations()),
  routing: optional(
    object('How addresses are announced.', {
      internal: optional(oneOf('Inside the network.', ['None', 'Host'])),
      external: optional(oneOf('To other networks.', ['None', 'Aggregate'])),
    }),
  ),
  strategy: optional(oneOf('Which pool is tried first.', ['FirstFit', 'LeastUtilized'])),
  reclaimPolicy: optional(reclaimPolicy('What becomes of an address whose claim goes, where the claim says nothing.')),
  retentionLease: optional(duration('How long a retained address is kept; for ever where absent.')),
  restPeriod: optional(
    duration('How long a freed address rests before anyone else gets it; the server\u2019s default where absent.'),
  ),
  provisioner: optional(text('Who hands out; IPAM itself where absent.')),
  parameters: optional(map('Parameters of the provisioner.', text('A value.'))),
});

const status = object('What has become of the class.', {
  phase: optional(oneOf('State of the class.', ['Pending', 'Ready', 'Error'])),
  offeringPools: optional(int32('Pools that offer the class.')),
  provisionedPools: optional(int32('Pools made for the class.')),
  requiredScopeRoles: optional(list('Scope roles a claim must give.', text('A role.'))),
  conditions: optional(conditions('Accepted')),
});

export type IPClass = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const IPClass: Kind<IPClass> = defineKind<IPClass>({
  ...ipam,
  kind: 'IPClass',
  plural: 'ipclasses',
  namespaced: false,
  description:
    'A kind of address that can be asked for by name. The default of a family has annotation ipam.miloapis.com/is-default-class "true".',
  spec,
  status,
  selectableFields: ['.spec.ipFamily', '.spec.parentClassName', '.spec.source.project'],
  columns: [
    cell<IPClass>('Family', '.spec.ipFamily', ({ spec }) => spec?.ipFamily),
    cell<IPClass>('Parent', '.spec.parentClassName', ({ spec }) => spec?.parentClassName),
    cell<IPClass>('Prefix', '.spec.defaultPrefixLength', ({ spec }) =>
      spec?.defaultPrefixLength === undefined ? undefined : `/${spec.defaultPrefixLength}`,
    ),
    cell<IPClass>('Pool Per', '.spec.poolPer', ({ spec }) => spec?.poolPer?.join(',')),
    cell<IPClass>('Phase', '.status.phase', ({ status }) => status?.phase),
    age,
    wide(
      cell<IPClass>('Source', '.spec.source', ({ spec }) =>
        spec?.source === undefined ? undefined : `${spec.source.project}/${spec.source.name}`,
      ),
    ),
    wide(cell<IPClass>('Strategy', '.spec.strategy', ({ spec }) => spec?.strategy)),
    wide(cell<IPClass>('Unique Within', '.spec.uniqueWithin', ({ spec }) => spec?.uniqueWithin?.join(','))),
  ],
});
