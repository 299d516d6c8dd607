import type { Static } from 'typebox';
import { parseTime, type Stored } from '../../meta/index.ts';
import { age, column } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { immutable, int64, object, optional, text } from '../schema.ts';
import { cloud } from './shared.ts';

/** The largest number: what survives in a route target is 32 bits (reference F71). 0 is reserved. */
export const largestFabricIdentity = 2 ** 32 - 1;

const spec = object(
  'Which network has the number.',
  {
    identity: int64('The number.', { minimum: 1, maximum: largestFabricIdentity }),
    networkUID: text('UID of the network.', { minLength: 1, maxLength: 64 }),
    networkRef: optional(
      object('The network, for people to read.', {
        project: optional(text('Project of the network.', { maxLength: 253 })),
        namespace: optional(text('Namespace of the network in its project.', { maxLength: 63 })),
        name: text('Name of the network.', { maxLength: 253 }),
      }),
    ),
  },
  { rules: [immutable('spec')] },
);

const status = object('Reserved.', {});

export type NetworkFabricIdentity = Specified<Static<typeof spec>, Static<typeof status>>;
export const NetworkFabricIdentity: Kind<NetworkFabricIdentity> = defineKind<NetworkFabricIdentity>({
  ...cloud,
  kind: 'NetworkFabricIdentity',
  plural: 'networkfabricidentities',
  namespaced: false,
  description:
    'The number of a network in the fabric, the same in all locations. It is named id-<number>, so that creating it is what makes the number unique.',
  spec,
  specRequired: true,
  status,
  rules: [
    {
      // Nothing is joined here: Kubernetes knows no bound of the joined text, and refuses the rule for what it might cost.
      rule: "self.metadata.name.startsWith('id-') && self.metadata.name.substring(3) == string(self.spec.identity)",
      message: 'the name must be id-<spec.identity>',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    column('Identity', '.spec.identity', 'integer'),
    column('Network UID', '.spec.networkUID'),
    column('Project', '.spec.networkRef.project'),
    column('Network', '.spec.networkRef.name'),
    age,
  ],
});

/** Of what is held for one network, the one that counts: the first there was. The others are to go. */
export function oldestIdentity(
  held: readonly Stored<NetworkFabricIdentity>[],
): Stored<NetworkFabricIdentity> | undefined {
  const age = ({ metadata }: Stored<NetworkFabricIdentity>): number => parseTime(metadata.creationTimestamp) ?? 0;
  return [...held].sort((a, b) => age(a) - age(b) || a.spec.identity - b.spec.identity)[0];
}
