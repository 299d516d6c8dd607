import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditionColumn, conditions } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { map, object, optional, text } from '../schema.ts';
import { networking } from './shared.ts';

const spec = object('Which location the project may use.', {
  locationRef: object(
    'The location.',
    { name: text('Name of the location.', { default: '' }) },
    { 'x-kubernetes-map-type': 'atomic' },
  ),
  locationClassName: optional(text('Class of the location.')),
  displayName: optional(text('Name of the location for people.')),
  topology: optional(map('Where the location is, by topology key.', text('A value.'))),
});

const status = object(
  'Whether the location can be used, where whoever offers it says so; where nothing is said, it can.',
  {
    conditions: optional(conditions('Available')),
  },
);

export type LocationBinding = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const LocationBinding: Kind<LocationBinding> = defineKind<LocationBinding>({
  ...networking,
  kind: 'LocationBinding',
  plural: 'locationbindings',
  namespaced: false,
  description: 'Lets a project use a location: while it exists in the project, the location may be named there.',
  spec,
  status,
  columns: [
    column('Location', '.spec.locationRef.name'),
    column('Class', '.spec.locationClassName'),
    conditionColumn('Available'),
    age,
  ],
});
