import type { Static } from 'typebox';
import { age, column, conditionColumn, conditions, seed } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { immutable, object, oneOf, optional, text, uniqueBy } from '../schema.ts';
import {
  addresses,
  attachmentMode,
  egressStatus,
  externalAddresses,
  interfaceName,
  mtu,
  nameRef,
  networking,
  objectName,
  reclaimPolicy,
} from './shared.ts';

const spec = object('What the interface is, as a data plane needs it.', {
  network: nameRef('The network the interface is part of.', { rules: [immutable('spec.network')] }, objectName),
  claimRef: optional(
    object('The claim that holds the interface. Absent: nobody does.', {
      name: text('Name of the claim.', { minLength: 1, maxLength: 253 }),
      uid: optional(text('UID of the claim: a claim of the same name with another UID does not hold the interface.')),
    }),
  ),
  interfaceName: interfaceName(),
  attachmentMode: attachmentMode(),
  mtu: optional(mtu('Largest packet in bytes.')),
  addresses: optional(
    addresses('Addresses of the interface, one per family, the first family first.', {
      maxItems: 4,
      rules: [
        {
          rule: 'size(self) == 0 || self.exists_one(a, has(a.primary) && a.primary)',
          message: 'exactly one address must be primary',
        },
        uniqueBy('family', 'a family'),
      ],
    }),
  ),
  externalAddresses: optional(
    externalAddresses('Addresses outside the network that lead to the interface.', {
      maxItems: 4,
      rules: [uniqueBy('address', 'an external address'), uniqueBy('class', 'a class')],
    }),
  ),
  reclaimPolicy: reclaimPolicy(),
});

const status = object('What has become of the interface.', {
  phase: optional(oneOf('Bound while a claim holds the interface, else Available.', ['Available', 'Bound'])),
  networkContextRef: optional(nameRef('The NetworkContext of the network in this location.')),
  attachmentRef: optional(
    object('The object by which the data plane attaches the interface.', {
      apiGroup: text('API group of the object.', { minLength: 1, maxLength: 253 }),
      kind: text('Kind of the object.', { minLength: 1, maxLength: 63 }),
      name: text('Name of the object.', { minLength: 1, maxLength: 253 }),
    }),
  ),
  vpc: optional(text('Identifier of the network in the data plane, in base 62.')),
  egress: egressStatus(),
  conditions: optional(conditions('Allocated, Prepared, Programmed; Expiring ahead of the end of a retention lease')),
});

export type NetworkInterface = Specified<Static<typeof spec>, Static<typeof status>>;
export const NetworkInterface: Kind<NetworkInterface> = defineKind<NetworkInterface>({
  ...networking,
  kind: 'NetworkInterface',
  plural: 'networkinterfaces',
  namespaced: true,
  description: 'An interface on a network, and the owner of its addresses. Made by the platform for a claim.',
  spec,
  specRequired: true,
  status,
  seeds: [seed('Allocated'), seed('Prepared'), seed('Programmed')],
  columns: [
    age,
    column('Network', '.spec.network.name'),
    column('Phase', '.status.phase'),
    column('Claim', '.spec.claimRef.name'),
    conditionColumn('Allocated'),
    conditionColumn('Prepared'),
    conditionColumn('Programmed'),
  ],
});
