import { expect, test } from 'vitest';
import type { Network, NetworkContext } from '../../../api/index.ts';
import { findCondition, type Stored } from '../../../meta/index.ts';
import type { RangeAnswer } from '../ranges.ts';
import { concluded, decide, type Snapshot, terminating } from './decide.ts';

const now = 1_700_000_000_000;

function network(
  change: {
    terminating?: boolean;
    finalizers?: string[];
    families?: ('IPv4' | 'IPv6')[];
    mode?: 'Auto' | 'Policy';
    status?: Network['status'];
  } = {},
): Stored<Network> {
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'Network',
    metadata: {
      name: 'net',
      namespace: 'default',
      uid: 'n1',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: change.finalizers ?? [],
      ...(change.terminating === true ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {}),
    },
    spec: { ipam: { mode: change.mode ?? 'Auto' }, ipFamilies: change.families ?? ['IPv6', 'IPv4'], mtu: 1460 },
    ...(change.status === undefined ? {} : { status: change.status }),
  };
}

function context(name: string, owner: string | undefined, leaving = false): Stored<NetworkContext> {
  const reference = { apiVersion: 'networking.datumapis.com/v1alpha', kind: 'Network', name: 'net', controller: true };
  return {
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'NetworkContext',
    metadata: {
      name,
      namespace: 'default',
      uid: `c-${name}`,
      resourceVersion: '8',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(owner === undefined ? {} : { ownerReferences: [{ ...reference, uid: owner }] }),
      ...(leaving ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {}),
    },
    spec: { network: { name: 'net' }, location: { name: 'loc' } },
  };
}

const both = ['networking.datumapis.com/network-controller', 'networking.datumapis.com/network-prefix-release'];
const classes = { networkIPv6: 'network-ipv6', subnetIPv6: 'subnet-ipv6', subnetIPv4: 'subnet-ipv4' };
const snapshot = (change: Partial<Snapshot>): Snapshot => ({
  network: network(),
  project: 'alpha',
  contexts: [],
  classes,
  ...change,
});

test('a network holds a range of each family it carries and a class is configured for, in a scope with its UID', () => {
  expect(decide(snapshot({}))).toEqual({
    do: 'hold',
    finalizers: both,
    ranges: [
      {
        family: 'IPv6',
        className: 'network-ipv6',
        claimName: 'network-n1',
        namespace: 'default',
        scope: { network: { apiGroup: 'networking.datumapis.com', kind: 'Network', name: 'net', uid: 'n1' } },
        of: 'network net',
        project: 'alpha',
      },
    ],
  });
  const withIPv4 = decide(snapshot({ classes: { ...classes, networkIPv4: 'network-ipv4' } }));
  expect(withIPv4.do === 'hold' && withIPv4.ranges.map((range) => [range.className, range.claimName])).toEqual([
    ['network-ipv6', 'network-n1'],
    ['network-ipv4', 'network-n1-ipv4'],
  ]);
});

test.each([
  ['mode Policy', { network: network({ mode: 'Policy' as const }) }],
  ['no IPv6', { network: network({ families: ['IPv4' as const] }) }],
  ['no class configured', { classes: {} }],
])('%s: no range, no error, and no finalizer for one', (_title, change) => {
  expect(decide(snapshot(change))).toEqual({ do: 'hold', finalizers: [both[0]], ranges: [] });
});

test('a settled network is held by nothing more', () => {
  const plan = decide(snapshot({ network: network({ finalizers: both }) }));
  expect(plan.do === 'hold' && plan.finalizers).toEqual([]);
});

test('deletion: its contexts first, only its own, then its ranges (F25)', () => {
  const leaving = network({ terminating: true, finalizers: both });
  const own = context('own', 'n1');
  const orphan = context('orphan', undefined);
  const successor = context('successor', 'n2');
  const plan = decide(snapshot({ network: leaving, contexts: [own, orphan, successor, context('going', 'n1', true)] }));
  expect(plan.do === 'delete-contexts' && plan.contexts.map((each) => each.metadata.name)).toEqual(['own', 'orphan']);
  expect(decide(snapshot({ network: leaving, contexts: [successor] }))).toEqual({
    do: 'release',
    claims: [
      { namespace: 'default', name: 'network-n1', range: '(IPv6)' },
      { namespace: 'default', name: 'network-n1-ipv4', range: '(IPv4)' },
    ],
  });
});

test('what status recorded is what is released, wherever that was', () => {
  const status = {
    ipam: { ipv6Prefix: 'fd20:1000::/48', ipv6PrefixRef: { project: 'alpha', namespace: 'old', claimName: 'other' } },
  };
  const plan = decide(snapshot({ network: network({ terminating: true, finalizers: both, status }) }));
  expect(plan.do === 'release' && plan.claims[0]).toEqual({ namespace: 'old', name: 'other', range: 'fd20:1000::/48' });
});

test('a network without finalizers of ours is left alone at its end', () => {
  expect(decide(snapshot({ network: network({ terminating: true }) }))).toEqual({ do: 'nothing' });
});

function rangeOf(plan: ReturnType<typeof decide>) {
  if (plan.do !== 'hold' || plan.ranges[0] === undefined) throw new Error('no range is asked for');
  return plan.ranges[0];
}

test('what is held is published; Ready says so', () => {
  const answer: RangeAnswer = { held: true, request: rangeOf(decide(snapshot({}))), cidr: 'fd20:1000::/48', pool: 'p' };
  const status = concluded(network(), [answer], now);
  expect(status.ipam).toEqual({
    ipv6Prefix: 'fd20:1000::/48',
    ipv6PrefixRef: { project: 'alpha', namespace: 'default', claimName: 'network-n1', poolName: 'p' },
  });
  expect(findCondition(status.conditions, 'IPAMAllocated')).toMatchObject({
    status: 'True',
    reason: 'Allocated',
    observedGeneration: 3,
  });
  expect(findCondition(status.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
  // The same answer again is the same status: nothing is written.
  expect(concluded(network({ status }), [answer], now + 60_000)).toEqual(status);
});

test('a refusal is told by both conditions in the same words, and clears without a trace', () => {
  const request = rangeOf(decide(snapshot({})));
  const refused = concluded(
    network(),
    [{ held: false, request, reason: 'AddressPoolExhausted', message: 'no room' }],
    now,
  );
  expect(refused.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
    ['IPAMAllocated', 'False', 'AddressPoolExhausted', 'no room'],
    ['Ready', 'False', 'AddressPoolExhausted', 'no room'],
  ]);
  const after = concluded(
    network({ status: refused }),
    [{ held: true, request, cidr: 'fd20:1000::/48', pool: undefined }],
    now,
  );
  expect(JSON.stringify(after.conditions)).not.toContain('no room');
});

test('a network that asks for nothing is ready and says nothing about allocation', () => {
  expect(concluded(network(), [], now).conditions?.map((each) => each.type)).toEqual(['Ready']);
});

test('while it waits for its presences it names them', () => {
  const status = terminating(network({ terminating: true }), ['net-loc'], now);
  expect(findCondition(status.conditions, 'Ready')?.message).toContain('waits for NetworkContext net-loc');
});
