import { describe, expect, it } from 'vitest';
import { computeFinalizers, networkingAnnotations, networkingFinalizers, upstreamLabels } from '../../../api/index.ts';
import { findCondition } from '../../../meta/index.ts';
import { decide, type Step } from './decide.ts';
import type { Snapshot } from './snapshot.ts';
import { claimOf, contextOfNet, holdingClaim, interfaceOf, routing, snapshotOf, subnetOf, unheld } from './testing.ts';

const deletionTimestamp = '2026-01-01T00:01:00Z';

function published(step: Step): Extract<Step, { do: 'publish' }> {
  if (step.do !== 'publish') throw new Error(`published nothing, but: ${step.do}`);
  return step;
}

/** [Bound, Allocated, Ready] as `status reason`. */
function said(step: Step): string[] {
  const { conditions } = published(step).claimStatus;
  return ['Bound', 'Allocated', 'Ready'].map((type) => {
    const { status, reason } = findCondition(conditions, type) ?? { status: '-', reason: '-' };
    return `${status} ${reason}`;
  });
}

const expiring = {
  type: 'Expiring',
  status: 'True',
  reason: 'Expiring',
  message: '',
  lastTransitionTime: deletionTimestamp,
} as const;

const allocations = [
  { request: { family: 'IPv6' as const }, name: 'nic-f-ipv6', uid: '6', cidr: 'fd20:1000:0:0:1::/96', created: true },
  { request: { family: 'IPv4' as const }, name: 'nic-f-ipv4', uid: '4', cidr: '10.128.0.2/32', created: true },
];

