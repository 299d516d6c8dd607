import type { Static } from 'typebox';
import { age, conditionColumn, conditions, reasonColumn, seed } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { immutable, object, optional, text } from '../schema.ts';
import { nameRef, networking, networkRef, objectName } from './shared.ts';

const spec = object('Which network is needed where.', {
  network: networkRef('The network.', { rules: [immutable('spec.network')] }),
  location: nameRef('The location.', { rules: [immutable('spec.location')] }, objectName),
  consumer: optional(
    object('Who needs it, for people to read.', {
      apiGroup: optional(text('API group of the consumer.')),
      kind: text('Kind of the consumer.'),
      name: text('Name of the consumer.'),
    }),
  ),
});

const status = object('Where the network is present.', {
  networkContextRef: optional(
    object('The context, from when it is created (it may not be ready yet).', {
      namespace: text('Namespace of the context in the project.'),
      name: text('Name of the context.'),
    }),
  ),
  conditions: optional(conditions('Ready')),
});

export type NetworkBinding = Specified<Static<typeof spec>, Static<typeof status>>;
export const NetworkBinding: Kind<NetworkBinding> = defineKind<NetworkBinding>({
  ...networking,
  kind: 'NetworkBinding',
  plural: 'networkbindings',
  namespaced: true,
  description: 'Says that a network is needed in a location. While a binding exists, the network stays present there.',
  spec,
  specRequired: true,
  status,
  seeds: [seed('Ready')],
  columns: [age, conditionColumn('Ready'), reasonColumn('Ready')],
});
