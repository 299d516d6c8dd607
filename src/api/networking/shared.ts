import { bool, int32, list, listMap, type Options, object, oneOf, optional, text, uniqueItems } from '../schema.ts';

/** Shapes several kinds of `networking.datumapis.com` share. */

export const networking = { group: 'networking.datumapis.com', version: 'v1alpha' } as const;

export const ipFamilyValues = ['IPv4', 'IPv6'] as const;
export type IPFamily = (typeof ipFamilyValues)[number];
export type ReclaimPolicy = 'Delete' | 'Retain';
export type AttachmentMode = 'Netns' | 'Hypervisor';
export type EgressMode = 'Enabled' | 'Disabled';

export function ipFamily(description = 'Address family.') {
  return oneOf(description, ipFamilyValues);
}

export function reclaimPolicy(options: Options = {}) {
  return oneOf(
    'What becomes of the interface and its addresses once nothing claims it: Delete gives them back, Retain keeps them for the next claim of the same name.',
    ['Delete', 'Retain'],
    { default: 'Delete', ...options },
  );
}

export function interfaceName(options: Options = {}) {
  return text('Name of the device inside the instance.', { default: 'eth0', minLength: 1, maxLength: 15, ...options });
}

export function attachmentMode(options: Options = {}) {
  return oneOf(
    'How the interface is attached: Netns puts a device into a network namespace, Hypervisor hands a tap to a virtual machine.',
    ['Netns', 'Hypervisor'],
    { default: 'Netns', ...options },
  );
}

export function mtu(description: string, options: Options = {}) {
  return int32(description, { minimum: 1300, maximum: 8856, ...options });
}

/** Longer ones no object can have. */
export const objectName: Options = { maxLength: 253 };

/** A reference by name. `description` begins with what it refers to: `The network the claim joins.` */
export function nameRef(description: string, options: Options = {}, name: Options = {}) {
  const what = description.replace(/[.:;].*$/s, '');
  return object(description, { name: text(`Name of ${what.charAt(0).toLowerCase()}${what.slice(1)}.`, name) }, options);
}

export function networkRef(description: string, options: Options = {}) {
  return object(
    description,
    {
      namespace: optional(
        text('Namespace of the network. Only the namespace of the referring object is allowed.', { maxLength: 63 }),
      ),
      name: text('Name of the network.', objectName),
    },
    options,
  );
}

/** Where in IPAM a range is held. */
export function networkPrefixRef(description: string) {
  return object(description, {
    project: optional(text('Project whose address space the range is part of.')),
    namespace: optional(text('Namespace of the IPClaim.')),
    claimName: optional(text('Name of the IPClaim.')),
    poolName: optional(text('Name of the IPPool that covers the range.')),
  });
}

/** Addresses of an interface, as its spec and the status of its claim and instance show them. */
export function addresses(description: string, options: Options = {}) {
  return list(
    description,
    object('One address of the interface.', {
      family: ipFamily(),
      address: text('The address in CIDR form; an IPv6 interface owns the whole block and uses its first address.', {
        minLength: 1,
        maxLength: 45,
      }),
      gateway: optional(text('Next hop for this family.', { maxLength: 45 })),
      primary: optional(bool('Whether it is the address shown where one address is shown.')),
      class: optional(text('IPAM class it was asked for by; absent when asked for by family.', { maxLength: 63 })),
    }),
    options,
  );
}

export function externalAddresses(description: string, options: Options = {}) {
  return list(
    description,
    object('One external address.', {
      family: ipFamily(),
      address: text('The address, without prefix length.', { minLength: 1, maxLength: 45 }),
      class: text('IPAM class it was asked for by.', { minLength: 1, maxLength: 63 }),
    }),
    options,
  );
}

export function addressRequests(options: Options = {}) {
  return list(
    'External addresses to ask for, one per IPAM class.',
    object('One address asked for by class.', {
      class: text('IPAM class, such as public-unicast-ipv4.', { minLength: 1, maxLength: 63 }),
    }),
    { minItems: 1, maxItems: 4, ...options },
  );
}

/** Addresses traffic to the internet is seen to come from. */
export function egressStatus() {
  return optional(
    object('How traffic leaves for other networks.', {
      internet: optional(
        object('How traffic leaves for the internet.', {
          sourceAddresses: optional(
            listMap(
              'Addresses the internet sees, by family. Absent while they can not be stated.',
              ['family'],
              object('One source address.', {
                family: ipFamily(),
                address: text('The address, without prefix length.', { minLength: 1, maxLength: 39 }),
                stability: oneOf(
                  'Network: it is this network\u2019s own and stays. None: it is shared and may change.',
                  ['None', 'Network'],
                ),
              }),
              { maxItems: 2 },
            ),
          ),
        }),
      ),
    }),
  );
}

/** Families reachable over internet egress: IPv6 only, for now. */
export function egressReach(description = 'Families of the internet that are reachable.') {
  return list(description, ipFamily(), {
    minItems: 1,
    maxItems: 2,
    rules: [
      {
        rule: "self.all(family, family == 'IPv6')",
        message:
          'only IPv6 is offered for internet egress: for IPv4 there is no pair of a resolver (DNS64) and a translator (NAT64) yet',
      },
      uniqueItems('a family'),
    ],
  });
}

export function parametersRef() {
  return object('Object that says how the class is carried out. Its meaning is up to the class\u2019s controller.', {
    group: text('API group of the object.', { maxLength: 253 }),
    kind: text('Kind of the object.', { minLength: 1, maxLength: 63 }),
    name: text('Name of the object.', { minLength: 1, maxLength: 253 }),
  });
}
