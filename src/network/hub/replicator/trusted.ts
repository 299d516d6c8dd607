import type { InternetEgressClass, NetworkContext } from '../../../api/index.ts';
import { termsOf } from '../egress/resolve.ts';

type Spec = NonNullable<NetworkContext['spec']>;

/** What the hub itself knows of the network a context names. */
export interface Known {
  identity: number | undefined;
  /** The class the context names. */
  egressClass: InternetEgressClass | undefined;
}

/**
 * Pure. The spec as cells may go by it. A tenant can write contexts in its project, and with them another network's number or
 * another class's parameters: these are taken from the hub, or, where it knows them no longer, from what cells were told before.
 */
export function trustedSpec(spec: Spec, told: NetworkContext['spec'], { identity, egressClass }: Known): Spec {
  const { fabricIdentity: _, egress, ...rest } = spec;
  const number = identity ?? told?.fabricIdentity;
  const trusted: Spec = { ...rest, ...(number === undefined ? {} : { fabricIdentity: number }) };
  if (egress === undefined) return trusted;
  const { sharing: _sharing, parametersRef: _parametersRef, ...wish } = egress.internet ?? {};
  const internet = { ...wish, ...(wish.mode === 'Enabled' ? terms(wish.className, told, egressClass) : {}) };
  return { ...trusted, egress: egress.internet === undefined ? {} : { internet } };
}

function terms(
  className: string | undefined,
  told: NetworkContext['spec'],
  egressClass: InternetEgressClass | undefined,
) {
  if (className === undefined) return {};
  if (egressClass !== undefined) return termsOf(egressClass);
  const { internet } = told?.egress ?? {};
  if (internet?.className !== className) return {};
  const { sharing, parametersRef } = internet;
  return { ...(sharing === undefined ? {} : { sharing }), ...(parametersRef === undefined ? {} : { parametersRef }) };
}
