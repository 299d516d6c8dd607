import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EgressShard, type EgressShardParameters, NetworkInterface, VPC } from '../../../api/index.ts';
import { apiVersionOf, type Stored, selects } from '../../../meta/index.ts';
import { type EgressInputs, resolveEgress } from '../egress/resolve.ts';
import { contextOf, egressTo, type Intent, parametersOf, shardOf } from '../egress/testing.ts';
import { decide, type Step } from './decide.ts';
import type { Snapshot } from './snapshot.ts';

/** For random shards, classes, parameters and contexts. A failing run prints its seed. */

const now = 1_767_225_600_000;
const sids = ['2001:db8:ff01:a001:e000::', '2001:db8:ff01:a002:e000::', '2001:db8:ff01:a003:e000::', '::', undefined];
const pool = 'network.datumapis.com/egress-pool';

const shards: fc.Arbitrary<Stored<EgressShard>[]> = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 5 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .record({
            sid: fc.constantFrom(...sids),
            address: fc.constantFrom(`2001:db8:f00d::${name}`, undefined),
            ipv6: fc.constantFrom('true', 'true', 'false', undefined),
            namespace: fc.constantFrom('galactic-system', 'galactic-system', 'elsewhere'),
            pool: fc.constantFrom('one', 'two'),
          })
          .map(({ pool: of, ...options }) => shardOf(`egress-${name}`, { ...options, labels: { [pool]: of } })),
      ),
    ),
  );

const parameters: fc.Arbitrary<Stored<EgressShardParameters> | undefined> = fc.option(
  fc
    .tuple(
      fc.constantFrom({}, { matchLabels: { [pool]: 'one' } }, { matchLabels: { [pool]: 'two' } }),
      fc.constantFrom('galactic-system', 'elsewhere'),
    )
    .map(([selector, namespace]) => parametersOf('public', selector, namespace)),
  { nil: undefined, freq: 6 },
);

const intent: fc.Arbitrary<Intent | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(egressTo('public'), egressTo('public', 'Dedicated')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Intent | undefined>(
      undefined,
      {},
      { mode: 'Disabled' },
      { mode: 'Enabled' },
      { ...egressTo('public'), parametersRef: { group: 'example.com', kind: 'Other', name: 'public' } },
      (({ sharing: _, ...unshared }) => unshared)(egressTo('public')),
    ),
  },
);

const inputs: fc.Arbitrary<EgressInputs> = fc
  .record({ internet: intent, parameters, shards, there: fc.constantFrom(true, true, true, false) })
  .map(({ internet, there, ...rest }) => ({ context: there ? contextOf(internet) : undefined, ...rest }));

const interfaces = fc.array(
  fc.record({
    mode: fc.constantFrom('Netns' as const, 'Hypervisor' as const),
    mtu: fc.constantFrom(1440, 8856, undefined),
    families: fc.constantFrom(0, 1, 2),
    held: fc.constantFrom(true, true, false),
    generation: fc.integer({ min: 1, max: 9 }),
  }),
  { minLength: 2, maxLength: 4 },
);
type Shape = typeof interfaces extends fc.Arbitrary<(infer T)[]> ? T : never;

