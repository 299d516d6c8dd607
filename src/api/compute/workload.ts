import type { Static } from 'typebox';
import { age, column, conditionColumn, conditions, reasonColumn } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { nameRef } from '../networking/shared.ts';
import { int32, int64, list, object, optional, text } from '../schema.ts';
import { instanceTemplate } from './instance-spec.ts';
import { labelSelector, replicaCounts, scaleSettings } from './placements.ts';
import { compute } from './shared.ts';

const spec = object('What to run, and where.', {
  template: instanceTemplate(),
  placements: list(
    'Where to run how many instances.',
    object(
      'One placement.',
      {
        name: text('Name of the placement.'),
        locations: optional(list('Locations to run in, by name.', nameRef('A location.'), { minItems: 1 })),
        locationSelector: optional(
          labelSelector('Selects locations by their topology keys.', {
            rules: [
              {
                rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)',
                message: 'an empty locationSelector would select every location: give matchLabels or matchExpressions',
              },
            ],
          }),
        ),
        scaleSettings: scaleSettings(),
      },
      {
        rules: [
          {
            rule: 'has(self.locations) != has(self.locationSelector)',
            message: 'give exactly one of locations and locationSelector',
          },
        ],
      },
    ),
    { minItems: 1, maxItems: 128 },
  ),
});

const status = object('What runs.', {
  deployments: int32('Deployments there are.'),
  ...replicaCounts,
  observedGeneration: optional(int64('The metadata.generation this was written for.')),
  placements: optional(
    list(
      'What runs, by placement.',
      object('One placement.', {
        name: text('Name of the placement.'),
        locations: optional(list('Locations the placement resolves to.', nameRef('A location.'))),
        ...replicaCounts,
        conditions: optional(conditions('Available')),
      }),
    ),
  ),
  conditions: optional(conditions('Available and ReplicasReady')),
});

export type Workload = Specified<Static<typeof spec>, Static<typeof status>>;
export const Workload: Kind<Workload> = defineKind<Workload>({
  ...compute,
  kind: 'Workload',
  plural: 'workloads',
  description: 'Instances to run in one or more locations, each with its own network interface.',
  spec,
  specRequired: true,
  status,
  rules: [
    {
      rule: "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
      message:
        'the name of a workload must be a DNS label: at most 63 of a-z, 0-9 and -, with a letter or digit at both ends',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    age,
    conditionColumn('Available'),
    reasonColumn('Available'),
    column('Deployments', '.status.deployments'),
    column('Replicas', '.status.replicas'),
    column('Ready', '.status.readyReplicas'),
    column('Desired', '.status.desiredReplicas'),
    column('Up-to-date', '.status.updatedReplicas'),
    conditionColumn('ReplicasReady'),
  ],
});
