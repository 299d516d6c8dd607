import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditionColumn, conditions, reasonColumn, seed } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int32, object, optional, text } from '../schema.ts';
import { ipFamily, nameRef, networking } from './shared.ts';

const spec = object('The range of the subnet.', {
  subnetClass: text('Class of the subnet, such as private.'),
  networkContext: nameRef('The NetworkContext the subnet is part of.'),
  location: nameRef('The location of the subnet.'),
  ipFamily: ipFamily(),
  startAddress: text('First address of the range.'),
  prefixLength: int32('Prefix length of the range.'),
});

const status = object('The range as it is in use.', {
  startAddress: optional(text('First address of the range.')),
  prefixLength: optional(int32('Prefix length of the range.')),
  conditions: optional(conditions('Allocated, Programmed, Ready')),
});

export type Subnet = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const Subnet: Kind<Subnet> = defineKind<Subnet>({
  ...networking,
  kind: 'Subnet',
  plural: 'subnets',
  namespaced: true,
  description: 'The range of a network in a location, of one family. Gateway and endpoint addresses lie in it.',
  spec,
  status,
  seeds: [seed('Allocated'), seed('Programmed'), seed('Ready')],
  columns: [
    age,
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    column('Start Address', '.status.startAddress'),
    column('Prefix Length', '.status.prefixLength'),
  ],
});
