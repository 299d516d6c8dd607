import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { age, column, conditionColumn, conditions, reasonColumn, seed, wide } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { addresses, externalAddresses, nameRef } from '../networking/shared.ts';
import { bool, list, object, optional, text } from '../schema.ts';
import { instanceSpec } from './instance-spec.ts';
import { compute } from './shared.ts';

const spec = instanceSpec('What the instance is.');

const status = object('What has become of the instance.', {
  networkInterfaces: optional(
    list(
      'Interfaces of the instance, in the order of the spec.',
      object('One interface.', {
        name: optional(text('Name of the interface in the spec.')),
        networkInterfaceRef: optional(nameRef('The NetworkInterface.', {}, { minLength: 1, maxLength: 253 })),
        addresses: optional(addresses('Addresses of the interface.')),
        externalAddresses: optional(externalAddresses('External addresses of the interface.')),
        assignments: optional(
          object('One address each, for tables.', {
            networkIP: optional(text('Primary address, without prefix length.')),
            externalIP: optional(text('First external address.')),
          }),
        ),
        conditions: optional(conditions('Allocated, Prepared, Programmed, as on the interface')),
      }),
    ),
  ),
  controller: optional(
    object('What the platform keeps with the instance.', {
      observedTemplateHash: text('Hash of the template that runs.'),
    }),
  ),
  suspended: optional(bool('Whether the instance is suspended.')),
  conditions: optional(conditions('Programmed, Available, Ready, QuotaGranted')),
});

export type InstanceSpec = Static<typeof spec>;
export type Instance = KubeObject<InstanceSpec, Static<typeof status>>;
export const Instance: Kind<Instance> = defineKind<Instance>({
  ...compute,
  kind: 'Instance',
  plural: 'instances',
  description: 'One running replica of a workload, with its own network interface. Made by the platform.',
  spec,
  status,
  seeds: [
    seed('Programmed'),
    seed('Available'),
    seed('Ready'),
    seed('QuotaGranted', 'PendingEvaluation', 'Waiting for quota evaluation'),
  ],
  columns: [
    age,
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    column('Network IP', '.status.networkInterfaces[0].assignments.networkIP'),
    column('External IP', '.status.networkInterfaces[0].assignments.externalIP'),
    wide(column('Message', '.status.conditions[?(@.type=="Ready")].message')),
    wide(reasonColumn('QuotaGranted', 'Quota')),
  ],
});
