import type { Static } from 'typebox';
import { conditions } from '../conditions.ts';
import { defineKind, type Specified } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int64, list, listMap, object, oneOf, optional, text } from '../schema.ts';
import { cloud } from './shared.ts';

const spec = object('What is attached to what.', {
  vpc: object('The VPC.', { name: text('Name of the VPC.', { minLength: 1 }) }),
  interfaceRef: optional(
    object('The NetworkInterface that is attached.', { name: text('Name of the interface.', { minLength: 1 }) }),
  ),
  interface: object(
    'The device.',
    {
      name: text('Name of the device inside the instance.', { default: 'eth0' }),
      mode: oneOf('How it is attached.', ['Netns', 'Hypervisor'], { default: 'Netns' }),
      addresses: optional(list('Addresses in CIDR form.', text('An address.', { maxLength: 64 }), { maxItems: 16 })),
    },
    {
      rules: [
        {
          rule: '!has(self.addresses) || self.addresses.all(address, isCIDR(address))',
          message: 'addresses must be in CIDR form',
        },
      ],
    },
  ),
});

const status = object('The attachment in the data plane.', {
  observedGeneration: optional(int64('The metadata.generation this was written for.')),
  conditions: optional(conditions('Ready, Programmed, InternetEgressReady')),
  vpc: optional(text('Identifier of the VPC, in base 62.', { minLength: 1, maxLength: 16 })),
  vpcAttachment: optional(text('Identifier of the attachment, in base 62.', { minLength: 1, maxLength: 16 })),
  node: optional(text('Node it is attached on.', { minLength: 1 })),
  hostInterface: optional(text('Device on the node.', { minLength: 1 })),
  vrfInterface: optional(text('Routing device on the node.', { minLength: 1 })),
  podSubnet: optional(
    text('Range that is announced for it, in CIDR form.', {
      minLength: 1,
      maxLength: 64,
      rules: [{ rule: 'isCIDR(self)', message: 'podSubnet must be in CIDR form' }],
    }),
  ),
  containerID: optional(text('Reserved.', { minLength: 46, maxLength: 46 })),
  podName: optional(text('Reserved.', { minLength: 1 })),
  guestInterface: optional(text('Reserved.', { minLength: 1 })),
  networkAttachmentDefinition: optional(text('Name of the NetworkAttachmentDefinition.', { minLength: 1 })),
  egress: optional(
    object('How traffic leaves for other networks.', {
      internet: optional(
        object('How traffic leaves for the internet.', {
          sourceAddresses: optional(
            listMap(
              'Addresses the internet sees, by family. Absent while they can not be stated.',
              ['family'],
              object(
                'One source address.',
                {
                  family: oneOf('Address family.', ['IPv6']),
                  address: text('The address, without prefix length.', { minLength: 1, maxLength: 39 }),
                  stability: oneOf(
                    'Network: it is the network\u2019s own and stays. None: it is shared and may change.',
                    ['None', 'Network'],
                  ),
                },
                {
                  rules: [
                    {
                      rule: "self.family != 'IPv6' || (isIP(self.address) && ip(self.address).family() == 6)",
                      message: 'address must be an IPv6 address, without prefix length',
                    },
                  ],
                },
              ),
              { maxItems: 2 },
            ),
          ),
        }),
      ),
    }),
  ),
});

export type VPCAttachment = Specified<Static<typeof spec>, Static<typeof status>>;
export const VPCAttachment: Kind<VPCAttachment> = defineKind<VPCAttachment>({
  ...cloud,
  kind: 'VPCAttachment',
  plural: 'vpcattachments',
  namespaced: true,
  description: 'An interface as the data plane of a cell attaches it.',
  spec,
  specRequired: true,
  status,
});
