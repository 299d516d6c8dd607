import { int32, list, map, type Options, object, optional, quantity, text } from '../schema.ts';
import { mostReplicas } from './shared.ts';

/** A metav1.LabelSelector. */
export function labelSelector(description: string, options: Options = {}) {
  return object(
    description,
    {
      matchLabels: optional(map('Values that keys must have.', text('A value.'))),
      matchExpressions: optional(
        list(
          'Requirements that must all be met.',
          object('One requirement.', {
            key: text('The key.'),
            operator: text('In, NotIn, Exists or DoesNotExist.'),
            values: optional(
              list('Values, for In and NotIn.', text('A value.'), { 'x-kubernetes-list-type': 'atomic' }),
            ),
          }),
          { 'x-kubernetes-list-type': 'atomic' },
        ),
      ),
    },
    { 'x-kubernetes-map-type': 'atomic', ...options },
  );
}

/** How many instances to run. */
export function scaleSettings() {
  return object('How many instances to run.', {
    minReplicas: int32('The fewest instances; what runs while nothing asks for more.', { maximum: mostReplicas }),
    maxReplicas: optional(int32('The most instances.')),
    instanceManagementPolicy: text('Order in which instances are replaced: OrderedReady, one at a time.', {
      default: 'OrderedReady',
    }),
    metrics: optional(
      list(
        'Reserved: what the number of instances follows.',
        object('One metric.', {
          resource: optional(
            object('Use of a resource.', {
              name: text('The resource, such as cpu.'),
              target: object('What to hold it at.', {
                value: optional(quantity('In all.')),
                averageValue: optional(quantity('Per instance.')),
                averageUtilization: optional(int32('Per instance, in percent of what was asked for.')),
              }),
            }),
          ),
        }),
      ),
    ),
  });
}

/** Counts of instances that a status carries. */
export const replicaCounts = {
  replicas: int32('Instances there are.'),
  currentReplicas: int32('Instances made from the current template that are programmed.'),
  updatedReplicas: int32('Instances that run the current template.'),
  desiredReplicas: int32('Instances there should be.'),
  readyReplicas: int32('Instances that are ready.'),
};
