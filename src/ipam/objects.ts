import type { IPAllocation, IPClaim, IPClass, IPPool } from '../api/index.ts';

export type { IPAllocation, IPClaim, IPClass, IPPool } from '../api/index.ts';

/** Names of IPAM's kinds and of the parts of them this room handles. */

export const group = 'ipam.miloapis.com';
export const apiVersion = `${group}/v1alpha1`;
export const isDefaultClass = `${group}/is-default-class`;
/** Labels of a cascaded pool. */
export const provisionedBy = `${group}/provisioned-by`;
export const scopeDigest = `${group}/scope-digest`;

export type ClassSpec = NonNullable<IPClass['spec']>;
export type AllocationSpec = NonNullable<IPAllocation['spec']>;
export type Reservations = NonNullable<ClassSpec['reservations']>;
export type Scope = NonNullable<NonNullable<IPClaim['spec']>['scope']>;
export type ScopeRef = Scope[string];
export type PoolStatus = NonNullable<IPPool['status']>;

export type Plural = 'ipclasses' | 'ippools' | 'ipclaims' | 'ipallocations';
export const kindOf: Readonly<Record<Plural, string>> = {
  ipclasses: 'IPClass',
  ippools: 'IPPool',
  ipclaims: 'IPClaim',
  ipallocations: 'IPAllocation',
};
