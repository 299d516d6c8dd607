import type { KubeObject, Stored } from '../../meta/index.ts';

/** On copies: generation of the object they are of, so that what somebody observed of that means something elsewhere. */
export const sourceGeneration = 'compute.datumapis.com/source-generation';

/** The generation a status written for an object is about: the source's where it is a copy. */
export function observedGenerationOf(object: Stored<KubeObject>): number {
  const recorded = Number(object.metadata.annotations?.[sourceGeneration]);
  return Number.isInteger(recorded) && recorded > 0 ? recorded : (object.metadata.generation ?? 1);
}
