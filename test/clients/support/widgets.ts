import type { CustomResourceDefinition, KubeObject, ResourceType } from '../../../src/meta/index.ts';

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

export const widgetDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.clients.example.com' },
  spec: {
    group: widgetType.group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'What is painted.',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  color: { type: 'string', description: 'How it is painted.' },
                  replicas: { type: 'integer', minimum: 0 },
                },
                'x-kubernetes-validations': [
                  { rule: "!has(self.color) || self.color != 'mauve'", message: 'no mauve' },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  replicas: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: condition,
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export function widget(name: string, spec: object = {}, metadata: object = {}): Widget {
  return { apiVersion: 'clients.example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, spec };
}
