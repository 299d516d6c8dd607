import type { Static } from 'typebox';
import { age, column } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { object, oneOf, optional, text } from '../schema.ts';
import { egressReach, networking, parametersRef } from './shared.ts';

const spec = object('What the class offers.', {
  controllerName: text('Who carries the class out.', {
    default: 'networking.datumapis.com/cell-egress',
    minLength: 1,
    maxLength: 253,
  }),
  sharing: oneOf('Whether networks share source addresses, or each has its own.', ['Shared', 'Dedicated']),
  reach: egressReach('Families of the internet the class reaches.'),
  parametersRef: optional(parametersRef()),
});

const status = object('Reserved.', {});

export type InternetEgressClass = Specified<Static<typeof spec>, Static<typeof status>>;
export const InternetEgressClass: Kind<InternetEgressClass> = defineKind<InternetEgressClass>({
  ...networking,
  kind: 'InternetEgressClass',
  plural: 'internetegressclasses',
  namespaced: false,
  description:
    'A way to reach the internet that networks can choose. The default one has annotation networking.datumapis.com/is-default-class "true".',
  spec,
  specRequired: true,
  status,
  columns: [
    column('Controller', '.spec.controllerName'),
    column('Sharing', '.spec.sharing'),
    column('Reach', '.spec.reach'),
    age,
  ],
});
