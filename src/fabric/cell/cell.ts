import type { Plane, Request } from '../../kube/index.ts';
import type { KubeObject } from '../../meta/index.ts';

/** The field manager of the fabric's part of a status that others write too. */
export const fieldManager = 'fabric-cell';

export const reads = ['get', 'list', 'watch'];

export function requestOf(plane: Plane, { metadata }: KubeObject): Request {
  return { plane: plane.id, namespace: metadata.namespace ?? '', name: metadata.name };
}

export function keyOf({ metadata }: KubeObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}

/** A value for indexes of what is named in a namespace. */
export function inNamespace({ metadata }: KubeObject, name: string): string {
  return `${metadata.namespace ?? ''}/${name}`;
}
