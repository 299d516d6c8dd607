import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, conditionColumn, conditions, reasonColumn, seed } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int32, object, optional, text } from '../schema.ts';
import { ipFamily, nameRef, networking } from './shared.ts';

const spec = object('The subnet asked for.', {
  subnetClass: text('Class of the subnet, such as private.'),
  networkContext: nameRef('The NetworkContext the subnet is to be part of.'),
  location: nameRef('The location of the subnet.'),
  ipFamily: ipFamily(),
  startAddress: optional(text('First address to ask for.')),
  prefixLength: optional(int32('Prefix length to ask for.')),
});

const status = object('The subnet the claim got.', {
  subnetRef: optional(nameRef('The subnet.')),
  startAddress: optional(text('First address of the range.')),
  prefixLength: optional(int32('Prefix length of the range.')),
  conditions: optional(conditions('Allocated, Programmed, Ready')),
});

export type SubnetClaim = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const SubnetClaim: Kind<SubnetClaim> = defineKind<SubnetClaim>({
  ...networking,
  kind: 'SubnetClaim',
  plural: 'subnetclaims',
  namespaced: true,
  description: 'Asks for a subnet. Kept for manifests written before the platform planned subnets by itself.',
  spec,
  status,
  seeds: [seed('Allocated'), seed('Programmed'), seed('Ready')],
  columns: [age, conditionColumn('Ready'), reasonColumn('Ready')],
});
