import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { int32, intOrString, list, object, optional, text } from '../schema.ts';
import { networking } from './shared.ts';

const atomic = { 'x-kubernetes-list-type': 'atomic' };

/** Rules for traffic towards an interface, as the interfaces of an instance carry them. */
export function ingressRules() {
  return list(
    'Traffic to let in.',
    object('Traffic that is let in: any of these ports, from any of these sources.', {
      ports: optional(
        list(
          'Ports; all where absent.',
          object('One port or range of ports.', {
            protocol: optional(text('TCP, UDP or SCTP; TCP where absent.')),
            port: optional(intOrString('Number or name of the port; all where absent.')),
            endPort: optional(int32('Last port of a range that starts at port.')),
          }),
          atomic,
        ),
      ),
      from: optional(
        list(
          'Sources; all where absent.',
          object('One source.', {
            ipBlock: optional(
              object('A range of addresses.', {
                cidr: text('The range, in CIDR form.'),
                except: optional(list('Ranges inside cidr that are left out.', text('A range.'), atomic)),
              }),
            ),
          }),
          atomic,
        ),
      ),
    }),
  );
}

const spec = object('Reserved: nothing can be stated yet.', {});
const status = object('Reserved.', {});

export type NetworkPolicy = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const NetworkPolicy: Kind<NetworkPolicy> = defineKind<NetworkPolicy>({
  ...networking,
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
  description:
    'Reserved for policies of a whole network. Has no effect; rules are stated on the interfaces of a workload.',
  spec,
  status,
});