describe('a claim without an interface', () => {
  it('is held first, with where it will allocate; then allocated for; then its interface is made', () => {
    expect(decide(snapshotOf())).toEqual({ do: 'hold', routing });
    const allocate = decide(snapshotOf({ claim: holdingClaim() }));
    expect(allocate).toMatchObject({
      do: 'allocate',
      routing,
      requests: [{ family: 'IPv6' }, { family: 'IPv4' }],
      scope: { network: { name: 'net', uid: 'net-uid' }, location: { name: 'us-central-1' } },
      fresh: true,
    });
    const create = decide(snapshotOf({ claim: holdingClaim(), outcome: { allocations } }));
    expect(create).toMatchObject({
      do: 'create',
      object: {
        metadata: {
          name: 'nic',
          finalizers: [networkingFinalizers.interfaceRelease],
          annotations: { [networkingAnnotations.allocationClaim]: 'nic' },
        },
        spec: {
          claimRef: { name: 'nic', uid: 'claim-uid' },
          mtu: 1460,
          addresses: [
            { family: 'IPv6', address: 'fd20:1000:0:0:1::/96', primary: true },
            { family: 'IPv4', address: '10.128.0.2/32', primary: false },
          ],
        },
      },
    });
  });

  const refusals: [string, Partial<Snapshot>, string][] = [
    ['NoLocationIdentity', { servingLocations: [] }, 'no ServingLocation'],
    ['AmbiguousLocationIdentity', { servingLocations: ['b', 'a'] }, '2 ServingLocations (a, b)'],
    ['ProjectUnresolved', { namespaceLabels: undefined }, upstreamLabels.clusterName],
    [
      'ProjectUnresolved',
      { namespaceLabels: { [upstreamLabels.clusterName]: 'cluster-' } },
      upstreamLabels.clusterName,
    ],
    ['ProjectUnresolved', { namespaceLabels: { [upstreamLabels.clusterName]: 'cluster-a' } }, upstreamLabels.namespace],
    ['NetworkNotAvailableInLocation', { contexts: [] }, 'net-us-central-1'],
    [
      'NetworkNotAvailableInLocation',
      { contexts: [contextOfNet({ spec: { location: { name: 'eu-west-1' } } })] },
      'net-us-central-1',
    ],
    [
      'NetworkNotAvailableInLocation',
      { contexts: [contextOfNet({ metadata: { deletionTimestamp } })] },
      'being deleted',
    ],
    [
      'NetworkNotAvailableInLocation',
      {
        contexts: [contextOfNet({ metadata: { annotations: { [networkingAnnotations.subnets]: 'a-ipv6,a-ipv4' } } })],
        subnets: [
          { ...subnetOf('IPv6', 'fd20::', 64), metadata: { ...subnetOf('IPv6', '', 0).metadata, name: 'a-ipv6' } },
        ],
      },
      'Subnet a-ipv4 is not in the cell',
    ],
    ['AddressFamiliesUnknown', { contexts: [contextOfNet({ spec: { ipFamilies: undefined } })] }, 'net-us-central-1'],
    ['AddressFamilyNotCarried', { contexts: [contextOfNet({ spec: { ipFamilies: ['IPv4'] } })] }, 'IPv6'],
    ['SubnetGatewayUnusable', { subnets: [subnetOf('IPv4', '', 20)] }, 'net-us-central-1-ipv4'],
    ['SubnetGatewayUnusable', { subnets: [subnetOf('IPv4', 'fd20::', 20)] }, 'fd20::/20'],
    ['SubnetGatewayUnusable', { subnets: [subnetOf('IPv4', '255.255.255.255', 32)] }, '255.255.255.255/32'],
  ];
  for (const [reason, more, part] of refusals) {
    it(`is refused for ${reason}, which names ${part}, before anything is allocated`, () => {
      const step = decide(snapshotOf(more));
      expect(said(step)).toEqual([`False ${reason}`, `False ${reason}`, `False ${reason}`]);
      expect(findCondition(published(step).claimStatus.conditions, 'Ready')?.message).toContain(part);
      expect(findCondition(published(step).claimStatus.conditions, 'Prepared')?.reason).toBe('Pending');
    });
  }

  it('says what IPAM said, and is written to only once for it', () => {
    const refusal = { reason: 'AddressPoolExhausted' as const, message: 'none left', dependsOn: ['ippools/p'] };
    const outcome = { refusal, request: 'f-ipv4' };
    const first = published(decide(snapshotOf({ claim: holdingClaim(), outcome })));
    expect(said(first)[0]).toBe('False AddressPoolExhausted');
    const claim = holdingClaim({ status: first.claimStatus });
    const later = published(decide(snapshotOf({ claim, outcome, now: 1_780_000_000_000 })));
    expect(later.claimStatus).toEqual(first.claimStatus);
  });

  it('was bound before: looks for its allocations first, by the record, and keeps what it shows where it is refused', () => {
    const claim = holdingClaim({ status: { networkInterfaceRef: { name: 'nic' }, conditions: [] } });
    const lost = { servingLocations: [], namespaceLabels: undefined };
    expect(decide(snapshotOf({ claim, ...lost }))).toMatchObject({ do: 'allocate', routing, fresh: false });
    const step = published(decide(snapshotOf({ claim, contexts: [] })));
    expect(step.claimStatus.networkInterfaceRef).toEqual({ name: 'nic' });
    expect(said(step)).toEqual(['- -', '- -', 'False NetworkNotAvailableInLocation']);
  });

  it('names its interface: looks for allocations made under another claim first', () => {
    const claim = holdingClaim({ spec: { networkInterfaceName: 'other' } });
    expect(decide(snapshotOf({ claim }))).toMatchObject({ do: 'allocate', fresh: false });
  });

  it('is being deleted while it is in use and never got anything: gets nothing now', () => {
    const claim = claimOf({ metadata: { deletionTimestamp, finalizers: [computeFinalizers.slotInUse] } });
    expect(decide(snapshotOf({ claim }))).toEqual({ do: 'rest' });
  });
});

