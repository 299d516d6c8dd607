import type { Static } from 'typebox';
import { column, conditionColumn, conditions } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { immutable, int64, list, object, optional, text } from '../schema.ts';
import { cloud } from './shared.ts';

const spec = object(
  'The ranges of the network in this location.',
  {
    networks: list('Ranges in CIDR form.', text('A range.', { maxLength: 64 }), {
      minItems: 1,
      maxItems: 64,
    }),
  },
  {
    rules: [
      immutable('spec'),
      { rule: 'self.networks.all(network, isCIDR(network))', message: 'networks must be ranges in CIDR form' },
    ],
  },
);

const status = object('The network in the data plane.', {
  observedGeneration: optional(int64('The metadata.generation this was written for.')),
  conditions: optional(conditions('Ready')),
  vpc: text('Identifier of the network, in base 62. Kept for life.', { minLength: 1, maxLength: 16 }),
});

export type VPC = Specified<Static<typeof spec>, Static<typeof status>>;
export const VPC: Kind<VPC> = defineKind<VPC>({
  ...cloud,
  kind: 'VPC',
  plural: 'vpcs',
  namespaced: true,
  description: 'A network as the data plane of a cell knows it.',
  spec,
  specRequired: true,
  status,
  columns: [column('VPC', '.status.vpc'), conditionColumn('Ready')],
});
