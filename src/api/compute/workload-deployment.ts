import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditionColumn, conditions, reasonColumn } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { nameRef } from '../networking/shared.ts';
import { bool, int32, int64, object, oneOf, optional, text } from '../schema.ts';
import { instanceTemplate } from './instance-spec.ts';
import { replicaCounts, scaleSettings } from './placements.ts';
import { compute, mostReplicas } from './shared.ts';

const spec = object('The part of a workload that runs in one location.', {
  workloadRef: object('The workload.', { name: text('Name of the workload.'), uid: text('UID of the workload.') }),
  placementName: text('The placement of the workload this is part of.'),
  locationRef: nameRef('The location to run in.'),
  template: instanceTemplate(),
  scaleSettings: scaleSettings(),
  replicas: optional(int32('Instances to run; the fewest allowed where absent.', { maximum: mostReplicas })),
  networkAttachment: optional(
    oneOf('How interfaces are attached; the cell decides where absent.', ['Netns', 'Hypervisor']),
  ),
});

const status = object('What runs.', {
  ...replicaCounts,
  selector: optional(text('Selects the instances of the deployment, as label selector text.')),
  observedGeneration: optional(int64('The metadata.generation this was written for.')),
  suspended: optional(bool('Whether the deployment is suspended.')),
  location: optional(nameRef('The location the deployment has been given to.')),
  conditions: optional(conditions('Available, ReplicasReady, ReferencedDataReady')),
});

export type WorkloadDeployment = KubeObject<Static<typeof spec>, Static<typeof status>>;
export const WorkloadDeployment: Kind<WorkloadDeployment> = defineKind<WorkloadDeployment>({
  ...compute,
  kind: 'WorkloadDeployment',
  plural: 'workloaddeployments',
  description: 'The instances of one placement of a workload in one location. Made by the platform.',
  spec,
  status,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  columns: [
    age,
    conditionColumn('Available'),
    reasonColumn('Available'),
    column('Replicas', '.status.replicas'),
    column('Ready', '.status.readyReplicas'),
    column('Desired', '.status.desiredReplicas'),
    column('Up-to-date', '.status.updatedReplicas'),
    column('Location', '.spec.locationRef.name'),
  ],
});
