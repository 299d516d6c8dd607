import { expect, test } from 'vitest';
import { cellPlane, contextName, hubPlane, projectPlane, rootPlane } from './planes.ts';

test('planes are served where the architecture puts them, and named as people type them', () => {
  const planes = [rootPlane, hubPlane, cellPlane('us-central-1'), projectPlane('alpha')];
  expect(planes.map((plane) => [contextName(plane), plane.id, plane.path])).toEqual([
    ['root', 'root', ''],
    ['hub', 'hub', '/planes/hub'],
    ['cell-us-central-1', 'cell/us-central-1', '/planes/cells/us-central-1'],
    ['project-alpha', 'project/alpha', '/apis/resourcemanager.miloapis.com/v1alpha1/projects/alpha/control-plane'],
  ]);
});
