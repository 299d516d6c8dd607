import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditions } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { type CelRule, int64, object, optional, text } from '../schema.ts';
import { notRemoved, writeOnce } from './shared.ts';

const isAddress = (family: 4 | 6): CelRule => ({
  rule: `self == '' || (isIP(self) && ip(self).family() == ${family})`,
  message: `must be an IPv${family} address without prefix length, or empty`,
});
const isRange: CelRule = { rule: "self == '' || isCIDR(self)", message: 'must be a range in CIDR form, or empty' };

const spec = object(
  'Where the shard runs, and what it translates with.',
  {
    targetRef: optional(
      object('What the shard runs on.', {
        kind: text('Kind of the target: Node.', { minLength: 1 }),
        name: text('Name of the target.', { minLength: 1 }),
      }),
    ),
    shardAddressIPv6: optional(
      text('IPv6 address the shard translates to.', {
        maxLength: 45,
        rules: [isAddress(6), writeOnce('shardAddressIPv6')],
      }),
    ),
    shardAddressIPv4: optional(
      text('IPv4 address the shard translates to; goes with nat64Prefix.', {
        maxLength: 45,
        rules: [isAddress(4), writeOnce('shardAddressIPv4')],
      }),
    ),
    nat64Prefix: optional(
      text('Prefix by which IPv6 hosts reach IPv4; goes with shardAddressIPv4.', {
        maxLength: 64,
        rules: [isRange, writeOnce('nat64Prefix')],
      }),
    ),
  },
  {
    rules: [
      notRemoved('shardAddressIPv6'),
      notRemoved('shardAddressIPv4'),
      notRemoved('nat64Prefix'),
      {
        rule: "(has(self.shardAddressIPv4) && self.shardAddressIPv4 != '') == (has(self.nat64Prefix) && self.nat64Prefix != '')",
        message: 'shardAddressIPv4 and nat64Prefix go together: give both or neither',
      },
    ],
  },
);

const status = object('What the shard translates with.', {
  observedGeneration: optional(int64('The metadata.generation this was written for.')),
  shardSID: optional(text('Segment identifier that leads to the shard.', { maxLength: 45, rules: [isAddress(6)] })),
  shardAddressIPv6: optional(text('IPv6 address in use.', { maxLength: 45, rules: [isAddress(6)] })),
  shardAddressIPv4: optional(text('IPv4 address in use.', { maxLength: 45, rules: [isAddress(4)] })),
  nat64Prefix: optional(text('NAT64 prefix in use.', { maxLength: 64, rules: [isRange] })),
  conditions: optional(conditions('Ready and Programmed')),
});

export type EgressShard = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const EgressShard: Kind<EgressShard> = defineKind<EgressShard>({
  group: 'network.datumapis.com',
  version: 'v1alpha1',
  kind: 'EgressShard',
  plural: 'egressshards',
  shortNames: ['egressshard'],
  namespaced: true,
  description: 'A node that translates traffic of many networks to the internet.',
  spec,
  status,
  columns: [
    column('TARGET', '.spec.targetRef.name'),
    column('SHARD-SID', '.status.shardSID'),
    column('IPV6', '.status.shardAddressIPv6'),
    column('IPV4', '.status.shardAddressIPv4'),
    { ...age, name: 'AGE' },
  ],
});
