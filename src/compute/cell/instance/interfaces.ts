import { IpPrefix } from '../../../address/index.ts';
import type { Instance, NetworkInterface, NetworkInterfaceClaim } from '../../../api/index.ts';
import { type Condition, findCondition, type Stored } from '../../../meta/index.ts';
import { interfaceRequest } from '../../shared/template.ts';

type InterfaceStatus = NonNullable<NonNullable<Instance['status']>['networkInterfaces']>[number];

export interface InterfaceView {
  instance: Stored<Instance>;
  claim: Stored<NetworkInterfaceClaim> | undefined;
  networkInterface: Stored<NetworkInterface> | undefined;
}

const mirrored = ['Allocated', 'Prepared', 'Programmed'];

/** Reasons a claim gives while everything is only on its way. */
const onItsWay = new Set(['Pending', 'NotBound', 'NotAllocated', 'NotPrepared', 'NotProgrammed']);

/** Whether a claim's condition is a refusal of network services, and not just something that is still to come. */
export function isRefusal(condition: Condition | undefined): condition is Condition {
  return condition?.status === 'False' && !onItsWay.has(condition.reason);
}

/** What an instance shows of its interfaces: the claim's addresses, and one of each kind as a plain address (F76). */
export function interfacesOf({ instance, claim }: InterfaceView): InterfaceStatus[] {
  const request = instance.spec === undefined ? undefined : interfaceRequest(instance.spec);
  // What runs goes on with the addresses it was given, whoever removed its claim: its deployment replaces it.
  const started =
    instance.spec?.controller !== undefined && (instance.spec.controller.schedulingGates ?? []).length === 0;
  if (claim === undefined && started) return instance.status?.networkInterfaces ?? [];
  const reference = claim?.status?.networkInterfaceRef;
  if (request === undefined || claim === undefined || reference === undefined) return [];
  const { addresses = [], externalAddresses = [], conditions } = claim.status ?? {};
  const primary = addresses.find((address) => address.primary === true);
  const external = externalAddresses[0];
  const assignments = {
    ...(primary === undefined ? {} : { networkIP: bareAddress(primary.address) }),
    ...(external === undefined ? {} : { externalIP: external.address }),
  };
  return [
    {
      name: request.name,
      networkInterfaceRef: { name: reference.name },
      addresses,
      externalAddresses,
      assignments,
      conditions: shownConditions(conditions),
    },
  ];
}

/** What the claim says of the interface; its Ready where network services refuse something a running instance has (F74). */
function shownConditions(conditions: readonly Condition[] | undefined): Condition[] {
  const ready = findCondition(conditions, 'Ready');
  const shown = mirrored.flatMap((type) => findCondition(conditions, type) ?? []);
  // The claim's generation means nothing on the instance.
  return [...shown, ...(isRefusal(ready) ? [ready] : [])].map((each) => ({ ...each, observedGeneration: 0 }));
}

/** The first address of a block, without a prefix length: what a field that prints one address prints. */
function bareAddress(text: string): string {
  return IpPrefix.tryParse(text)?.first.toString() ?? text;
}
