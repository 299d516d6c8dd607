import type { Static } from 'typebox';
import { age, column, conditionColumn, conditions, reasonColumn, seed, wide } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { list, object, oneOf, optional, text } from '../schema.ts';
import { egressReach, ipFamily, mtu, networking, networkPrefixRef } from './shared.ts';

const spec = object('What the network is to be.', {
  ipam: object('How addresses are handed out.', {
    mode: oneOf('Auto: the platform plans all ranges. Policy: reserved for ranges by policy.', ['Auto', 'Policy']),
    ipv4Range: optional(text('Reserved. The platform plans the range.')),
    ipv6Range: optional(text('Reserved. The platform plans the range.')),
  }),
  ipFamilies: list('Address families the network carries.', ipFamily(), { default: ['IPv6'] }),
  mtu: mtu('Largest packet in bytes an interface of the network carries.', { default: 1460 }),
  egress: optional(
    object('How interfaces reach beyond the network.', {
      internet: optional(
        object('How interfaces reach the internet.', {
          mode: oneOf('Whether interfaces may open connections to the internet.', ['Enabled', 'Disabled'], {
            default: 'Disabled',
          }),
          reach: optional(egressReach()),
          class: optional(
            text('InternetEgressClass to use; the default class where absent.', { minLength: 1, maxLength: 253 }),
          ),
        }),
      ),
    }),
  ),
});

const status = object('What the network is.', {
  ipam: optional(
    object('Ranges the network holds.', {
      ipv6Prefix: optional(text('IPv6 range of the whole network, in CIDR form.')),
      ipv6PrefixRef: optional(networkPrefixRef('Where the IPv6 range is held.')),
      ipv4Prefix: optional(text('IPv4 range of the whole network, in CIDR form.')),
      ipv4PrefixRef: optional(networkPrefixRef('Where the IPv4 range is held.')),
    }),
  ),
  conditions: optional(
    conditions(
      'IPAMAllocated (once a range has been asked for), Ready, and InternetEgressReady (while a wish for internet egress is refused)',
    ),
  ),
});

export type Network = Specified<Static<typeof spec>, Static<typeof status>>;
export const Network: Kind<Network> = defineKind<Network>({
  ...networking,
  kind: 'Network',
  plural: 'networks',
  namespaced: true,
  description: 'A private network of a project. It spans locations; interfaces join it and get addresses from it.',
  spec,
  specRequired: true,
  status,
  seeds: [seed('Ready')],
  columns: [
    column('IPv6Prefix', '.status.ipam.ipv6Prefix'),
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    age,
    wide(column('IPFamilies', '.spec.ipFamilies')),
    wide(column('IPAM', '.spec.ipam.mode')),
    wide(column('MTU', '.spec.mtu', 'integer')),
  ],
});
