import type { Static } from 'typebox';
import { isApiError, type KubeObject } from '../../meta/index.ts';
import { age, conditionColumn, conditions, reasonColumn, seed } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { object, optional, text } from '../schema.ts';

const spec = object('What the project is.', {
  ownerRef: optional(
    object('Who owns the project.', {
      kind: text('Kind of the owner, such as Organization.'),
      name: text('Its name.'),
    }),
  ),
});

const status = object('What has become of the project.', {
  conditions: optional(conditions('Ready: the project\u2019s own API is being served')),
});

export type Project = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const Project: Kind<Project> = defineKind<Project>({
  group: 'resourcemanager.miloapis.com',
  version: 'v1alpha1',
  kind: 'Project',
  plural: 'projects',
  namespaced: false,
  description:
    'A tenant with an API and an address space of its own. Creating one opens its API; deleting one first releases everything in it.',
  spec,
  status,
  seeds: [seed('Ready')],
  rules: [
    {
      rule: 'self.metadata.name.size() <= 55',
      message: 'the name of a project must be at most 55 characters, so that a label can carry it as cluster-<name>',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [conditionColumn('Ready'), reasonColumn('Ready'), age],
});

/** Whether the answer says that the project is gone for good; every other failure may pass (architecture, Planes). */
export function isProjectGone(error: unknown): boolean {
  if (!isApiError(error, 'NotFound')) return false;
  const { group, kind } = error.status.details ?? {};
  return group === Project.group && kind === Project.plural;
}
