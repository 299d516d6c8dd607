import type { Static } from 'typebox';
import { age, column, conditionColumn, conditions, reasonColumn, seed } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { immutable, immutableOptional, list, object, oneOf, optional, text, uniqueBy, uniqueItems } from '../schema.ts';
import {
  addresses,
  addressRequests,
  attachmentMode,
  egressStatus,
  externalAddresses,
  interfaceName,
  ipFamily,
  nameRef,
  networking,
  objectName,
  reclaimPolicy,
} from './shared.ts';

/**
 * What a claim asks for. `frozen`: with the rules that refuse edits. A template of claims has none of its own, since
 * Kubernetes can not compare the items of its list; the list itself carries the rule there.
 */
export function claimSpec(frozen: boolean) {
  const fixed = (field: string) => (frozen ? [immutable(`spec.${field}`)] : []);
  return object(
    'The interface asked for.',
    {
      network: nameRef('The network to join.', frozen ? { rules: fixed('network') } : {}, objectName),
      interfaceName: interfaceName(frozen ? { rules: fixed('interfaceName') } : {}),
      attachmentMode: attachmentMode(frozen ? { rules: fixed('attachmentMode') } : {}),
      ipFamilies: list('Families to get an address of; the first is the primary one.', ipFamily(), {
        default: ['IPv6'],
        minItems: 1,
        maxItems: 2,
        rules: [uniqueItems('a family'), ...fixed('ipFamilies')],
      }),
      addresses: optional(addressRequests({ rules: [uniqueBy('class', 'a class')] })),
      reclaimPolicy: reclaimPolicy(frozen ? { rules: fixed('reclaimPolicy') } : {}),
      networkInterfaceName: optional(
        text('Name of the one existing interface to bind to.', { minLength: 1, maxLength: 253 }),
      ),
      egress: optional(
        object(
          'How the interface reaches beyond the network.',
          {
            internet: optional(
              object('How the interface reaches the internet.', {
                mode: optional(oneOf('Inherit: as the network says. Nothing else is offered.', ['Inherit'])),
              }),
            ),
          },
          { default: { internet: { mode: 'Inherit' } } },
        ),
      ),
    },
    frozen ? { rules: [immutableOptional('addresses'), immutableOptional('networkInterfaceName')] } : {},
  );
}

const spec = claimSpec(true);

const status = object('What the claim got.', {
  networkInterfaceRef: optional(nameRef('The interface bound to the claim.', {}, { minLength: 1, maxLength: 253 })),
  addresses: optional(addresses('Addresses of the interface.')),
  externalAddresses: optional(externalAddresses('External addresses of the interface.')),
  egress: egressStatus(),
  conditions: optional(conditions('Bound, Allocated, Prepared, Programmed, Ready')),
});

export type NetworkInterfaceClaim = Specified<Static<typeof spec>, Static<typeof status>>;
export const NetworkInterfaceClaim: Kind<NetworkInterfaceClaim> = defineKind<NetworkInterfaceClaim>({
  ...networking,
  kind: 'NetworkInterfaceClaim',
  plural: 'networkinterfaceclaims',
  namespaced: true,
  description: 'Asks for an interface on a network, as a volume claim asks for a volume. Its name is its identity.',
  spec,
  specRequired: true,
  status,
  seeds: [seed('Bound'), seed('Allocated'), seed('Prepared'), seed('Programmed'), seed('Ready')],
  columns: [
    age,
    column('Network', '.spec.network.name'),
    column('Interface', '.status.networkInterfaceRef.name'),
    conditionColumn('Ready'),
    reasonColumn('Ready'),
  ],
});
