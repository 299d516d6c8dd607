import { define } from './define.ts';

/** Reasons on IPAM\u2019s kinds, and the cause types of its refusals. */
export const ipamReasons = define({
  ClassAccepted: ['nobody', 'The class can be asked of.', 'The class is accepted'],
  AllocationSucceeded: ['nobody', 'The range of the pool is reserved for it.', 'Range {range} is allocated'],
  Exhausted: [
    'operator',
    'No block is free, in the pool or at a level above it.',
    'no free /{prefixLength} in[ pool {pool}][ a pool of class {class}][: the next one is free at {nextFree}]',
  ],
  AllocationRetained: [
    'operator',
    'A retained allocation has the name of the claim. Delete the allocation to free both.',
    'allocation {allocation} is retained under the name of claim {claim}',
  ],
  RetainedMismatch: [
    'operator',
    'The retained allocation is of another class, scope or size.',
    'allocation {allocation} is retained under the name of claim {claim} and differs in {differs}',
  ],
  ClaimExists: ['nobody', 'A claim of this name exists.', 'claim {claim} exists'],
  ClassNotFound: ['operator', 'The class does not exist in the project.', 'class {class} does not exist'],
  NoDefaultClass: [
    'operator',
    'No class is marked as the default of the family.',
    'no class is the default for {family}',
  ],
  NoOfferingPool: ['operator', 'No pool offers the class.', 'no pool offers class {class}'],
  PrefixLengthRejected: [
    'tenant',
    'The class does not hand out blocks of this size.',
    'class {class} hands out /{min} to /{max}, not /{prefixLength}',
  ],
  ScopeRolesMissing: [
    'tenant',
    'The class needs scope roles the claim does not give.',
    'class {class} needs scope {roles}',
  ],
  NoProjectScope: ['platform', 'The request names no project.', 'the request names no project'],
  AddressInUse: [
    'tenant',
    'The address the claim asks for is held, reserved, excluded, or rests. Ask for another one, or for none.',
    '{address} of pool {pool} is held by {holder}',
  ],
  AddressReleased: [
    'nobody',
    'An Event: somebody released the address by hand (`berth ipam release`); it says what depended on it.',
    '{address} is released by hand',
  ],
  DependsOn: [
    'nobody',
    'Names an object whose change could satisfy the request.',
    'a change of {object} could satisfy the request',
  ],
});
