import {
  EgressShard,
  EgressShardParameters,
  fabricLabels,
  NetworkContext,
  networkingLabels,
} from '../../../api/index.ts';
import { apiVersionOf, type LabelSelector, type ObjectMeta, type Stored } from '../../../meta/index.ts';

/** Objects for tests of egress: as a server would store them. */

export const shardNamespace = 'galactic-system';
export type Intent = NonNullable<NonNullable<NonNullable<NetworkContext['spec']>['egress']>['internet']>;

function metadata(name: string, more: Partial<ObjectMeta> = {}): Stored<EgressShard>['metadata'] {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return { name, uid: `${name}-uid`, resourceVersion: '1', generation: 1, creationTimestamp, ...more };
}

interface ShardOptions {
  sid?: string | undefined;
  address?: string | undefined;
  namespace?: string;
  /** Besides the family\u2019s. */
  labels?: Record<string, string>;
  /** Value of the family\u2019s label; undefined: none. */
  ipv6?: string | undefined;
}

export function shardOf(name: string, options: ShardOptions = {}): Stored<EgressShard> {
  const { sid, address, namespace = shardNamespace, labels } = options;
  const ipv6 = 'ipv6' in options ? options.ipv6 : 'true';
  return {
    apiVersion: apiVersionOf(EgressShard),
    kind: EgressShard.kind,
    metadata: metadata(name, {
      namespace,
      labels: { ...labels, ...(ipv6 === undefined ? {} : { [fabricLabels.egressIPv6]: ipv6 }) },
    }),
    spec: { targetRef: { kind: 'Node', name: `node-of-${name}` } },
    status: {
      ...(sid === undefined ? {} : { shardSID: sid }),
      ...(address === undefined ? {} : { shardAddressIPv6: address }),
    },
  };
}

export function parametersOf(
  name: string,
  shardSelector: LabelSelector = {},
  namespace = shardNamespace,
): Stored<EgressShardParameters> {
  const { matchLabels, matchExpressions } = shardSelector;
  return {
    apiVersion: apiVersionOf(EgressShardParameters),
    kind: EgressShardParameters.kind,
    metadata: metadata(name),
    spec: {
      shardNamespace: namespace,
      shardSelector: {
        ...(matchLabels === undefined ? {} : { matchLabels }),
        ...(matchExpressions === undefined
          ? {}
          : { matchExpressions: matchExpressions.map((each) => ({ ...each, values: [...(each.values ?? [])] })) }),
      },
    },
  };
}

/** What the hub projects of a network that asks for egress by a class with these parameters. */
export function egressTo(parameters: string, sharing: 'Shared' | 'Dedicated' = 'Shared'): Intent {
  const { group, kind } = EgressShardParameters;
  return {
    mode: 'Enabled',
    reach: ['IPv6'],
    className: 'standard',
    sharing,
    parametersRef: { group, kind, name: parameters },
  };
}

export function contextOf(internet: Intent | undefined, name = 'net-us-central-1'): Stored<NetworkContext> {
  return {
    apiVersion: apiVersionOf(NetworkContext),
    kind: NetworkContext.kind,
    metadata: metadata(name, { namespace: 'ns', labels: { [networkingLabels.networkUID]: 'net-uid' } }),
    spec: {
      network: { name: 'net' },
      location: { name: 'us-central-1' },
      ipFamilies: ['IPv6', 'IPv4'],
      mtu: 1440,
      fabricIdentity: 28200,
      ...(internet === undefined ? {} : { egress: { internet } }),
    },
  };
}
