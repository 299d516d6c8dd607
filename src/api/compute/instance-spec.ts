import { claimSpec } from '../networking/network-interface-claim.ts';
import { ingressRules } from '../networking/network-policy.ts';
import { addressRequests, interfaceName, ipFamily, nameRef, networkRef, reclaimPolicy } from '../networking/shared.ts';
import {
  type CelRule,
  immutable,
  immutableOptional,
  list,
  listMap,
  map,
  object,
  optional,
  text,
  uniqueBy,
  uniqueItems,
} from '../schema.ts';
import { runtime } from './runtime.ts';
import { volumes } from './volumes.ts';

const networkInterfaces = listMap(
  'Network interfaces, one per instance for now. Give either these or networkInterfaceClaimTemplates.',
  ['name'],
  object(
    'One interface.',
    {
      network: networkRef('The network to join.'),
      name: interfaceName(),
      ipFamilies: list('Families to get an address of; the first is the primary one.', ipFamily(), {
        default: ['IPv6'],
        minItems: 1,
        maxItems: 2,
        rules: [uniqueItems('a family'), immutable('ipFamilies')],
      }),
      addresses: optional(addressRequests({ rules: [uniqueBy('class', 'a class')] })),
      reclaimPolicy: reclaimPolicy({ rules: [immutable('reclaimPolicy')] }),
      networkPolicy: optional(object('Traffic rules of the interface.', { ingress: optional(ingressRules()) })),
    },
    { rules: [immutableOptional('addresses')] },
  ),
  {
    minItems: 1,
    maxItems: 1,
    rules: [
      {
        rule: 'oldSelf.all(old, self.exists(now, now.name == old.name))',
        message: 'the name of an interface is immutable',
      },
    ],
  },
);

const frozenInTemplates = ['interfaceName', 'attachmentMode', 'ipFamilies', 'reclaimPolicy'];
const frozenOptionalInTemplates = ['addresses', 'networkInterfaceName'];

/** What may not change in a template of claims, as one rule over the list (its items can not be compared one by one). */
function templatesKeep(): CelRule {
  const same = [
    ...frozenInTemplates.map((field) => `now.spec.${field} == old.spec.${field}`),
    ...frozenOptionalInTemplates.map(
      (field) =>
        `has(now.spec.${field}) == has(old.spec.${field}) && (!has(now.spec.${field}) || now.spec.${field} == old.spec.${field})`,
    ),
  ];
  return {
    rule: `oldSelf.all(old, self.exists(now, now.metadata.name == old.metadata.name && ${same.join(' && ')}))`,
    message: `${[...frozenInTemplates, ...frozenOptionalInTemplates].join(', ')} and the name of a claim template are immutable`,
  };
}

const networkInterfaceClaimTemplates = list(
  'Claims to make for each instance, one for now; claim <instance>-<template name>. Give either these or networkInterfaces.',
  object('One claim.', {
    metadata: object('Metadata of the claim.', {
      name: text('Name of the template; the device is called so where spec.interfaceName says nothing else.', {
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      }),
      labels: optional(map('Labels of the claim.', text('A value.'))),
      annotations: optional(map('Annotations of the claim.', text('A value.'))),
    }),
    spec: claimSpec(false),
  }),
  { minItems: 1, maxItems: 1, rules: [templatesKeep()] },
);

/** What an instance is to be: shared by Instance and by the templates of Workload and WorkloadDeployment. */
export function instanceSpec(description: string) {
  return object(
    description,
    {
      runtime: runtime(),
      networkInterfaces: optional(networkInterfaces),
      networkInterfaceClaimTemplates: optional(networkInterfaceClaimTemplates),
      volumes: optional(volumes()),
      location: optional(nameRef('The location the instance runs in. Set by the platform.')),
      controller: optional(
        object('What the platform keeps with the instance.', {
          templateHash: text('Hash of the template the instance was made from.'),
          schedulingGates: optional(
            listMap(
              'What the instance waits for before it may run.',
              ['name'],
              object('One gate.', { name: text('Network, Quota or ReferencedData.') }),
            ),
          ),
        }),
      ),
    },
    {
      rules: [
        {
          rule: 'has(self.networkInterfaces) != has(self.networkInterfaceClaimTemplates)',
          message: 'give exactly one of networkInterfaces and networkInterfaceClaimTemplates',
        },
      ],
    },
  );
}

/** A template of instances, as workloads and deployments carry it. */
export function instanceTemplate() {
  return object('The instances to run.', {
    metadata: optional(
      object('Metadata of the instances.', {
        name: optional(text('Not used.')),
        namespace: optional(text('Not used.')),
        labels: optional(map('Labels of the instances.', text('A value.'))),
        annotations: optional(map('Annotations of the instances.', text('A value.'))),
        finalizers: optional(list('Finalizers of the instances.', text('A finalizer.'))),
      }),
    ),
    spec: instanceSpec('What each instance is.'),
  });
}
