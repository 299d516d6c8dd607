import { reasonMessage } from '../../api/index.ts';
import { ApiError, isApiError } from '../../meta/index.ts';

/** What IPAM (or the way to it) answered in place of an address or a range, in network services' own terms. */
export interface Refusal {
  reason:
    | 'AddressPoolExhausted'
    | 'RetainedAddressConflict'
    | 'AddressAllocationRejected'
    | 'ProjectNamespaceNotFound'
    | 'AllocationFailed';
  message: string;
  /** Objects of IPAM whose change could satisfy the request: `ippools/<name>`, `ipclasses/<name>`. */
  dependsOn: readonly string[];
}

/** What was asked for, for the message. */
export interface Asked {
  /** `an IPv6 address`, `the IPv4 range of network default`. */
  what: string;
  claim: string;
  class?: string;
  family?: string;
  location?: string;
  project: string;
  namespace: string;
}

const exhausted = new Set(['Exhausted']);
const conflicts = new Set(['AllocationRetained', 'RetainedMismatch', 'ClaimExists']);
const rejected = new Set([
  'ClassNotFound',
  'NoDefaultClass',
  'NoOfferingPool',
  'PrefixLengthRejected',
  'ScopeRolesMissing',
  'NoProjectScope',
]);

/** The cause type of an IPAM refusal (B.3): the reason of the first cause. */
export function causeOf(error: ApiError): string | undefined {
  return error.status.details?.causes?.[0]?.reason;
}

function isNamespaceMissing(error: ApiError): boolean {
  const { group = '', kind } = error.status.details ?? {};
  return error.reason === 'NotFound' && group === '' && kind === 'namespaces';
}

/** In IPAM's own words, at the end of a sentence of ours. */
function words(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s*\(see [^)]*\)\s*$/, '').replace(/\.$/, '');
}

function dependencies(error: ApiError): string[] {
  return (error.status.details?.causes ?? []).flatMap((cause) =>
    cause.reason === 'DependsOn' && cause.field !== undefined ? [cause.field] : [],
  );
}

/** Maps what a request to IPAM failed with (B.5), naming class, family, pool and location. */
export function refusalOf(error: unknown, asked: Asked): Refusal {
  const request = `${asked.what} for claim ${asked.claim}`;
  if (!(error instanceof ApiError)) {
    const message = reasonMessage('AllocationFailed', { request, cause: words(error) });
    return { reason: 'AllocationFailed', message, dependsOn: [] };
  }
  const dependsOn = dependencies(error);
  const cause = causeOf(error);
  if (isNamespaceMissing(error)) {
    const { project, namespace } = asked;
    const message = reasonMessage('ProjectNamespaceNotFound', { namespace, project });
    return { reason: 'ProjectNamespaceNotFound', message, dependsOn };
  }
  if ((cause !== undefined && exhausted.has(cause)) || error.reason === 'InsufficientStorage') {
    const { name: pool, causes } = error.status.details ?? {};
    const named = pool !== undefined && pool !== '';
    const message = reasonMessage('AddressPoolExhausted', {
      class: asked.class,
      family: asked.family,
      pool: named ? pool : undefined,
      location: asked.location,
      // Class and pool are named once: the cause says what there is to say beyond them.
      detail: words(named && asked.class !== undefined ? (causes?.[0]?.message ?? error) : error),
    });
    return { reason: 'AddressPoolExhausted', message, dependsOn };
  }
  if (cause !== undefined && conflicts.has(cause)) {
    const allocation = cause === 'ClaimExists' ? undefined : error.status.details?.causes?.[0]?.message;
    const message = reasonMessage('RetainedAddressConflict', { claim: asked.claim, request: asked.what, allocation });
    return { reason: 'RetainedAddressConflict', message, dependsOn };
  }
  if ((cause !== undefined && rejected.has(cause)) || isApiError(error, 'BadRequest', 'Invalid', 'Forbidden')) {
    const message = reasonMessage('AddressAllocationRejected', { request, cause: words(error) });
    return { reason: 'AddressAllocationRejected', message, dependsOn };
  }
  const message = reasonMessage('AllocationFailed', { request, cause: words(error) });
  return { reason: 'AllocationFailed', message, dependsOn };
}
