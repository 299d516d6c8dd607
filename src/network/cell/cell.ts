import { NetworkInterfaceClaim } from '../../api/index.ts';
import type { Plane, Request } from '../../kube/index.ts';
import { type KubeObject, Namespace, type Stored } from '../../meta/index.ts';
import type { Identity } from './allocation/identity.ts';
import { isEnding } from './claim/ending.ts';

/** The one field manager of network services in a cell: whichever of its controllers applies, applies all of it. */
export const fieldManager = 'network-cell';

export const reads = ['get', 'list', 'watch'];

const byUid = 'network/uid';

/** What identifies an interface to IPAM. Throws while the cell has no identity of its own yet. */
export function identityOf(plane: Plane, namespace: string, interfaceName: string): Identity {
  const system = plane.informer(Namespace).get('', 'kube-system');
  if (system === undefined) throw new Error('namespace kube-system is not there: it is what identifies the cell');
  return { cellUid: system.metadata.uid, namespace, interfaceName };
}

/** Makes `claimOfUid` and `isLive` possible. */
export function indexClaims(plane: Plane): void {
  plane.informer(NetworkInterfaceClaim).addIndex(byUid, (claim) => [claim.metadata.uid]);
}

export function claimOfUid(plane: Plane, uid: string): Stored<NetworkInterfaceClaim> | undefined {
  return plane.informer(NetworkInterfaceClaim).byIndex(byUid, uid)[0];
}

/** Whether a claim of this UID is in the cell, and not at its end. */
export function isLive(plane: Plane, uid: string): boolean {
  const claim = claimOfUid(plane, uid);
  return claim !== undefined && !isEnding(claim);
}

export function requestOf(plane: Plane, { metadata }: KubeObject): Request {
  return { plane: plane.id, namespace: metadata.namespace ?? '', name: metadata.name };
}

export function keyOf({ metadata }: KubeObject | Stored<KubeObject>): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}
