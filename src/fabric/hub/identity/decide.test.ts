import { describe, expect, it } from 'vitest';
import { Network, type NetworkFabricIdentity } from '../../../api/index.ts';
import { apiVersionOf, type Stored } from '../../../meta/index.ts';
import { decide, identityOf } from './decide.ts';

const place = { project: 'alpha', namespace: 'default', name: 'net' };
const stamps = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

function network(uid: string, deletionTimestamp?: string): Stored<Network> {
  const metadata = {
    ...place,
    uid,
    ...stamps,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
  return { apiVersion: apiVersionOf(Network), kind: 'Network', metadata, spec: { ipam: { mode: 'Auto' } } } as never;
}

function identity(number: number, networkUID: string, metadata: object = {}): Stored<NetworkFabricIdentity> {
  const made = identityOf(number, place, networkUID);
  return { ...made, metadata: { ...made.metadata, ...stamps, uid: `uid-${number}`, ...metadata } };
}

describe('a network and its number', () => {
  it('has one made, named by the number', () => {
    expect(decide({ network: network('n1'), identities: [] }).allocate).toBe(true);
    expect(identityOf(42, place, 'n1')).toEqual({
      apiVersion: 'cloud.datumapis.com/v1alpha1',
      kind: 'NetworkFabricIdentity',
      metadata: { name: 'id-42', labels: { 'networking.datumapis.com/network-uid': 'n1' } },
      spec: { identity: 42, networkUID: 'n1', networkRef: place },
    });
  });

  it('keeps the one it has', () => {
    const plan = decide({ network: network('n1'), identities: [identity(7, 'n1')] });
    expect(plan).toEqual({ abandoned: [], surplus: [], allocate: false });
  });

  it('made again under its name gets another, and the former one goes', () => {
    const old = identity(7, 'n0');
    expect(decide({ network: network('n1'), identities: [old] })).toEqual({
      abandoned: [old],
      surplus: [],
      allocate: true,
    });
  });

  it('keeps it while it is being deleted, and gets none then', () => {
    const going = network('n1', '2026-01-02T00:00:00Z');
    expect(decide({ network: going, identities: [identity(7, 'n1')] }).abandoned).toEqual([]);
    expect(decide({ network: going, identities: [] }).allocate).toBe(false);
  });

  it('gives it back once it is gone', () => {
    const held = identity(7, 'n1');
    expect(decide({ network: undefined, identities: [held] }).abandoned).toEqual([held]);
  });

  it('that has two keeps the older', () => {
    const younger = identity(3, 'n1', { creationTimestamp: '2026-01-01T00:00:01Z' });
    const older = identity(9, 'n1');
    const plan = decide({ network: network('n1'), identities: [younger, older] });
    expect(plan).toEqual({ abandoned: [], surplus: [younger], allocate: false });
  });

  it('asks nobody twice to go', () => {
    const going = identity(7, 'n0', { deletionTimestamp: '2026-01-02T00:00:00Z' });
    expect(decide({ network: undefined, identities: [going] }).abandoned).toEqual([]);
  });
});
