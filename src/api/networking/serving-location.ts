import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int64, map, object, optional, text, time } from '../schema.ts';
import { networking } from './shared.ts';

const cityCode = 'topology.datum.net/city-code';

const spec = object('What the cell serves.', {
  topology: map('Where the location is, by topology key.', text('A value.'), {
    minProperties: 1,
    maxProperties: 64,
    rules: [
      {
        rule: `'${cityCode}' in self && self['${cityCode}'] != ''`,
        message: `topology must have ${cityCode}, not empty`,
      },
    ],
  }),
  source: optional(
    object('The Location this was published from.', {
      generation: optional(int64('metadata.generation of the Location.')),
      publishedAt: optional(time('When it was published.')),
    }),
  ),
});

export type ServingLocation = KubeObject<Static<typeof spec>>;
export const ServingLocation: Kind<ServingLocation> = defineKind<ServingLocation>({
  ...networking,
  kind: 'ServingLocation',
  plural: 'servinglocations',
  namespaced: false,
  description:
    'Tells a cell which location it serves: exactly one reaches a cell, and its name is the location\u2019s.',
  spec,
  columns: [
    column('City', ".spec.topology['topology\\.datum\\.net/city-code']"),
    column('Region', ".spec.topology['topology\\.datum\\.net/region']"),
    column('Source Generation', '.spec.source.generation', 'integer'),
    age,
  ],
});
