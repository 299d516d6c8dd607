import type { Static } from 'typebox';
import { age, column } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { immutable, int64, object, optional, text } from '../schema.ts';
import { cloud } from './shared.ts';

const spec = object(
  'Which network has the number.',
  {
    identity: int64('The number.', { minimum: 1, maximum: 4294967295 }),
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
