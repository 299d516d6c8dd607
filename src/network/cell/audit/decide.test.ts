import { describe, expect, it } from 'vitest';
import type { IPClaim } from '../../../api/index.ts';
import type { ObjectMeta, Stored } from '../../../meta/index.ts';
import { holdingClaim, interfaceOf, unheld } from '../claim/testing.ts';
import { recordAnnotations } from '../routing.ts';
import { identityOfClaim, isNamed, lacksAddresses, Suspects } from './decide.ts';

const deletionTimestamp = '2026-01-01T00:01:00Z';
const prefix = 'networking.datumapis.com/';

function ipClaim(
  cidr = '10.128.0.2/32',
  metadata: Partial<ObjectMeta> = {},
  status: IPClaim['status'] = {},
): Stored<IPClaim> {
  return {
    apiVersion: 'ipam.miloapis.com/v1alpha1',
    kind: 'IPClaim',
    metadata: {
      name: 'nic-f-ipv4',
      namespace: 'default',
      uid: 'ip',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        [`${prefix}cell-uid`]: 'cell',
        [`${prefix}interface-namespace`]: 'ns',
        [`${prefix}interface-name`]: 'nic',
        [`${prefix}holder-uid`]: 'claim-uid',
      },
      ...metadata,
    },
    spec: { ipFamily: 'IPv4' },
    status: { phase: 'Bound', allocatedCIDR: cidr, ...status },
  };
}

const nobody = { networkInterface: undefined, holder: undefined };
const elsewhere = recordAnnotations({ project: 'project-beta', namespace: 'default', location: 'us-central-1' });
const otherNamespace = recordAnnotations({ project: 'project-alpha', namespace: 'other', location: 'us-central-1' });
const copy = { [`${prefix}network-interface-projection`]: 'true' };

describe('an allocation', () => {
  for (const [what, claim, owners, named] of [
    ['nobody is there for', ipClaim(), nobody, false],
    ['of a claim that has no interface yet', ipClaim(), { ...nobody, holder: holdingClaim() }, true],
    [
      'of a claim at its end',
      ipClaim(),
      { ...nobody, holder: holdingClaim({ metadata: { deletionTimestamp } }) },
      true,
    ],
    [
      'of a claim that is about another interface',
      ipClaim(),
      { ...nobody, holder: holdingClaim({ spec: { networkInterfaceName: 'other' } }) },
      false,
    ],
    ['that an interface publishes', ipClaim(), { ...nobody, networkInterface: interfaceOf() }, true],
    ['that a retained interface publishes', ipClaim(), { ...nobody, networkInterface: unheld() }, true],
    [
      'that is published in another spelling',
      ipClaim('fd20:1000:0:0:1::/96'),
      {
        ...nobody,
        networkInterface: interfaceOf({
          spec: { addresses: [{ family: 'IPv6', address: 'FD20:1000:0000::1:0:0:0/96', primary: true }] },
        }),
      },
      true,
    ],
    [
      'that is published as a bare address',
      ipClaim('198.51.100.7/32'),
      {
        ...nobody,
        networkInterface: interfaceOf({
          spec: { externalAddresses: [{ family: 'IPv4', address: '198.51.100.7', class: 'public' }] },
        }),
      },
      true,
    ],
    [
      'beside the one its interface publishes',
      ipClaim('10.128.0.9/32'),
      { ...nobody, networkInterface: interfaceOf() },
      false,
    ],
    [
      'of an interface at its end, which releases it',
      ipClaim('10.128.0.9/32'),
      { ...nobody, networkInterface: interfaceOf({ metadata: { deletionTimestamp } }) },
      true,
    ],
    [
      'whose text another project publishes',
      ipClaim(),
      { ...nobody, networkInterface: interfaceOf({ metadata: { annotations: elsewhere } }) },
      false,
    ],
    [
      'whose text is published for another namespace of the project',
      ipClaim(),
      { ...nobody, networkInterface: interfaceOf({ metadata: { annotations: otherNamespace } }) },
      false,
    ],
    [
      'that an interface without a record publishes',
      ipClaim(),
      { ...nobody, networkInterface: interfaceOf({ metadata: { annotations: {} } }) },
      true,
    ],
    [
      'that only a copy publishes',
      ipClaim(),
      { ...nobody, networkInterface: interfaceOf({ metadata: { labels: copy } }) },
      false,
    ],
    ['that is going anyway', ipClaim('10.128.0.2/32', { deletionTimestamp }), nobody, true],
    ['that is being released', ipClaim('10.128.0.2/32', {}, { phase: 'Releasing' }), nobody, true],
    ['that does not say whom it is for', ipClaim('10.128.0.2/32', { labels: {} }), nobody, true],
  ] as const) {
    it(`${what} is ${named ? 'named' : 'named by nothing'}`, () => {
      expect(isNamed(claim, 'project-alpha', owners)).toBe(named);
    });
  }

  it('of a long interface name is found by the whole name', () => {
    const long = 'n'.repeat(100);
    const claim = ipClaim(undefined, {
      labels: { ...ipClaim().metadata.labels, [`${prefix}interface-name`]: 'hashed' },
      annotations: { [`${prefix}interface-name`]: long },
    });
    expect(identityOfClaim(claim)).toEqual({ cellUid: 'cell', namespace: 'ns', interfaceName: long });
  });
});

describe('an interface', () => {
  const v6 = ipClaim('fd20:1000::1:0:0:0/96');
  for (const [what, held, lacks] of [
    ['whose addresses are all held', [ipClaim(), v6], false],
    ['with one that is not', [v6], true],
    ['with one that is held as another address', [ipClaim('10.128.0.3/32'), v6], true],
    ['with one that is being let go', [ipClaim('10.128.0.2/32', { deletionTimestamp }), v6], true],
  ] as const) {
    it(`${what} ${lacks ? 'lacks' : 'lacks nothing'}`, () => {
      expect(lacksAddresses(interfaceOf(), held)).toBe(lacks);
    });
  }
});

describe('suspects', () => {
  it('are due at the second observation a minute after the first, and not before', () => {
    const suspects = new Suspects();
    expect([...suspects.observe('p', ['a'], 0, 60_000)]).toEqual([]);
    expect([...suspects.observe('p', ['a', 'b'], 59_999, 60_000)]).toEqual([]);
    expect([...suspects.observe('p', ['a', 'b'], 60_000, 60_000)]).toEqual(['a']);
  });

  it('that somebody named meanwhile begin again', () => {
    const suspects = new Suspects();
    suspects.observe('p', ['a'], 0, 60_000);
    suspects.observe('p', [], 30_000, 60_000);
    expect([...suspects.observe('p', ['a'], 70_000, 60_000)]).toEqual([]);
    expect([...suspects.observe('p', ['a'], 130_000, 60_000)]).toEqual(['a']);
  });

  it('of another project are not forgotten', () => {
    const suspects = new Suspects();
    suspects.observe('p', ['a'], 0, 60_000);
    suspects.observe('p2', [], 30_000, 60_000);
    expect([...suspects.observe('p', ['a'], 60_000, 60_000)]).toEqual(['a']);
  });
});
