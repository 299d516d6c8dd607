import type { CustomResourceDefinition, KubeObject } from '../../meta/index.ts';

type Version = NonNullable<CustomResourceDefinition['spec']>['versions'][number];

export interface WidgetOptions {
  group: string;
  /** Printer columns after Color. */
  columns: NonNullable<Version['additionalPrinterColumns']>;
  /** OpenAPI schema of `spec`, which has `color` and `replicas`, and of what `status` has beside `phase` and `replicas`. */
  spec: object;
  status?: object;
  description?: string;
}

/** A kind that no controller of ours touches, with what a CRD can have: status, scale, columns, a selectable field. */
export function widgetDefinitionOf({
  group,
  columns,
  spec,
  status,
  description,
}: WidgetOptions): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
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
          additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }, ...columns],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              ...(description === undefined ? {} : { description }),
              properties: {
                spec: { type: 'object', ...spec },
                status: {
                  type: 'object',
                  properties: { phase: { type: 'string' }, replicas: { type: 'integer' }, ...status },
                },
              },
            },
          },
        },
      ],
    },
  };
}

/** A Widget of that group; `spec` and metadata as given. */
export function widgetOf<S extends object>(
  group: string,
  name: string,
  spec: S,
  metadata: object,
): KubeObject<S, never> {
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, ...metadata }, spec };
}
