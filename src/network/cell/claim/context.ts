import { IpAddress } from '../../../address/index.ts';
import {
  contextName,
  type IPFamily,
  type NetworkContext,
  type NetworkInterfaceClaim,
  networkingAnnotations,
  networkingLabels,
  reasonMessage,
  type Subnet,
} from '../../../api/index.ts';
import { isTerminating, type Stored } from '../../../meta/index.ts';
import type { Refused } from '../routing.ts';

/** The presence of a network in a location, by what it says it is (F12). One on its way out only where there is no other. */
export function contextOf(
  contexts: readonly Stored<NetworkContext>[],
  network: string,
  location: string,
): Stored<NetworkContext> | undefined {
  const found = contexts.filter(({ spec }) => spec?.network.name === network && spec.location.name === location);
  return found.find((context) => !isTerminating(context)) ?? found[0];
}

/** Why a claim that was never bound is not to be served, if the context is why. */
export function contextRefusal(
  claim: Stored<NetworkInterfaceClaim>,
  context: Stored<NetworkContext> | undefined,
  location: string,
  bound: boolean,
): Refused | undefined {
  const network = claim.spec.network.name;
  const unavailable = (cause: string): Refused => ({
    reason: 'NetworkNotAvailableInLocation',
    message: reasonMessage('NetworkNotAvailableInLocation', { network, location, cause }),
  });
  if (context === undefined) {
    return unavailable(`NetworkContext ${contextName(network, location)} is not in the cell`);
  }
  const { name } = context.metadata;
  if (isTerminating(context) && !bound) return unavailable(`NetworkContext ${name} is being deleted`);
  const carried = context.spec?.ipFamilies;
  if (carried === undefined) {
    const message = reasonMessage('AddressFamiliesUnknown', { context: name, network });
    return { reason: 'AddressFamiliesUnknown', message };
  }
  const family = claim.spec.ipFamilies.find((each) => !carried.includes(each));
  if (family === undefined) return undefined;
  const message = reasonMessage('AddressFamilyNotCarried', {
    network,
    family,
    location,
    carried: carried.join(' and '),
  });
  return { reason: 'AddressFamilyNotCarried', message };
}

/** Why a claim that was never bound waits for a Subnet that is on its way: bound without, it would have no gateway yet. */
export function subnetRefusal(
  context: Stored<NetworkContext>,
  subnets: readonly Stored<Subnet>[],
  location: string,
): Refused | undefined {
  const names = context.metadata.annotations?.[networkingAnnotations.subnets]?.split(',') ?? [];
  const missing = names.find((name) => !subnets.some(({ metadata }) => metadata.name === name));
  if (missing === undefined) return undefined;
  const network = context.spec?.network.name ?? '';
  const cause = `Subnet ${missing} is not in the cell`;
  const message = reasonMessage('NetworkNotAvailableInLocation', { network, location, cause });
  return { reason: 'NetworkNotAvailableInLocation', message };
}

/** UID of the network, as its presence carries it; absent on a context nobody stamped. */
export function networkUidOf(context: Stored<NetworkContext>): string | undefined {
  return context.metadata.labels?.[networkingLabels.networkUID];
}

export type Gateways = Partial<Record<IPFamily, string>>;

/** The next hop of each family: the first address of the subnet, plus one (C.6). No subnet, no gateway (F59). */
export function gatewaysOf(
  context: Stored<NetworkContext>,
  subnets: readonly Stored<Subnet>[],
  families: readonly IPFamily[],
): Gateways | Refused {
  const gateways: Gateways = {};
  for (const family of families) {
    const [subnet] = subnets
      .filter(({ spec }) => spec?.networkContext.name === context.metadata.name && spec.ipFamily === family)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    if (subnet === undefined) continue;
    const start = subnet.status?.startAddress ?? subnet.spec?.startAddress ?? '';
    const first = IpAddress.tryParse(start);
    const gateway = first?.family === (family === 'IPv6' ? 6 : 4) ? first.plus(1) : undefined;
    if (gateway === undefined) {
      const range = `${start}/${subnet.status?.prefixLength ?? subnet.spec?.prefixLength ?? ''}`;
      const message = reasonMessage('SubnetGatewayUnusable', { subnet: subnet.metadata.name, range });
      return { reason: 'SubnetGatewayUnusable', message };
    }
    gateways[family] = gateway.toString();
  }
  return gateways;
}
