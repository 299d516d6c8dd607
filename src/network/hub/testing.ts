import { crdsOf } from '../../api/index.ts';
import { Environment } from '../../apiserver/testing/index.ts';
import { planeRef } from '../../kube/index.ts';
import { networkHubControllers } from './index.ts';

/** A hub and projects, and the hub's half of network services at work there. */
export async function openHub(options: {
  quietPeriodSeconds: number;
  projects: readonly string[];
}): Promise<Environment> {
  const environment = await Environment.open();
  const { clock, random, log, recorder, projectClient } = environment;
  const quietPeriodMilliseconds = options.quietPeriodSeconds * 1000;
  const deps = { clock, random, log, hub: 'hub', recorder, projectClient, quietPeriodMilliseconds } as const;
  environment.use(() => networkHubControllers({ ...deps, ipamClasses: {}, dataPlane: 'none' }));
  environment.start();
  await environment.openPlane(planeRef('hub'), { crds: crdsOf('hub') });
  for (const id of options.projects) await openProject(environment, id);
  return environment;
}

/** Serves a project and lets the controllers work in it. */
export async function openProject(environment: Environment, id: string): Promise<void> {
  await environment.openPlane(planeRef('project', id), { crds: crdsOf('project') });
}
