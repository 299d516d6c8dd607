import type { Status } from '../meta/index.ts';
import { apiVersion, type IPAllocation, type IPClaim, type IPClass, type IPPool, type Plural } from './objects.ts';
import { scopeOf } from './testing.ts';

/** How requests reach IPAM: its backings, or the API of a project on a store. */
export interface Requests {
  create<T extends IPClaim | IPClass | IPPool>(plural: Plural, object: T): Promise<T>;
  delete(plural: Plural, name: string, namespace?: string): Promise<unknown>;
  allocations(): Promise<IPAllocation[]>;
}

const site = { network: scopeOf('net').network };

function shorthands({ create, delete: remove }: Requests) {
  return {
    ofClass: (name: string, spec: Partial<IPClass['spec']>) =>
      create<IPClass>('ipclasses', {
        apiVersion,
        kind: 'IPClass',
        metadata: { name },
        spec: { ipFamily: 'IPv4', defaultPrefixLength: 32, ...spec },
      }),
    pool: (name: string, spec: NonNullable<IPPool['spec']>) =>
      create<IPPool>('ippools', { apiVersion, kind: 'IPPool', metadata: { name }, spec }),
    claim: (name: string, spec: IPClaim['spec']) =>
      create<IPClaim>('ipclaims', {
        apiVersion,
        kind: 'IPClaim',
        metadata: { name, namespace: 'default' },
        spec: spec!,
      }),
    release: (name: string) => remove('ipclaims', name, 'default'),
  };
}

/**
 * A project to be refused in, with a rest of 60 s. `small`: 192.0.2.0/29, offered to `plain`; .0 reserved, .1 excluded, .2 held by claim `held`, .3 retained, .4 resting, .6/31 the
 * child pool `child`. `per-network` provisions /30 pools, of which there is one, for `leaf`; `range` holds one.
 * 203.0.113.0/30 was a pool, in which an address rests.
 */
export async function setUp(requests: Requests): Promise<void> {
  const { ofClass, pool, claim, release } = shorthands(requests);
  await ofClass('plain', { allowedPrefixLengths: { min: 30, max: 32 } });
  await ofClass('unoffered', {});
  await ofClass('per-network', { poolPer: ['network'], defaultPrefixLength: 30 });
  await ofClass('leaf', { parentClassName: 'per-network' });
  const ranges = { reservedRanges: ['192.0.2.0/32'], excludedRanges: ['192.0.2.1/32'] };
  await pool('small', { ipFamily: 'IPv4', cidr: '192.0.2.0/29', classNames: ['plain'], ...ranges });
  await pool('networks', { ipFamily: 'IPv4', cidr: '198.51.100.0/30', classNames: ['per-network'] });
  await claim('held', { className: 'plain' });
  await claim('kept', { className: 'plain', reclaimPolicy: 'Retain' });
  await claim('gone', { className: 'plain' });
  await claim('spare', { className: 'plain' });
  await pool('child', { parentPoolRef: { name: 'small' }, prefixLength: 31 });
  await release('kept');
  await release('gone');
  await claim('range', { className: 'per-network', target: 'ScopeRange', scope: site });
  await claim('inside', { className: 'leaf', scope: site });
  await ofClass('once', {});
  await pool('past', { ipFamily: 'IPv4', cidr: '203.0.113.0/30', classNames: ['once'] });
  await claim('past', { className: 'once' });
  await release('past');
  await requests.delete('ippools', 'past');
  await requests.delete('ipclasses', 'once');
}

/** What is asked for, and refused. */
export function refusals(requests: Requests) {
  const { pool, claim, release } = shorthands(requests);
  const address = (last: number) => claim('new', { className: 'plain', address: `192.0.2.${last}` });
  return {
    'a pool that ran out': () => claim('new', { className: 'plain' }),
    'an ancestor that ran out': () => claim('new', { className: 'leaf', scope: { network: scopeOf('other').network } }),
    'a name that is retained for something else': () => claim('kept', { className: 'plain', prefixLength: 31 }),
    'a claim that is there': () => claim('held', { className: 'plain' }),
    'a class that is not there': () => claim('new', { className: 'none' }),
    'a class of the other family': () => claim('new', { className: 'plain', ipFamily: 'IPv6' }),
    'a family without a default class': () => claim('new', { ipFamily: 'IPv4' }),
    'a class nobody offers': () => claim('new', { className: 'unoffered' }),
    'an address in no pool': () => claim('new', { className: 'plain', address: '203.0.113.1' }),
    'a size the class does not give': () => claim('new', { className: 'plain', prefixLength: 29 }),
    'a scope without a role': () => claim('new', { className: 'leaf' }),
    'an address that is reserved': () => address(0),
    'an address that is excluded': () => address(1),
    'an address a claim holds': () => address(2),
    'an address that is retained': () => address(3),
    'an address that rests': () => address(4),
    'an address of a child pool': () => address(6),
    'a second holder of a range': () => claim('new', { className: 'per-network', target: 'ScopeRange', scope: site }),
    'a range of a class that holds none': () => claim('new', { className: 'plain', target: 'ScopeRange' }),
    'a range with something inside': () => release('range'),
    'a pool that overlaps another': () => pool('new', { ipFamily: 'IPv4', cidr: '192.0.2.0/24' }),
    'a pool over one that was deleted': () => pool('new', { ipFamily: 'IPv4', cidr: '203.0.113.2/31' }),
    'a parent pool that is not there': () => pool('new', { parentPoolRef: { name: 'none' }, prefixLength: 31 }),
    'a pool with something in it': () => requests.delete('ippools', 'small'),
    'a class with pools': () => requests.delete('ipclasses', 'per-network'),
    'an allocation that is bound': async () => {
      const bound = (await requests.allocations()).find((each) => each.spec?.claimRef?.name === 'held')!;
      return requests.delete('ipallocations', bound.metadata.name, 'default');
    },
    'a claim that names nothing': () => claim('new', {}),
  } satisfies Record<string, () => Promise<unknown>>;
}

