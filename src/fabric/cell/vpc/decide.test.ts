import { describe, expect, it } from 'vitest';
import { NetworkContext, networkingLabels, Subnet, type VPC } from '../../../api/index.ts';
import { apiVersionOf, formatTime, type Stored } from '../../../meta/index.ts';
import { decide, type Snapshot } from './decide.ts';

const now = 1_772_323_200_000;
const stored = { resourceVersion: '1', creationTimestamp: formatTime(now), namespace: 'ns-1', generation: 1 };
const deletionTimestamp = formatTime(now);
const labels = { [networkingLabels.networkUID]: 'n1' };

function context(spec: object = { fabricIdentity: 28200 }, metadata: object = {}): Stored<NetworkContext> {
  return {
    apiVersion: apiVersionOf(NetworkContext),
    kind: 'NetworkContext',
    metadata: { ...stored, name: 'net-loc', uid: 'c1', labels, ...metadata },
    spec: { network: { name: 'net' }, location: { name: 'loc' }, ...spec },
  };
}

function subnet(startAddress: string, prefixLength: number, metadata: object = {}, status?: object): Stored<Subnet> {
  return {
    apiVersion: apiVersionOf(Subnet),
    kind: 'Subnet',
    metadata: { ...stored, name: 's', uid: 's', labels, ...metadata },
    spec: { networkContext: { name: 'net-loc' }, startAddress, prefixLength },
    ...(status === undefined ? {} : { status }),
  } as never;
}

const v6 = subnet('fd20:1::', 64);

function snapshot(part: Partial<Snapshot> = {}): Snapshot {
  return { context: context(), vpc: undefined, subnets: [v6], heldBy: undefined, now, ...part };
}

/** As it is made, with what is said of it. */
function vpc(metadata: object = {}, status?: VPC['status']): Stored<VPC> {
  const step = decide(snapshot());
  if (step.do !== 'create') throw new Error('nothing was created');
  const { object } = step;
  return { ...object, metadata: { ...object.metadata, ...stored, uid: 'v1', ...metadata }, ...(status && { status }) };
}

function published(identifier = '7kQ'): NonNullable<VPC['status']> {
  const step = decide(snapshot({ vpc: vpc() }));
  if (step.do !== 'publish') throw new Error('nothing was published');
  return { ...step.status, vpc: identifier };
}

describe('a VPC', () => {
  it('is made of its context: the same name, owned by it, with the ranges in order', () => {
    const subnets = [v6, subnet('10.70.0.0', 16), v6];
    expect(decide(snapshot({ subnets }))).toEqual({
      do: 'create',
      object: {
        apiVersion: 'cloud.datumapis.com/v1alpha1',
        kind: 'VPC',
        metadata: {
          name: 'net-loc',
          namespace: 'ns-1',
          finalizers: ['cloud.datumapis.com/finalizer'],
          ownerReferences: [
            {
              apiVersion: 'networking.datumapis.com/v1alpha',
              kind: 'NetworkContext',
              name: 'net-loc',
              uid: 'c1',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: { networks: ['10.70.0.0/16', 'fd20:1::/64'] },
      },
    });
  });

  it.each<[string, Partial<Snapshot>]>([
    ['no subnet', { subnets: [] }],
    ['a subnet without a range', { subnets: [subnet('', 0)] }],
    [
      'a subnet of an earlier network of the name',
      { subnets: [subnet('fd20:9::', 64, { labels: { [networkingLabels.networkUID]: 'n0' } })] },
    ],
    ['a subnet that is going', { subnets: [subnet('fd20:9::', 64, { deletionTimestamp })] }],
    ['a context that is going', { context: context({}, { deletionTimestamp }) }],
    ['no context', { context: undefined }],
  ])('is not made of %s', (_, part) => {
    expect(decide(snapshot(part))).toEqual({ do: 'nothing' });
  });

  it('takes the range in use where a subnet says one', () => {
    const subnets = [subnet('fd20:1::', 64, {}, { startAddress: 'fd20:2::', prefixLength: 72 })];
    expect(decide(snapshot({ subnets }))).toMatchObject({ object: { spec: { networks: ['fd20:2::/72'] } } });
  });

  it('says its network\u2019s number in base 62 as soon as the context does, and nothing before', () => {
    expect(decide(snapshot({ vpc: vpc(), context: context({}) }))).toEqual({ do: 'nothing' });
    expect(decide(snapshot({ vpc: vpc() }))).toMatchObject({
      do: 'publish',
      status: {
        observedGeneration: 1,
        vpc: '7kQ',
        conditions: [{ type: 'Ready', status: 'True', reason: 'IdentifierAllocated', observedGeneration: 1 }],
      },
    });
    expect(decide(snapshot({ vpc: vpc({}, published()) }))).toEqual({ do: 'nothing' });
  });

  it('keeps it for life, whatever the context says later', () => {
    const held = vpc({}, published());
    for (const spec of [{}, { fabricIdentity: 1 }]) {
      expect(decide(snapshot({ vpc: held, context: context(spec) }))).toEqual({ do: 'nothing' });
    }
  });

  it('is not given a number another VPC of the cell has, and says who has it', () => {
    const step = decide(snapshot({ vpc: vpc(), heldBy: 'ns-2/other-loc' }));
    expect(step).toMatchObject({
      do: 'refuse',
      message: 'VPC net-loc is not given identifier 7kQ: ns-2/other-loc has it (see reasons.md#vpcidentifierheld)',
    });
    expect(decide(snapshot({ vpc: vpc({}, published()), heldBy: 'ns-2/other-loc' }))).toEqual({ do: 'nothing' });
  });

  it('gets its finalizer back where somebody took it off, whatever else there is to do', () => {
    for (const status of [undefined, published()]) {
      const bare = vpc({ finalizers: ['other'] }, status);
      expect(decide(snapshot({ vpc: bare }))).toEqual({ do: 'hold', vpc: bare });
    }
    const going = vpc({ finalizers: [], deletionTimestamp }, published());
    expect(decide(snapshot({ vpc: going }))).toEqual({ do: 'nothing' });
  });

  it('goes with its context, and is made anew for another of the name', () => {
    const held = vpc({}, published());
    expect(decide(snapshot({ vpc: held, context: undefined }))).toEqual({ do: 'delete', vpc: held });
    expect(decide(snapshot({ vpc: held, context: context({}, { uid: 'c2' }) }))).toEqual({ do: 'delete', vpc: held });
    expect(decide(snapshot({ vpc: held, context: context({}, { deletionTimestamp }) }))).toEqual({ do: 'nothing' });
  });

  it('waits, once it is to go, for what is attached to it', () => {
    const going = vpc({ deletionTimestamp }, published());
    expect(decide(snapshot({ vpc: going }))).toEqual({ do: 'let-go', vpc: going });
    expect(decide(snapshot({ vpc: vpc({ deletionTimestamp, finalizers: [] }) }))).toEqual({ do: 'nothing' });
  });

  it('made by hand is left alone', () => {
    const theirs = vpc({ ownerReferences: [] });
    expect(decide(snapshot({ vpc: theirs }))).toEqual({ do: 'nothing' });
    expect(decide(snapshot({ vpc: theirs, context: undefined }))).toEqual({ do: 'nothing' });
  });
});
