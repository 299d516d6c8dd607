import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditionColumn, conditions, reasonColumn, seed } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int64, list, object, oneOf, optional, text } from '../schema.ts';
import { egressReach, ipFamily, mtu, nameRef, networking, networkPrefixRef, parametersRef } from './shared.ts';

const spec = object('All a cell has to know of the network in this location.', {
  network: nameRef('The network.'),
  location: nameRef('The location.'),
  ipFamilies: optional(
    list('Families the network carries. Absent means not stated: nothing is assumed.', ipFamily(), {
      minItems: 1,
      maxItems: 2,
    }),
  ),
  mtu: optional(mtu('Largest packet in bytes.')),
  networkGeneration: optional(int64('metadata.generation of the network these values were taken from.')),
  fabricIdentity: optional(
    int64('Number of the network in the fabric, the same in all locations.', { minimum: 1, maximum: 4294967295 }),
  ),
  egress: optional(
    object('How interfaces reach beyond the network, resolved from the network and its egress class.', {
      internet: optional(
        object('How interfaces reach the internet.', {
          mode: optional(oneOf('Absent means: nothing is stated yet.', ['Enabled', 'Disabled'])),
          reach: optional(egressReach()),
          className: optional(text('The egress class used.', { minLength: 1, maxLength: 253 })),
          sharing: optional(
            oneOf('Whether the source addresses are shared with other networks.', ['Shared', 'Dedicated']),
          ),
          parametersRef: optional(parametersRef()),
        }),
      ),
    }),
  ),
});

const status = object('What the network has in this location.', {
  ipam: optional(
    object('Ranges of the network in this location.', {
      ipv6SubnetRef: optional(nameRef('The IPv6 Subnet.')),
      ipv6ClaimRef: optional(networkPrefixRef('Where the IPv6 range is held.')),
      ipv4SubnetRef: optional(nameRef('The IPv4 Subnet.')),
      ipv4ClaimRef: optional(networkPrefixRef('Where the IPv4 range is held.')),
    }),
  ),
  egress: optional(
    object('Reserved: what internet egress offers in this location.', {
      internet: optional(
        object('Reserved.', {
          sourceAddresses: optional(
            list(
              'Addresses the internet sees.',
              object('One source address.', {
                family: ipFamily(),
                address: text('The address, without prefix length.', { minLength: 1, maxLength: 39 }),
                stability: optional(oneOf('Whether the address stays.', ['None', 'Network'])),
              }),
              { maxItems: 16 },
            ),
          ),
          dns64Prefix: optional(text('Prefix for DNS64, in CIDR form.', { maxLength: 43 })),
        }),
      ),
    }),
  ),
  conditions: optional(conditions('IPAMAllocated, Ready and InternetEgressReady')),
});

export type NetworkContext = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const NetworkContext: Kind<NetworkContext> = defineKind<NetworkContext>({
  ...networking,
  kind: 'NetworkContext',
  plural: 'networkcontexts',
  namespaced: true,
  description: 'The presence of a network in a location: made by the platform where a binding asks for it.',
  spec,
  status,
  seeds: [seed('Ready')],
  columns: [
    age,
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    column('IPv6Subnet', '.status.ipam.ipv6SubnetRef.name'),
  ],
});
