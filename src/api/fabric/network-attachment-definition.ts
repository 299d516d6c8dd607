import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { object, optional, text } from '../schema.ts';

const spec = object('How to attach.', {
  config: optional(text('CNI network configuration list, as JSON text.')),
});

export type NetworkAttachmentDefinition = KubeObject<Static<typeof spec>>;
export const NetworkAttachmentDefinition: Kind<NetworkAttachmentDefinition> = defineKind<NetworkAttachmentDefinition>({
  group: 'k8s.cni.cncf.io',
  version: 'v1',
  kind: 'NetworkAttachmentDefinition',
  plural: 'network-attachment-definitions',
  shortNames: ['net-attach-def'],
  namespaced: true,
  description: 'A CNI configuration by name, as the Network Plumbing Working Group defines it.',
  spec,
});