describe('a claim and an interface that is there', () => {
  const retained = (more: Parameters<typeof unheld>[0] = {}) =>
    unheld({ ...more, spec: { reclaimPolicy: 'Retain', ...more.spec } });
  const claim = holdingClaim({ spec: { reclaimPolicy: 'Retain' } });

  it('adopts it where it fits, without asking IPAM for anything', () => {
    const step = decide(snapshotOf({ claim, networkInterface: retained() }));
    expect(step).toMatchObject({ do: 'bind', patch: { spec: { claimRef: { name: 'nic', uid: 'claim-uid' } } } });
  });

  it('adopts one that offers more, and makes its own first family the primary one', () => {
    const one = holdingClaim({ spec: { reclaimPolicy: 'Retain', ipFamilies: ['IPv4'] } });
    const step = decide(snapshotOf({ claim: one, networkInterface: retained() }));
    expect(step).toMatchObject({
      do: 'bind',
      patch: {
        spec: {
          addresses: [
            { family: 'IPv6', primary: false },
            { family: 'IPv4', primary: true },
          ],
        },
      },
    });
  });

  it('takes back what the data plane said for the last holder before it binds', () => {
    const networkInterface = retained({ status: { vpc: '3x' } });
    expect(decide(snapshotOf({ claim, networkInterface }))).toMatchObject({ do: 'reset' });
  });

  const labels = { 'networking.datumapis.com/network-uid': 'another' };
  const annotations = { ...interfaceOf().metadata.annotations, [networkingAnnotations.recordedLocation]: 'eu-west-1' };
  const wanted = { addresses: [{ class: 'public' }], reclaimPolicy: 'Retain' as const };
  const refusals: [string, Partial<Snapshot>, string][] = [
    ['Terminating', { networkInterface: retained({ metadata: { deletionTimestamp } }) }, 'nic'],
    [
      'InterfaceHeldByAnotherClaim',
      { networkInterface: interfaceOf({ spec: { claimRef: { name: 'b', uid: 'b' } } }) },
      'claim b',
    ],
    // The holder before: of the same name, and gone.
    [
      'InterfaceHeldByAnotherClaim',
      { networkInterface: interfaceOf({ spec: { claimRef: { name: 'nic', uid: 'b' } } }) },
      'claim nic',
    ],
    ['NetworkMismatch', { networkInterface: retained({ spec: { network: { name: 'b' } } }) }, 'network b'],
    ['NetworkMismatch', { networkInterface: retained({ metadata: { labels } }) }, 'UID another'],
    ['NetworkMismatch', { networkInterface: retained({ metadata: { annotations } }) }, 'eu-west-1'],
    ['InterfaceNameMismatch', { networkInterface: retained({ spec: { interfaceName: 'eth1' } }) }, 'eth1'],
    ['AddressFamilyMissing', { networkInterface: retained({ spec: { addresses: [] } }) }, 'IPv6'],
    ['AddressClassMissing', { claim: holdingClaim({ spec: wanted }), networkInterface: retained() }, 'public'],
    ['ReclaimPolicyMismatch', { claim: holdingClaim(), networkInterface: retained() }, 'reclaimPolicy'],
  ];
  for (const [reason, more, part] of refusals) {
    it(`refuses it for ${reason}, which names ${part}`, () => {
      const step = decide(snapshotOf({ claim, ...more }));
      expect(said(step)).toEqual([`False ${reason}`, `False ${reason}`, `False ${reason}`]);
      expect(findCondition(published(step).claimStatus.conditions, 'Bound')?.message).toContain(part);
    });
  }

  it('finds the first fault in the order of the reference', () => {
    const spec = { network: { name: 'b' }, interfaceName: 'eth1', addresses: [], claimRef: { name: 'b', uid: 'b' } };
    const reasons = [
      'InterfaceHeldByAnotherClaim',
      'NetworkMismatch',
      'InterfaceNameMismatch',
      'AddressFamilyMissing',
      'ReclaimPolicyMismatch',
    ];
    const mended = [
      {},
      { claimRef: undefined },
      { network: { name: 'net' } },
      { interfaceName: 'eth0' },
      { addresses: interfaceOf().spec.addresses! },
    ];
    let found = interfaceOf({ spec });
    for (const [index, reason] of reasons.entries()) {
      found = { ...found, spec: { ...found.spec, ...mended[index] } as typeof found.spec };
      expect(said(decide(snapshotOf({ claim, networkInterface: found })))[0]).toBe(`False ${reason}`);
    }
  });
});