/** Status, what the details name, the causes with their fields, message. */
export const expected: Record<keyof ReturnType<typeof refusals>, [string, string, string, string]> = {
  'a pool that ran out': [
    '507 InsufficientStorage',
    'ippools/small',
    'Exhausted, DependsOn ippools/small, DependsOn ipclasses/plain',
    'IPClass "plain" (IPv4) has no free /32 in IPPool "small" (192.0.2.0/29); 1 released block rests, the next is free in 60 s; release an address, or add a pool',
  ],
  'an ancestor that ran out': [
    '507 InsufficientStorage',
    'ippools/',
    'Exhausted, DependsOn ippools/networks, DependsOn ipclasses/per-network',
    'IPClass "per-network" (IPv4) cannot provision its /30 pool for this scope: IPPool "networks" (198.51.100.0/30) has no room; add a pool, or delete one that is empty',
  ],
  'a name that is retained for something else': [
    '409 Conflict',
    'ipclaims/kept',
    'AllocationRetained, DependsOn ipallocations/alloc-6d8685aa1a4a6211',
    'IPAllocation "default/alloc-6d8685aa1a4a6211" (192.0.2.3/32) of IPPool "small" is retained for a claim of this name and is a /32, not a /31; delete the allocation, or claim what it was made for',
  ],
  'a claim that is there': [
    '409 Conflict',
    'ipclaims/held',
    'ClaimExists',
    'IPClaim "default/held" already exists; delete it first, or choose another name',
  ],
  'a class that is not there': [
    '400 BadRequest',
    '/',
    'ClassNotFound spec.className, DependsOn ipclasses/none',
    'IPClass "none" does not exist in project "alpha"; create it, or name another class',
  ],
  'a class of the other family': [
    '400 BadRequest',
    '/',
    'ClassNotFound spec.ipFamily, DependsOn ipclasses/plain',
    'spec.ipFamily is IPv6, and IPClass "plain" is for IPv4; name one of the two, or a class of that family',
  ],
  'a family without a default class': [
    '400 BadRequest',
    '/',
    'NoDefaultClass spec.className, DependsOn ipclasses/leaf, DependsOn ipclasses/per-network, DependsOn ipclasses/plain, DependsOn ipclasses/unoffered',
    'project "alpha" has no default IPClass for IPv4; name a class, or mark one with the annotation ipam.miloapis.com/is-default-class: "true"',
  ],
  'a class nobody offers': [
    '400 BadRequest',
    '/',
    'NoOfferingPool, DependsOn ipclasses/unoffered',
    'no IPPool of project "alpha" offers IPClass "unoffered" (IPv4); add the class to a pool\'s spec.classNames',
  ],
  'an address in no pool': [
    '400 BadRequest',
    '/',
    'NoOfferingPool spec.address, DependsOn ippools/small, DependsOn ipclasses/plain',
    'spec.address 203.0.113.1 lies in no pool of IPClass "plain": IPPool "small" is 192.0.2.0/29; ask for an address of a pool, or for none',
  ],
  'a size the class does not give': [
    '400 BadRequest',
    '/',
    'PrefixLengthRejected spec.prefixLength, DependsOn ipclasses/plain',
    'IPClass "plain" (IPv4) allows prefix lengths /30 to /32, not /29; set spec.prefixLength to one of those, or name another class',
  ],
  'a scope without a role': [
    '400 BadRequest',
    '/',
    'ScopeRolesMissing spec.scope.network, DependsOn ipclasses/leaf',
    'IPClass "leaf" needs the scope role network; set spec.scope.network',
  ],
  'an address that is reserved': [
    '409 Conflict',
    'ipclaims/new',
    'AddressInUse spec.address, DependsOn ippools/small',
    'spec.address 192.0.2.0/32 of IPPool "small" is held by a Reservation of IPPool "small"; ask for another address, or for none',
  ],
  'an address that is excluded': [
    '409 Conflict',
    'ipclaims/new',
    'AddressInUse spec.address, DependsOn ippools/small',
    'spec.address 192.0.2.1/32 of IPPool "small" is excluded by the pool (192.0.2.1/32); ask for another address, or for none',
  ],
  'an address a claim holds': [
    '409 Conflict',
    'ipclaims/new',
    'AddressInUse spec.address, DependsOn ippools/small',
    'spec.address 192.0.2.2/32 of IPPool "small" is held by an IPClaim; ask for another address, or for none',
  ],
  'an address that is retained': [
    '409 Conflict',
    'ipclaims/new',
    'AddressInUse spec.address, DependsOn ippools/small',
    'spec.address 192.0.2.3/32 of IPPool "small" is held by a retained IPAllocation; ask for another address, or for none',
  ],
  'an address that rests': [
    '409 Conflict',
    'ipclaims/new',
    'AddressInUse spec.address, DependsOn ippools/small',
    'spec.address 192.0.2.4/32 of IPPool "small" was released and rests for 60 s more; ask for another address, or for none',
  ],
  'an address of a child pool': [
    '409 Conflict',
    'ipclaims/new',
    'AddressInUse spec.address, DependsOn ippools/small',
    'spec.address 192.0.2.6/32 of IPPool "small" is held by an IPPool (PoolCarve); ask for another address, or for none',
  ],
  'a second holder of a range': [
    '409 Conflict',
    'ipclaims/new',
    'DependsOn ippools/per-network-net-0139917a',
    'the range of IPClass "per-network" at this scope, IPPool "per-network-net-0139917a", is held by IPClaim "default/range"; claim a block in it, or delete that claim',
  ],
  'a range of a class that holds none': [
    '400 BadRequest',
    '/',
    'DependsOn ipclasses/plain',
    'IPClass "plain" holds no range: it has no poolPer; use spec.target Block, or name a class that provisions pools',
  ],
  'a range with something inside': [
    '409 Conflict',
    'ipclaims/range',
    'DependsOn ippools/per-network-net-0139917a',
    'IPClaim "default/range" holds the range 198.51.100.0/30 (IPPool "per-network-net-0139917a"), and IPClaim "default/inside" is still inside; release that first',
  ],
  'a pool that overlaps another': [
    '409 Conflict',
    'ippools/new',
    'DependsOn ippools/small',
    'spec.cidr 192.0.2.0/24 overlaps 192.0.2.0/29 of IPPool "small" in project "alpha"; root pools of a project may not overlap',
  ],
  'a pool over one that was deleted': [
    '409 Conflict',
    'ippools/new',
    '',
    'spec.cidr 203.0.113.2/31 overlaps 203.0.113.0/30 of a deleted IPPool, in which released addresses rest for 60 s more; try again then, or choose another range',
  ],
  'a parent pool that is not there': [
    '400 BadRequest',
    '/',
    'DependsOn ippools/none',
    'IPPool "new" names parent pool "none", which does not exist; create it first',
  ],
  'a pool with something in it': [
    '409 Conflict',
    'ippools/small',
    '',
    'IPPool "small" still has allocations: IPAllocation "default/alloc-60995a55fd7840f2" (Claim) of IPClaim "default/held"; release those first',
  ],
  'a class with pools': [
    '409 Conflict',
    'ipclasses/per-network',
    'DependsOn ippools/per-network-net-0139917a',
    'IPClass "per-network" has provisioned pools, IPPool "per-network-net-0139917a" among them; delete those first',
  ],
  'an allocation that is bound': [
    '422 Invalid',
    'IPAllocation/alloc-60995a55fd7840f2',
    'FieldValueForbidden spec.claimRef',
    'IPAllocation.ipam.miloapis.com "alloc-60995a55fd7840f2" is invalid: spec.claimRef: Forbidden: is bound by IPClaim "held"; delete the claim',
  ],
  'a claim that names nothing': [
    '422 Invalid',
    'IPClaim/new',
    'FieldValueRequired spec.className',
    'IPClaim.ipam.miloapis.com "new" is invalid: spec.className: Required value: name a class, or a family (spec.ipFamily) for its default class',
  ],
};

/** A Status as `expected` writes it. */
export const brief = ({ code, reason, message, details }: Status) => {
  const causes = (details?.causes ?? []).map((cause) => `${cause.reason} ${cause.field ?? ''}`.trim());
  return [`${code} ${reason}`, `${details?.kind ?? ''}/${details?.name ?? ''}`, causes.join(', '), message];
};
