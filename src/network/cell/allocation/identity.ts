import { type IPClaim, identityLabels, labelValue, networkingAnnotations } from '../../../api/index.ts';
import type { KubeObject } from '../../../meta/index.ts';
import type { Routing } from '../routing.ts';

/** Whom allocations are for (seams, *Identity of an allocation*): an interface of a cell. */
export interface Identity {
  /** UID of the cell's `kube-system` namespace. */
  cellUid: string;
  /** Namespace of the interface in the cell. */
  namespace: string;
  interfaceName: string;
}

/** An identity, and the address space it is served from. */
export interface Place {
  identity: Identity;
  routing: Routing;
}

export function identityMetadata(
  { cellUid, namespace, interfaceName }: Identity,
  holder: string,
): { labels: Record<string, string>; annotations?: Record<string, string> } {
  const label = labelValue(interfaceName);
  return {
    labels: {
      [identityLabels.cellUID]: cellUid,
      [identityLabels.interfaceNamespace]: namespace,
      [identityLabels.interfaceName]: label,
      [identityLabels.holderUID]: holder,
    },
    ...(label === interfaceName ? {} : { annotations: { [networkingAnnotations.interfaceName]: interfaceName } }),
  };
}

/** Selects the IPClaims of an interface, whoever holds it. */
export function identitySelector({ cellUid, namespace, interfaceName }: Identity): string {
  return [
    `${identityLabels.cellUID}=${cellUid}`,
    `${identityLabels.interfaceNamespace}=${namespace}`,
    `${identityLabels.interfaceName}=${labelValue(interfaceName)}`,
  ].join(',');
}

/** Whether an IPClaim is this interface's, whoever holds it. */
export function isOf(claim: KubeObject, { cellUid, namespace, interfaceName }: Identity): boolean {
  const { labels = {}, annotations = {} } = claim.metadata;
  const label = labelValue(interfaceName);
  return (
    labels[identityLabels.cellUID] === cellUid &&
    labels[identityLabels.interfaceNamespace] === namespace &&
    labels[identityLabels.interfaceName] === label &&
    (label === interfaceName || annotations[networkingAnnotations.interfaceName] === interfaceName)
  );
}

/** UID of the claim that holds the interface an IPClaim is for. */
export function holderOf(claim: KubeObject): string | undefined {
  return claim.metadata.labels?.[identityLabels.holderUID];
}

/** The request an IPClaim answers: `f-ipv6`, `c-<class>`. */
export function keyOfClaim({ spec }: IPClaim): string {
  return spec?.className ? `c-${spec.className}` : `f-${(spec?.ipFamily ?? '').toLowerCase()}`;
}
