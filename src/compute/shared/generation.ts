import type { WorkloadDeployment } from '../../api/index.ts';
import type { Stored } from '../../meta/index.ts';

/** On copies of a deployment: generation of the project's object, so that what a cell observed means something there. */
export const sourceGeneration = 'compute.datumapis.com/source-generation';

/** The generation a status written for `deployment` is about: the project's where the object is a copy. */
export function observedGenerationOf(deployment: Stored<WorkloadDeployment>): number {
  const recorded = Number(deployment.metadata.annotations?.[sourceGeneration]);
  return Number.isInteger(recorded) && recorded > 0 ? recorded : (deployment.metadata.generation ?? 1);
}
