import { expect, test } from 'vitest';
import type { NetworkContext, Subnet } from '../../../api/index.ts';
import { findCondition, type Stored } from '../../../meta/index.ts';
import type { RangeAnswer, RangeRequest } from '../ranges.ts';
import { concluded, decide, decideSubnet, subnetOf, subnetStatus } from './decide.ts';

const now = 1_700_000_000_000;
const finalizer = 'networking.datumapis.com/networkcontext-subnet-release';
const classes = { networkIPv6: 'network-ipv6', subnetIPv6: 'subnet-ipv6', subnetIPv4: 'subnet-ipv4' };

function context(
  change: {
    families?: ('IPv4' | 'IPv6')[];
    labels?: Record<string, string>;
    finalizers?: string[];
    leaving?: boolean;
  } = {},
): Stored<NetworkContext> {
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'NetworkContext',
    metadata: {
      name: 'net-loc',
      namespace: 'default',
      uid: 'c1',
      resourceVersion: '8',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: change.labels ?? {
        'networking.datumapis.com/network': 'net',
        'networking.datumapis.com/location': 'loc',
        'networking.datumapis.com/network-uid': 'n1',
        other: 'label',
      },
      finalizers: change.finalizers ?? [],
      ...(change.leaving === true ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {}),
    },
    spec: { network: { name: 'net' }, location: { name: 'loc' }, ipFamilies: change.families ?? ['IPv6', 'IPv4'] },
  };
}

const ranges = (given: Stored<NetworkContext>): readonly RangeRequest[] => {
  const plan = decide({ context: given, project: 'alpha', classes });
  return plan.do === 'hold' ? plan.ranges : [];
};

test('a context holds a range of each family it carries, scoped by network UID and location name', () => {
  expect(
    ranges(context()).map(({ family, className, claimName, scope }) => ({ family, className, claimName, scope })),
  ).toEqual(
    [
      ['IPv6', 'subnet-ipv6', 'networkcontext-c1'] as const,
      ['IPv4', 'subnet-ipv4', 'networkcontext-c1-ipv4'] as const,
    ].map(([family, className, claimName]) => ({
      family,
      className,
      claimName,
      scope: {
        network: { apiGroup: 'networking.datumapis.com', kind: 'Network', name: 'net', uid: 'n1' },
        location: { apiGroup: 'networking.datumapis.com', kind: 'Location', name: 'loc' },
      },
    })),
  );
});

test('a family the network does not carry has no range', () => {
  expect(ranges(context({ families: ['IPv4'] })).map((range) => range.family)).toEqual(['IPv4']);
});

test('without the network’s UID nothing is held: it would be another scope than the interfaces’', () => {
  expect(ranges(context({ labels: {} }))).toEqual([]);
});

test('it is held before its ranges are, and gives both back at its end', () => {
  expect(decide({ context: context(), project: 'alpha', classes })).toMatchObject({ do: 'hold', finalizer: true });
  const leaving = context({ leaving: true, finalizers: [finalizer] });
  const plan = decide({ context: leaving, project: 'alpha', classes });
  expect(plan.do === 'release' && plan.claims.map((claim) => claim.name)).toEqual([
    'networkcontext-c1',
    'networkcontext-c1-ipv4',
  ]);
  expect(decide({ context: context({ leaving: true }), project: 'alpha', classes })).toEqual({ do: 'nothing' });
});

const held = (index: number, cidr: string): Extract<RangeAnswer, { held: true }> => ({
  held: true,
  request: ranges(context())[index] as RangeRequest,
  cidr,
  pool: 'p',
});

test('a range is published as a Subnet that the context controls', () => {
  const subnet = subnetOf(context(), held(0, 'fd20:1000:0:1::/64'));
  expect(subnet.metadata.name).toBe('net-loc-ipv6');
  expect(subnet.metadata.labels).toEqual({
    'networking.datumapis.com/network': 'net',
    'networking.datumapis.com/location': 'loc',
    'networking.datumapis.com/network-uid': 'n1',
  });
  expect(subnet.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'NetworkContext', uid: 'c1', controller: true });
  expect(subnet.spec).toEqual({
    subnetClass: 'private',
    networkContext: { name: 'net-loc' },
    location: { name: 'loc' },
    ipFamily: 'IPv6',
    startAddress: 'fd20:1000:0:1::',
    prefixLength: 64,
  });
});

function stored(subnet: Subnet, owner: string): Stored<Subnet> {
  const ownerReferences = (subnet.metadata.ownerReferences ?? []).map((ref) => ({ ...ref, uid: owner }));
  const identity = { uid: 's1', resourceVersion: '9', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { ...subnet, metadata: { ...subnet.metadata, ...identity, ownerReferences } };
}

test('a Subnet is made, kept as it should be, and never taken over from an earlier context', () => {
  const wanted = subnetOf(context(), held(1, '10.128.0.0/20'));
  expect(decideSubnet(wanted, undefined, context())).toEqual({ do: 'create', object: wanted });
  const ours = stored(wanted, 'c1');
  expect(decideSubnet(wanted, ours, context())).toEqual({ do: 'nothing' });
  const edited = { ...ours, spec: { ...wanted.spec!, prefixLength: 24 } };
  const step = decideSubnet(wanted, edited, context());
  expect(step.do === 'update' && step.object.spec?.prefixLength).toBe(20);
  expect(decideSubnet(wanted, stored(wanted, 'earlier'), context())).toMatchObject({ do: 'delete' });
  const leaving = { ...ours, metadata: { ...ours.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } };
  expect(decideSubnet(wanted, leaving, context())).toEqual({ do: 'nothing' });
});

test('a Subnet says its range', () => {
  const status = subnetStatus(stored(subnetOf(context(), held(1, '10.128.0.0/20')), 'c1'), now);
  expect(status).toMatchObject({ startAddress: '10.128.0.0', prefixLength: 20 });
  expect(findCondition(status.conditions, 'Allocated')).toMatchObject({ status: 'True', reason: 'PrefixAllocated' });
  expect(findCondition(status.conditions, 'Ready')?.status).toBe('True');
});

test('the context names its Subnets and where their ranges are held', () => {
  const status = concluded(context(), [held(0, 'fd20:1000:0:1::/64'), held(1, '10.128.0.0/20')], now);
  expect(status.ipam).toEqual({
    ipv6SubnetRef: { name: 'net-loc-ipv6' },
    ipv6ClaimRef: { project: 'alpha', namespace: 'default', claimName: 'networkcontext-c1', poolName: 'p' },
    ipv4SubnetRef: { name: 'net-loc-ipv4' },
    ipv4ClaimRef: { project: 'alpha', namespace: 'default', claimName: 'networkcontext-c1-ipv4', poolName: 'p' },
  });
  expect(findCondition(status.conditions, 'Ready')).toMatchObject({ status: 'True', observedGeneration: 2 });
});