describe('a bound claim', () => {
  const claim = holdingClaim();
  const bound = (more: Partial<Snapshot> = {}) => snapshotOf({ claim, networkInterface: interfaceOf(), ...more });

  it('is published: the interface Bound, the claim with its addresses, Ready for the first that is missing', () => {
    const step = published(decide(bound()));
    expect(said(step)).toEqual(['True Bound', 'True Allocated', 'Unknown NotPrepared']);
    expect(step.claimStatus).toMatchObject({
      networkInterfaceRef: { name: 'nic' },
      addresses: interfaceOf().spec.addresses,
    });
    expect(step.interfaceStatus).toMatchObject({ phase: 'Bound', networkContextRef: { name: 'net-us-central-1' } });
    expect(step.interfaceStatus?.conditions?.map(({ type }) => type)).toEqual(['Allocated']);
    for (const { observedGeneration } of step.claimStatus.conditions ?? []) expect(observedGeneration).toBe(1);
  });

  const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({
    type,
    status,
    reason: 'Said',
    message: 'said so',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  for (const [prepared, programmed, ready] of [
    ['False', 'Unknown', 'False NotPrepared'],
    ['True', 'Unknown', 'Unknown NotProgrammed'],
    ['True', 'False', 'False NotProgrammed'],
    ['True', 'True', 'True Ready'],
    ['Unknown', 'True', 'Unknown NotPrepared'],
  ] as const) {
    it(`with Prepared ${prepared} and Programmed ${programmed} on its interface is ${ready}`, () => {
      const conditions = [condition('Prepared', prepared), condition('Programmed', programmed)];
      const step = decide(bound({ networkInterface: interfaceOf({ status: { conditions } }) }));
      expect(said(step)).toEqual(['True Bound', 'True Allocated', ready]);
      const { claimStatus } = published(step);
      expect(findCondition(claimStatus.conditions, 'Prepared')).toMatchObject({ status: prepared, reason: 'Said' });
      const why = findCondition(claimStatus.conditions, 'Ready')?.message;
      if (ready.startsWith('False')) expect(why).toBe('said so');
      if (ready.startsWith('True')) expect(why).not.toContain('said so');
    });
  }

  describe('while the data plane has time left', () => {
    const patient = (more: Partial<Snapshot> = {}) => decide(bound({ patient: true, ...more }));

    it('is told once that has said something, whatever it says', () => {
      const step = patient();
      expect(step).toMatchObject({ do: 'offer', interfaceStatus: { phase: 'Bound' } });
      for (const prepared of ['True', 'False'] as const) {
        const conditions = [condition('Prepared', prepared)];
        const answered = patient({ networkInterface: interfaceOf({ status: { conditions } }) });
        expect(published(answered).interfaceStatus).toMatchObject({ phase: 'Bound' });
      }
    });

    it('is told at once what is wrong, what came later, and that it is being deleted', () => {
      const ref = { networkInterfaceRef: { name: 'nic' } };
      published(patient({ claim: holdingClaim({ status: ref }) }));
      published(patient({ contexts: [] }));
      published(patient({ missing: [{ address: '10.128.0.2/32', ipClaim: 'x' }] }));
      const finalizers = [networkingFinalizers.claimRelease, computeFinalizers.slotInUse];
      published(
        patient({
          claim: holdingClaim({
            metadata: { deletionTimestamp, finalizers, annotations: claim.metadata.annotations! },
          }),
        }),
      );
    });
  });

  for (const [reason, more] of [
    ['NetworkNotAvailableInLocation', { contexts: [] }],
    ['AddressFamilyNotCarried', { contexts: [contextOfNet({ spec: { ipFamilies: ['IPv4'] } })] }],
    [
      'NetworkMismatch',
      { contexts: [contextOfNet({ metadata: { labels: { 'networking.datumapis.com/network-uid': 'b' } } })] },
    ],
    ['SubnetGatewayUnusable', { subnets: [subnetOf('IPv4', 'nonsense', 20)] }],
  ] as [string, Partial<Snapshot>][]) {
    it(`that is refused for ${reason} keeps Bound, Allocated and its addresses`, () => {
      const step = decide(bound(more));
      expect(said(step)).toEqual(['True Bound', 'True Allocated', `False ${reason}`]);
      expect(published(step).claimStatus.addresses).toEqual(interfaceOf().spec.addresses);
    });
  }

  it('goes on without a location, labels, or a presence that stays', () => {
    const lost = { servingLocations: [], namespaceLabels: undefined };
    const contexts = [contextOfNet({ metadata: { deletionTimestamp } })];
    expect(said(decide(bound({ ...lost, contexts })))).toEqual(['True Bound', 'True Allocated', 'Unknown NotPrepared']);
  });

  it('follows its presence: MTU, gateways that come and go, and labels of its claim', () => {
    const subnets = [subnetOf('IPv6', 'fd20:1000::', 64)];
    expect(decide(bound({ subnets, contexts: [contextOfNet({ spec: { mtu: 8856 } })] }))).toMatchObject({
      do: 'update',
      patch: { spec: { mtu: 8856, addresses: [{ gateway: 'fd20:1000::1' }, {}] } },
    });
    const addresses = interfaceOf().spec.addresses!.map((each) => ({ ...each, gateway: 'fd20::1' }));
    const cleared = decide(bound({ networkInterface: interfaceOf({ spec: { addresses } }) }));
    expect(cleared).toMatchObject({ do: 'update', patch: { spec: { addresses: interfaceOf().spec.addresses } } });
    const labels = { ...interfaceOf().metadata.labels, 'compute.datumapis.com/workload-name': 'old' };
    const relabelled = decide(bound({ networkInterface: interfaceOf({ metadata: { labels } }) }));
    expect(relabelled).toMatchObject({
      patch: { metadata: { labels: { 'compute.datumapis.com/workload-name': null } } },
    });
  });

  it('keeps what a presence gave it when that is gone', () => {
    const addresses = interfaceOf().spec.addresses!.map((each) => ({ ...each, gateway: 'fd20::1' }));
    expect(decide(bound({ contexts: [], networkInterface: interfaceOf({ spec: { addresses } }) })).do).toBe('publish');
  });

  it('is compared with IPAM when that is due, and told what is missing or moved without losing its address', () => {
    expect(decide(bound({ verificationDue: true }))).toMatchObject({ do: 'verify', routing });
    const address = '10.128.0.2/32';
    for (const [held, part] of [
      [undefined, 'allocation nic-f-ipv4 in project project-alpha is gone'],
      [
        '10.128.0.9/32',
        `${address} is published, but allocation nic-f-ipv4 in project project-alpha holds 10.128.0.9/32`,
      ],
    ] as const) {
      const missing = [{ address, ipClaim: 'nic-f-ipv4', ...(held === undefined ? {} : { held }) }];
      const step = published(decide(bound({ verificationDue: true, missing })));
      expect(said(step)).toEqual(['True Bound', 'False AddressAllocationMissing', 'False NotAllocated']);
      expect(step.missing).toContain(part);
      expect(step.claimStatus.addresses).toEqual(interfaceOf().spec.addresses);
    }
  });

  it('keeps what was last found out while IPAM can not be reached', () => {
    const missing = [{ address: '10.128.0.2/32', ipClaim: 'nic-f-ipv4' }];
    const told = published(decide(bound({ verificationDue: true, missing })));
    const networkInterface = interfaceOf({ status: told.interfaceStatus! });
    const later = decide(bound({ verificationDue: true, missing: 'unreachable', networkInterface }));
    expect(said(later)[1]).toBe('False AddressAllocationMissing');
    expect(said(decide(bound({ verificationDue: true, missing: 'unreachable' })))[1]).toBe('True Allocated');
  });

  it('waits where its interface is being deleted: it is rebuilt once that is gone', () => {
    expect(decide(bound({ networkInterface: interfaceOf({ metadata: { deletionTimestamp } }) }))).toEqual({
      do: 'rest',
    });
  });
});

it('a claim that takes an interface somebody was giving back takes the request off: it must not be heard later', () => {
  const asked = unheld();
  const annotations = { ...asked.metadata.annotations, [networkingAnnotations.returnRequested]: asked.metadata.uid };
  const networkInterface = { ...asked, metadata: { ...asked.metadata, annotations } };
  const step = decide(snapshotOf({ claim: holdingClaim(), networkInterface }));
  expect(JSON.stringify(step)).toContain(`"${networkingAnnotations.returnRequested}":null`);
  expect(JSON.stringify(decide(snapshotOf({ claim: holdingClaim(), networkInterface: asked })))).not.toContain(
    networkingAnnotations.returnRequested,
  );
});

it('a claim that takes an interface nobody held takes off since when: a later lease begins anew', () => {
  const step = decide(snapshotOf({ claim: holdingClaim(), networkInterface: unheld() }));
  expect(step).toMatchObject({
    do: 'bind',
    patch: { metadata: { annotations: { [networkingAnnotations.unheldSince]: null } } },
  });
  const taken = interfaceOf({ status: { phase: 'Bound', conditions: [expiring] } });
  const told = published(decide(snapshotOf({ claim: holdingClaim(), networkInterface: taken })));
  expect(findCondition(told.interfaceStatus?.conditions, 'Expiring')).toBeUndefined();
});
