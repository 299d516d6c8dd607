import { widgetDefinitionOf, widgetOf } from '../../../src/apiserver/testing/index.ts';
import type { KubeObject, ResourceType } from '../../../src/meta/index.ts';

/** A kind that no controller of ours touches, with all that a CRD can have: what other people's clients are tried on. */

export type Widget = KubeObject<
  { color?: string; replicas?: number },
  { phase?: string; conditions?: { type: string; status: string }[] }
>;
export const widgetType: ResourceType<Widget> = {
  group: 'clients.example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

const condition = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    ...Object.fromEntries(
      ['type', 'status', 'reason', 'message', 'lastTransitionTime'].map((name) => [name, { type: 'string' }]),
    ),
    observedGeneration: { type: 'integer' },
  },
};

export const widgetDefinition = widgetDefinitionOf({
  group: widgetType.group,
  description: 'What is painted.',
  columns: [
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: {
    properties: {
      color: { type: 'string', description: 'How it is painted.' },
      replicas: { type: 'integer', minimum: 0 },
    },
    'x-kubernetes-validations': [{ rule: "!has(self.color) || self.color != 'mauve'", message: 'no mauve' }],
  },
  status: {
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: condition,
    },
  },
});

export const widget = (name: string, spec: object = {}, metadata: object = {}): Widget =>
  widgetOf(widgetType.group, name, spec, metadata);