function interfaceOf(name: string, { mode, mtu, families, held, generation }: Shape): Stored<NetworkInterface> {
  const all = [
    { family: 'IPv6' as const, address: 'fd5a:9:2:0:c::/96', primary: true },
    { family: 'IPv4' as const, address: '10.70.3.9/32', gateway: '10.70.0.1' },
  ];
  return {
    apiVersion: apiVersionOf(NetworkInterface),
    kind: NetworkInterface.kind,
    metadata: { name, namespace: 'ns', uid: `${name}-uid`, resourceVersion: '1', generation, creationTimestamp: '' },
    spec: {
      network: { name: 'net' },
      ...(held ? { claimRef: { name, uid: 'claim' } } : {}),
      interfaceName: 'eth0',
      attachmentMode: mode,
      ...(mtu === undefined ? {} : { mtu }),
      addresses: all.slice(0, families),
      reclaimPolicy: 'Delete',
    },
    status: {
      phase: held ? 'Bound' : 'Available',
      networkContextRef: { name: 'net-us-central-1' },
      conditions: [
        {
          type: 'Allocated',
          status: 'True',
          reason: 'Allocated',
          message: '',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ],
    },
  };
}

const vpc: Stored<VPC> = {
  apiVersion: apiVersionOf(VPC),
  kind: VPC.kind,
  metadata: { name: 'net-us-central-1', namespace: 'ns', uid: 'vpc', resourceVersion: '1', creationTimestamp: '' },
  spec: { networks: ['fd5a:9:2::/64'] },
  status: { vpc: '7kQ' },
};

/** What a server would make of a step. */
function applied(snapshot: Snapshot, step: Step, identifier: number): Snapshot {
  const stored = {
    uid: `${snapshot.networkInterface.metadata.name}-made`,
    resourceVersion: '1',
    creationTimestamp: '',
  };
  const { attachment, definition } = snapshot;
  switch (step.do) {
    case 'rest':
    case 'publish':
      return snapshot;
    case 'identify':
      return { ...snapshot, identifier };
    case 'attach':
      return { ...snapshot, attachment: { ...step.object, metadata: { ...step.object.metadata, ...stored } } };
    case 'define':
      return { ...snapshot, definition: { ...step.object, metadata: { ...step.object.metadata, ...stored } } };
    case 'reattach':
      return { ...snapshot, attachment: merged(attachment, step.patch) };
    case 'redefine':
      return { ...snapshot, definition: merged(definition, step.patch) };
    case 'tell':
      return { ...snapshot, attachment: { ...attachment!, status: step.status } };
  }
}

/** RFC 7386, as far as the patches here go. */
function merged<T>(before: T | undefined, patch: object): T {
  const result: Record<string, unknown> = { ...(before as Record<string, unknown> | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    const held = result[key];
    const maps = [held, value].every((each) => typeof each === 'object' && each !== null && !Array.isArray(each));
    if (value === null) delete result[key];
    else result[key] = maps ? merged(held, value as object) : value;
  }
  return result as T;
}

interface Shown {
  shardSIDs: string[] | undefined;
  addresses: { address: string; stability: string }[] | undefined;
}

/** Goes on until there is nothing to do; `seen` hears of every state on the way. */
function comesToRest(start: Snapshot, identifier: number, seen: (snapshot: Snapshot) => void = () => {}): Snapshot {
  let snapshot = start;
  for (let steps = 0; steps < 20; steps++) {
    const step = decide(snapshot);
    if (step.do === 'rest' || step.do === 'publish') return snapshot;
    snapshot = applied(snapshot, step, identifier);
    seen(snapshot);
  }
  throw new Error('does not come to rest');
}

function begin(networkInterface: Stored<NetworkInterface>, from: EgressInputs): Snapshot {
  return {
    networkInterface,
    contextName: 'net-us-central-1',
    context: from.context === undefined ? undefined : contextOf(from.context.spec?.egress?.internet),
    vpc,
    attachment: undefined,
    definition: undefined,
    egress: resolveEgress(from),
    now,
  };
}

/** The same objects, under other inputs. */
function under(snapshot: Snapshot, from: EgressInputs): Snapshot {
  const { context, egress } = begin(snapshot.networkInterface, from);
  const { identifier: _, ...rest } = snapshot;
  return { ...rest, context, egress };
}

function shown({ definition, attachment }: Snapshot): Shown {
  const config = JSON.parse(definition?.spec?.config ?? '{"plugins":[{},{}]}');
  return {
    shardSIDs: config.plugins[1].egress?.shardSIDs,
    addresses: attachment?.status?.egress?.internet?.sourceAddresses,
  };
}

/** Every attachment of a VPC whose network has been seen once, under `from`. */
function attached(shapes: Shape[], from: EgressInputs): Snapshot[] {
  const made = { ...from, context: contextOf(undefined) };
  return shapes.flatMap((shape, at) => {
    // Made while it was held, under whatever was then.
    const born = comesToRest(begin(interfaceOf(`web-${at}`, { ...shape, held: true }), made), at + 1);
    return [comesToRest(under({ ...born, networkInterface: interfaceOf(`web-${at}`, shape) }, from), at + 1)];
  });
}

const runs = { numRuns: 200 };

test('all attachments of one VPC in one cell carry the same list and say the same address', () => {
  fc.assert(
    fc.property(inputs, interfaces, (from, shapes) => {
      const [first, ...others] = attached(shapes, from).map(shown);
      for (const other of others) expect(other).toEqual(first);
    }),
    runs,
  );
});

test('the list depends on nothing but its inputs: not on their order, nor on what was before', () => {
  fc.assert(
    fc.property(inputs, inputs, interfaces, (from, before, shapes) => {
      const direct = attached(shapes, from).map(shown);
      const shuffled = attached(shapes, { ...from, shards: from.shards.toReversed() }).map(shown);
      const roundabout = attached(shapes, before).map((each) => shown(comesToRest(under(each, from), 1)));
      expect(shuffled).toEqual(direct);
      expect(roundabout).toEqual(direct);
    }),
    runs,
  );
});

test('an address is named only where the conflist names its shard first, and is wherever it and the sharing are known', () => {
  fc.assert(
    fc.property(inputs, interfaces, (from, shapes) => {
      const sharing = from.context?.spec?.egress?.internet?.sharing;
      for (const { shardSIDs, addresses } of attached(shapes, from).map(shown)) {
        const preferred = [...from.shards]
          .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
          .filter(({ metadata }) => metadata.labels?.['network.datumapis.com/egress-ipv6'] === 'true')
          .filter(({ metadata }) => metadata.namespace === from.parameters?.spec?.shardNamespace)
          .filter(({ metadata }) => selects(from.parameters?.spec?.shardSelector ?? {}, metadata.labels ?? {}))
          .find(({ status }) => status?.shardSID !== undefined && status.shardSID === shardSIDs?.[0]);
        const address = preferred?.status?.shardAddressIPv6;
        expect(shardSIDs).not.toEqual([]);
        if (addresses !== undefined) expect(addresses.map((each) => each.address)).toEqual([address]);
        const known = shardSIDs !== undefined && sharing !== undefined && address !== undefined;
        if (known) expect(addresses).toHaveLength(1);
        if (shardSIDs === undefined || sharing === undefined) expect(addresses).toBeUndefined();
        if (addresses !== undefined) {
          expect(addresses[0]?.stability).toBe(sharing === 'Shared' ? 'None' : 'Network');
        }
      }
    }),
    runs,
  );
});

test('withdrawing any input withdraws what depended on it', () => {
  fc.assert(
    fc.property(inputs, interfaces, (from, shapes) => {
      const before = attached(shapes, from);
      const nothing: Shown = { shardSIDs: undefined, addresses: undefined };
      const without = (change: Partial<EgressInputs>) =>
        before.map((each) => shown(comesToRest(under(each, { ...from, ...change }), 1)));
      const gone: Partial<EgressInputs>[] = [
        { context: undefined },
        { context: contextOf(undefined) },
        { context: contextOf({ mode: 'Disabled' }) },
        { parameters: undefined },
        { shards: [] },
        { shards: from.shards.map(({ status: _, ...rest }) => rest) },
      ];
      for (const change of gone) for (const each of without(change)) expect(each).toEqual(nothing);
      const noAddress = from.shards.map((each) => ({ ...each, status: { shardSID: each.status?.shardSID ?? '' } }));
      for (const each of without({ shards: noAddress })) expect(each.addresses).toBeUndefined();
      for (const each of before) {
        const { vpc: _, ...rest } = each;
        expect(shown(comesToRest({ ...rest, vpc: undefined }, 1))).toEqual(nothing);
      }
    }),
    runs,
  );
});

test('on the way from one state to another, too, no address is named of a VPC that has no way', () => {
  fc.assert(
    fc.property(inputs, inputs, (before, after) => {
      const shape = { mode: 'Netns', mtu: 1440, families: 2, held: true, generation: 1 } as const;
      const [start] = attached([shape], before);
      const states: Shown[] = [];
      comesToRest(under(start!, after), 1, (state) => states.push(shown(state)));
      // Switched off, the address goes first: at no moment is one told of that has no way.
      for (const { shardSIDs, addresses } of states) if (addresses !== undefined) expect(shardSIDs).toBeDefined();
    }),
    runs,
  );
});
