import { define } from './define.ts';

/** Reasons on the kinds of compute.datumapis.com. Those of a network\u2019s refusal come through unchanged. */
export const computeReasons = define({
  AvailablePlacementFound: ['nobody', 'A placement has a ready instance.', 'Placement {placement} is available'],
  AvailableDeploymentFound: [
    'nobody',
    'A deployment of the placement has a ready instance.',
    'Deployment {deployment} is available',
  ],
  StableInstanceFound: ['nobody', 'An instance of the deployment is ready.', 'Instance {instance} is ready'],
  ReplicasReady: ['nobody', 'Every instance is ready.', 'All {total} instances are ready'],
  NoAvailablePlacements: ['nobody', 'No placement has a ready instance yet.', 'No placement has a ready instance yet'],
  NoAvailableDeployments: [
    'nobody',
    'No deployment has a ready instance yet.',
    'No deployment of placement {placement} has a ready instance yet',
  ],
  InstancesProvisioning: ['nobody', 'Instances are on their way.', '{waiting} of {total} instances are on their way'],
  ScaledToZero: ['nobody', 'No instances are asked for.', 'Scaled to 0: no instance is asked for'],
  NetworkProvisioning: [
    'nobody',
    'The network is being made present in the location.',
    'Network {network} is being made present[ in location {location}]',
  ],
  NoMatchingLocations: [
    'tenant',
    'A placement selects no location the project can use.',
    'Placement {placement} selects no location that is ready[: {cause}]',
  ],
  NoMatchingLocation: [
    'tenant',
    'A location that a placement names is not one the project can use: there is no LocationBinding for it that is available.',
    'Location {location} can not be used',
  ],
  AmbiguousServingLocation: [
    'operator',
    'More than one ServingLocation has reached the cell. Exactly one must.',
    'The cell has {count} ServingLocations, and must have exactly one',
  ],
  LocationMismatch: [
    'platform',
    'The deployment has reached a cell of another location.',
    'The deployment is for location {wanted}, and this cell serves {found}',
  ],
  NetworkFailedToCreate: [
    'platform',
    'A network could not be made. Kept for readers of older objects; the reason itself is told now.',
    'Network {network} could not be made',
  ],
  ReferencedDataNotReady: [
    'tenant',
    'ConfigMaps or Secrets the template names are not there yet.',
    'Referenced data is not ready[: {names}]',
  ],
  QuotaNotGranted: ['operator', 'Quota has not been granted.', 'Quota is not granted[ for {names}]'],
  RuntimeClassNotServed: [
    'operator',
    'No cell serves the runtime class.',
    'No cell in location {location} serves runtime class {class}',
  ],

  SchedulingGatesPresent: ['nobody', 'The instance waits for the gates named.', 'Waiting for {gates}'],
  Available: ['nobody', 'The instance runs.', 'The instance is available'],
  Provisioning: ['nobody', 'The instance is being started.', 'The instance is being started[ by {by}]'],
  Suspended: ['tenant', 'The instance is suspended.', 'The instance is suspended'],
  ImageUnavailable: ['tenant', 'An image can not be had.', 'Image {image} can not be pulled'],
  InstanceCrashing: ['tenant', 'The instance stops again and again.', 'The instance keeps crashing'],
  ConfigurationError: [
    'tenant',
    'The instance can not be started as it is written.',
    'The instance can not be started: {cause}',
  ],
  Stopped: ['nobody', 'The instance does not run.', 'The instance is stopped'],
  Starting: ['nobody', 'The instance is starting.', 'The instance is starting'],
  Stopping: ['nobody', 'The instance is stopping.', 'The instance is stopping'],
  PendingQuota: ['nobody', 'The instance waits for quota.', 'Waiting for quota'],
  PendingProgramming: ['nobody', 'The provider has not begun.', 'Waiting for the provider'],

  PendingEvaluation: ['nobody', 'Quota has not been looked at yet.', 'Waiting for quota evaluation'],
  QuotaAvailable: ['nobody', 'Quota is granted.', 'Quota is available'],
  QuotaDisabled: ['nobody', 'Quota is not enforced here.', 'Quota is not enforced'],
  QuotaExceeded: ['tenant', 'The project has no quota left.', 'Quota of {resource} is used up'],
  ValidationFailed: ['tenant', 'The request for quota is not valid.', 'The request for quota is not valid'],
  QuotaBackendUnavailable: [
    'platform',
    'Quota can not be asked for now. Tried again.',
    'The quota service can not be reached',
  ],
  QuotaProjectNotFound: ['operator', 'Quota does not know the project.', 'Quota knows no project {project}'],
  QuotaNamespaceNotFound: ['operator', 'Quota does not know the namespace.', 'Quota knows no namespace {namespace}'],
  QuotaMisconfigured: ['operator', 'Quota is not set up right.', 'Quota is misconfigured'],
  QuotaProjectIDUnresolvable: [
    'operator',
    'The project of the instance can not be told.',
    'The project of namespace {namespace} can not be told',
  ],
  QuotaNoBudget: ['operator', 'The project has been given no quota.', 'The project has no quota of {resource}'],

  Resolving: ['nobody', 'Referenced data is being looked up.', 'Looking up referenced data'],
  AwaitingPropagation: ['nobody', 'Referenced data is on its way to the cell.', 'Referenced data is on its way'],
  SourceNotFound: [
    'tenant',
    'A ConfigMap or Secret the template names does not exist.',
    '{kind} {name} does not exist',
  ],
  SourceUnauthorized: ['operator', 'A ConfigMap or Secret may not be read.', '{kind} {name} may not be read'],
  SourceTooLarge: ['tenant', 'A ConfigMap or Secret is too large to carry.', '{kind} {name} is too large'],
  SourceNameTooLong: [
    'tenant',
    'The name of a ConfigMap or Secret is too long to carry.',
    'The name of {kind} {name} is too long',
  ],
});
