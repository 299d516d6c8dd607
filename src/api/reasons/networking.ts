import { define } from './define.ts';

/** Reasons on the kinds of networking.datumapis.com. */
export const networkingReasons = define({
  Pending: ['nobody', 'No controller has looked at the object yet.', 'Waiting for controller'],
  Ready: ['nobody', 'Everything the object is for is there.', '[{kind} ]{name} is ready'],
  Allocated: ['nobody', 'The addresses or ranges are allocated.', 'Allocated[ {addresses}]'],
  Bound: ['nobody', 'An interface is bound to the claim.', 'Bound to interface {interface}'],
  PrefixAllocated: ['nobody', 'The range of the subnet is allocated.', 'Range {range} is allocated'],
  Programmed: ['nobody', 'The data plane carries the traffic.', 'Programmed[ by {by}]'],
  ProgrammingInProgress: [
    'nobody',
    'The data plane has begun and has not ended.',
    'Programming is in progress[ for {name}]',
  ],
  NotProgrammed: [
    'nobody',
    'The data plane does not carry the traffic yet. Nothing is gated on this.',
    'The data plane has not programmed {name} yet',
  ],
  NotBound: ['nobody', 'No interface is bound to the claim yet.', 'No interface is bound to the claim yet'],
  NotAllocated: ['nobody', 'The interface has no addresses yet.', 'Interface {interface} has no addresses yet'],
  NotPrepared: [
    'nobody',
    'The data plane has not prepared the attachment yet. Instances start once it has.',
    'Interface {interface} waits for the data plane to prepare its attachment',
  ],
  Terminating: ['nobody', 'The object is being deleted.', '{kind} {name} is being deleted[ and waits for {waitsFor}]'],
  CopyNameTaken: [
    'operator',
    'The platform is to copy an object to a plane, and another object of that name is there that it has not made. It is never overwritten: delete it, and the copy comes by itself.',
    '{kind} {name}[ in namespace {namespace}] of plane {plane} was not made by the platform, and the copy of that name waits until it is gone: delete it',
  ],
  CopyNameShared: [
    'operator',
    'Cells of two locations have an object of one kind, namespace and name; the hub and the project can show one of them. Delete one of the two: the other is shown.',
    '{kind} {name}[ in namespace {namespace}] is in location {own} and in {other}, and that of {other} is shown: delete one of the two',
  ],
  SubnetReady: ['nobody', 'The subnet of the claim is ready.', 'Subnet {subnet} is ready'],
  SubnetNotReady: ['nobody', 'The subnet of the claim is not ready yet.', 'Subnet {subnet} is not ready yet'],

  NetworkNotFound: [
    'tenant',
    'The network does not exist in the project. Create it, or name another.',
    'Network {network} does not exist[ in namespace {namespace}]',
  ],
  NetworkReferenceInvalid: [
    'tenant',
    'A workload can only use networks of its own namespace. Leave network.namespace out.',
    'Network {network} is named in namespace {namespace}, but only networks of namespace {own} can be used: leave network.namespace out',
  ],
  LocationNotAvailable: [
    'operator',
    'The project may not use the location: there is no LocationBinding for it in the project.',
    'Location {location} is not available to project {project}',
  ],
  NetworkContextNotReady: [
    'nobody',
    'The network is not ready in the location yet; its NetworkContext says why.',
    'NetworkContext {context} is not ready[: {reason}]',
  ],
  NetworkContextReady: ['nobody', 'The network is present in the location.', 'NetworkContext {context} is ready'],
  NetworkContextTerminating: [
    'nobody',
    'The presence of the network in the location is being removed; it is made again after that, if it is still needed.',
    'NetworkContext {context} is being deleted; it is made again once it is gone',
  ],
  NetworkNotAvailableInLocation: [
    'nobody',
    'The network is not present in this location yet, or not ready in it. Clears by itself once it is.',
    'Network {network} is not available in location {location}[: {cause}]',
  ],
  AddressFamiliesUnknown: [
    'tenant',
    'The network carries no address family: its spec.ipFamilies is empty, and so its NetworkContext names none. Add IPv6, IPv4 or both to it.',
    'Network {network} carries no address family (NetworkContext {context} names none): add IPv6, IPv4 or both to spec.ipFamilies of the network',
  ],
  AddressFamilyNotCarried: [
    'tenant',
    'The claim asks for a family the network does not carry. Add the family to the network, or ask for another.',
    'Network {network} does not carry {family}[ in location {location}]: it carries {carried}',
  ],
  ProjectUnresolved: [
    'operator',
    'A namespace of the hub or a cell does not say which project namespace it stands for: one or both upstream labels are missing or malformed, or the project they name is not served.',
    'Namespace {namespace} [names no project: label {label} is missing or malformed][is of project {project}, which is not served here]',
  ],
  ProjectNamespaceNotFound: [
    'tenant',
    'The namespace does not exist in the project, so IPAM can hold nothing in it.',
    'Namespace {namespace} does not exist in project {project}',
  ],
  NoLocationIdentity: [
    'operator',
    'No ServingLocation has reached the cell, so it does not know which location it serves.',
    'This cell has no ServingLocation, so its location is not known',
  ],
  AmbiguousLocationIdentity: [
    'operator',
    'More than one ServingLocation has reached the cell. Exactly one must.',
    'This cell has {count} ServingLocations ({locations}), and must have exactly one',
  ],
  InterfaceHeldByAnotherClaim: [
    'tenant',
    'Another claim holds the interface. Delete that claim, or name another interface.',
    'Interface {interface} is held by claim {holder}',
  ],
  InterfaceHeld: [
    'tenant',
    'An interface in use can not be given back. Delete what uses it first.',
    'Interface {interface} is held by claim {holder} and can not be given back',
  ],
  NetworkMismatch: [
    'tenant',
    'The interface of this name is on another network (or on a deleted network of the same name). Give it back first.',
    'Interface {interface} is on {found}, and the claim asks for {wanted}: give the interface back first',
  ],
  InterfaceNameMismatch: [
    'tenant',
    'The device name of the interface is another than the claim asks for.',
    'Interface {interface} has device name {found}, and the claim asks for {wanted}',
  ],
  AddressFamilyMissing: [
    'tenant',
    'The interface has no address of a family the claim asks for.',
    'Interface {interface} has no {family} address, which the claim asks for',
  ],
  AddressClassMissing: [
    'tenant',
    'The interface has no address of a class the claim asks for.',
    'Interface {interface} has no address of class {class}, which the claim asks for',
  ],
  ReclaimPolicyMismatch: [
    'tenant',
    'The reclaim policy of the interface is another than the claim asks for.',
    'Interface {interface} has reclaim policy {found}, and the claim asks for {wanted}',
  ],
  SubnetGatewayUnusable: [
    'platform',
    'The gateway of a subnet can not be told from its range.',
    'Subnet {subnet} has no usable gateway: its range is {range}',
  ],
  AddressPoolExhausted: [
    'operator',
    'The pool has no free block. Clears by itself when a block is freed or the pool grows.',
    'No free address[ of class {class}][ for {family}][ in pool {pool}][ in location {location}][: the next one is free at {nextFree}]',
  ],
  RetainedAddressConflict: [
    'operator',
    'A retained allocation or another claim has the name this address is to be held under.',
    '{claim} is in the way of {request}[ and retains {allocation}]',
  ],
  AddressAllocationRejected: [
    'operator',
    'IPAM refuses the request as it stands: a class or a pool is missing or does not fit.',
    'IPAM refused {request}[: {cause}]',
  ],
  AllocationFailed: [
    'platform',
    'IPAM could not be reached or failed. Tried again.',
    'IPAM could not serve {request}[: {cause}]',
  ],
  AddressAllocationMissing: [
    'operator',
    'An address is published that IPAM does not hold (any more). It is never changed by itself: find out who freed it.',
    'IPAM does not hold {address}, which interface {interface} has',
  ],
  RangeOccupied: [
    'tenant',
    'A range can not be given back while addresses of it are allocated, retained ones included.',
    'Range {range} still has allocated addresses[: {holders}]',
  ],
  RangeUnsupported: [
    'operator',
    'IPAM does not know how to hold a range. Use a newer one.',
    'IPAM answered {request} without target ScopeRange: it is too old to hold ranges',
  ],
  Expiring: [
    'tenant',
    'Nobody holds the interface, and the time its class keeps retained addresses is nearly over. Claim it, or let it go.',
    'Nobody holds interface {interface}: its addresses go back to the pool at {expires}',
  ],
  LeaseExpired: [
    'nobody',
    'The time a retained interface is kept was over, so it was released.',
    'Nobody held interface {interface} since {since}: its addresses went back to the pool',
  ],
  InterfaceReturned: [
    'nobody',
    'The tenant gave a retained interface back.',
    'Interface {interface} was given back: its addresses go back to the pool',
  ],
  ForceReleased: ['nobody', 'An operator released an address by hand.', '{name} was released by {user}'],
  OrphanReleased: [
    'nobody',
    'The auditor released an allocation that no interface could name.',
    'Allocation {allocation} was held by no interface and was released',
  ],
  AddressUnavailable: [
    'operator',
    'No source address for internet egress can be stated.',
    'Internet egress has no source address[ in location {location}]',
  ],
  Unavailable: [
    'operator',
    'Internet egress is not offered here: on a network and its contexts, the wish for it is refused, for the reason that follows; in a cell, nothing carries it.',
    'Internet egress is not available[ in location {location}]',
  ],
  Degraded: ['operator', 'Internet egress works in part.', 'Internet egress is degraded[ in location {location}]'],
  MissingCityCode: [
    'operator',
    'A location is only published to its cell once its topology has a city code.',
    'Location {location} is not published: its topology has no topology.datum.net/city-code',
  ],
  ForeignFieldManager: [
    'operator',
    'Something else writes fields of a ServingLocation, which is published from its Location. Take them off.',
    'ServingLocation {name} has topology its Location does not have, put there by something else: {fields}',
  ],
  ClustersStillServing: [
    'operator',
    'A location that is deleted stays published while something is in it. It goes by itself after the last of it; the annotation networking.datumapis.com/removal-override=true forces it.',
    'cell {location} still has {holders}',
  ],
});
