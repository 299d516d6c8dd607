import { type NetworkInterfaceClaim, networkingFinalizers, ServingLocation } from '../../../api/index.ts';
import type { Plane } from '../../../kube/index.ts';
import { Namespace, type ObjectMeta } from '../../../meta/index.ts';
import { isRefused, locationOf, projectOf, type Routing, recordAnnotations } from '../routing.ts';

/** What a claim has before anything is asked of IPAM for it: the release finalizer, and the record of where it allocates. */
export function heldMetadata(
  { finalizers = [], annotations }: ObjectMeta,
  routing: Routing,
): Required<Pick<ObjectMeta, 'finalizers' | 'annotations'>> {
  const { claimRelease } = networkingFinalizers;
  return {
    finalizers: finalizers.includes(claimRelease) ? finalizers : [...finalizers, claimRelease],
    annotations: { ...annotations, ...recordAnnotations(routing) },
  };
}

/**
 * A claim that is about to be created in a cell, held by network services from its first moment where it can be told
 * where it allocates: who makes many is spared a write for each. One made without is held by its controller.
 */
export function admitClaim(plane: Plane, claim: NetworkInterfaceClaim): NetworkInterfaceClaim {
  const { namespace = '' } = claim.metadata;
  const locations = plane.informer(ServingLocation).list();
  const identity = locationOf(locations.map(({ metadata }) => metadata.name));
  const project = projectOf(namespace, plane.informer(Namespace).get('', namespace)?.metadata.labels);
  if (isRefused(identity) || isRefused(project)) return claim;
  return { ...claim, metadata: { ...claim.metadata, ...heldMetadata(claim.metadata, { ...project, ...identity }) } };
}
