import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditionColumn, conditions, reasonColumn } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { map, object, optional, text } from '../schema.ts';
import { networking } from './shared.ts';

const spec = object('What the location is.', {
  locationClassName: text('Class of the location: datum-managed or self-managed.'),
  topology: map('Where the location is, by topology key, such as topology.datum.net/city-code.', text('A value.')),
  provider: object('Who provides the location.', {
    gcp: optional(
      object('A zone of Google Cloud.', {
        projectId: text('Project id at the provider.'),
        region: text('Region at the provider.'),
        zone: text('Zone at the provider.'),
      }),
    ),
  }),
  coordinates: optional(
    object('Where the location is on earth.', {
      latitude: text('Degrees north, as decimal text.', {
        pattern: '^-?\\d{1,2}(\\.\\d+)?$',
        maxLength: 32,
        rules: [
          { rule: 'double(self) >= -90.0 && double(self) <= 90.0', message: 'latitude must be between -90 and 90' },
        ],
      }),
      longitude: text('Degrees east, as decimal text.', {
        pattern: '^-?\\d{1,3}(\\.\\d+)?$',
        maxLength: 32,
        rules: [
          {
            rule: 'double(self) >= -180.0 && double(self) <= 180.0',
            message: 'longitude must be between -180 and 180',
          },
        ],
      }),
    }),
  ),
});

const status = object(
  'What has become of the location, where whoever runs it says so. The platform writes nothing here.',
  {
    conditions: optional(conditions('Ready')),
  },
);

export type Location = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const Location: Kind<Location> = defineKind<Location>({
  ...networking,
  kind: 'Location',
  plural: 'locations',
  namespaced: false,
  description: 'A place where workloads can run. Its name is what placements and cells refer to.',
  spec,
  status,
  columns: [
    column('Class', '.spec.locationClassName'),
    column('City', ".spec.topology['topology\\.datum\\.net/city-code']"),
    age,
    conditionColumn('Ready'),
    reasonColumn('Ready'),
  ],
});
