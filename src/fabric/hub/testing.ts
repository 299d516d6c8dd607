import { crdsOf } from '../../api/index.ts';
import { Environment } from '../../apiserver/testing/index.ts';
import { type Controller, planeRef } from '../../kube/index.ts';
import type { FabricHubDeps } from '../shared/deps.ts';

/** A hub and the project `alpha`, and one controller of the fabric at work there. */
export async function openHub(make: (deps: FabricHubDeps) => Controller): Promise<Environment> {
  const environment = await Environment.open();
  const { clock, recorder, projectClient } = environment;
  environment.use(() => [make({ clock, hub: 'hub', recorder, projectClient })]);
  environment.start();
  for (const plane of [planeRef('hub'), planeRef('project', 'alpha')]) {
    await environment.openPlane(plane, { crds: crdsOf(plane.role) });
  }
  return environment;
}
